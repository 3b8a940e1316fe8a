# SPDX-License-Identifier: MIT

include(cmake/precompiled_gtest.cmake)

# Builds the tests with the label `threads` only: all that the ThreadSanitizer run needs.
add_custom_target(sheaf_thread_tests)
# The same for those with CROSS.
add_custom_target(sheaf_cross_tests)

# sheaf_test(<name> <source>... [ALONE <source>...] [LABEL <label>] [LIBRARIES <library>...]
#            [SHARDS <count>] [CROSS])
#
# One GoogleTest program and one CTest test: a process per case would cost more than most cases do.
# SHARDS splits the cases of a long one over several tests, which run beside each other. The tests
# run in the root of the source tree, so they name their data files from there. ALONE: sources that
# sheaf_unity() must not mix with the others. LABEL threads marks tests that are worth running under
# ThreadSanitizer. CROSS: scripts/cross runs it on the other architecture, so it has to be short.
function(sheaf_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CROSS" "LABEL;SHARDS" "ALONE;LIBRARIES")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS} ${arg_ALONE})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/tests")
  target_link_libraries(${name} PRIVATE sheaf::sheaf ${arg_LIBRARIES} GTest::gtest_main GTest::gmock)
  sheaf_warnings(${name})
  if(SHEAF_UNITY_TESTS)
    sheaf_unity(${name} ALONE ${arg_ALONE})
  endif()
  # The library is tested as it is shipped; the tests themselves need not be fast, but soon built.
  sheaf_precompiled_gtest(${name} ALONE ${arg_ALONE})
  sheaf_quick_build(${name} -O0)
  if(arg_LABEL STREQUAL "threads")
    add_dependencies(sheaf_thread_tests ${name})
  endif()
  if(arg_CROSS)
    add_dependencies(sheaf_cross_tests ${name})
    list(APPEND arg_LABEL cross)
  endif()
  if(NOT arg_SHARDS)
    set(arg_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${arg_SHARDS})
    set(test ${name})
    if(arg_SHARDS GREATER 1)
      set(test ${name}.${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name} --gtest_brief=1
      WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    # Sanitizers on a small machine are slow, hence the long limit.
    set_tests_properties(${test} PROPERTIES TIMEOUT 1800 LABELS "${arg_LABEL}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${arg_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
