# SPDX-License-Identifier: MIT
"""Sharded operators whose indices are tuples or single elements: gather_nd, gather_elements and
their scatters. The first index of a tuple, or the one index, runs along the split axis.

A gather fetches the whole rows that it needs, each once, and picks from them here. A scatter sends
each update with its coordinates to the owner.
"""

from __future__ import annotations

from typing import Any

import numpy

from . import _errors, _functions
from ._sharded import Indices, Sharding, fetch, refuse, together


def coordinates(sharding: Sharding, indices: Any, out_of_range: str,
                negative: _functions.Negative, dtype: Any) -> Indices:
    """Tuples, one per row, that lie inside; -1 throughout where one is filled or skipped."""
    given = numpy.asarray(indices)
    if given.dtype.kind not in "iu" and given.size > 0:
        raise _errors.IndexDTypeError(_errors.refusal(
            "gather_nd: indices are not integers", f"indices is {given.dtype}",
            "convert indices to int64"))
    rank = len(sharding.shape)
    if sharding.axis != 0 or given.ndim == 0 or not 1 <= given.shape[-1] <= rank:
        refuse("tuples do not fit", f"indices have the shape {list(given.shape)}, and axis "
               f"{sharding.axis} of {rank} is split", f"tuples of 1 to {rank} indices, the first "
               "along a split axis 0")
    sizes = numpy.array(sharding.shape[:given.shape[-1]], numpy.int64)
    held = given
    if given.dtype == numpy.uint64:  # what int64 does not hold is outside, too, and not negative
        wrapped = given % numpy.maximum(sizes, 1).astype(numpy.uint64)
        most = numpy.uint64(numpy.iinfo(numpy.int64).max)
        held = wrapped if out_of_range == "wrap" else numpy.minimum(given, most)
    tuples: Indices = held.reshape(-1, given.shape[-1]).astype(numpy.int64)
    found: Indices = tuples + numpy.where((tuples < 0) & (negative == "from_end"), sizes, 0)
    outside = (found < 0) | (found >= sizes)
    if not outside.any():
        return found
    if out_of_range in ("fail", "trust") or (not sizes.all() and out_of_range in ("clamp", "wrap")):
        # The text that one process gives: a table of this shape that takes no memory.
        whole = numpy.broadcast_to(numpy.zeros((), dtype), sharding.shape)
        _functions.gather_nd(whole, given, negative=negative)
    if out_of_range == "clamp":
        found = numpy.where(outside, numpy.where(tuples < 0, 0, sizes - 1), found)
    elif out_of_range == "wrap":
        found = tuples % sizes
    else:
        found[outside.any(axis=1)] = -1
    return found


def gather_nd(sharding: Sharding, shard: Any, tuples: Indices, shape: tuple[int, ...],
              itemsize: int, fill_value: Any) -> Any:
    received, places = fetch(sharding, shard, tuples[:, 0], itemsize)
    local = numpy.concatenate([places[:, None], tuples[:, 1:]], axis=1)
    return _functions.gather_nd(received, local, out_of_range="fill", negative="out_of_range",
                                fill_value=fill_value).reshape(shape)


def gather_elements(sharding: Sharding, shard: Any, entries: Indices, shape: tuple[int, ...],
                    itemsize: int, fill_value: Any) -> Any:
    received, places = fetch(sharding, shard, entries, itemsize)
    return _functions.gather_elements(received, places.reshape(shape), sharding.axis,
                                      out_of_range="fill", negative="out_of_range",
                                      fill_value=fill_value)


def element_tuples(sharding: Sharding, entries: Indices, shape: tuple[int, ...]) -> Indices:
    """The coordinates in data of every element of the updates."""
    grid = numpy.indices(shape, numpy.int64).reshape(len(shape), -1)
    grid[sharding.axis] = entries
    return grid.T


def scatter_tuples(sharding: Sharding, shard: Any, tuples: Indices, updates: Any, itemsize: int,
                   reduction: _functions.Reduction, include_self: bool, axis: int) -> Any:
    """`shard` with the updates applied, one slice per tuple; those with an entry of -1 on the split
    axis, which is coordinate `axis`, are skipped. In the order of the ranks."""
    transport, length = sharding.transport, tuples.shape[1]
    together(transport, lambda: None, f"tuples of {length}")  # or cells would be read wrongly
    entries, slice_shape = tuples[:, axis], sharding.shape[length:]
    owners = numpy.searchsorted(sharding.offsets, entries, side="right") - 1
    owners[entries < 0] = -1
    order = [numpy.flatnonzero(owners == rank) for rank in range(transport.size)]
    local = tuples.copy()
    local[:, axis] -= sharding.offsets[owners]
    cells = [part.reshape(-1, length) for part in sharding.send_indices(
        [numpy.ascontiguousarray(local[places]).reshape(-1) for places in order])]
    flat = updates.reshape((len(tuples), *slice_shape))
    slice_bytes = itemsize
    for size in slice_shape:
        slice_bytes *= size
    coming = [len(part) for part in cells]
    parts = sharding.exchange([_functions.gather(flat, places) for places in order], coming,
                              slice_bytes)
    blocks = [transport.from_bytes(part, shard, (count, *slice_shape))
              for part, count in zip(parts, coming)]
    return _functions.scatter_nd(shard, numpy.concatenate(cells), transport.concatenate(blocks, 0),
                                 reduction=reduction, include_self=include_self)
