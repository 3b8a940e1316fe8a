# SPDX-License-Identifier: MIT
"""Arrays on GPUs of any vendor, by Vulkan.

    table = sheaf.vulkan.array(numpy_table)
    rows = sheaf.vulkan.array(numpy_rows)
    picked = sheaf.gather(table, rows).numpy()

Gathers, scatters and plans take these arrays as they take NumPy's, and return such arrays. Calls
wait for the GPU. Which device that is, and why there is none, says description().
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy
from numpy.typing import ArrayLike, NDArray

from . import _sheaf
from ._errors import ArgumentError, DTypeError, refusal
from ._interop import numpy_dtype

__all__ = ["Array", "array", "description", "from_dlpack", "is_available"]

_DEVICE = (7, 0)  # DLPack's kDLVulkan


def is_available() -> bool:
    """Whether this build of Sheaf, and this machine, have a Vulkan device that runs plans."""
    return _sheaf.vulkan_available()


def description() -> str:
    """The Vulkan device in words, or why there is none to use."""
    return _sheaf.vulkan_description()


class Array:
    """A contiguous array in the memory of the Vulkan device. array() makes one."""

    __slots__ = ("__weakref__", "_exported", "_dtype", "_shape")

    def __init__(self, exported: Any, dtype: numpy.dtype[Any], shape: tuple[int, ...]) -> None:
        self._exported = exported  # the memory, by DLPack
        self._dtype = dtype
        self._shape = shape

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's name for the type of the elements."""
        return self._dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the dimensions."""
        return self._shape

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self._dtype.itemsize

    def numpy(self) -> NDArray[Any]:
        """A copy in the memory of the host."""
        copied = numpy.empty(self._shape, self._dtype)
        _sheaf.vulkan_download(self._exported, copied)
        return copied

    def reshape(self, *shape: Any) -> Array:
        """The same elements, in the same memory, with other dimensions."""
        sizes = numpy.empty(self._shape, numpy.bool_).reshape(*shape).shape
        return Array(_sheaf.vulkan_reshaped(self._exported, sizes), self._dtype, sizes)

    def astype(self, dtype: Any) -> Array:
        """A copy with elements of another type, made by way of the host."""
        return array(self.numpy().astype(dtype))

    def __setitem__(self, key: Any, values: Any) -> None:
        if key is not Ellipsis:
            raise ArgumentError(refusal("vulkan.Array: only the whole array can be assigned to",
                                        "the key is not ...",
                                        "scatter, or x[...] = values"))
        from_host = values.numpy() if isinstance(values, Array) else numpy.asarray(values)
        whole = numpy.ascontiguousarray(numpy.broadcast_to(from_host, self._shape), self._dtype)
        _sheaf.vulkan_upload(self._exported, whole)

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of an array without dimensions")
        return self._shape[0]

    def __repr__(self) -> str:
        return f"sheaf.vulkan.Array({self._dtype.name}, {list(self._shape)})"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        raise TypeError("a vulkan.Array is not on the host; x.numpy() copies it there")

    def __array_namespace__(self, api_version: Any = None) -> Any:
        return sys.modules[__name__]

    def __dlpack__(self, **_keywords: Any) -> Any:
        return self._exported.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return _DEVICE


def array(values: ArrayLike) -> Array:
    """A copy of `values`, an array of NumPy or what NumPy makes one of, on the Vulkan device."""
    host = numpy.asarray(values, order="C")
    exported = _sheaf.vulkan_empty(host)
    if _numpy_dtype(exported) != host.dtype:
        raise DTypeError(refusal("vulkan.array: unsupported dtype",
                                 f"{host.dtype} has no name in DLPack",
                                 "x.view(dtype) with a plain dtype of as many bytes"))
    _sheaf.vulkan_upload(exported, host)
    return Array(exported, host.dtype, host.shape)


def from_dlpack(x: Any) -> Array:
    """The array that another object exports from the memory of the Vulkan device."""
    if isinstance(x, Array):
        return x
    return Array(x, _numpy_dtype(x), _sheaf.vulkan_described(x)[1])


def _numpy_dtype(exported: Any) -> Any:
    name = _sheaf.vulkan_described(exported)[0]
    try:
        return numpy_dtype(name)
    except (ImportError, KeyError):
        return None
