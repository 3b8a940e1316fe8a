# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share. To be sourced after `set -euo pipefail`; leaves the shell in the root
# of the repository, which is also what makes the scripts work from any directory.

script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

demo_packages=(
  g++ cmake ninja-build ccache pkg-config libhwy-dev libtbb-dev libcli11-dev nlohmann-json3-dev
  zlib1g-dev liburing-dev)
# shellcheck disable=SC2034  # for scripts/test
test_packages=(
  "${demo_packages[@]}" clang libclang-rt-dev clang-format clang-tidy libgtest-dev libgmock-dev git
  python3 libonnx-testdata help2man valgrind libopenmpi-dev openmpi-bin libmpich-dev mpich
  directx-headers-dev libvulkan-dev glslc vulkan-validationlayers mesa-vulkan-drivers chromium)
# shellcheck disable=SC2034  # for scripts/web
web_packages=(emscripten esbuild cmake ninja-build nlohmann-json3-dev python3)
# shellcheck disable=SC2034  # for scripts/web
site_packages=("${web_packages[@]}" "${demo_packages[@]}" nodejs librsvg2-bin)

fail() {
  echo "$(basename "$script"): $*" >&2
  exit 1
}

# Writes what the comment at the head of the calling script says.
print_help() {
  sed -n '/^## /s/^## \{0,1\}//p; /^##$/s/.*//p' "$script"
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "needs root to run: $*"
  fi
}

# install_packages <package>...: installs the missing ones. When none is missing this costs one
# dpkg-query. apt's output goes to build/packages.log, and to stderr if it fails: stdout belongs to
# the script.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: taking it that these are installed: $*" >&2
    return
  fi
  local installed missing=() package log=build/packages.log
  # dpkg-query fails when it does not know one of the names; the others are listed all the same.
  # shellcheck disable=SC2016
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
  done
  if ((${#missing[@]})); then
    [[ $EUID -eq 0 ]] || command -v sudo >/dev/null || fail "needs root to install ${missing[*]}"
    echo "installing ${missing[*]}" >&2
    mkdir -p build
    if ! apt_install "${missing[@]}" >"$log" 2>&1; then
      cat "$log" >&2
      fail "apt-get failed; its output is above and in $log"
    fi
  fi
}

apt_install() {
  as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
}

# CMake takes the launchers as defaults for a build directory that is new. With paths relative to
# the tree, and without the build directory, one build finds the objects of another.
use_ccache() {
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CMAKE_CUDA_COMPILER_LAUNCHER=ccache CCACHE_NOHASHDIR=1
    # What it asks for to look at precompiled headers.
    export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
    if [[ -z $(ccache --get-config base_dir) ]]; then
      export CCACHE_BASEDIR=$PWD
    fi
  fi
}

has_gpu() {
  nvidia-smi -L >/dev/null 2>&1
}

# Sets cuda_options: where there is a GPU, CMake compiles the cuda backend, here for that GPU alone.
# shellcheck disable=SC2034  # for scripts/demo and scripts/test
find_cuda_options() {
  cuda_options=()
  if has_gpu; then
    cuda_options=(-DCMAKE_CUDA_ARCHITECTURES=native)
  fi
}

# show_progress <what>: reads the output of ninja and shows its count of steps on a terminal. Passes
# nothing on.
show_progress() {
  local line
  while IFS= read -r line; do
    if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
      printf '\r%s: %s ' "$1" "${BASH_REMATCH[1]}" >&2
    fi
  done
  if [[ -t 2 ]]; then
    printf '\r\033[K' >&2
  fi
}

# configure <preset> [cmake argument...]
configure() {
  use_ccache
  cmake --log-level=NOTICE --preset "$@"
}

# build <preset or directory> [cmake --build argument...]
build() {
  if [[ -f $1/CMakeCache.txt ]]; then
    cmake --build "$@"
  else
    cmake --build --preset "$@"
  fi
}

# build_quietly <preset or directory> [cmake --build argument...]: progress on a terminal; the
# compilers' output if the build fails.
build_quietly() {
  local log=build/build.log
  if ! build "$@" 2>&1 | tee "$log" | show_progress "building $1"; then
    cat "$log" >&2
    fail "the build failed; its output is above and in $log"
  fi
}

# run_ctest <preset> [ctest argument...]
run_ctest() {
  # The sanitizers of GCC 12 lose their way now and then where the kernel randomises addresses by
  # more than 28 bits. Not every container allows to turn that off, hence the trial.
  local fixed_addresses=()
  if setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
  fi
  "${fixed_addresses[@]}" ctest --preset "$1" -j "$(nproc)" "${@:2}" | grep -vE '^ +Start +[0-9]+: '
}

# Builds the command line into build/release. A directory that is configured already is left as it is: there
# the developer has the tests, which need more packages than this. Ninja runs CMake again when that is needed.
# The preset switches on again what is left out here.
build_cli() {
  if [[ ! -f build/release/build.ninja ]]; then
    configure release -DSHEAF_TESTS=OFF -DSHEAF_EXAMPLES=OFF -DSHEAF_MPI=OFF \
      "${cuda_options[@]}" || return
  fi
  build release --target sheaf_cli
}

# Compiles the engine of the page to WebAssembly and bundles the page into build/web. Ninja compiles
# only what has changed. Emscripten finds JSON's headers nowhere by itself: Debian's are outside of
# its own tree.
build_web() {
  local engine=build/wasm
  mkdir -p build/web "$engine/include"
  ln -sfn /usr/include/nlohmann "$engine/include/nlohmann"
  if [[ ! -f $engine/build.ninja ]]; then
    env -u CMAKE_C_COMPILER_LAUNCHER -u CMAKE_CXX_COMPILER_LAUNCHER \
      emcmake cmake --log-level=NOTICE -S . -B "$engine" -G Ninja -DCMAKE_BUILD_TYPE=MinSizeRel \
      -DCMAKE_CXX_FLAGS=-fexceptions -DCMAKE_CXX_FLAGS_MINSIZEREL='-Oz -DNDEBUG' \
      -DSHEAF_WEB=ON -DSHEAF_WERROR=ON -DSHEAF_JSON_INCLUDE="$PWD/$engine/include" \
      -DSHEAF_DIALECTS=OFF -DSHEAF_CPU=OFF -DSHEAF_CUDA=OFF -DSHEAF_TESTS=OFF \
      -DSHEAF_TOOLS=OFF -DSHEAF_EXAMPLES=OFF -DSHEAF_INSTALL=OFF >&2
  fi
  # Emscripten's own way to call ccache: around clang, not around its scripts. A node that is not
  # Debian's does not know where Debian keeps the modules that Emscripten needs.
  NODE_PATH=/usr/share/nodejs EM_COMPILER_WRAPPER=$(command -v ccache || true) \
    cmake --build "$engine" --target sheaf_engine
  esbuild web/main.js --bundle --minify --format=iife --charset=utf8 --log-level=warning \
    --alias:sheaf-engine="$PWD/$engine/bin/sheaf_engine.js" --outfile=build/web/sheaf.js
  cp web/index.html web/*.css web/*.svg build/web/
}

# build_site <folder> [base URL]: the page as a site that any host can serve, after build_web. The pictures are
# drawn by the command line.
build_site() {
  build_cli >&2
  esbuild web/site/site.js --bundle --platform=node --format=cjs --charset=utf8 --log-level=warning \
    --outfile=build/site.cjs
  node build/site.cjs build/web "$1" build/release/bin/sheaf "${2-}"
}
