# How flatbed-runtime is linked. It starts at every call of an engine, so it is a static program where
# the archives of yajl, libseccomp and libcap are installed: it starts in two thirds of the time, and
# LD_PRELOAD and LD_LIBRARY_PATH of the caller have no effect.
#
# Sets FLATBED_RUNTIME_LINK (dynamic or static) and the *_ARCHIVE.

option(FLATBED_STATIC_RUNTIME "Link flatbed-runtime statically, where the archives are installed" ON)

find_library(YAJL_ARCHIVE NAMES libyajl_s.a libyajl.a)
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a)
find_library(CAP_ARCHIVE NAMES libcap.a)

set(FLATBED_RUNTIME_LINK dynamic)
if(NOT FLATBED_STATIC_RUNTIME)
  message(STATUS "flatbed-runtime: dynamically linked (FLATBED_STATIC_RUNTIME is off)")
elseif(FLATBED_SANITIZE OR FLATBED_COVERAGE OR FLATBED_FUZZ)
  message(STATUS "flatbed-runtime: dynamically linked (sanitizers and coverage need it)")
elseif(NOT YAJL_ARCHIVE OR NOT SECCOMP_ARCHIVE OR NOT CAP_ARCHIVE)
  message(STATUS "flatbed-runtime: dynamically linked (an archive of yajl, libseccomp or libcap is missing)")
else()
  set(FLATBED_RUNTIME_LINK static)
  message(STATUS "flatbed-runtime: statically linked")
endif()
