# Flags of every target: one INTERFACE target for warnings, one for hardening, one for
# instrumentation. Targets link the three through flatbed_build.

add_library(flatbed_warnings INTERFACE)
target_compile_options(flatbed_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
  -Wformat=2 -Wundef -Wpointer-arith -Wcast-qual -Wwrite-strings -Wvla -Wimplicit-fallthrough
  -Wno-gnu-statement-expression -Wno-gnu-zero-variadic-macro-arguments -Wno-language-extension-token
  $<$<C_COMPILER_ID:GNU>:-Wlogical-op -Wduplicated-cond -Wduplicated-branches>
  $<$<BOOL:${FLATBED_WERROR}>:-Werror>)
# The project uses GNU statement expressions on purpose, without __extension__.
target_compile_options(flatbed_warnings INTERFACE $<$<C_COMPILER_ID:GNU>:-Wno-pedantic>)

add_library(flatbed_hardening INTERFACE)
target_compile_definitions(flatbed_hardening INTERFACE _GNU_SOURCE
  $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
# Indirect jumps land where the compiler means them to: the flag of x86, or that of arm64.
include(CheckCCompilerFlag)
check_c_compiler_flag(-fcf-protection FLATBED_HAS_CF_PROTECTION)
if(FLATBED_HAS_CF_PROTECTION)
  set(jumps -fcf-protection)
else()
  check_c_compiler_flag(-mbranch-protection=standard FLATBED_HAS_BRANCH_PROTECTION)
  set(jumps $<$<BOOL:${FLATBED_HAS_BRANCH_PROTECTION}>:-mbranch-protection=standard>)
endif()
target_compile_options(flatbed_hardening INTERFACE
  -fstack-protector-strong -fstack-clash-protection ${jumps} -fno-strict-aliasing)
target_link_options(flatbed_hardening INTERFACE
  -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,--as-needed)

add_library(flatbed_instrument INTERFACE)
if(FLATBED_SANITIZE)
  target_compile_options(flatbed_instrument INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # gcc, too, links the sanitizers statically, as clang does: LeakSanitizer would read 6 MB of zeros of a shared libubsan.
  target_link_options(flatbed_instrument INTERFACE -fsanitize=address,undefined
    $<$<C_COMPILER_ID:GNU>:-static-libasan -static-libubsan>)
endif()
if(FLATBED_COVERAGE)
  # The reader of images writes its counters at its end, so that the sandbox of such a build is weaker.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    message(FATAL_ERROR "FLATBED_COVERAGE is for Debug builds alone")
  endif()
  target_compile_definitions(flatbed_instrument INTERFACE FLATBED_COVERAGE)
  target_compile_options(flatbed_instrument INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(flatbed_instrument INTERFACE --coverage)
endif()
if(FLATBED_FUZZ)
  target_compile_options(flatbed_instrument INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(flatbed_build INTERFACE)
target_link_libraries(flatbed_build INTERFACE
  flatbed_warnings flatbed_hardening flatbed_instrument)
target_include_directories(flatbed_build INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(flatbed_build INTERFACE FLATBED_VERSION="${PROJECT_VERSION}")
# UBSan's tables hold 3 MB of addresses. A position-independent program relocates them at each start, which is 900 of
# 2,400 page faults; so programs with sanitizers are linked at a fixed address.
if(FLATBED_SANITIZE)
  set(CMAKE_POSITION_INDEPENDENT_CODE OFF)
else()
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
include(CheckPIESupported)
check_pie_supported()
