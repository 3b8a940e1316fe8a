# SPDX-License-Identifier: MIT

# For a build that is about the compiler's warnings: the C++ files of the including folder, and of
# those below it, are parsed, with all their templates, but not compiled. Empty files stand for
# objects, libraries and programs, so that Ninja knows what has to be parsed again. C files take no
# time, and are compiled.
set(stand_in "${CMAKE_COMMAND} -E touch")
set(CMAKE_CXX_COMPILE_OBJECT
  "<CMAKE_CXX_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only -c <SOURCE>"
  "${stand_in} <OBJECT>")
set(CMAKE_CXX_LINK_EXECUTABLE "${stand_in} <TARGET>")
set(CMAKE_CXX_ARCHIVE_CREATE "${stand_in} <TARGET>")
set(CMAKE_CXX_ARCHIVE_FINISH "${stand_in} <TARGET>")
