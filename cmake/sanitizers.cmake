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
endif()
