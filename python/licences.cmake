# SPDX-License-Identifier: MIT
# The licences of what is compiled or copied into the package, put beside its own. The texts are
# those that came with the parts; distributions keep them in one of two places.

# bundle_licence(<part> <pattern or package>...): the first file that is there; of a package, the one
# that its distribution installs.
function(bundle_licence part)
  set(patterns "")
  foreach(place IN LISTS ARGN)
    list(APPEND patterns "${place}" "/usr/share/doc/${place}/copyright"
      "/usr/share/licenses/${place}/LICENSE*" "/usr/share/licenses/${place}/COPYING*")
  endforeach()
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -c
      "import glob, sys; print(*[file for p in sys.argv[1:] for file in glob.glob(p)][:1])"
      ${patterns}
    OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT EXISTS "${found}")
    message(WARNING "sheaf: no licence found of ${part}, which the package contains. "
      "Do not give this wheel to others.")
    return()
  endif()
  # Debian's files name the common licences instead of quoting them.
  file(STRINGS "${found}" named REGEX "/usr/share/common-licenses/")
  string(REGEX MATCHALL "/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]" common "${named}")
  list(REMOVE_DUPLICATES common)
  if(SKBUILD_METADATA_DIR)
    set(folder "${SKBUILD_METADATA_DIR}/licenses")
    install(FILES "${found}" DESTINATION "${folder}" RENAME "${part}.txt")
    foreach(text IN LISTS common)
      cmake_path(GET text FILENAME name)
      install(FILES "${text}" DESTINATION "${folder}" RENAME "${name}.txt")
    endforeach()
  endif()
endfunction()

cmake_path(GET nanobind_DIR PARENT_PATH nanobind_package)  # …/site-packages/nanobind/cmake
bundle_licence(nanobind "${nanobind_package}-*.dist-info/licenses/LICENSE"
  "${nanobind_package}-*.dist-info/LICENSE" nanobind-dev)
bundle_licence(robin_map "${nanobind_package}/ext/robin_map/LICENSE"
  "${nanobind_package}/ext/robin_map/include/tsl/robin_map.h")  # at its head
if(EXISTS "${jax_include}/xla/ffi/api/ffi.h")
  cmake_path(GET jax_include PARENT_PATH jaxlib_package)
  bundle_licence(xla "${jaxlib_package}-*.dist-info/licenses/LICENSE*"
    "${jaxlib_package}-*.dist-info/LICENSE*")
endif()
if(SHEAF_CPU)
  bundle_licence(highway libhwy-dev libhwy1 highway)
  bundle_licence(onetbb libtbb-dev libtbb12 onetbb tbb)
endif()
if(SHEAF_URING)
  bundle_licence(liburing liburing-dev liburing2 liburing)
endif()
if(SHEAF_TOOLS)
  bundle_licence(cli11 libcli11-dev cli11)
  bundle_licence(nlohmann_json nlohmann-json3-dev nlohmann-json)
endif()
