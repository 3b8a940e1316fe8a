# SPDX-License-Identifier: MIT

# sheaf_precompiled_gtest(<target> [ALONE <source>...]): a second or two of every file of tests go into
# GoogleTest. Sources after ALONE do without: they are about macros or the order of headers.
#
# Without SHEAF_UNITY_TESTS, each file is compiled alone to see that it includes what it uses. Only
# those that begin with GoogleTest have it precompiled then: nothing hides a header that they lack.
find_package(GTest REQUIRED)
set(empty "${PROJECT_BINARY_DIR}/empty.cc")
file(CONFIGURE OUTPUT "${empty}" CONTENT "// Carries the precompiled header.\n")
add_library(sheaf_gtest OBJECT "${empty}")
target_link_libraries(sheaf_gtest PRIVATE GTest::gtest)
target_precompile_headers(sheaf_gtest PRIVATE <gtest/gtest.h>)
if(SHEAF_UNITY_TESTS)
  target_precompile_headers(sheaf_gtest PRIVATE <gmock/gmock.h>)
endif()
target_compile_options(sheaf_gtest PRIVATE -fPIE)  # as programs have it
sheaf_quick_build(sheaf_gtest -O0)

function(sheaf_precompiled_gtest target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" OR NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc?$")
  foreach(source IN LISTS sources)
    set(first "<gtest/gtest.h>")
    if(NOT SHEAF_UNITY_TESTS)
      file(STRINGS "${source}" first REGEX "^#include" LIMIT_COUNT 1)
    endif()
    if(source MATCHES "\\.c$" OR source IN_LIST arg_ALONE
        OR NOT first MATCHES "<(gtest/gtest|gmock/gmock)\\.h>")
      set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
  target_precompile_headers(${target} REUSE_FROM sheaf_gtest)
  # For ccache, which otherwise does not see what was precompiled.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()
