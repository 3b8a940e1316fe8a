# SPDX-License-Identifier: MIT

# A canary in functions that hold buffers, checked copies into memory of known size, and tables of
# functions that are read-only once the program runs. Who sets such options himself, as
# distributions do, keeps his own.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_FLAGS MATCHES "stack-protector|FORTIFY" AND NOT SHEAF_SANITIZE AND NOT EMSCRIPTEN
    AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  set(release "$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:C,CXX>>")
  add_compile_options(
    "$<${release}:-fstack-protector>" "$<${release}:-U_FORTIFY_SOURCE>"
    "$<${release}:-D_FORTIFY_SOURCE=2>")
  if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    add_link_options(LINKER:-z,relro LINKER:-z,now)
  endif()
endif()
