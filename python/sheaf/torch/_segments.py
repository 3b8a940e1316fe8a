# SPDX-License-Identifier: MIT
"""Reductions of segments, with the names and signatures of the package torch_scatter. As there, `out`
is where a reduction starts, and is written and returned. Narrow floats are summed in f32."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .._errors import DTypeError, refusal
from ._rules import change, run

#: Which indices a reduction takes: (out_of_range, negative).
_ALL = ("fail", "out_of_range")


def _size(index: Tensor, dim_size: int | None) -> int:
    if dim_size is not None:
        return dim_size
    return int(index.max()) + 1 if index.numel() else 0


def _front(dim: int, src: Tensor) -> int:
    return dim % max(src.dim(), 1)


def reduced(src: Tensor, index: Tensor, dim: int, out: Tensor | None, dim_size: int | None,
            reduction: str, start: float = 0, include_self: bool = True,
            rule: tuple[str, str] = _ALL) -> Tensor:
    """Rows of src, if the index has one dimension, else its elements, reduced into `out`."""
    dim = _front(dim, src)
    do: Any = run if out is None else change
    if out is None:
        shape = list(src.shape)
        shape[dim] = _size(index, dim_size)
        out = src.new_full(shape, start)
    how = (reduction, include_self, *rule, "f32")
    if index.dim() == 1:
        result: Tensor = do("scatter", out, index, src, dim, 0, *how)
    else:
        result = do("scatter_elements", out, like(index, src, dim), src, dim, *how)
    return result


def like(index: Tensor, src: Tensor, dim: int) -> Tensor:
    """The index with the shape of src."""
    if index.dim() == 1:
        index = index.reshape([-1 if d == dim else 1 for d in range(src.dim())])
    while index.dim() < src.dim():
        index = index.unsqueeze(-1)
    return index.expand(src.shape)


def counts(index: Tensor, of: Tensor, dim: int, size: int, rule: tuple[str, str] = _ALL) -> Tensor:
    """How many entries each segment has, in a shape that goes with results of dim_size `size`."""
    at = _front(dim, of)
    at_index = min(at, index.dim() - 1)
    ones = torch.ones(index.shape, dtype=torch.float32, device=of.device)
    result = reduced(ones, index, at_index, None, size, "add", rule=rule)
    shape = list(of.shape)
    shape[at] = size
    return like(result, torch.empty(shape, device="meta"), at)


def scatter_sum(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> Tensor:
    """The sum of each segment of src along dim; index says which segment an entry is in."""
    return reduced(src, index, dim, out, dim_size, "add")


def scatter_mul(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> Tensor:
    """The product of each segment; 1 for those without entries."""
    return reduced(src, index, dim, out, dim_size, "mul", start=1)


def scatter_mean(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                 dim_size: int | None = None) -> Tensor:
    """The mean of each segment; 0 for those without entries. With `out`, it is part of the sum, but
    not of the count."""
    if out is None:
        return reduced(src, index, dim, None, dim_size, "mean", include_self=False)
    total = reduced(src, index, dim, out, dim_size, "add")
    count = counts(index, src, dim, out.shape[dim]).clamp(min=1)
    exact = src.is_floating_point() or src.is_complex()
    return total.copy_(total / count if exact else total // count.long())


def extremum(src: Tensor, index: Tensor, dim: int, out: Tensor | None, dim_size: int | None,
             reduction: str, rule: tuple[str, str] = _ALL) -> tuple[Tensor, Tensor]:
    """The least or greatest of each segment, and its place: the first, which also gets the gradient.
    Where `out` is as good, it stays, and the place is src.shape[dim]."""
    dim = _front(dim, src)
    count = src.shape[dim]
    with torch.no_grad():
        size = _size(index, dim_size) if out is None else out.shape[dim]
        best = reduced(src.detach(), index, dim, None if out is None else out.detach().clone(),
                       size, reduction, include_self=out is not None, rule=rule)
        full = like(index, src, dim)
        seen = "fill" if rule[0] == "skip" else rule[0]
        at_src = run("gather_elements", best, full, dim, False, seen, rule[1])
        found = src == at_src
        if out is not None:
            found &= run("gather_elements", out, full, dim, False, seen, rule[1]) != at_src
        places = torch.where(found, like(torch.arange(count, device=src.device), src, dim), count)
        start = torch.full(best.shape, count, dtype=torch.int64, device=src.device)
        first = run("scatter_elements", start, full, places, dim, "min", True, *rule)
    picked: Tensor = run("gather_elements", src, first, dim, False, "fill", "out_of_range")
    if out is not None:
        picked = out.copy_(torch.where(first < count, picked, out.clone()))
    return picked, first


def scatter_min(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The minimum of each segment, and where along dim it first stands: src.shape[dim] if the
    segment has no entries, or none smaller than `out`. That entry has the gradient."""
    return extremum(src, index, dim, out, dim_size, "min")


def scatter_max(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None) -> tuple[Tensor, Tensor]:
    """The maximum of each segment, and where along dim it first stands; as scatter_min."""
    return extremum(src, index, dim, out, dim_size, "max")


def scatter_std(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                dim_size: int | None = None, unbiased: bool = True) -> Tensor:
    """The standard deviation of each segment; 0 for those without entries."""
    _refuse_integers("scatter_std", src)
    dim = _front(dim, src)
    size = _size(index, dim_size) if out is None else out.shape[dim]
    full = like(index, src, dim)
    mean = reduced(src, index, dim, None, size, "mean", include_self=False)
    apart = src - run("gather_elements", mean, full, dim, False, *_ALL)
    squares = reduced(apart * apart, index, dim, out, size, "add")
    count = counts(index, src, dim, size)
    count = (count - 1 if unbiased else count).clamp(min=1)
    return (squares / (count + 1e-6).to(src.dtype)).sqrt()


def _refuse_integers(call: str, src: Tensor) -> None:
    if not src.is_floating_point():
        raise DTypeError(refusal(f"{call}: src is {src.dtype}", "it must be floating point",
                                 "src.float()"))


def _greatest(src: Tensor, index: Tensor, dim: int, size: int) -> Tensor:
    """Of each segment, for exponents that cannot overflow; 0 where that is infinite or nothing."""
    with torch.no_grad():
        best = reduced(src.detach(), index, dim, None, size, "max", include_self=False)
        return torch.where(best.isinf(), torch.zeros_like(best), best)


def scatter_logsumexp(src: Tensor, index: Tensor, dim: int = -1, out: Tensor | None = None,
                      dim_size: int | None = None, eps: float = 1e-12) -> Tensor:
    """The logarithm of the sum of exponentials of each segment; eps is part of the sum. With `out`,
    that is one of the terms."""
    _refuse_integers("scatter_logsumexp", src)
    dim = _front(dim, src)
    size = _size(index, dim_size) if out is None else out.shape[dim]
    full = like(index, src, dim)
    greatest = _greatest(src, index, dim, size)
    if out is not None:
        greatest = torch.maximum(greatest, out.detach().nan_to_num(neginf=0, posinf=0))
    centred = src - run("gather_elements", greatest, full, dim, False, *_ALL)
    sums = reduced(centred.exp(), index, dim, None, size, "add")
    reached = reduced(src.detach(), index, dim, None, size, "max", start=float("-inf"))
    if out is not None:
        sums = sums + (out - greatest).exp()
        reached = torch.maximum(reached, out.detach())
    result = torch.where(reached == float("-inf"), reached, (sums + eps).log() + greatest)
    return result if out is None else out.copy_(result)


def _shares(src: Tensor, index: Tensor, dim: int,
            dim_size: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """src less the maximum of its segment; the sum of its exponentials; the full index."""
    dim = _front(dim, src)
    full = like(index, src, dim)
    size = _size(index, dim_size)
    spread = run("gather_elements", _greatest(src, index, dim, size), full, dim, False, *_ALL)
    centred = src - spread
    return centred, reduced(centred.exp(), index, dim, None, size, "add"), full


def scatter_softmax(src: Tensor, index: Tensor, dim: int = -1,
                    dim_size: int | None = None) -> Tensor:
    """The softmax of src along dim, within each segment."""
    _refuse_integers("scatter_softmax", src)
    centred, sums, full = _shares(src, index, dim, dim_size)
    result: Tensor = centred.exp() / run("gather_elements", sums, full, dim, False, *_ALL)
    return result


def scatter_log_softmax(src: Tensor, index: Tensor, dim: int = -1, eps: float = 1e-12,
                        dim_size: int | None = None) -> Tensor:
    """The logarithm of scatter_softmax; eps is added to the sum of exponentials."""
    _refuse_integers("scatter_log_softmax", src)
    centred, sums, full = _shares(src, index, dim, dim_size)
    result: Tensor = centred - run("gather_elements", (sums + eps).log(), full, dim, False, *_ALL)
    return result
