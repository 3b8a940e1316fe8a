# SPDX-License-Identifier: MIT

# sheaf_warnings(<target>): the warnings that all of our own code is held to, C and C++ alike.
# Per target and PRIVATE, so that neither users nor third-party headers see them.
function(sheaf_warnings target)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    return()
  endif()
  set(own -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    list(APPEND own -Wreserved-identifier -Wreserved-macro-identifier)
  endif()
  if(SHEAF_WERROR)
    list(APPEND own -Werror)
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:${own}>")
endfunction()
