# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What the scripts share. To be sourced after `set -euo pipefail`; leaves the shell in the root
# of the repository, which is also what makes the scripts work from any directory.

script=$(realpath "$0")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

demo_packages=(
  g++ cmake ninja-build ccache pkg-config libhwy-dev libtbb-dev libcli11-dev nlohmann-json3-dev)
# shellcheck disable=SC2034  # for scripts/test
test_packages=(
  "${demo_packages[@]}" clang clang-format clang-tidy libgtest-dev libgmock-dev git python3)
# shellcheck disable=SC2034  # for scripts/web
web_packages=(emscripten esbuild cmake ninja-build nlohmann-json3-dev python3)

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
# dpkg-query. apt's output goes to stderr: stdout belongs to the script.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: taking it that these are installed: $*" >&2
    return
  fi
  local installed missing=() package
  # dpkg-query fails when it does not know one of the names; the others are listed all the same.
  # shellcheck disable=SC2016
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null || true)
  for package in "$@"; do
    grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
  done
  if ((${#missing[@]})); then
    echo "installing ${missing[*]}" >&2
    as_root apt-get update -qq >&2
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" >&2
  fi
}

# CMake takes these as defaults for a build directory that is new.
use_ccache() {
  if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
    export CMAKE_CUDA_COMPILER_LAUNCHER=ccache
  fi
}

# configure <preset> [cmake argument...]
configure() {
  use_ccache
  cmake --log-level=NOTICE --preset "$@"
}

# build <preset> [cmake --build argument...]
build() {
  cmake --build --preset "$@"
}

# run_ctest <preset> [ctest argument...]
run_ctest() {
  # The sanitizers of GCC 12 lose their way now and then where the kernel randomises addresses by
  # more than 28 bits. Not every container allows to turn that off, hence the trial.
  local fixed_addresses=()
  if setarch -R true 2>/dev/null; then
    fixed_addresses=(setarch -R)
  fi
  # The passed tests are thousands of lines; failures and the summary are what one reads.
  "${fixed_addresses[@]}" ctest --preset "$1" -j "$(nproc)" "${@:2}" |
    grep -vE '^ +Start +[0-9]+: | Passed +[0-9.]+ sec$'
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
      -DCMAKE_CXX_FLAGS=-fexceptions \
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
