# SPDX-License-Identifier: MIT
"""table[...] with NumPy's meaning: what is needed along one axis is read, the rest is done in
memory."""

from __future__ import annotations

import builtins
from typing import Any

import numpy

from ._errors import IndexError, refusal


def _refuse(what: str, detail: str) -> IndexError:
    return IndexError(refusal(
        f"table: {what}", detail,
        "integers, slices, ..., arrays of integers and masks; np.asarray(table) for anything else"))


def _part(value: Any) -> Any:
    """A slice, Ellipsis, or an array of integers or of booleans."""
    if value is None:
        raise _refuse("index not supported", "None (np.newaxis) adds an axis")
    if value is Ellipsis or isinstance(value, slice):
        return value
    if isinstance(value, (str, bytes)):
        raise _refuse("index not supported", f"{value!r} is text")
    try:
        array = numpy.asarray(value)
    except (TypeError, ValueError) as error:
        raise _refuse("index not supported", f"{type(value).__name__} is no array: {error}") from None
    if array.size == 0 and array.dtype == numpy.float64:
        return array.astype(numpy.int64)  # an empty list has no type of its own
    if array.dtype == bool and array.ndim == 0:
        raise _refuse("index not supported", f"{value!r} adds an axis")
    if array.dtype.kind not in "iub":
        raise _refuse("index not supported", f"elements of type {array.dtype} are no integers")
    return array


def _axes_of(part: Any) -> int:
    return part.ndim if isinstance(part, numpy.ndarray) and part.dtype == bool else 1


def _per_axis(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """One slice or array of integers for each axis."""
    parts = [_part(value) for value in (key if isinstance(key, tuple) else (key,))]
    taken = sum(_axes_of(part) for part in parts if part is not Ellipsis)
    if taken > len(shape):
        raise _refuse("too many indices", f"{taken} for {len(shape)} axes")
    if sum(part is Ellipsis for part in parts) > 1:
        raise _refuse("index not supported", "more than one ...")
    if not any(part is Ellipsis for part in parts):
        parts.append(Ellipsis)
    axes: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            axes += [slice(None)] * (len(shape) - taken)
        elif isinstance(part, numpy.ndarray) and part.dtype == bool:
            wanted = shape[len(axes):len(axes) + part.ndim]
            if part.shape != wanted:
                raise _refuse("mask of another shape", f"{part.shape} for axes of {wanted}")
            axes += list(part.nonzero())
        else:
            axes.append(part)
    return axes


def _is_all(part: Any, size: int) -> bool:
    return isinstance(part, slice) and part.indices(size) == (0, size, 1)


def select(table: Any, key: Any) -> Any:
    """table[key]."""
    axes = _per_axis(key, table.shape)
    chosen = [d for d, part in enumerate(axes) if not _is_all(part, table.shape[d])]
    if not chosen:
        return numpy.asarray(table)
    axis = chosen[0]
    part = axes[axis]
    rows = (numpy.arange(*part.indices(table.shape[axis])) if isinstance(part, slice) else part)
    if len(chosen) == 1:
        return table.gather(rows, axis=axis)
    # What was picked along this axis stands in its order now; the other parts are NumPy's.
    read = table.gather(rows.reshape(-1), axis=axis)
    axes[axis] = (slice(None) if isinstance(part, slice)
                  else numpy.arange(rows.size).reshape(rows.shape))
    try:
        return read[tuple(int(p) if getattr(p, "ndim", 1) == 0 else p for p in axes)]
    except builtins.IndexError as error:
        raise _refuse("index out of range", str(error)) from None
