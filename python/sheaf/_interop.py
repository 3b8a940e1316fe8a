# SPDX-License-Identifier: MIT
"""Which library an array belongs to, and how to hand memory over to it."""

import importlib
import sys
from typing import Any, Callable

import numpy

from ._errors import ArgumentError, refusal


def _belongs_to(array: Any, *packages: str) -> bool:
    return any(base.__module__.partition(".")[0] in packages for base in type(array).__mro__)


_LASTING = ("builtins", "cupy", "jax", "jaxlib", "numpy", "torch")  # their types never go away


def describe_type(cls: type) -> "tuple[str, bool, Any, Any, bool]":
    """What the compiled part needs to know of an array type: the library that provides memory and
    streams, if it is one that can; whether arrays must not be written to although their DLPack
    export does not say so; the capsule with DLPack's C functions, or None; that of the class it is
    derived from; whether the answer may be kept.

    A subclass does not inherit the C functions: its __dlpack__ may give other memory.
    """
    packages = [base.__module__.partition(".")[0] for base in cls.__mro__]
    library = next((name for name in packages if name in ("torch", "cupy")), "")
    immutable = "jax" in packages or "jaxlib" in packages
    name = "__dlpack_c_exchange_api__"
    functions = cls.__dict__.get(name)
    inherited = next((base.__dict__[name] for base in cls.__mro__ if name in base.__dict__), None)
    if cls.__module__ == "torch.nn.parameter":  # the memory of these is a tensor's
        functions = inherited
    return library, immutable, functions, inherited, packages[0] in _LASTING


# Numbers by kind: one of a lower line is one of a higher, too.
_ORDER = {"b": 0, "u": 1, "i": 1, "f": 2, "c": 3}
_NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
    "u16": "uint16", "u32": "uint32", "u64": "uint64", "f16": "float16", "f32": "float32",
    "f64": "float64", "c64": "complex64", "c128": "complex128",
}
_ML_NAMES = {"bf16": "bfloat16", "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2"}
_TORCH_NAMES = {"bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2"}


def numpy_dtype(dtype: Any) -> Any:
    """`dtype` is NumPy's, or a name of Sheaf's."""
    if isinstance(dtype, str) and dtype in _ML_NAMES:
        return numpy.dtype(getattr(importlib.import_module("ml_dtypes"), _ML_NAMES[dtype]))
    return numpy.dtype(_NUMPY_NAMES[dtype] if isinstance(dtype, str) else dtype)


def converted(values: Any, dtype: Any) -> Any:
    """Lists and numbers, which have no dtype of their own, as an array of `dtype`.

    dtype is NumPy's, or a name of Sheaf's. Where a value would lose something by it, or NumPy does
    not know the dtype, the array has the dtype that NumPy finds, and is refused for that.
    """
    array = numpy.asarray(values)
    try:
        wanted = numpy_dtype(dtype)
        widest = _ORDER.get(wanted.kind, 9)  # records, dates: NumPy knows
        if array.size and _ORDER.get(array.dtype.kind, 9) > widest:
            return array
        result = numpy.asarray(values, wanted)
        wrapped = wanted.kind in "iu" and not numpy.array_equal(result, array)  # by NumPy 1
        return array if wrapped else result
    except (ImportError, KeyError, TypeError, ValueError, OverflowError):
        return array


def assignable(values: Any, dtype: Any) -> Any:
    """What NumPy assigns to elements of `dtype`."""
    if hasattr(values, "__dlpack__") and not isinstance(values, numpy.ndarray):
        return values
    return numpy.asarray(values).astype(dtype, copy=False)


def cast_updates(updates: Any, data: Any) -> Any:
    """`updates` with the dtype of `data`, if that is a cast of the same kind; else None."""
    if type(updates) is type(data) and hasattr(data, "__torch_function__"):
        torch = sys.modules["torch"]
        return updates.to(data.dtype) if torch.can_cast(updates.dtype, data.dtype) else None
    try:
        if isinstance(data, numpy.ndarray):
            array = numpy.asarray(updates)
            plain = array.dtype.kind in _ORDER and data.dtype.kind in _ORDER
            castable = plain and numpy.can_cast(array.dtype, data.dtype, "same_kind")
            return array.astype(data.dtype) if castable else None
        if type(updates) is type(data) and numpy.can_cast(updates.dtype, data.dtype, "same_kind"):
            return updates.astype(data.dtype)
    except (AttributeError, TypeError, ValueError):
        pass
    return None


_SMALL_INTEGERS = {"int2": (2, True), "int4": (4, True), "uint2": (2, False), "uint4": (4, False)}


def is_small_integer(array: Any) -> bool:
    """Whether its elements are integers of ml_dtypes that have less than a byte."""
    return isinstance(array, numpy.ndarray) and array.dtype.name in _SMALL_INTEGERS


def small_integers(scatter: Callable[..., Any], data: Any, indices: Any, updates: Any,
                   *where: Any, out: Any, **keywords: Any) -> Any:
    """The scatter of such an array in integers of 32 bits, of which the low bits stay."""
    if out is not None and (out.shape != data.shape or out.dtype != data.dtype):
        raise ArgumentError(refusal("scatter: out does not fit",
                                    f"out is {out.dtype}{list(out.shape)}, but data is "
                                    f"{data.dtype}{list(data.shape)}",
                                    "an out like data"))
    bits, signed = _SMALL_INTEGERS[data.dtype.name]
    wide = scatter(data.astype(numpy.int32), indices,
                   numpy.asarray(updates).astype(numpy.int32, casting="same_kind"), *where,
                   **keywords)
    low = wide & (2**bits - 1)
    result = (low - 2**bits * (low >> (bits - 1)) if signed else low).astype(data.dtype)
    if out is None:
        return result
    out[...] = result
    return out


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


def torch_empty(like: Any, shape: Any, dtype: str) -> Any:
    """Beside a tensor, of another dtype, which has a name of Sheaf's."""
    torch = sys.modules["torch"]
    name = {**_NUMPY_NAMES, **_TORCH_NAMES}[dtype]
    return like.new_empty(shape, dtype=getattr(torch, name))


def cupy_empty(shape: Any, dtype: Any) -> Any:
    return sys.modules["cupy"].empty(shape, dtype)


def assign(array: Any, values: Any) -> None:
    """All of `array`, on a GPU, by its own library."""
    array[...] = values.reshape(array.shape)


def is_on_gpu(array: Any) -> bool:
    device = getattr(array, "__dlpack_device__", lambda: (1, 0))()
    return int(device[0]) in (2, 7, 13)


def on_host(array: Any) -> Any:
    """A copy in host memory of an array on a GPU; everything else as it is."""
    if not is_on_gpu(array):
        return array
    for copy in ("cpu", "get", "numpy"):  # PyTorch, CuPy, sheaf.vulkan
        if hasattr(array, copy):
            return getattr(array, copy)()
    return numpy.asarray(array)


def like_array(array: Any, values: Any) -> Any:
    """`values`, which are on the host, as an array of the library of `array`."""
    if _belongs_to(array, "torch"):
        return sys.modules["torch"].as_tensor(values)
    return numpy.asarray(values) if isinstance(array, numpy.ndarray) else values
