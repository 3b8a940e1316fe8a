# SPDX-License-Identifier: MIT
"""Bags made of other operators: the gather, the product and the scatter that a bag is defined by.

For gradients of pools that have no kernel of their own, and for derivatives of maxima. These hold
the rows in between.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _operators as operators
from ._segments import extremum


def _places(segments: Tensor) -> Tensor:
    return segments.to(torch.int64)


def entry_bags(indices: Tensor | None, segments: Tensor | None, entries: Any, bags: Any,
               options: Any) -> Tensor:
    """For each entry the number of its bag; `bags` for those behind the last offset."""
    if segments is None:
        assert indices is not None
        rows = torch.arange(bags, device=indices.device)
        return rows.unsqueeze(1).expand(indices.shape).reshape(-1)
    if options.form == "ids":
        return _places(segments)
    starts = _places(segments)
    if options.form == "lengths":
        ends = starts.cumsum(0)
    else:
        ends = starts[1:] if options.last_offset else torch.cat(
            [starts[1:], starts.new_full((1,), entries)])
    entry = torch.arange(entries, device=segments.device)
    return torch.searchsorted(ends.contiguous(), entry, right=True)


def bag_count(indices: Any, segments: Any, options: Any) -> Any:
    if segments is None:
        return indices.shape[0]
    if options.form == "ids":
        return options.bags
    return segments.shape[0] - int(options.form == "offsets" and options.last_offset)


def entry_rows(indices: Tensor | None, entries: Any, extent: Any, options: Any,
               device: Any) -> Tensor:
    """For each entry its row of the table by the rule of the bag; `extent` for those that have
    none."""
    if indices is None:
        return torch.arange(entries, device=device)
    rows = indices.reshape(-1).to(torch.int64)
    if options.out_of_range == "wrap":
        rows = rows % extent
    elif options.negative == "from_end":
        rows = torch.where(rows < 0, rows + extent, rows)
    if options.out_of_range == "clamp":
        rows = rows.clamp(0, max(extent - 1, 0))
    rows = torch.where((rows < 0) | (rows >= extent), extent, rows)
    if options.padding_index is not None:
        padding = options.padding_index
        padding = padding + extent if padding < 0 else padding
        rows = torch.where(rows == padding, extent, rows)
    return rows


class _Entries:
    """The entries of a bag: their rows and bags, without those that are left out."""

    def __init__(self, extent: Any, indices: Any, segments: Any, options: Any,
                 device: Any) -> None:
        entries = extent if indices is None else indices.numel()
        self.bags = bag_count(indices, segments, options)
        self.extent, self.options = extent, options
        self.rows = entry_rows(indices, entries, extent, options, device)
        self.ids = entry_bags(indices, segments, entries, self.bags, options)
        filled = options.out_of_range == "fill"
        self.counts = torch.ones_like(self.rows) if filled else (self.rows < extent).long()
        if filled and options.padding_index is not None:  # padding is left out, fills are not
            padding = options.padding_index % extent
            named = indices.reshape(-1).to(torch.int64)
            named = torch.where(named < 0, named + extent, named) if (
                options.negative == "from_end") else named
            self.counts = (named != padding).long()

    def dropped_ids(self) -> Tensor:
        """The bags of entries, out of range for those left out."""
        return torch.where(self.counts > 0, self.ids, self.bags)


def scattered(onto: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    result: Tensor = operators.operator("scatter")(onto, places, updates, 0, 0, "add", True, "skip",
                                                   "out_of_range")
    return result


def _column(values: Tensor, like: Tensor) -> Tensor:
    return values.reshape(-1, *[1] * (like.dim() - 1))


def _rows_of(table: Tensor, rows: Tensor, fill: Any) -> Tensor:
    result: Tensor = operators.operator("gather")(table, rows, 0, 0, "fill", "out_of_range", fill)
    return result


def winners(data: Tensor, indices: Any, segments: Any, options: Any) -> Tensor:
    """For each element of the output of max or min the row that it came from: the first. The number
    of rows of data where a bag is empty."""
    entries = _Entries(data.shape[0], indices, segments, options, data.device)
    values = _rows_of(data.detach(), entries.rows, options.fill_value)
    _, first = extremum(values, entries.dropped_ids(), 0, None, entries.bags, options.pool,
                        ("skip", "out_of_range"))
    rows = torch.cat([entries.rows, entries.rows.new_full((1,), entries.extent)])
    return rows[first]


def bag(data: Tensor, indices: Any, segments: Any, weights: Any, options: Any) -> Tensor:
    """The whole bag."""
    entries = _Entries(data.shape[0], indices, segments, options, data.device)
    rows = _rows_of(data, entries.rows, options.fill_value)
    if weights is not None:
        rows = rows * _column(weights.reshape(-1).to(rows.dtype), rows)
    ids = entries.dropped_ids()
    if options.pool in ("max", "min"):
        result, first = extremum(rows, ids, 0, None, entries.bags, options.pool,
                                 ("skip", "out_of_range"))
        return torch.where(first < rows.shape[0], result, options.empty_value)
    start = rows.new_full((entries.bags, *rows.shape[1:]), options.empty_value)
    product: Tensor = operators.operator("scatter")(start, ids, rows, 0, 0, "mul", False, "skip",
                                                    "out_of_range", options.accumulate)
    return product
