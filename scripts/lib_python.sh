# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# The project's Python environment: build/venv. To be sourced after scripts/lib.sh. A script that sets `venv` and
# `package_build` afterwards makes another.

venv=build/venv
package_build=build/python  # where the package is compiled
python_packages=(
  g++ cmake ninja-build ccache libhwy-dev libtbb-dev zlib1g-dev liburing-dev nlohmann-json3-dev
  python3-venv python3-dev)

# The interpreter that Debian's python3-venv and python3-dev belong to, not one further up in PATH.
base_python() {
  if [[ -x /usr/bin/python3 ]]; then
    echo /usr/bin/python3
  else
    command -v python3
  fi
}

# hash_of <path>...: one number for the contents and names of all files below the paths.
hash_of() {
  find "$@" -type f -not -path '*/__pycache__/*' -print0 | LC_ALL=C sort -z |
    xargs -0 sha256sum | sha256sum
}

# unless_stamped <name> <hash> <command>...: runs the command if it has not succeeded with this
# hash before. Its output is shown if it fails.
unless_stamped() {
  local stamp=$venv/.$1 log=build/$1.log
  if [[ -f $stamp && $(<"$stamp") == "$2" ]]; then
    return
  fi
  echo "python environment: $1" >&2
  if ! "${@:3}" >"$log" 2>&1; then
    cat "$log" >&2
    fail "$1 failed; the output is above and in $log"
  fi
  echo "$2" >"$stamp"
}

install_requirements() {
  "$venv/bin/python" -m pip install --disable-pip-version-check --upgrade -r "$1"
}

build_package() {
  if command -v ccache >/dev/null; then
    # The names by which the other builds call the compilers: ccache then knows the library's
    # objects already.
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache \
      CMAKE_CUDA_COMPILER_LAUNCHER=ccache CC=${CC:-cc} CXX=${CXX:-c++}
  fi
  # The build directory stays, so that the next build compiles only what has changed. The command
  # line is the other builds': without it, this one is done sooner.
  "$venv/bin/python" -m pip install --disable-pip-version-check --no-build-isolation --no-deps \
    --config-settings build-dir=$package_build --config-settings cmake.define.SHEAF_WERROR=ON \
    --config-settings cmake.define.SHEAF_COMMAND=OFF .
}

# build_extension <tree> <folder> [cmake argument...]: builds the package of another tree, or with
# other flags, without installing it: <folder>/package goes into PYTHONPATH. For scripts/mutate and
# scripts/coverage.
build_extension() {
  local python=$PWD/$venv/bin/python tree=$1 folder=$2
  use_ccache
  cmake --log-level=NOTICE -S "$tree/python" -B "$folder" -G Ninja \
    -DPython_EXECUTABLE="$python" -Dnanobind_DIR="$("$python" -m nanobind --cmake_dir)" \
    -DSHEAF_VENDOR=OFF -DSHEAF_COMMAND=OFF -DSHEAF_CUDA=OFF -DSHEAF_WERROR=ON "${@:3}"
  cmake --build "$folder" --target _sheaf
  mkdir -p "$folder/package"
  cp -r "$tree/python/sheaf" "$folder/package/"
  cp "$folder"/_sheaf.*.so "$folder/package/sheaf/"
}

# Makes the environment with its requirements, or brings it up to date.
prepare_venv() {
  install_packages "${python_packages[@]}"
  mkdir -p build
  if [[ ! -x $venv/bin/python ]]; then
    "$(base_python)" -m venv "$venv"
  fi
  unless_stamped requirements "$(hash_of python/requirements.txt)" \
    install_requirements python/requirements.txt
}

# The same and the package. Quick if nothing has changed. Two of these at a time wait for each other.
prepare_python() {
  mkdir -p build
  exec {python_lock}>build/venv.lock
  flock "$python_lock"
  prepare_venv
  # Where jaxlib is, the package is built with sheaf.jax.
  unless_stamped package "$(hash_of CMakeLists.txt LICENSE cmake include plugins pyproject.toml python src
    compgen -G "$venv/lib/python3*/site-packages/jaxlib/version.py" || true)" build_package
  flock -u "$python_lock"
}
