# SPDX-License-Identifier: MIT
"""What is inside this package and what it runs on: sheaf.show_config(), python -m sheaf doctor."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import warnings
from typing import Any

import numpy

from . import _sheaf
from ._threads import get_num_threads

REMEDY = ("apt-get install libhwy-dev libtbb-dev (Fedora: highway-devel tbb-devel; conda: libhwy "
          "tbb-devel; PyPI has no Highway), then: pip install --force-reinstall --no-cache-dir .")


def _slowness() -> str:
    """Why the package is slow; nothing if it is not."""
    if "cpu" in _sheaf.backends():
        return ""
    return (f"built without {_sheaf.lacks() or 'the cpu backend'}, so only the plain loops of the "
            "reference backend are there, which are many times slower")


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def config() -> dict[str, Any]:
    """The same as show_config() prints, as a dictionary."""
    return {
        "version": _sheaf.version(),
        "backends": _sheaf.backends(),
        "compiler": _sheaf.compiler(),
        _sheaf.gpu_name(): _sheaf.gpu_description(),
        "jax_ffi": _sheaf.has_jax_ffi(),
        "threads": get_num_threads() or f"as many as pay, at most {os.cpu_count()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "torch": _version_of("torch"),
        "jax": _version_of("jax"),
        "package": os.path.dirname(os.path.abspath(__file__)),
    }


def show_config() -> None:
    """Prints what is inside this package: backends, compiler, GPU, and the libraries beside it."""
    for name, value in config().items():
        text = ", ".join(value) if isinstance(value, list) else str(value)
        print(f"{name:10} {text}")


def warn_if_slow() -> None:
    if _slowness():
        warnings.warn(f"sheaf: {_slowness()}. Try: {REMEDY}", RuntimeWarning, stacklevel=3)


def _try_backend(name: str) -> str:
    """One small gather and one scatter on a backend; what went wrong, or nothing."""
    data = numpy.arange(64, dtype=numpy.float32).reshape(16, 4)
    indices = numpy.array([3, 0, -1, 3])
    try:
        rows: Any = _sheaf.try_gather(name, data, indices)
    except Exception as error:  # whatever it is, the doctor tells
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return "" if numpy.array_equal(rows, data[indices]) else "wrong values"


def doctor() -> int:
    """Prints the configuration, tries every backend, and says what could be better. The exit status
    is 1 if something does not work."""
    show_config()
    print()
    failed = False
    for name in _sheaf.backends():
        trouble = _try_backend(name)
        failed = failed or bool(trouble)
        print(f"{name:10} {trouble or 'works'}")
    advice = []
    if _slowness():
        advice.append(f"{REMEDY}  ({_slowness()})")
    if _version_of("jax") != "not installed" and not _sheaf.has_jax_ffi():
        advice.append("JAX is installed, but sheaf.jax was not built: pip install "
                      "--no-build-isolation . in an environment that has jaxlib")
    for line in advice:
        print(f"try: {line}")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """python -m sheaf, and the command `sheaf`. Where the package has the command line of the
    library inside, that runs; here are the parts that need nothing else."""
    command = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sheaf")
    if arguments[:1] == ["config"]:
        show_config()
        return 0
    if os.access(command, os.X_OK) and arguments[:1] != ["doctor"]:
        os.execv(command, [command, *arguments])
    if arguments[:1] == ["doctor"] and len(arguments) == 1:
        return doctor()
    if arguments[:1] == ["--version"]:
        print(_sheaf.version())
        return 0
    print("usage: sheaf doctor | config | --version\n\n"
          "This package was built without the library's command line (explain, check, bench), which "
          "needs CLI11 and nlohmann_json.", file=sys.stderr)
    return 0 if arguments[:1] in ([], ["--help"], ["-h"]) else 2
