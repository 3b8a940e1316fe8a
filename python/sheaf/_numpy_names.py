# SPDX-License-Identifier: MIT
"""Functions with the names, arguments and errors of NumPy's."""

from __future__ import annotations

from typing import Any, Literal

import numpy

from . import _sheaf
from ._errors import ArgumentError
from ._functions import is_torch, load_torch, scatter, scatter_elements, scatter_nd


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
    if is_torch(x) or is_torch(out):
        return load_torch().take(x, indices, axis, out, mode, threads)
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
    if is_torch(x) or is_torch(out):
        return load_torch().take_along_axis(x, indices, axis, out, threads)
    return _sheaf.take_along_axis(x, indices, axis, out, threads)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, *,
                   threads: int = 0) -> None:
    """Writes one value into arr for each index along an axis, as numpy.put_along_axis.

    indices has as many dimensions as arr; off the axis it is broadcast to arr, and values to both.
    With axis=None, arr is taken as flat and indices has one dimension. Of several values for one
    element the last stays.
    """
    if is_torch(arr):
        load_torch().put_along_axis(arr, indices, values, axis, threads)
        return
    _sheaf.put_along_axis(arr, indices, values, axis, threads)


def add_at(a: Any, indices: Any, b: Any, *, threads: int = 0) -> None:
    """Adds b to the elements or rows of a that indices pick, in place, as numpy.add.at.

    indices is an array of integers for the first axis, or a tuple of them, one for each axis.
    Repeated indices add up, in their order.
    """
    if isinstance(indices, tuple):
        parts = numpy.broadcast_arrays(*indices) if indices else []
        stacked = numpy.stack(parts, axis=-1) if parts else numpy.zeros((0,), numpy.int64)
        scatter_nd(a, stacked, b, reduction="add", out=a, threads=threads)
        return
    scatter(a, indices, b, reduction="add", out=a, threads=threads)


def bincount(x: Any, weights: Any = None, minlength: int = 0, *, threads: int = 0) -> Any:
    """How often each number occurs in x, or the sum of its weights, as numpy.bincount.

    x holds integers that are not negative. Weights are summed as float64, in their order.
    """
    values = numpy.asarray(x)
    if values.ndim != 1:
        raise ArgumentError(f"bincount: x has {values.ndim} dimensions\n  it must have 1\n"
                            "  try: x.reshape(-1)")
    if minlength < 0:
        raise ArgumentError(f"bincount: minlength is negative\n  minlength = {minlength}\n  try: 0")
    if values.size == 0:
        values = values.astype(numpy.int64)
    length = max(minlength, int(values.max(initial=-1)) + 1)
    if weights is None:
        sums: Any = numpy.zeros(length, numpy.intp)
        weights = numpy.ones((), numpy.intp)
    else:
        sums = numpy.zeros(length, numpy.float64)
        weights = numpy.asarray(weights, numpy.float64)
        if weights.shape != values.shape:
            raise ArgumentError(f"bincount: weights do not fit\n  weights have shape {weights.shape}"
                                f", but x has {values.shape}\n  try: one weight for each number")
    if length:
        scatter_elements(sums, values, numpy.broadcast_to(weights, values.shape), reduction="add",
                         negative="out_of_range", out=sums, threads=threads)
    return sums
