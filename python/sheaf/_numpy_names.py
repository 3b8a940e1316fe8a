# SPDX-License-Identifier: MIT
"""Functions with the names, arguments and errors of NumPy's."""

from __future__ import annotations

from typing import Any, Literal

import numpy

from . import _sheaf
from ._dispatch import all_numpy, is_torch, torch_calls
from ._errors import ArgumentError, refusal
from ._functions import scatter, scatter_elements, scatter_nd


def _one_of(call: str, **given: Any) -> Any:
    """The argument that goes by either of two names: NumPy's, or the array API's."""
    present = [name for name, value in given.items() if value is not None]
    if len(present) != 1:
        names = " or ".join(f"{name}=" for name in given)
        raise TypeError(f"{call}() takes one array as its first argument, by position or as {names}"
                        if not present else f"{call}() got its first argument twice: {names}")
    return given[present[0]]


def take(x: Any = None, indices: Any = None, axis: int | None = None, out: Any = None,
         mode: Literal["raise", "wrap", "clip"] = "raise", *, a: Any = None,
         threads: int = 0) -> Any:
    """Slices of x along an axis, as numpy.take; x may also be passed as a=.

    Without an axis, x is taken as flat. mode says what becomes of an index out of range: "raise" an
    IndexError, "wrap" around, or "clip" to the nearest entry (negative indices then mean entry 0).
    The result is an array of x's kind; with out it is written there, and out is returned.
    """
    if x is None or a is not None:
        x = _one_of("take", x=x, a=a)
    if not all_numpy(x, indices, out) and (is_torch(x) or is_torch(out)):
        return torch_calls().take(x, indices, axis, out, mode, threads)
    return _sheaf.take(x, indices, axis, out, mode, threads)


def take_along_axis(x: Any = None, indices: Any = None, axis: int | None = -1, *, arr: Any = None,
                    out: Any = None, threads: int = 0) -> Any:
    """One element of x for each index along an axis, as numpy.take_along_axis; x may also be passed
    as arr=.

    indices has as many dimensions as x; off the axis the two are broadcast against each other. With
    axis=None, x is taken as flat and indices has one dimension.
    """
    if x is None or arr is not None:
        x = _one_of("take_along_axis", x=x, arr=arr)
    if axis is None:
        _check_flat("take_along_axis", indices)
    if not all_numpy(x, indices, out) and (is_torch(x) or is_torch(out)):
        return torch_calls().take_along_axis(x, indices, axis, out, threads)
    return _sheaf.take_along_axis(x, indices, axis, out, threads)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, *,
                   threads: int = 0) -> None:
    """Writes one value into arr for each index along an axis, as numpy.put_along_axis.

    indices has as many dimensions as arr; off the axis it is broadcast to arr, and values to both.
    With axis=None, arr is taken as flat and indices has one dimension. Of several values for one
    element the last stays.
    """
    if axis is None:
        _check_flat("put_along_axis", indices)
    if is_torch(arr):
        torch_calls().put_along_axis(arr, indices, values, axis, threads)
        return
    if axis is not None and isinstance(arr, numpy.ndarray):
        arr, indices, values, axis = _unstretched(arr, indices, values, axis)
    _sheaf.put_along_axis(arr, indices, values, axis, threads)


def _unstretched(arr: Any, indices: Any, values: Any, axis: int) -> tuple[Any, Any, Any, int]:
    """The same call where indices stretch no dimension of arr. One that they would is left out of
    arr, where it has one entry, and joins the axis in indices and values."""
    shape, rank = numpy.shape(indices), arr.ndim
    at = axis + rank if axis < 0 else axis
    stretched = tuple(d for d in range(rank) if len(shape) == rank and d != at
                      and arr.shape[d] == 1 and shape[d] > 1)
    if not stretched or not 0 <= at < rank:
        return arr, indices, values, axis
    full = tuple(shape[d] if d == at or d in stretched else arr.shape[d] for d in range(rank))
    others = [d for d in range(rank) if d != at and d not in stretched]
    order = others + sorted((at, *stretched))

    def joined(array: Any) -> Any:
        moved = numpy.broadcast_to(array, full).transpose(order)
        return moved.reshape(*moved.shape[:len(others)], -1)

    small = numpy.moveaxis(arr, at, -1).squeeze(axis=tuple(
        d - (d > at) for d in stretched))
    return small, joined(indices), joined(values), -1


def _check_flat(call: str, indices: Any) -> None:
    if numpy.ndim(indices) != 1:
        raise ArgumentError(refusal(
            f"{call}: indices do not have a single dimension",
            f"axis is None, but indices have {numpy.ndim(indices)} dimensions",
            "indices.reshape(-1), or an axis"))


def add_at(a: Any, indices: Any, b: Any = None, *, threads: int = 0) -> None:
    """Adds b to the elements of a that a[indices] picks, in place, as numpy.add.at.

    Repeated indices add up, in their order. Indices are integers, or whatever else a NumPy array
    takes: tuples, slices, masks.
    """
    if type(a) is numpy.ndarray and type(indices) is numpy.ndarray and b is not None and (
            indices.dtype.kind in "iu" and a.dtype.isnative):
        _sheaf.run_scatter("scatter", a, indices, b, a, reduction="add", threads=threads)
        return
    if b is None:
        raise ArgumentError(refusal(
            "add_at: b is missing",
            "there is nothing to add",
            "add_at(a, indices, b)"))
    if is_torch(a):
        torch_calls().add_at(a, indices, b, threads)
        return
    if isinstance(a, numpy.ndarray) and not a.dtype.isnative:
        native = a.astype(a.dtype.newbyteorder("="))
        add_at(native, indices, b, threads=threads)
        a[...] = native
        return
    if isinstance(indices, tuple) and indices and all(map(_is_integers, indices)):
        tuples = numpy.stack(numpy.broadcast_arrays(*indices), axis=-1)
        scatter_nd(a, tuples, b, reduction="add", out=a, threads=threads)
    elif _is_integers(indices):
        scatter(a, indices, b, reduction="add", out=a, threads=threads)
    else:
        numbers = numpy.arange(a.size).reshape(a.shape)[indices]
        places = numpy.stack(numpy.unravel_index(numbers, a.shape), axis=-1) if a.ndim else (
            numpy.zeros((*numbers.shape, 0), numpy.intp))
        scatter_nd(a, places, numpy.broadcast_to(b, numbers.shape), reduction="add", out=a,
                   threads=threads)


def _is_integers(index: Any) -> bool:
    if isinstance(index, (slice, bool)) or index is None or index is Ellipsis:
        return False
    if isinstance(index, numpy.ndarray):
        return index.dtype.kind in "iu"
    if hasattr(index, "dtype"):
        return "int" in str(index.dtype)
    try:
        return numpy.asarray(index).dtype.kind in "iu"
    except ValueError:  # a list of slices and numbers
        return False


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, threads: int = 0) -> Any:
    """How often each number occurs in x, or the sum of its weights, as numpy.bincount.

    x holds integers that are not negative. Weights are summed as float64, in their order.
    """
    few = _sheaf.small_bincount(x, weights, minlength)
    if few is not None:
        return few
    values = numpy.asarray(x)
    if values.ndim != 1:
        raise ArgumentError(refusal(
            f"bincount: x has {values.ndim} dimensions",
            "it must have 1",
            "x.reshape(-1)"))
    if minlength < 0:
        raise ArgumentError(refusal(
            "bincount: minlength is negative",
            f"minlength = {minlength}",
            "0"))
    if values.size == 0 or values.dtype.kind == "b":
        values = values.astype(numpy.int64)
    if values.dtype.kind == "i" and values.min(initial=0) < 0:
        raise ArgumentError(refusal(
            "bincount: a number is negative",
            f"the smallest is {values.min()}",
            "numbers from 0"))
    length = max(minlength, int(values.max()) + 1 if values.size else 0)
    if weights is None:
        sums: Any = numpy.zeros(length, numpy.intp)
        weights = numpy.ones((), numpy.intp)
    else:
        sums = numpy.zeros(length, numpy.float64)
        weights = numpy.asarray(weights, numpy.float64)
        if weights.shape != values.shape:
            raise ArgumentError(refusal(
                "bincount: weights do not fit",
                f"weights have shape {weights.shape}, but x has {values.shape}",
                "one weight for each number"))
    if length:
        scatter_elements(sums, values, numpy.broadcast_to(weights, values.shape), reduction="add",
                         negative="out_of_range", out=sums, threads=threads)
    return sums
