# SPDX-License-Identifier: MIT
"""Gradients of bags in compiled programs, made of gathers and scatters.

For each entry: the row that it names, and the bag that it is in.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ._bag_call import BagCall
from ._call import Call
from ._primitives import gather_call, scatter_call


def _gather(table: Any, rows: Any) -> Any:
    """0 for rows out of range."""
    return gather_call(Call("gather", 0, 0, "fill", "out_of_range"), table, rows)


def _scatter(onto: Any, places: Any, updates: Any, reduction: str = "add") -> Any:
    return scatter_call(Call("scatter", 0, 0, "skip", "out_of_range", reduction=reduction), onto,
                        places, updates)


def entry_bags(call: BagCall, parts: dict[str, Any], entries: Any, bags: Any) -> Any:
    """For each entry the number of its bag; `bags` for those behind the last offset."""
    segments = parts["segments"]
    if segments is None:
        return jnp.repeat(jnp.arange(bags), parts["indices"].shape[1])
    if call.form == "ids":
        return segments
    if call.form == "lengths":
        ends = jnp.cumsum(segments)
    else:
        ends = segments[1:] if call.last_offset else jnp.append(segments[1:], entries)
    return jnp.searchsorted(ends, jnp.arange(entries), side="right")


def entry_rows(call: BagCall, indices: Any, entries: Any, extent: Any) -> Any:
    """For each entry its row by the rule of the bag; `extent` for those that have none."""
    if indices is None:
        return jnp.arange(entries)
    rows = indices.reshape(-1)
    if call.out_of_range == "wrap":
        rows = rows % extent
    elif call.negative == "from_end":
        rows = jnp.where(rows < 0, rows + extent, rows)
    if call.out_of_range == "clamp":
        rows = jnp.clip(rows, 0, extent - 1)
    return jnp.where((rows < 0) | (rows >= extent), extent, rows)


class Entries:
    """The entries of a bag. Those left out have bag `bags` and row `extent`."""

    def __init__(self, call: BagCall, parts: dict[str, Any], extent: Any) -> None:
        indices = parts["indices"]
        entries = extent if indices is None else indices.size
        self.call, self.bags, self.extent = call, call.bag_count(parts), extent
        rows = entry_rows(call, indices, entries, extent)
        ids = entry_bags(call, parts, entries, self.bags)
        left_out = jnp.zeros(rows.shape, bool) if call.out_of_range == "fill" else rows == extent
        if call.padding_index is not None:
            left_out |= rows == call.padding_index % max(extent, 1)
        self.rows = jnp.where(left_out, extent, rows)
        self.ids = jnp.where(left_out, self.bags, ids)

    def spread(self, cotangent: Any) -> Any:
        """The cotangent of each entry's bag, divided as its pool divides."""
        spread = _gather(cotangent, self.ids)
        if self.call.pool not in ("mean", "sqrtn"):
            return spread
        counts = _scatter(jnp.zeros(self.bags, cotangent.dtype), self.ids,
                          jnp.ones(self.ids.shape, cotangent.dtype))
        counts = jnp.maximum(counts, 1)
        divisors = jnp.sqrt(counts) if self.call.pool == "sqrtn" else counts
        return spread / column(jnp.take(divisors, self.ids, mode="clip"), spread)


def column(values: Any, like: Any) -> Any:
    return values.reshape(-1, *[1] * (like.ndim - 1))


def data_cotangent(call: BagCall, parts: dict[str, Any], data: Any, cotangent: Any) -> Any:
    """`data` has the shape and type of the table."""
    entries = Entries(call, parts, data.shape[0])
    updates = entries.spread(cotangent.astype(_wide(data.dtype)))
    if parts["weights"] is not None:
        updates = updates * column(parts["weights"].astype(updates.dtype), updates)
    zeros = jnp.zeros(data.shape, updates.dtype)
    return _scatter(zeros, entries.rows, updates).astype(data.dtype)


def weights_cotangent(call: BagCall, parts: dict[str, Any], weights: Any, cotangent: Any) -> Any:
    """`weights` has the shape and type of those."""
    data = parts["data"]
    entries = Entries(call, parts, data.shape[0])
    rows = _gather(data, entries.rows)
    if call.out_of_range == "fill":
        filled = (entries.rows == entries.extent) & (entries.ids < entries.bags)
        rows = jnp.where(column(filled, rows), jnp.asarray(call.fill.number, rows.dtype), rows)
    wide = _wide(data.dtype)
    products = entries.spread(cotangent.astype(wide)) * rows.astype(wide)
    return products.reshape(products.shape[0], -1).sum(1).astype(weights.dtype).reshape(
        weights.shape)


def _wide(dtype: Any) -> Any:
    """Narrow floats are summed in f32."""
    return jnp.float32 if jnp.dtype(dtype).itemsize < 4 else dtype


def winners(call: BagCall, parts: dict[str, Any], output: Any) -> Any:
    """For each element of the output of max or min the row that it came from: the first. The number
    of rows of data where there is none."""
    data = parts["data"]
    entries = Entries(call, parts, data.shape[0])
    count = entries.rows.shape[0]
    values = _gather(data, entries.rows)
    if parts["weights"] is not None:
        values = values * column(parts["weights"].astype(values.dtype), values)
    hits = values == _gather(output.astype(values.dtype), entries.ids)
    hits &= column(entries.rows < entries.extent, hits)
    places = jnp.where(hits, column(jnp.arange(count), hits), count)
    first = _scatter(jnp.full(output.shape, count, places.dtype), entries.ids, places, "min")
    return jnp.append(entries.rows, entries.extent)[first], first


def product_of(call: BagCall, parts: dict[str, Any]) -> Any:
    """The bag of pool "mul", whose gradient is that of a scatter."""
    data = parts["data"]
    entries = Entries(call, parts, data.shape[0])
    rows = _gather(data, entries.rows)
    if parts["weights"] is not None:
        rows = rows * column(parts["weights"].astype(rows.dtype), rows)
    start = jnp.full((entries.bags, *data.shape[1:]), call.empty.number, rows.dtype)
    return scatter_call(Call("scatter", 0, 0, "skip", "out_of_range", reduction="mul",
                             include_self=False), start, entries.ids, rows)
