# Links flatbed-runtime. Every call of an engine starts it, so it is a static program where the
# archives of yajl, libyaml, libseccomp and libcap are installed: that starts faster, and neither LD_PRELOAD nor
# LD_LIBRARY_PATH of its caller applies to it.
#
# Sets FLATBED_RUNTIME_LINK (dynamic or static) and the *_ARCHIVE.

option(FLATBED_STATIC_RUNTIME "Link flatbed-runtime statically, where the archives are installed" ON)

find_library(YAJL_ARCHIVE NAMES libyajl_s.a libyajl.a)
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a)
find_library(CAP_ARCHIVE NAMES libcap.a)
find_library(YAML_ARCHIVE NAMES libyaml.a)

if(NOT FLATBED_STATIC_RUNTIME)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason " (FLATBED_STATIC_RUNTIME is off)")
elseif(FLATBED_SANITIZE OR FLATBED_COVERAGE OR FLATBED_FUZZ)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason " (sanitizers and coverage need that)")
elseif(NOT YAJL_ARCHIVE OR NOT SECCOMP_ARCHIVE OR NOT CAP_ARCHIVE OR NOT YAML_ARCHIVE)
  set(FLATBED_RUNTIME_LINK dynamic)
  set(reason " (an archive of yajl, libyaml, libseccomp or libcap is missing)")
else()
  set(FLATBED_RUNTIME_LINK static)
endif()
message(STATUS "flatbed-runtime: ${FLATBED_RUNTIME_LINK}${reason}")

# flatbed_yajl, flatbed_seccomp, flatbed_cap, flatbed_yaml: the archive in a program with the property FLATBED_STATIC,
# the shared library in all others.
foreach(library YAJL SECCOMP CAP YAML)
  string(TOLOWER flatbed_${library} target)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE
    $<IF:$<BOOL:$<TARGET_PROPERTY:FLATBED_STATIC>>,${${library}_ARCHIVE},PkgConfig::${library}>)
endforeach()

# Makes PROGRAM a static one. Left to CMake, -pie would undo -static-pie.
function(flatbed_link_static PROGRAM)
  set_target_properties(${PROGRAM} PROPERTIES FLATBED_STATIC ON)
  set_property(TARGET ${PROGRAM} PROPERTY POSITION_INDEPENDENT_CODE)
  target_compile_options(${PROGRAM} PRIVATE -fPIE)
  target_link_options(${PROGRAM} PRIVATE -static-pie)
endfunction()
