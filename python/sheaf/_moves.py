# SPDX-License-Identifier: MIT
"""The neighbours of gathers: copies along fixed paths, and conversions.

All take arrays in the memory of the host. PyTorch tensors give PyTorch tensors; everything else
gives NumPy arrays.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy

from . import _sheaf
from ._dispatch import is_torch
from ._errors import ArgumentError, refusal


def _array(x: Any) -> Any:
    return x.detach() if is_torch(x) else numpy.asarray(x)


def _empty(like: Any, shape: Sequence[int], dtype: Any = None) -> Any:
    if is_torch(like):
        return like.new_empty(tuple(shape), dtype=like.dtype if dtype is None else dtype)
    return numpy.empty(tuple(shape), like.dtype if dtype is None else dtype)


def _int64(like: Any) -> Any:
    return like.new_empty(0).long().dtype if is_torch(like) else numpy.int64


def _torch_values(values: Any, beside: Any) -> Any:
    """A tensor on the device of another one, of the dtype that PyTorch gives numbers."""
    import torch
    return torch.as_tensor(values, device=beside.device)


def _axis(call: str, axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise ArgumentError(refusal(f"{call}: axis out of range",
                                    f"axis = {axis}, but there are {rank} dimensions",
                                    f"an axis from {-rank} to {rank - 1}"))
    return axis % rank


def _run(call: str, inputs: list[Any], outputs: list[Any], dims: Sequence[int] = (), axis: int = 0,
         mode: str = "edge", largest: bool = True) -> int:
    return _sheaf.move(call, inputs, outputs, [int(d) for d in dims], axis, mode, largest)


def cast(x: Any, dtype: Any) -> Any:
    """x converted to dtype. Floats become integers by dropping the fraction; what is outside the
    range becomes its nearest end, and NaN becomes 0."""
    x = _array(x)
    out = _empty(x, x.shape, dtype)
    _run("cast", [x], [out])
    return out


def tile(x: Any, repeats: Sequence[int]) -> Any:
    """x, repeats[d] times along each dimension d."""
    x = _array(x)
    shape = [n * r for n, r in zip(x.shape, repeats)]
    out = _empty(x, shape)
    _run("tile", [x], [out], repeats)
    return out


def pad(x: Any, pad_width: Sequence[tuple[int, int]], mode: str = "constant",
        value: Any = 0) -> Any:
    """x with pad_width[d] = (before, after) entries around dimension d, as numpy.pad. mode is
    "constant", "edge", "reflect", "symmetric" or "wrap"."""
    x = _array(x)
    if len(pad_width) != len(x.shape) or any(min(pair) < 0 for pair in pad_width):
        raise ArgumentError(refusal("pad: padding does not fit",
                                    f"pad_width = {pad_width!r} for {len(x.shape)} dimensions",
                                    "a pair of 0 or more for each"))
    out = _empty(x, [n + before + after for n, (before, after) in zip(x.shape, pad_width)])
    if mode == "constant":
        out[...] = value
        inner = tuple(slice(before, before + n) for n, (before, _) in zip(x.shape, pad_width))
        _run("copy", [x], [out[inner] if inner else out])
    else:
        _run("pad", [x], [out], [before for before, _ in pad_width], mode=mode)
    return out


def concat(arrays: Sequence[Any], axis: int = 0) -> Any:
    """The arrays one after the other along an axis."""
    parts = [_array(x) for x in arrays]
    if not parts:
        raise ArgumentError(refusal("concat: no arrays", "the list is empty",
                                    "one array or more"))
    axis = _axis("concat", axis, len(parts[0].shape))
    shape = list(parts[0].shape)
    shape[axis] = sum(x.shape[axis] if axis < len(x.shape) else 0 for x in parts)
    out = _empty(parts[0], shape)
    _run("concat", parts, [out], axis=axis)
    return out


def split(x: Any, sizes: Sequence[int], axis: int = 0) -> list[Any]:
    """Parts of the given sizes along an axis."""
    x = _array(x)
    axis = _axis("split", axis, len(x.shape))
    parts = [_empty(x, [*x.shape[:axis], int(size), *x.shape[axis + 1:]]) for size in sizes]
    _run("split", [x], parts, axis=axis)
    return parts


def reverse_subsequences(x: Any, lengths: Any, axis: int) -> Any:
    """The first lengths[...] entries along an axis in reverse order, the others as they are.
    lengths has x's shape with size 1 at the axis."""
    x = _array(x)
    out = _empty(x, x.shape)
    _run("reverse_subsequences", [x, _array(lengths)], [out],
         axis=_axis("reverse_subsequences", axis, len(x.shape)))
    return out


def one_hot(indices: Any, depth: int, axis: int = -1, *, off_on: Any = (0.0, 1.0)) -> Any:
    """A new axis of `depth` entries: on where the index points, off elsewhere. Negative indices
    count from the end; those out of range leave all entries off."""
    indices = _array(indices)
    values = _array(off_on)
    if is_torch(indices) and not is_torch(values):  # the result is of the values' kind
        values = _torch_values(off_on, indices)
    axis = _axis("one_hot", axis, len(indices.shape) + 1)
    before, after = tuple(indices.shape[:axis]), tuple(indices.shape[axis:])
    out = _empty(values, [*before, depth, *after])
    _run("one_hot", [indices.reshape((*before, 1, *after)), values], [out], axis=axis)
    return out


def top_k(x: Any, k: int, axis: int = -1, *, largest: bool = True) -> tuple[Any, Any]:
    """The k largest (or smallest) entries along an axis in order, and their places. Equal values
    keep the order of their places; NaN counts as larger than every number."""
    x = _array(x)
    axis = _axis("top_k", axis, len(x.shape))
    shape = [*x.shape[:axis], int(k), *x.shape[axis + 1:]]
    values, places = _empty(x, shape), _empty(x, shape, _int64(x))
    _run("top_k", [x], [values, places], axis=axis, largest=largest)
    return values, places


def nonzero(x: Any) -> Any:
    """The coordinates of the elements that are not zero, one row each, in row-major order."""
    x = _array(x)
    count = 1
    for n in x.shape:
        count *= n
    rows = _empty(x, [count, len(x.shape)], _int64(x))
    return rows[:_run("nonzero", [x], [rows])]
