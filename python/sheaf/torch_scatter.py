# SPDX-License-Identifier: MIT
"""Stands in for the package torch_scatter: its functions, names and signatures.

    import sheaf.torch_scatter as torch_scatter

`out` is written and returned, as there. Segments are reduced in the order of src, so results have
the same bits every time. index need not be sorted in the functions that end in _coo.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ._errors import ArgumentError, refusal
from .torch._rules import run
from .torch._segments import (
    extremum,
    reduced,
    scatter_log_softmax,
    scatter_logsumexp,
    scatter_max,
    scatter_mean,
    scatter_min,
    scatter_mul,
    scatter_softmax,
    scatter_std,
    scatter_sum,
)

__all__ = [
    "gather_coo", "gather_csr", "scatter", "scatter_add", "scatter_log_softmax",
    "scatter_logsumexp", "scatter_max", "scatter_mean", "scatter_min", "scatter_mul",
    "scatter_softmax", "scatter_std", "scatter_sum", "segment_add_coo", "segment_add_csr",
    "segment_coo", "segment_csr", "segment_max_coo", "segment_max_csr", "segment_mean_coo",
    "segment_mean_csr", "segment_min_coo", "segment_min_csr", "segment_sum_coo", "segment_sum_csr",
]

scatter_add = scatter_sum


def _unknown(call: str, reduce: str, names: str) -> ArgumentError:
    return ArgumentError(refusal(f"{call}: unknown reduce", f"reduce = {reduce!r}", names))


def scatter(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
            dim_size: int | None = None, reduce: str = "sum") -> Tensor:
    """The reduction of each segment of src along dim: "sum", "add", "mul", "mean", "min", "max"."""
    if reduce in ("sum", "add"):
        return scatter_sum(src, index, dim, out, dim_size)
    if reduce == "mul":
        return scatter_mul(src, index, dim, out, dim_size)
    if reduce == "mean":
        return scatter_mean(src, index, dim, out, dim_size)
    if reduce in ("min", "max"):
        return extremum(src, index, dim, out, dim_size, reduce)[0]
    raise _unknown("scatter", reduce, "'sum', 'mul', 'mean', 'min', 'max'")


# ---- Segments given by the number of each entry


def _spread(index: Tensor, src: Tensor) -> tuple[Tensor, int]:
    """The index with src's leading dimensions, and the dimension of the segments."""
    dim = index.dim() - 1
    return index.expand(*src.shape[:dim], index.shape[dim]), dim


def segment_sum_coo(src: Tensor, index: Tensor, out: Tensor | None = None,
                    dim_size: int | None = None) -> Tensor:
    """The sum of each segment, along the last dimension of index."""
    index, dim = _spread(index, src)
    return scatter_sum(src, index, dim, out, dim_size)


segment_add_coo = segment_sum_coo


def segment_mean_coo(src: Tensor, index: Tensor, out: Tensor | None = None,
                     dim_size: int | None = None) -> Tensor:
    """The mean of each segment."""
    index, dim = _spread(index, src)
    return scatter_mean(src, index, dim, out, dim_size)


def segment_min_coo(src: Tensor, index: Tensor, out: Tensor | None = None,
                    dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The minimum of each segment, and its place, as scatter_min."""
    index, dim = _spread(index, src)
    return extremum(src, index, dim, out, dim_size, "min")


def segment_max_coo(src: Tensor, index: Tensor, out: Tensor | None = None,
                    dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The maximum of each segment, and its place, as scatter_max."""
    index, dim = _spread(index, src)
    return extremum(src, index, dim, out, dim_size, "max")


def segment_coo(src: Tensor, index: Tensor, out: Tensor | None = None, dim_size: int | None = None,
                reduce: str = "sum") -> Tensor:
    """The reduction of each segment: "sum", "add", "mean", "min", "max"."""
    if reduce in ("sum", "add"):
        return segment_sum_coo(src, index, out, dim_size)
    if reduce == "mean":
        return segment_mean_coo(src, index, out, dim_size)
    if reduce == "min":
        return segment_min_coo(src, index, out, dim_size)[0]
    if reduce == "max":
        return segment_max_coo(src, index, out, dim_size)[0]
    raise _unknown("segment_coo", reduce, "'sum', 'mean', 'min', 'max'")


def gather_coo(src: Tensor, index: Tensor, out: Tensor | None = None) -> Tensor:
    """The entry of src for each number in index, along the last dimension of index."""
    index, dim = _spread(index, src)
    if dim == 0:
        result: Tensor = run("gather", src, index, 0, 0, "fail", "out_of_range")
    else:
        shape = (*src.shape[:dim], index.shape[dim], *src.shape[dim + 1:])
        full = index.reshape(*index.shape, *[1] * (src.dim() - dim - 1)).expand(shape)
        result = run("gather_elements", src, full, dim, False, "fail", "out_of_range")
    return result if out is None else out.copy_(result)


# ---- Segments given by where each begins

#: Entries before the first segment and after the last are in none.
_OUTSIDE = ("skip", "out_of_range")


def _numbers(src: Tensor, indptr: Tensor) -> tuple[Tensor, int, int]:
    """The segment of each entry of src, the dimension, and how many segments there are."""
    dim = indptr.dim() - 1
    if dim == 0:
        places = torch.arange(src.shape[dim], device=src.device)
    else:
        indptr = indptr.expand(*src.shape[:dim], indptr.shape[dim]).contiguous()
        places = torch.arange(src.shape[dim], device=src.device).expand(
            *src.shape[:dim], src.shape[dim]).contiguous()
    return torch.searchsorted(indptr, places, right=True) - 1, dim, indptr.shape[dim] - 1


def _written(out: Tensor | None, result: Tensor) -> Tensor:
    return result if out is None else out.copy_(result)


def segment_sum_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """The sum of each segment src[indptr[i]:indptr[i + 1]], along the last dimension of indptr."""
    index, dim, size = _numbers(src, indptr)
    return _written(out, reduced(src, index, dim, None, size, "add", rule=_OUTSIDE))


segment_add_csr = segment_sum_csr


def segment_mean_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """The mean of each segment; 0 for those without entries."""
    index, dim, size = _numbers(src, indptr)
    return _written(out, reduced(src, index, dim, None, size, "mean", include_self=False,
                                 rule=_OUTSIDE))


def _extremum_csr(src: Tensor, indptr: Tensor, out: Tensor | None,
                  reduction: str) -> tuple[Tensor, Tensor]:
    index, dim, size = _numbers(src, indptr)
    result, place = extremum(src, index, dim, None, size, reduction, _OUTSIDE)
    return _written(out, result), place


def segment_min_csr(src: Tensor, indptr: Tensor,
                    out: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The minimum of each segment, and its place: src.shape[dim] in one without entries."""
    return _extremum_csr(src, indptr, out, "min")


def segment_max_csr(src: Tensor, indptr: Tensor,
                    out: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """The maximum of each segment, and its place."""
    return _extremum_csr(src, indptr, out, "max")


def segment_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None,
                reduce: str = "sum") -> Tensor:
    """The reduction of each segment: "sum", "add", "mean", "min", "max"."""
    if reduce in ("sum", "add"):
        return segment_sum_csr(src, indptr, out)
    if reduce == "mean":
        return segment_mean_csr(src, indptr, out)
    if reduce in ("min", "max"):
        return _extremum_csr(src, indptr, out, reduce)[0]
    raise _unknown("segment_csr", reduce, "'sum', 'mean', 'min', 'max'")


def gather_csr(src: Tensor, indptr: Tensor, out: Tensor | None = None) -> Tensor:
    """The entry of src for each place in its segment: segment i has indptr[i + 1] - indptr[i]."""
    dim = indptr.dim() - 1
    count = int(indptr.reshape(-1, indptr.shape[dim])[0, -1]) if out is None else out.shape[dim]
    shape = (*src.shape[:dim], count)
    index, _, _ = _numbers(torch.empty(shape, device=src.device), indptr)
    return gather_coo(src, index, out)
