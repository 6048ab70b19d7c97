# flatbed_room([SOURCES FILE...] [USES ROOM...] [LIBRARIES TARGET...])
#
# A room: a directory of sources for one domain, built as one static library. Its name is its path
# ("shim/plan"), its target the same with underscores ("shim_plan").
#
#   SOURCES    the files of this directory; a room without sources offers headers only
#   USES       the rooms whose headers it includes: a room includes no other. hack/lint compares this list
#              with the real includes and rejects a circle.
#   LIBRARIES  libraries from outside the project
#
# A header beside the sources belongs to this room alone; include/ROOM/ holds the headers that other rooms
# may include.
function(flatbed_room)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "SOURCES;USES;LIBRARIES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "flatbed_room: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE name)
  list(TRANSFORM arg_USES REPLACE "/" "_")
  string(REPLACE "/" "_" target ${name})
  if(NOT arg_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE flatbed_build ${arg_USES})
    return()
  endif()
  add_library(${target} STATIC ${arg_SOURCES})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC flatbed_build ${arg_USES} PRIVATE ${arg_LIBRARIES})
endfunction()
