# SPDX-License-Identifier: MIT

# What `cmake --install` puts where. Everything is found from the place of the installed file
# itself, so the prefix may be moved afterwards (tests/install/run does so).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Below 1.0 a minor version may break its users: both names say so.
set_target_properties(sheaf PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

install(TARGETS sheaf EXPORT sheafTargets INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sheaf"
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.inc")
if(TARGET sheaf_cli)
  install(TARGETS sheaf_cli)
endif()

# What the backends of this build need: each adds its own in its folder.
get_property(backend_packages GLOBAL PROPERTY SHEAF_BACKEND_PACKAGES)

# find_package(sheaf)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sheaf)
install(EXPORT sheafTargets NAMESPACE sheaf:: DESTINATION ${package_dir})
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/sheafConfig.cmake.in"
  sheafConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(sheafConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/sheafConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/sheafConfigVersion.cmake"
  DESTINATION ${package_dir})

# find_package(sheaf COMPONENTS mpi). It reaches inside the library, which a libsheaf.so hides.
if(TARGET sheaf_mpi AND NOT BUILD_SHARED_LIBS)
  install(TARGETS sheaf_mpi EXPORT sheafMpiTargets)
  install(EXPORT sheafMpiTargets NAMESPACE sheaf:: DESTINATION ${package_dir})
endif()

# pkg-config sheaf. cmake_path(APPEND) keeps a directory that the packager gave as an absolute path.
file(RELATIVE_PATH pc_to_prefix
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
# A C program is linked by cc, which does not bring the C++ run time that a static library needs.
get_target_property(library_type sheaf TYPE)
get_property(backend_libs GLOBAL PROPERTY SHEAF_BACKEND_LIBS)
list(JOIN backend_libs " " backend_libs)
set(pc_libs_private "${backend_libs} -lstdc++ -lm -pthread")
if(library_type STREQUAL "STATIC_LIBRARY")
  set(pc_libs "-lsheaf ${pc_libs_private}")
else()
  set(pc_libs "-lsheaf")
endif()
configure_file("${CMAKE_CURRENT_LIST_DIR}/sheaf.pc.in" sheaf.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sheaf.pc"
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Programs load it by its path.
if(TARGET sheaf_onnxruntime)
  install(TARGETS sheaf_onnxruntime)
endif()

# The libraries under foreign names, each with its headers in a folder of its own: nothing finds
# them that does not ask.
if(TARGET sheaf_directml)
  install(TARGETS sheaf_d3d12 sheaf_dxcore sheaf_dxgi sheaf_directml sheaf_accelerate)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/compat/directml/include/"
    "${PROJECT_SOURCE_DIR}/compat/d3d12/include/"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sheaf-directml FILES_MATCHING PATTERN "*.h")
  install(FILES "${PROJECT_BINARY_DIR}/compat/include/DirectML.h"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sheaf-directml)
  install(FILES "${PROJECT_SOURCE_DIR}/include/sheaf/directml_declarations.inc"
    "${PROJECT_SOURCE_DIR}/include/sheaf/directml_operators.h"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sheaf-directml/sheaf)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/compat/accelerate/include/"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sheaf-accelerate)
  foreach(name sheaf-directml sheaf-accelerate)
    configure_file("${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in" ${name}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${name}.pc"
      DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endforeach()
endif()
