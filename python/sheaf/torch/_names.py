# SPDX-License-Identifier: MIT
"""Functions with PyTorch's names and signatures that take or scatter one element for each index, and
rows. They take what PyTorch's take: 0-d tensors, empty indices of any rank, a src larger than its
index. As there, negative indices are out of range, but for take_along_dim.

Each has two ways: on plain tensors of matching shapes, a call of the compiled part; it hands all
else to the function with an underscore, which knows PyTorch's other rules.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor

from .._errors import ArgumentError, UnsupportedError, refusal
from . import _operators as operators
from ._rules import (
    FAIL,
    SUMS,
    IndexShapeError,
    into,
    is_compiling,
    refuse_other_type,
    row,
    run,
    wrapped,
)

_REDUCTIONS = {"sum": "add", "add": "add", "prod": "mul", "multiply": "mul", "mean": "mean",
               "amin": "min", "amax": "max", "min": "min", "max": "max"}


def reduction_of(call: str, name: str, *allowed: str) -> str:
    if name not in allowed:
        raise ArgumentError(refusal(
            f"{call}: unknown reduce",
            f"reduce = {name!r}",
            f"{', '.join(map(repr, allowed))}"))
    return _REDUCTIONS[name]


# ---- Gathers


def _index_select(input: Tensor, index: Tensor, dim: int, *_: Any) -> Tensor:
    if index.dim() > 1:
        raise IndexShapeError(refusal(
            f"index_select: index has {index.dim()} dimensions",
            "it must have 0 or 1",
            "sheaf.gather"))
    if input.dim() == 0 and index.numel() != 1:
        raise IndexShapeError(refusal(
            "index_select: input has no dimensions",
            f"so index must have 1 entry, not {index.numel()}",
            "input.reshape(1)"))
    rows: Tensor = run("gather", row(input), row(index), dim, 0, *FAIL)
    return rows.reshape(()) if input.dim() == 0 else rows


def _index_select_into(input: Tensor, index: Tensor, out: Tensor, dim: int, *_: Any) -> Tensor:
    return into(out, _index_select(input, index, dim), input, index)


_quick_index_select = operators.quick("gather", _index_select)
_quick_index_select_into = operators.quick("gather", _index_select_into, True)


def index_select(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As torch.index_select: sheaf.gather along one dimension."""
    at_once = index.dim() == 1 and not is_compiling()
    if out is None:
        call = _quick_index_select if at_once else _index_select
        result: Tensor = call(input, index, dim, 0, "fail", "out_of_range")
    else:
        call = _quick_index_select_into if at_once else _index_select_into
        result = call(input, index, out, dim, 0, "fail", "out_of_range")
    return result


def _gather(input: Tensor, index: Tensor, dim: int, *_: Any) -> Tensor:
    if index.numel() == 0:  # of any rank, in PyTorch
        dim = wrapped("gather", dim, input.dim())
        if index.dim() != input.dim():
            # Nothing of input is left, but its gradient is still there: zeros.
            return input.reshape(-1)[:0].reshape(index.shape)
        narrow = [min(i, n) if d != dim else i
                  for d, (i, n) in enumerate(zip(index.shape, input.shape))]
        if list(index.shape) != narrow:
            return input.reshape(-1)[:0].reshape(index.shape)
    result: Tensor = run("gather_elements", row(input), row(index), dim, False, *FAIL)
    return result if index.dim() else result.reshape(())


def _gather_into(input: Tensor, index: Tensor, out: Tensor, dim: int, *_: Any) -> Tensor:
    return into(out, _gather(input, index, dim), input, index)


_quick_gather = operators.quick("gather_elements", _gather)
_quick_gather_into = operators.quick("gather_elements", _gather_into, True)


def gather(input: Tensor, dim: int, index: Tensor, *, sparse_grad: bool = False,
           out: Tensor | None = None) -> Tensor:
    """As torch.gather: sheaf.gather_elements."""
    if sparse_grad:
        raise UnsupportedError(refusal(
            "gather: sparse_grad",
            "Sheaf's gradients are dense",
            "sparse_grad=False"))
    at_once = not is_compiling()
    if out is None:
        call = _quick_gather if at_once else _gather
        result: Tensor = call(input, index, dim, False, "fail", "out_of_range")
    else:
        call = _quick_gather_into if at_once else _gather_into
        result = call(input, index, out, dim, False, "fail", "out_of_range")
    return result


def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *,
                   out: Tensor | None = None) -> Tensor:
    """As torch.take_along_dim: sheaf.gather_elements with broadcast."""
    if dim is None:
        return into(out, run("gather_elements", input.reshape(-1), indices.reshape(-1), 0, False))
    if input.dim() == indices.dim() and input.dim():
        at = wrapped("take_along_dim", dim, input.dim())
        shape = list(torch.broadcast_shapes(  # type: ignore[no-untyped-call]
            _without(input, at), _without(indices, at)))
        input = input.expand(*shape[:at], input.shape[at], *shape[at + 1:])
        indices = indices.expand(*shape[:at], indices.shape[at], *shape[at + 1:])
    return into(out, run("gather_elements", input, indices, dim, False))


def _without(tensor: Tensor, dim: int) -> list[Any]:
    sizes = list(tensor.shape)
    sizes[dim] = 1
    return sizes


# ---- Scatters


def _like_index(call: str, src: Any, index: Tensor, input: Tensor) -> Tensor:
    """The part of src that has the shape of the index: in PyTorch, src may be larger."""
    if not isinstance(src, Tensor):
        return torch.full((), src, dtype=input.dtype, device=input.device).expand(index.shape)
    given: Tensor = row(src)
    refuse_other_type(call, "src", given, input)
    if given.shape == index.shape:
        return given
    if given.dim() != index.dim() or any(s < i for s, i in zip(given.shape, index.shape)):
        raise ArgumentError(refusal(
            f"{call}: src is smaller than index",
            f"src has shape {list(given.shape)}, but index has {list(index.shape)}",
            "a src at least as large"))
    return given[tuple(slice(size) for size in index.shape)]


def _scatter(name: str, input: Tensor, index: Tensor, src: Any, dim: int, reduction: str,
             include_self: bool, *_: Any) -> Tensor:
    if index.numel() == 0:
        wrapped(name, dim, input.dim())
        return input.clone()
    indices = row(index)
    updates = _like_index(name, src, indices, input)
    result: Tensor = run("scatter_elements", row(input), indices, updates, dim, reduction,
                         include_self, *SUMS)
    return result if input.dim() else result.reshape(())


def _scatter_into(name: str, input: Tensor, index: Tensor, src: Any, out: Tensor | None,
                  *options: Any) -> Tensor:
    return into(out, _scatter(name, input, index, src, *options), index, src)


_SCATTERS = ("scatter", "scatter_add", "scatter_reduce")
_quick_scatters = {name: operators.quick("scatter_elements", functools.partial(_scatter, name))
                   for name in _SCATTERS}
_quick_scatters_into = {
    name: operators.quick("scatter_elements", functools.partial(_scatter_into, name), True)
    for name in _SCATTERS}


def _call(name: str, input: Tensor, dim: int, index: Tensor, src: Any, reduction: str,
          include_self: bool, out: Tensor | None) -> Tensor:
    result: Tensor
    if is_compiling():
        result = _scatter_into(name, input, index, src, out, dim, reduction, include_self)
    elif out is None:
        result = _quick_scatters[name](input, index, src, dim, reduction, include_self, *SUMS)
    else:
        result = _quick_scatters_into[name](input, index, src, out, dim, reduction, include_self,
                                            *SUMS)
    return result


def scatter(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
            reduce: str | None = None, out: Tensor | None = None) -> Tensor:
    """As torch.scatter: sheaf.scatter_elements. Of several updates to one element, the last stays."""
    if (src is None) == (value is None):
        raise ArgumentError(refusal(
            "scatter: what to scatter", "src and value are both given, or both missing",
            "src, a tensor, or value, a number"))
    reduction = "none" if reduce is None else reduction_of("scatter", reduce, "add", "multiply")
    return _call("scatter", input, dim, index, value if src is None else src, reduction, True, out)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *,
                out: Tensor | None = None) -> Tensor:
    """As torch.scatter_add."""
    return _call("scatter_add", input, dim, index, src, "add", True, out)


def scatter_reduce(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                   include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """As torch.scatter_reduce."""
    reduction = reduction_of("scatter_reduce", reduce, "sum", "prod", "mean", "amin", "amax",
                             "min", "max")
    return _call("scatter_reduce", input, dim, index, src, reduction, include_self, out)
