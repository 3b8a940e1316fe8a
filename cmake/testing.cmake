# SPDX-License-Identifier: MIT

find_package(GTest REQUIRED)
include(GoogleTest)

# Builds the tests with the label `threads` only: all that the ThreadSanitizer run needs.
add_custom_target(sheaf_thread_tests)

# sheaf_test(<name> <source>... [LABEL <label>] [LIBRARIES <library>...])
#
# One GoogleTest program, and one CTest test for each of its cases. The tests run in the root of
# the source tree, so they name their data files from there. LABEL threads marks tests that are
# worth running under ThreadSanitizer. (One label: CMake 3.25 loses a list of them on the way.)
function(sheaf_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL" "ALONE;LIBRARIES")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS} ${arg_ALONE})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE sheaf::sheaf ${arg_LIBRARIES} GTest::gtest_main GTest::gmock)
  sheaf_warnings(${name})
  sheaf_unity(${name} ALONE ${arg_ALONE})
  # The library is tested as it is shipped; the tests themselves need not be fast, but soon built.
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  set(properties TIMEOUT 900)
  if(arg_LABEL)
    list(APPEND properties LABELS ${arg_LABEL})
  endif()
  if(arg_LABEL STREQUAL "threads")
    add_dependencies(sheaf_thread_tests ${name})
  endif()
  # PRE_TEST: the program is asked for its cases when ctest runs, not while it is linked, so that
  # a crash at start-up is a failed test and not a failed build. Sanitizers on a small machine are
  # slow, hence the long limits.
  gtest_discover_tests(${name}
    NO_PRETTY_VALUES  # a value may hold quotes, which the generated file does not survive
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    PROPERTIES ${properties})
endfunction()
