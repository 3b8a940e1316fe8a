# SPDX-License-Identifier: MIT
"""Functions with PyTorch's names and signatures. They take what PyTorch's take: 0-d tensors, empty
indices of any rank, a src larger than its index. As there, negative indices are out of range, but
for take_along_dim and index_put."""

from __future__ import annotations

import builtins
from typing import Any, Sequence

import torch
from torch import Tensor

from .. import _functions
from .._errors import ArgumentError, UnsupportedError, refusal

_REDUCTIONS = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "mean": "mean",
               "amin": "min", "amax": "max"}


def _row(tensor: Tensor) -> Tensor:
    """A tensor without dimensions as one with one entry."""
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


def _reduction(call: str, name: str, *allowed: str) -> Any:
    if name not in allowed:
        raise ArgumentError(refusal(
            f"{call}: unknown reduce",
            f"reduce = {name!r}",
            f"{', '.join(map(repr, allowed))}"))
    return _REDUCTIONS[name]


def _into(out: Tensor | None, result: Tensor) -> Tensor:
    """PyTorch's rules for out: its size may change, its type may not, and it records nothing."""
    if out is None:
        return result
    if out.dtype != result.dtype or out.device != result.device:
        raise ArgumentError(refusal(
            "out does not fit",
            f"out is {out.dtype} on {out.device}, but the result is {result.dtype} on "
            f"{result.device}",
            "an out of that type there"))
    if result.requires_grad or (out.requires_grad and torch.is_grad_enabled()):
        raise ArgumentError(refusal(
            "out does not go with gradients",
            "one of the tensors requires a gradient, which would be lost",
            "the result that the call returns, or torch.no_grad()"))
    return out.resize_(result.shape).copy_(result)


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As torch.index_select: sheaf.gather along one dimension."""
    if index.dim() > 1:
        raise ArgumentError(refusal(
            f"index_select: index has {index.dim()} dimensions",
            "it must have 0 or 1",
            "sheaf.gather"))
    rows = _functions.gather(_row(input), _row(index), dim, negative="out_of_range")
    return _into(out, rows.reshape(()) if input.dim() == 0 and rows.numel() == 1 else rows)


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False,
           out: Tensor | None = None) -> Tensor:
    """As torch.gather: sheaf.gather_elements."""
    if sparse_grad:
        raise UnsupportedError(refusal(
            "gather: sparse_grad",
            "Sheaf's gradients are dense",
            "sparse_grad=False"))
    if index.numel() == 0:  # of any rank, in PyTorch
        return _into(out, input.new_empty(index.shape) + 0 * input.sum().to(input.dtype)
                     if input.requires_grad else input.new_empty(index.shape))
    result = _functions.gather_elements(_row(input), _row(index), dim, negative="out_of_range")
    return _into(out, result.reshape(index.shape))


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *,
                   out: Tensor | None = None) -> Tensor:
    """As torch.take_along_dim: sheaf.gather_elements with broadcast."""
    if dim is None:
        return _into(out, _functions.gather_elements(input.reshape(-1), indices.reshape(-1)))
    if input.dim() == indices.dim() and indices.numel():
        shape = list(torch.broadcast_shapes(  # type: ignore[no-untyped-call]
            _without(input, dim), _without(indices, dim)))
        at = dim % input.dim()
        input = input.expand(*shape[:at], input.shape[at], *shape[at + 1:])
        indices = indices.expand(*shape[:at], indices.shape[at], *shape[at + 1:])
    return _into(out, _functions.gather_elements(input, indices, dim))


def _without(tensor: Tensor, dim: int) -> list[Any]:
    sizes = list(tensor.shape)
    sizes[dim] = 1
    return sizes


def embedding(input: Tensor, weight: Tensor, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False) -> Tensor:
    """As torch.nn.functional.embedding: rows of weight. Rows of padding_idx get no gradient."""
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise UnsupportedError(refusal(
            "embedding: max_norm, scale_grad_by_freq, sparse",
            "Sheaf has dense gradients, and leaves weight as it is",
            "torch.nn.functional.embedding"))
    rows = _functions.gather(weight, input, negative="out_of_range")
    if padding_idx is None:
        return rows
    if not -weight.shape[0] <= padding_idx < weight.shape[0]:
        raise ArgumentError(refusal(
            "embedding: padding_idx out of range",
            f"padding_idx = {padding_idx}, but weight has {weight.shape[0]} rows",
            "one of its rows"))
    padding = padding_idx % weight.shape[0]
    return torch.where((input == padding).unsqueeze(-1), rows.detach(), rows)


def _like_index(call: str, src: Any, index: Tensor, input: Tensor) -> Tensor:
    """The part of src that has the shape of the index: in PyTorch, src may be larger."""
    if not isinstance(src, Tensor):
        return torch.full((), src, dtype=input.dtype, device=input.device).expand(index.shape)
    src = _row(src)
    if src.dtype != input.dtype:
        raise ArgumentError(refusal(
            f"{call}: types differ",
            f"src is {src.dtype}, but input is {input.dtype}",
            "src.to(input.dtype)"))
    smaller = src.dim() != index.dim() or any(s < i for s, i in zip(src.shape, index.shape))
    if smaller:
        raise ArgumentError(refusal(
            f"{call}: src is smaller than index",
            f"src has shape {list(src.shape)}, but index has {list(index.shape)}",
            "a src at least as large"))
    result: Tensor = src[tuple(slice(size) for size in index.shape)]
    return result


def _scatter(call: str, input: Tensor, dim: int, index: Tensor, src: Any, reduction: Any,
             include_self: bool, out: Tensor | None) -> Tensor:
    if index.numel() == 0:
        return _into(out, input.clone())
    indices = _row(index)
    updates = _like_index(call, src, indices, input)
    result = _functions.scatter_elements(_row(input), indices, updates, dim, reduction=reduction,
                                         include_self=include_self, negative="out_of_range")
    return _into(out, result.reshape(input.shape))


def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
            reduce: str | None = None, out: Tensor | None = None) -> Tensor:
    """As torch.scatter: sheaf.scatter_elements. Of several updates to one element, the last stays."""
    if (src is None) == (value is None):
        raise ArgumentError(refusal(
            "scatter: what to scatter", "src and value are both given, or both missing",
            "src, a tensor, or value, a number"))
    reduction = "none" if reduce is None else _reduction("scatter", reduce, "add", "multiply")
    return _scatter("scatter", input, dim, index, value if src is None else src, reduction, True,
                    out)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *,
                out: Tensor | None = None) -> Tensor:
    """As torch.scatter_add."""
    return _scatter("scatter_add", input, dim, index, src, "add", True, out)


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """As torch.scatter_reduce."""
    reduction = _reduction("scatter_reduce", reduce, "sum", "prod", "mean", "amin", "amax")
    return _scatter("scatter_reduce", input, dim, index, src, reduction, include_self, out)


def _index(call: str, input: Tensor, dim: int, index: Tensor, source: Tensor, reduction: Any,
           include_self: bool, out: Tensor | None) -> Tensor:
    if index.dim() > 1:
        raise ArgumentError(refusal(
            f"{call}: index has {index.dim()} dimensions",
            "it must have 0 or 1",
            "index.reshape(-1)"))
    updates = _row(source)
    if source.dim() == 0 and input.dim() > 1:
        raise ArgumentError(refusal(
            f"{call}: ranks differ",
            f"source has no dimensions, but input has {input.dim()}",
            "source.reshape(...)"))
    result = _functions.scatter(_row(input), _row(index), updates, dim, reduction=reduction,
                                include_self=include_self, negative="out_of_range")
    return _into(out, result.reshape(input.shape))


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1,
              out: Tensor | None = None) -> Tensor:
    """As torch.index_add."""
    return _index("index_add", input, dim, index, source if alpha == 1 else source * alpha, "add",
                  True, out)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *,
               out: Tensor | None = None) -> Tensor:
    """As torch.index_copy."""
    return _index("index_copy", input, dim, index, source, "none", True, out)


def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """As torch.index_reduce."""
    reduction = _reduction("index_reduce", reduce, "prod", "mean", "amin", "amax")
    return _index("index_reduce", input, dim, index, source, reduction, include_self, out)


def index_put(input: Tensor, indices: Sequence[Tensor], values: Tensor,
              accumulate: bool = False) -> Tensor:
    """As torch.index_put: sheaf.scatter_nd. Masks count as the places where they are True."""
    parts: builtins.list[Tensor] = []
    for part in indices:
        parts += part.nonzero(as_tuple=True) if part.dtype == torch.bool else [part]
    tuples = torch.stack(torch.broadcast_tensors(*parts), dim=-1)  # type: ignore[no-untyped-call]
    shape = (*tuples.shape[:-1], *input.shape[len(parts):])
    return _functions.scatter_nd(input, tuples, values.expand(shape),
                                 reduction="add" if accumulate else "none")
