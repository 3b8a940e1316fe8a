# SPDX-License-Identifier: MIT
"""Functions with PyTorch's names and signatures that write whole slices (index_add and its
relatives), flat elements (take, put) and what a mask picks. Negative indices count from the end in
index_fill, index_put, take and put, as they do there."""

from __future__ import annotations

import functools
from typing import Any, Sequence

import torch
from torch import Tensor

from .._errors import ArgumentError, refusal
from . import _operators as operators
from ._names import reduction_of
from ._rules import (
    SUMS,
    IndexShapeError,
    into,
    is_compiling,
    refuse_other_type,
    row,
    run,
    wrapped,
)

# ---- Slices


def _refuse_shapes(call: str, input: Tensor, index: Tensor, source: Tensor, dim: int) -> None:
    """What PyTorch asks of index_add and its relatives: nothing is broadcast, nothing cast."""
    if index.dim() > 1:
        raise IndexShapeError(refusal(
            f"{call}: index has {index.dim()} dimensions",
            "it must have 0 or 1",
            "index.reshape(-1)"))
    refuse_other_type(call, "source", source, input)
    at = wrapped(call, dim, input.dim())
    wanted = list(row(input).shape)
    wanted[at] = index.numel()
    if list(row(source).shape) != wanted:
        raise IndexShapeError(refusal(
            f"{call}: source does not fit",
            f"source has shape {list(source.shape)}, but {index.numel()} entries of dimension {at} "
            f"of input, {list(input.shape)}, take {wanted}",
            f"a source of shape {wanted}"))


def _index(call: str, input: Tensor, index: Tensor, source: Tensor, dim: int, batch_dims: int,
           reduction: str, include_self: bool, *_: Any) -> Tensor:
    _refuse_shapes(call, input, index, source, dim)
    result: Tensor = run("scatter", row(input), row(index), row(source), dim, 0, reduction,
                         include_self, *SUMS)
    return result if input.dim() else result.reshape(())


def _index_into(call: str, input: Tensor, index: Tensor, source: Tensor, out: Tensor | None,
                *options: Any) -> Tensor:
    return into(out, _index(call, input, index, source, *options), index, source)


_NAMES = ("index_add", "index_copy", "index_reduce")
_quick = {name: operators.quick("scatter", functools.partial(_index, name)) for name in _NAMES}
_quick_into = {name: operators.quick("scatter", functools.partial(_index_into, name), True)
               for name in _NAMES}


def _call(name: str, input: Tensor, dim: int, index: Tensor, source: Tensor, reduction: str,
          include_self: bool, out: Tensor | None) -> Tensor:
    options = (dim, 0, reduction, include_self, *SUMS)
    result: Tensor
    if is_compiling() or index.dim() != 1:
        result = _index_into(name, input, index, source, out, *options)
    elif out is None:
        result = _quick[name](input, index, source, *options)
    else:
        result = _quick_into[name](input, index, source, out, *options)
    return result


def index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1,
              out: Tensor | None = None) -> Tensor:
    """As torch.index_add."""
    return _call("index_add", input, dim, index, source if alpha == 1 else source * alpha, "add",
                 True, out)


def index_copy(input: Tensor, dim: int, index: Tensor, source: Tensor, *,
               out: Tensor | None = None) -> Tensor:
    """As torch.index_copy."""
    return _call("index_copy", input, dim, index, source, "none", True, out)


def index_reduce(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                 include_self: bool = True, out: Tensor | None = None) -> Tensor:
    """As torch.index_reduce."""
    reduction = reduction_of("index_reduce", reduce, "prod", "mean", "amin", "amax")
    return _call("index_reduce", input, dim, index, source, reduction, include_self, out)


def fill_arguments(input: Tensor, dim: int, index: Tensor, value: Any) -> tuple[Any, ...]:
    """Of the scatter that index_fill is."""
    at = wrapped("index_fill", dim, input.dim())
    if index.dim() > 1:
        raise IndexShapeError(refusal(
            f"index_fill: index has {index.dim()} dimensions",
            "it must have 0 or 1",
            "index.reshape(-1)"))
    if isinstance(value, Tensor) and value.dim():
        raise ArgumentError(refusal(
            f"index_fill: value has {value.dim()} dimensions",
            "it must be a number, or a tensor without dimensions",
            "value.item()"))
    made = value.to(input.dtype) if isinstance(value, Tensor) else torch.full(
        (), value, dtype=input.dtype, device=input.device)
    shape = list(row(input).shape)
    shape[at] = index.numel()
    return "scatter", row(input), row(index), made.expand(shape), at


def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """As torch.index_fill."""
    result: Tensor = run(*fill_arguments(input, dim, index, value))
    return result if input.dim() else result.reshape(())


# ---- Several indices, and masks


def _integers(input: Tensor, indices: Sequence[Tensor | None]) -> list[Tensor | None]:
    """Masks as the places where they are not zero; bytes are masks, as in PyTorch."""
    parts: list[Tensor | None] = []
    for part in indices:
        if part is None or part.dtype not in (torch.bool, torch.uint8):
            parts.append(part)
            continue
        covered = list(input.shape[len(parts):len(parts) + part.dim()])
        if list(part.shape) != covered:
            raise IndexShapeError(refusal(
                "index_put: a mask does not fit",
                f"it has shape {list(part.shape)}, but covers dimensions of input with {covered}",
                "a mask of that shape"))
        parts += part.nonzero(as_tuple=True)
    if len(parts) > input.dim():
        raise IndexShapeError(refusal(
            "index_put: too many indices",
            f"{len(parts)} for {input.dim()} dimensions",
            "one for each dimension, or fewer"))
    return parts + [None] * (input.dim() - len(parts))


def put_arguments(input: Tensor, indices: Sequence[Tensor | None], values: Tensor,
                  accumulate: bool) -> tuple[list[int], tuple[Any, ...]]:
    """Of the scatter_nd that index_put is, and the order in which it has input's dimensions."""
    refuse_other_type("index_put", "values", values, input)
    parts = _integers(input, indices)
    chosen = [d for d, part in enumerate(parts) if part is not None]
    others = [d for d, part in enumerate(parts) if part is None]
    given = torch.broadcast_tensors(  # type: ignore[no-untyped-call]
        *(part.long() for part in parts if part is not None))
    if not chosen:
        raise IndexShapeError(refusal("index_put: no indices", "all of them are None",
                                      "a tensor for some dimension"))
    tuples = torch.stack(given, dim=-1)
    grid = tuples.shape[:-1]
    # The grid of indices stands where they do, if they are neighbours, else in front.
    side_by_side = chosen[-1] - chosen[0] == len(chosen) - 1
    before = chosen[0] if side_by_side else 0
    sizes = [input.shape[d] for d in others]
    spread = values.expand(*sizes[:before], *grid, *sizes[before:])
    first = list(range(before, before + len(grid)))
    rest = [d for d in range(spread.dim()) if d not in first]
    order = chosen + others
    return order, ("scatter_nd", input.permute(order), tuples, spread.permute(first + rest), 0,
                   "add" if accumulate else "none", True, "fail", "from_end", "f32")


def index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor,
              accumulate: bool = False) -> Tensor:
    """As torch.index_put: sheaf.scatter_nd. Masks count as the places where they are not 0."""
    order, arguments = put_arguments(input, indices, values, accumulate)
    result = run(*arguments)
    back: Tensor = result.permute([order.index(d) for d in range(input.dim())])
    return back


def take(input: Tensor, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As torch.take: elements of input as if it had one dimension."""
    return into(out, run("gather", input.reshape(-1), index), input, index)


def flat_arguments(input: Tensor, index: Tensor, source: Tensor,
                   accumulate: bool) -> tuple[Any, ...]:
    """Of the scatter that put is."""
    refuse_other_type("put", "source", source, input)
    if source.numel() != index.numel():
        raise IndexShapeError(refusal(
            "put: source does not fit",
            f"source has {source.numel()} elements, but index has {index.numel()}",
            "one element for each index"))
    return ("scatter", input.reshape(-1), index.reshape(-1), source.reshape(-1), 0, 0,
            "add" if accumulate else "none", True, "fail", "from_end", "f32")


def put(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """As torch.Tensor.put: elements of source to input as if it had one dimension."""
    result: Tensor = run(*flat_arguments(input, index, source, accumulate))
    return result.reshape(input.shape)


def _places(call: str, mask: Tensor) -> Tensor:
    if mask.dtype != torch.bool:
        raise ArgumentError(refusal(f"{call}: mask is {mask.dtype}",
                                    "it must be torch.bool", "mask.bool()"))
    return mask.reshape(-1).nonzero().reshape(-1)


def masked_select(input: Tensor, mask: Tensor, *, out: Tensor | None = None) -> Tensor:
    """As torch.masked_select: the elements of input where mask is True, in row-major order."""
    input, mask = torch.broadcast_tensors(input, mask)  # type: ignore[no-untyped-call]
    return into(out, run("gather", input.reshape(-1), _places("masked_select", mask)), input, mask)


def masked_arguments(input: Tensor, mask: Tensor, source: Tensor) -> tuple[Any, ...]:
    """Of the scatter that masked_scatter is. Input has the shape that the two have together."""
    refuse_other_type("masked_scatter", "source", source, input)
    places = _places("masked_scatter", mask.expand(input.shape))
    if source.numel() < places.numel():
        raise ArgumentError(refusal(
            "masked_scatter: source is too small",
            f"it has {source.numel()} elements, but the mask picks {places.numel()}",
            "a larger source"))
    return "scatter", input.reshape(-1), places, source.reshape(-1)[:places.numel()], 0


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """As torch.masked_scatter: elements of source, one after the other, to where mask is True."""
    input, mask = torch.broadcast_tensors(input, mask)  # type: ignore[no-untyped-call]
    result: Tensor = run(*masked_arguments(input, mask, source))
    return result.reshape(input.shape)
