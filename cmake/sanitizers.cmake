# SPDX-License-Identifier: MIT

# SHEAF_SANITIZE holds for every target of the build: a program of which only a part is
# instrumented gives false reports.
if(SHEAF_SANITIZE)
  if(NOT SHEAF_SANITIZE MATCHES "^(address,undefined|thread)$")
    message(FATAL_ERROR
      "SHEAF_SANITIZE is '${SHEAF_SANITIZE}'; it may be empty, 'address,undefined' or 'thread'")
  endif()
  # Without -fno-sanitize-recover UBSan prints its finding and the test passes all the same.
  add_compile_options(
    -fsanitize=${SHEAF_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SHEAF_SANITIZE})
  # What clang leaves out on its own: in a program in C, the part of UBSan that C++ libraries need;
  # and checked products of 128 bits, which GCC's runtime library lacks.
  add_link_options(
    "$<$<LINK_LANG_AND_ID:C,Clang>:-fsanitize-link-c++-runtime;-lstdc++>"
    "$<$<LINK_LANG_AND_ID:CXX,Clang>:--rtlib=compiler-rt;--unwindlib=libgcc>")
endif()
