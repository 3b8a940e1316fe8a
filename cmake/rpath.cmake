# SPDX-License-Identifier: MIT

# An installed `sheaf` finds an installed libsheaf.so beside it, wherever the prefix is moved to.
include(GNUInstallDirs)
if(BUILD_SHARED_LIBS)
  file(RELATIVE_PATH bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
endif()
