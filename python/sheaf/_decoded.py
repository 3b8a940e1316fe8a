# SPDX-License-Identifier: MIT
"""Gathers of encoded tables: decoded, or with packed=True as they are stored."""

from __future__ import annotations

from typing import Any, Callable

import numpy

from . import _sheaf
from ._encoded import Encoded, dtype_name
from ._errors import ArgumentError, UnsupportedError, refusal

#: gather or gather_nd of plain arrays, with the rule of the call: (array, indices) -> array.
_Gather = Callable[..., Any]


def refuse_plain(op: str, dtype: Any, packed: Any) -> None:
    """dtype and packed say what becomes of encoded elements."""
    name = "packed" if packed else "dtype"
    raise ArgumentError(refusal(f"{op}: {name} with a plain table",
                                f"{name}={packed or dtype!r}, but data is not encoded",
                                "a sheaf.Encoded, or the result's own conversion"))


def decoded(op: str, data: Encoded, indices: Any, out: Any, dtype: Any, **options: Any) -> Any:
    """The gather with its elements decoded: f32, or the dtype asked for."""
    if hasattr(data.stored, "_trace") or hasattr(indices, "_trace"):
        raise UnsupportedError(refusal(
            f"{op}: encoded tables in a compiled program",
            "JAX is tracing this call", "sheaf.jax.bag with indices of shape [n, 1]"))
    return _sheaf.run_encoded_gather(op, data, indices, out, dtype=dtype_name(dtype), **options)


def refuse_packed_elements(op: str) -> None:
    raise UnsupportedError(refusal(f"{op}: packed elements",
                                   "an element of less than a byte has no place of its own",
                                   "sheaf.gather or sheaf.gather_nd of whole rows"))


def _check_packed(op: str, dtype: Any, out: Any, out_of_range: str) -> None:
    what = ("dtype" if dtype is not None else "out" if out is not None
            else 'out_of_range="fill"' if out_of_range == "fill" else "")
    if what:
        raise ArgumentError(refusal(f"{op}: {what} with packed rows",
                                    "the stored bytes are moved, and nothing is decoded",
                                    "packed=False"))


def _resolved(indices: Any, size: int, out_of_range: str, negative: str) -> Any:
    """The entries that indices name, by the rule of the call. Bad ones have been refused."""
    where: Any = _namespace(indices).where
    if out_of_range == "wrap":
        return indices % max(size, 1)
    if negative == "from_end":
        indices = where(indices < 0, indices + size, indices)
    if out_of_range == "clamp":
        indices = indices.clip(0, max(size - 1, 0))
    return indices


def _namespace(array: Any) -> Any:
    if hasattr(array, "__torch_function__"):
        import torch
        return torch
    return array.__array_namespace__() if hasattr(array, "__array_namespace__") else numpy


def _block_along(data: Encoded, axis: int) -> int:
    """Entries along the axis of the blocks that share a scale."""
    return data.block or max(data.shape[axis], 1)


def _one_for_all(part: Any) -> bool:
    count = 1
    for size in part.shape:
        count *= int(size)
    return count == 1


def packed_gather(gather: _Gather, data: Encoded, indices: Any, axis: int, batch_dims: int,
                  dtype: Any, out: Any, out_of_range: str, negative: str) -> Encoded:
    """Rows as they are stored, along any axis but the last."""
    _check_packed("gather", dtype, out, out_of_range)
    indices = indices if hasattr(indices, "shape") else numpy.asarray(indices)
    rank = data.ndim
    at = axis + rank if axis < 0 else axis
    if not 0 <= at < rank - 1:
        raise ArgumentError(refusal(
            "gather: packed rows along the last axis",
            f"axis = {axis}, but the bytes of a row lie along axis {rank - 1}",
            f"an axis from 0 to {rank - 2}"))
    batch = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    stored = gather(data.stored, indices, at, batch)
    grid = tuple(indices.shape[batch:])
    shape = (*data.shape[:at], *grid, *data.shape[at + 1:])
    of_scales = data.axis + rank if data.axis < 0 else data.axis
    # Where the axis of the scales is afterwards: behind what replaced the gathered axis.
    moved = of_scales + len(grid) - 1 if of_scales > at else of_scales
    if data.scales is None or _one_for_all(data.scales):
        return data.like(stored, data.scales, data.zeros, shape, axis=moved if grid else -1)
    block = data.block
    if of_scales == at:
        if len(grid) != 1:
            raise UnsupportedError(refusal(
                "gather: packed rows along the axis of the scales",
                f"indices have {len(grid)} dimensions, and a scale belongs to one axis",
                "indices of one dimension, then reshape the parts"))
        per_scale = _block_along(data, at)
        indices = _resolved(indices, data.shape[at], out_of_range, negative) // per_scale
        block = 1
    parts = [None if part is None else gather(part, indices, at, batch)
             for part in (data.scales, data.zeros)]
    return data.like(stored, parts[0], parts[1], shape, axis=moved, block=block)


def packed_gather_nd(gather_nd: _Gather, data: Encoded, indices: Any, batch_dims: int, dtype: Any,
                     out: Any, out_of_range: str, negative: str) -> Encoded:
    """Whole rows as they are stored, by tuples that name none of the last dimension."""
    _check_packed("gather_nd", dtype, out, out_of_range)
    indices = indices if hasattr(indices, "shape") else numpy.asarray(indices)
    rank = data.ndim
    batch = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    named = batch + int(indices.shape[-1])
    of_scales = data.axis + rank if data.axis < 0 else data.axis
    if named >= rank or (data.scales is not None and of_scales < named
                         and not _one_for_all(data.scales)):
        raise UnsupportedError(refusal(
            "gather_nd: packed rows",
            f"tuples name {named} of {rank} dimensions, and scales lie along axis {of_scales}",
            "shorter tuples, or packed=False"))
    stored = gather_nd(data.stored, indices, batch)
    shape = (*indices.shape[:-1], *data.shape[named:])
    moved = len(shape) - rank + of_scales
    if data.scales is None or _one_for_all(data.scales):
        return data.like(stored, data.scales, data.zeros, shape, axis=max(moved, -1))
    parts = [None if part is None else gather_nd(part, indices, batch)
             for part in (data.scales, data.zeros)]
    return data.like(stored, parts[0], parts[1], shape, axis=moved)
