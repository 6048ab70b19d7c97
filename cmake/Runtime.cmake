# How flatbed-runtime is linked. It starts at every call of an engine, so it is a static program where
# the archives of yajl, libseccomp and libcap are installed: that starts in two thirds of the time, and
# neither LD_PRELOAD nor LD_LIBRARY_PATH of whoever calls it has a say. With musl it starts in half of
# what is left: glibc asks the processor 60 questions, each of which a hypervisor traps.
#
# Sets FLATBED_RUNTIME_LINK (dynamic, glibc or musl) and the *_ARCHIVE; with musl there is a target
# flatbed_musl, which what is compiled once more for flatbed-runtime links.

option(FLATBED_STATIC_RUNTIME "Link flatbed-runtime statically, where the archives are installed" ON)
set(FLATBED_RUNTIME_LIBC "auto" CACHE STRING
  "libc of a static flatbed-runtime: musl, glibc, or auto (musl if it works here)")
set_property(CACHE FLATBED_RUNTIME_LIBC PROPERTY STRINGS auto musl glibc)
if(NOT FLATBED_RUNTIME_LIBC MATCHES "^(auto|musl|glibc)$")
  message(FATAL_ERROR "FLATBED_RUNTIME_LIBC is auto, musl or glibc, not '${FLATBED_RUNTIME_LIBC}'")
endif()

find_library(YAJL_ARCHIVE NAMES libyajl_s.a libyajl.a)
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a)
find_library(CAP_ARCHIVE NAMES libcap.a)

# flatbed_find_musl(RESULT): Debian's musl-dev, for compiling and linking with the same gcc. RESULT is
# empty, or says what is in the way. Its headers come first; of glibc's folder only those of Linux and
# of the archives are seen, by links.
function(flatbed_find_musl RESULT)
  set(${RESULT} "" PARENT_SCOPE)
  string(REPLACE "-linux-gnu" "-linux-musl" triplet "${CMAKE_LIBRARY_ARCHITECTURE}")
  find_path(MUSL_INCLUDE_DIR stdio.h PATHS /usr/include/${triplet} NO_DEFAULT_PATH)
  find_path(MUSL_LIBRARY_DIR rcrt1.o PATHS /usr/lib/${triplet} NO_DEFAULT_PATH)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
    set(${RESULT} "the compiler is not gcc" PARENT_SCOPE)
    return()
  elseif(NOT triplet MATCHES "-linux-musl" OR NOT MUSL_INCLUDE_DIR OR NOT MUSL_LIBRARY_DIR)
    set(${RESULT} "musl-dev is not installed" PARENT_SCOPE)
    return()
  endif()

  set(links ${PROJECT_BINARY_DIR}/musl-include)
  file(MAKE_DIRECTORY ${links}/sys)
  foreach(name linux/types.h asm/unistd.h asm-generic/types.h yajl/yajl_parse.h seccomp.h
      seccomp-syscalls.h sys/capability.h)
    string(MAKE_C_IDENTIFIER "MUSL_LINK_${name}" variable)
    find_path(${variable} ${name} HINTS ${YAJL_INCLUDE_DIRS} ${SECCOMP_INCLUDE_DIRS} ${CAP_INCLUDE_DIRS})
    mark_as_advanced(${variable})
    if(name MATCHES "^(linux|asm|asm-generic|yajl)/")
      set(name ${CMAKE_MATCH_1})
    endif()
    file(CREATE_LINK ${${variable}}/${name} ${links}/${name} SYMBOLIC)
  endforeach()
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include
    OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE)

  set(compile -nostdinc -isystem ${MUSL_INCLUDE_DIR} -isystem ${own} -isystem ${links} -fPIE)
  set(link -static-pie -B${MUSL_LIBRARY_DIR} -L${MUSL_LIBRARY_DIR})
  flatbed_try_musl("${compile}" "${link}" works)
  if(NOT works)
    set(${RESULT} "a program with it and the archives cannot be built, or does not run" PARENT_SCOPE)
    return()
  endif()
  add_library(flatbed_musl INTERFACE)
  list(JOIN compile " " compile)
  target_compile_options(flatbed_musl INTERFACE "SHELL:${compile}")
  target_link_options(flatbed_musl INTERFACE ${link})
endfunction()

# One that uses all of the archives is linked and, unless it is for another machine, run.
function(flatbed_try_musl COMPILE LINK RESULT)
  set(CMAKE_POSITION_INDEPENDENT_CODE) # left to CMake, -pie would undo -static-pie
  set(what SOURCES ${PROJECT_SOURCE_DIR}/cmake/musl_check.c ${PROJECT_SOURCE_DIR}/shim/heap.c
      ${PROJECT_SOURCE_DIR}/shim/libc_bridge.c
    COMPILE_DEFINITIONS -D_GNU_SOURCE ${COMPILE}
    LINK_OPTIONS ${LINK}
    LINK_LIBRARIES ${YAJL_ARCHIVE} ${SECCOMP_ARCHIVE} ${CAP_ARCHIVE}
    C_STANDARD 11 C_EXTENSIONS ON)
  if(CMAKE_CROSSCOMPILING)
    try_compile(FLATBED_MUSL_WORKS ${what})
    set(${RESULT} ${FLATBED_MUSL_WORKS} PARENT_SCOPE)
    return()
  endif()
  try_run(FLATBED_MUSL_STATUS FLATBED_MUSL_LINKS ${what})
  if(FLATBED_MUSL_LINKS AND FLATBED_MUSL_STATUS EQUAL 0)
    set(${RESULT} TRUE PARENT_SCOPE)
  else()
    set(${RESULT} FALSE PARENT_SCOPE)
  endif()
endfunction()

if(NOT FLATBED_STATIC_RUNTIME)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason "FLATBED_STATIC_RUNTIME is off")
elseif(FLATBED_SANITIZE OR FLATBED_COVERAGE OR FLATBED_FUZZ)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason "sanitizers and coverage want that")
elseif(NOT YAJL_ARCHIVE OR NOT SECCOMP_ARCHIVE OR NOT CAP_ARCHIVE)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason "an archive of yajl, libseccomp or libcap is missing")
elseif(FLATBED_RUNTIME_LIBC STREQUAL "glibc")
  set(FLATBED_RUNTIME_LINK glibc)
  set(reason "as asked for")
else()
  flatbed_find_musl(reason)
  if(reason)
    set(FLATBED_RUNTIME_LINK glibc)
  else()
    set(FLATBED_RUNTIME_LINK musl)
  endif()
endif()
if(FLATBED_RUNTIME_LIBC STREQUAL "musl" AND NOT FLATBED_RUNTIME_LINK STREQUAL "musl")
  message(FATAL_ERROR "flatbed-runtime cannot be linked with musl: ${reason}")
endif()
if(reason)
  set(reason " (${reason})")
endif()
if(FLATBED_RUNTIME_LINK STREQUAL "dynamic")
  message(STATUS "flatbed-runtime: dynamically linked${reason}")
else()
  message(STATUS "flatbed-runtime: static, with ${FLATBED_RUNTIME_LINK}${reason}")
endif()
