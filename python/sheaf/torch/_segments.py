# SPDX-License-Identifier: MIT
"""Reductions of segments, with the names and signatures of the package torch_scatter."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _functions


def _size(index: Tensor, dim_size: int | None) -> int:
    if dim_size is not None:
        return dim_size
    return int(index.max()) + 1 if index.numel() else 0


def _reduce(src: Tensor, index: Tensor, dim: int, out: Tensor | None, dim_size: int | None,
            reduction: Any, start: float = 0, include_self: bool = True) -> Tensor:
    """Rows of src, if the index has one dimension, else its elements, reduced into `out`."""
    dim = dim % max(src.dim(), 1)
    base = out
    if base is None:
        shape = list(src.shape)
        shape[dim] = _size(index, dim_size)
        base = src.new_full(shape, start)
    if index.dim() == 1:
        return _functions.scatter(base, index, src, dim, reduction=reduction,
                                  include_self=include_self, negative="out_of_range")
    return _functions.scatter_elements(base, _like(index, src, dim), src, dim, reduction=reduction,
                                       include_self=include_self, negative="out_of_range")


def _like(index: Tensor, src: Tensor, dim: int) -> Tensor:
    """The index with the shape of src."""
    if index.dim() == 1:
        index = index.reshape([-1 if d == dim else 1 for d in range(src.dim())])
    while index.dim() < src.dim():
        index = index.unsqueeze(-1)
    return index.expand(src.shape)


def scatter_sum(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> Tensor:
    """The sum of each segment of src along dim; index says which segment an entry is in."""
    return _reduce(src, index, dim, out, dim_size, "add")


def scatter_mul(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> Tensor:
    """The product of each segment; 1 for those without entries."""
    return _reduce(src, index, dim, out, dim_size, "mul", start=1)


def scatter_mean(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                 dim_size: int | None = None) -> Tensor:
    """The mean of each segment; 0 for those without entries."""
    if out is None:
        return _reduce(src, index, dim, None, dim_size, "mean", include_self=False)
    total = _reduce(src, index, dim, out, dim_size, "add")
    count = _reduce(torch.ones_like(src), index, dim, None, out.shape[dim], "add").clamp(min=1)
    return total / count if src.is_floating_point() or src.is_complex() else total // count


def _extremum(src: Tensor, index: Tensor, dim: int, out: Tensor | None, dim_size: int | None,
              reduction: str) -> tuple[Tensor, Tensor]:
    dim = dim % max(src.dim(), 1)
    result = _reduce(src, index, dim, out, dim_size, reduction, include_self=out is not None)
    with torch.no_grad():
        full = _like(index, src, dim)
        count = src.shape[dim]
        places = torch.arange(count, device=src.device)
        places = _like(places, src, dim)
        found = src == _functions.gather_elements(result, full, dim, negative="out_of_range")
        start = torch.full(result.shape, count, dtype=torch.int64, device=src.device)
        first = _functions.scatter_elements(start, full, torch.where(found, places, count), dim,
                                            reduction="min")
    return result, first


def scatter_min(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The minimum of each segment, and where along dim it first stands: src.shape[dim] if the
    segment has no entries, or none as small as `out`."""
    return _extremum(src, index, dim, out, dim_size, "min")


def scatter_max(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The maximum of each segment, and where along dim it first stands; as scatter_min."""
    return _extremum(src, index, dim, out, dim_size, "max")


def _centred(src: Tensor, index: Tensor, dim: int, dim_size: int | None) -> tuple[Tensor, Any]:
    dim = dim % max(src.dim(), 1)
    full = _like(index, src, dim)
    greatest = _reduce(src.detach(), index, dim, None, dim_size, "max", include_self=False)
    spread = _functions.gather_elements(greatest, full, dim, negative="out_of_range")
    return src - spread, full


def scatter_softmax(src: Tensor, index: Tensor, dim: int = -1,
                    dim_size: int | None = None) -> Tensor:
    """The softmax of src along dim, within each segment."""
    centred, full = _centred(src, index, dim, dim_size)
    exponentials = centred.exp()
    sums = scatter_sum(exponentials, index, dim, None, dim_size)
    return exponentials / _functions.gather_elements(sums, full, dim)


def scatter_log_softmax(src: Tensor, index: Tensor, dim: int = -1,
                        dim_size: int | None = None) -> Tensor:
    """The logarithm of scatter_softmax."""
    centred, full = _centred(src, index, dim, dim_size)
    sums = scatter_sum(centred.exp(), index, dim, None, dim_size)
    return centred - _functions.gather_elements(sums, full, dim).log()
