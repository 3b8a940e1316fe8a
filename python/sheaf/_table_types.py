# SPDX-License-Identifier: MIT
"""What tables in files are read as: NumPy's types by Sheaf's names, indices, settings."""

from __future__ import annotations

from typing import Any

import numpy

from . import _sheaf
from ._dispatch import is_traced
from ._errors import UnsupportedError, refusal

_NUMPY_NAMES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64",
    "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
# Types that NumPy knows through ml_dtypes; without it, their bits come as unsigned integers.
_ML_NAMES = {
    "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2",
}


def numpy_dtype(name: str) -> numpy.dtype[Any]:
    if name in _NUMPY_NAMES:
        return numpy.dtype(_NUMPY_NAMES[name])
    if name in _ML_NAMES:
        try:
            import ml_dtypes
        except ImportError:
            return numpy.dtype("uint16" if name == "bf16" else "uint8")
        dtype: numpy.dtype[Any] = numpy.dtype(getattr(ml_dtypes, _ML_NAMES[name]))
        return dtype
    return numpy.dtype(f"V{name.removeprefix('opaque')}")


def refuse_traced(call: str, *arrays: Any) -> None:
    """For arrays of a program that JAX compiles: a table's call is none of its operations."""
    if any(is_traced(array) for array in arrays):
        raise UnsupportedError(refusal(
            f"{call}: a table inside a program that JAX compiles",
            "its rows are fetched by the host, in a call of its own",
            f"jax.pure_callback(table.{call}, jax.ShapeDtypeStruct(shape, dtype), indices), or the "
            "call outside jit"))


# What encoded rows may become.
DECODED = {"f32": "f32", "float32": "f32", "f16": "f16", "float16": "f16",
            "bf16": "bf16", "bfloat16": "bf16"}
# Built-in types of as many bytes.
BITS = {1: "u1", 2: "u2", 4: "u4", 8: "u8", 16: "c16"}
_INDEX_NAMES = {numpy.dtype(numpy_name): name for name, numpy_name in _NUMPY_NAMES.items()}


def index_array(values: Any) -> tuple[Any, str]:
    """A contiguous copy of the indices, and Sheaf's name of their type. A copy, because nobody else
    must change type or shape of the array while the call runs."""
    array = numpy.array(values, order="C", subok=False)
    if array.size == 0 and array.dtype == numpy.float64:
        array = array.astype(numpy.int64)  # an empty list has no type of its own
    name = _INDEX_NAMES.get(array.dtype, "f32")
    return array, name


def file_settings(values: dict[str, Any]) -> Any:
    settings = _sheaf.FileSettings()
    for name, value in values.items():
        if name not in ("memory", "depth", "direct", "reader", "cache", "format"):
            raise TypeError(f"unexpected keyword '{name}'")
        if value is not None:
            setattr(settings, name, value)
    return settings
