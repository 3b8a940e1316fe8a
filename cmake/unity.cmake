# SPDX-License-Identifier: MIT

option(SHEAF_UNITY "Compile the files of each folder as one: a full build takes a third of the time"
  ON)
option(SHEAF_UNITY_TESTS "The same for the tests" ${SHEAF_UNITY})

# sheaf_unity(<target> [ALONE <source>...]): call it after the last source was added to the target.
#
# The groups are the folders, so names that are private to a file have to differ from those in its
# neighbours. That each file includes what it uses is shown by scripts/check_tidy, which parses the
# library's and the tools' files alone, and by the clang preset, which parses the tests' files alone.
#
# ALONE: files that do not mix with others, because they are about macros or the order of headers.
# The source property SKIP_UNITY_BUILD_INCLUSION says the same where the target is made elsewhere.
function(sheaf_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(NOT SHEAF_UNITY)
    return()
  endif()
  get_target_property(directory ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${directory}" NORMALIZE)
    cmake_path(GET source FILENAME name)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME group)
    if(source MATCHES "\\.cc$" AND NOT name IN_LIST arg_ALONE)
      set_source_files_properties("${source}" TARGET_DIRECTORY ${target}
        PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
