# SPDX-License-Identifier: MIT
"""Which library an array belongs to, and how to hand memory over to it."""

import sys
from typing import Any, Callable

import numpy


def _belongs_to(array: Any, *packages: str) -> bool:
    return any(base.__module__.partition(".")[0] in packages for base in type(array).__mro__)


def is_immutable(array: Any) -> bool:
    """True for arrays that must not be written to although their DLPack export says nothing."""
    return _belongs_to(array, "jax", "jaxlib")


def _numpy_array(exporter: Any) -> Any:
    try:
        return numpy.asarray(memoryview(exporter))  # NumPy 1 makes DLPack imports read-only
    except BufferError:  # a dtype that the buffer protocol has no letter for
        return numpy.from_dlpack(exporter)


def _importer(array: Any) -> Callable[[Any], Any]:
    # PyTorch's tensors have no __array_namespace__.
    if _belongs_to(array, "torch"):
        return sys.modules["torch"].from_dlpack  # type: ignore[no-any-return]
    namespace = getattr(array, "__array_namespace__", None)
    if namespace is None:
        return _numpy_array
    return namespace().from_dlpack  # type: ignore[no-any-return]


def array_like(array: Any, exporter: Any) -> Any:
    """The memory of `exporter`, without a copy, as an array of the library of `array`."""
    return _importer(array)(exporter)
