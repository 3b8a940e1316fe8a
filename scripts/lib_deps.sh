# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# Where scripts/gpu takes libraries from on a machine without a network, and how the folder with
# them is made on one that has it. To be sourced after scripts/lib.sh.
# shellcheck disable=SC2034  # for scripts/gpu

build_dir=$PWD/build/gpu
python=${PYTHON:-python3}
jobs=$(nproc)
deps=               # the folder of --deps, if any
cmake_arguments=()  # where the packages are that the folder has and the system lacks
usable=             # the packages that can be used, a line each

# libtbb's CMake files ask for all of its libraries, used or not.
deps_packages=(
  libhwy-dev libtbb-dev libtbb12 libtbbmalloc2 libtbbbind-2-5
  googletest libgtest-dev libgmock-dev libcli11-dev nlohmann-json3-dev
  libvulkan1 libvulkan-dev glslc libshaderc1)
deps_wheels=("$(sed -n '/^nanobind==/p' python/requirements.txt)" pytest hypothesis)

# make_deps <folder> [architecture]: unpacked Debian packages for this architecture, or another
# (amd64), and wheels for any.
make_deps() {
  local folder debs name arch apt
  command -v apt-get >/dev/null || fail "--make-deps needs a Debian system"
  arch=${2:-$(dpkg --print-architecture)}
  mkdir -p "$1"
  folder=$(realpath "$1")
  debs=$(mktemp -d)
  mkdir -p "$debs/lists/partial" "$debs/cache/archives/partial"
  # Lists of their own, so that the system need not know the other architecture. Not as the user
  # whom apt hands its work to by default: that one cannot write here.
  apt=(-qq -o APT::Sandbox::User="$(id -un)" -o APT::Architecture="$arch"
    -o APT::Architectures::="$arch" -o Dir::State::Lists="$debs/lists" -o Dir::Cache="$debs/cache")
  apt-get "${apt[@]}" update
  # The library behind libhwy-dev is called by its version.
  mapfile -t -O "${#deps_packages[@]}" deps_packages < <(
    apt-cache depends libhwy-dev | sed -n 's/^ *Depends: \(libhwy[^ ]*\)$/\1/p')
  (cd "$debs" && apt-get "${apt[@]}" download "${deps_packages[@]}")
  for name in "$debs"/*.deb; do
    dpkg -x "$name" "$folder"
  done
  rm -rf "$debs" "$folder/usr/share/doc" "$folder/usr/share/lintian"
  # Without compiled code, so that they do for any processor and any Python.
  python3 -m pip download --disable-pip-version-check -q --dest "$folder" --only-binary :all: \
    --implementation py --abi none --platform any "${deps_wheels[@]}"
  du -sh "$folder"
}

# probe_packages [cmake argument...]: the packages that CMake finds and can use, a line each.
probe_packages() {
  rm -rf "$build_dir/probe"
  cmake -S cmake/probe -B "$build_dir/probe" "$@" 2>"$build_dir/probe.log" |
    sed -n 's/^-- probe //p'
}

# newest <path>...: the last of those that exist, in the order of version numbers; fails if none.
newest() {
  local path found=()
  for path in "$@"; do
    [[ ! -e $path ]] || found+=("$path")
  done
  ((${#found[@]})) || return
  printf '%s\n' "${found[@]}" | sort -V | tail -n 1
}

# GoogleTest is built from its sources where they are there: by this compiler, for this machine.
build_googletest() {
  local source prefix=$build_dir/deps/googletest
  source=$(newest "$deps"/usr/src/googletest/CMakeLists.txt "$deps"/googletest*/CMakeLists.txt) ||
    return
  if [[ ! -f $prefix/lib/cmake/GTest/GTestConfig.cmake ]]; then
    cmake -S "$(dirname "$source")" -B "$build_dir/deps/googletest_build" -DCMAKE_BUILD_TYPE=Release \
      -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib
    cmake --build "$build_dir/deps/googletest_build" -j "$jobs" --target install
  fi >"$build_dir/googletest.log" 2>&1
}

# Fills cmake_arguments with where packages in $deps are, and usable with those that work here. What
# the system has comes before what is in the folder.
find_packages() {
  local triplet share name folder candidates=() system
  usable=$(probe_packages)
  [[ -n $deps ]] || return 0
  system=$usable
  triplet=$("${CXX:-c++}" -dumpmachine)
  share=$deps/usr/share/cmake
  for name in hwy TBB GTest CLI11 nlohmann_json; do
    if grep -qx "$name" <<<"$system"; then
      continue
    fi
    if [[ $name == GTest ]] && build_googletest; then
      folder=$build_dir/deps/googletest/lib/cmake/GTest
    else
      folder=$(newest "$deps/usr/lib/$triplet/cmake/$name" "$share/$name") || continue
    fi
    candidates+=("-D${name}_DIR=$folder")
  done
  usable=$(probe_packages "${candidates[@]}")
  for name in "${candidates[@]}"; do
    folder=${name#-D}
    if grep -qx "${folder%%_DIR=*}" <<<"$usable"; then
      cmake_arguments+=("$name")
    else
      echo "left out: ${name#*=} is not of use on this machine ($triplet)"
    fi
  done
}

# The vulkan backend: its headers and the compiler of its shaders from $deps, its loader, and a file
# that names NVIDIA's driver to that. The one that comes with the driver names libGLX_nvidia.so.0,
# which does not start where there is no screen.
find_vulkan() {
  local loader='' icd=$build_dir/nvidia_icd.json
  if [[ -n $deps ]] && loader=$(newest "$deps"/usr/lib/*/libvulkan.so.1); then
    LD_LIBRARY_PATH=$(dirname "$loader")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
  fi
  if [[ -n $deps && -x $deps/usr/bin/glslc ]] && "$deps/usr/bin/glslc" --version &>/dev/null; then
    command -v glslc >/dev/null || cmake_arguments+=("-DSHEAF_GLSLC=$deps/usr/bin/glslc")
    [[ -e /usr/include/vulkan/vulkan_core.h ]] ||
      cmake_arguments+=("-DSHEAF_VULKAN_INCLUDE=$deps/usr/include"
        "-DVulkan_INCLUDE_DIR=$deps/usr/include" "-DVulkan_LIBRARY=${loader%.1}")
  fi
  if [[ -z ${VK_ICD_FILENAMES-} ]] && ldconfig -p | grep -q libEGL_nvidia.so.0; then
    mkdir -p "$build_dir"
    cat >"$icd" <<'EOF'
{"file_format_version": "1.0.0", "ICD": {"library_path": "libEGL_nvidia.so.0", "api_version": "1.3"}}
EOF
    export VK_ICD_FILENAMES=$icd
  fi
}

has() {
  grep -qx "$1" <<<"$usable"
}

# Wheels that hold no compiled code, unpacked: nanobind's CMake files are inside, pytest runs from it.
unpack_wheels() {
  local wheel
  mkdir -p "$build_dir/deps/wheels"
  for wheel in "$deps"/*-none-any.whl; do
    [[ ! -e $wheel ]] || "$python" -m zipfile -e "$wheel" "$build_dir/deps/wheels"
  done
}

# The folder with nanobind's CMake files: installed, from a wheel, or from a source tree.
nanobind_folder() {
  local config
  "$python" -m nanobind --cmake_dir 2>/dev/null && return
  [[ -n $deps ]] || return
  config=$(newest "$build_dir"/deps/wheels/nanobind/cmake/nanobind-config.cmake \
    "$deps"/nanobind*/cmake/nanobind-config.cmake) || return
  dirname "$config"
}
