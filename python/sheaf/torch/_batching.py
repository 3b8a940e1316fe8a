# SPDX-License-Identifier: MIT
"""Rules for torch.vmap: a batch dimension is one more loop of the plan.

It comes first in every tensor. Where an operator has no place for a dimension that only some of
its tensors have, the others repeat along it with a stride of 0; nothing is copied.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _operators as operators


def _first(tensor: Tensor, dim: int | None) -> Tensor:
    return tensor if dim is None else tensor.movedim(dim, 0)


def _repeated(tensor: Tensor, dim: int | None, size: int) -> Tensor:
    if dim is not None:
        return tensor.movedim(dim, 0)
    return tensor.unsqueeze(0).expand(size, *tensor.shape)


def _inside(axis: int, tensor: Tensor, dim: int | None) -> int:
    """The axis, counted from the front without the batch dimension."""
    rank = tensor.dim() - (dim is not None)
    return axis + rank if axis < 0 else axis


def _batched_gather(op: str, size: int, dims: Any, data: Tensor, indices: Tensor,
                    own: tuple[Any, ...]) -> tuple[Tensor, Tensor, tuple[Any, ...], int]:
    """The tensors and options of the batched call, and where its result has the batch."""
    axis, batch_dims, broadcast = operators.gather_options(op, own)
    batch_dims = _inside(batch_dims, indices, dims[1])
    if op == "gather_nd":
        if dims[0] is None and batch_dims == 0:
            return data, _first(indices, dims[1]), (0,), 0
        return (_repeated(data, dims[0], size), _repeated(indices, dims[1], size),
                (batch_dims + 1,), 0)
    axis = _inside(axis, data, dims[0])
    if op == "gather_elements":
        return (_repeated(data, dims[0], size), _repeated(indices, dims[1], size),
                (axis + 1, broadcast), 0)
    if dims[1] is None and batch_dims == 0:
        return _first(data, dims[0]), indices, (axis + 1, 0), 0
    if dims[0] is None and batch_dims == 0:
        return data, _first(indices, dims[1]), (axis, 0), axis
    return (_repeated(data, dims[0], size), _repeated(indices, dims[1], size),
            (axis + 1, batch_dims + 1), 0)


def _register_gather(op: str) -> None:
    options = operators.GATHERS[op]

    def rule(info: Any, in_dims: Any, data: Tensor, indices: Tensor, *given: Any,
             threads: int = 0) -> Any:
        own, rest = operators.defaults(given, options, operators.RULE)
        data, indices, own, where = _batched_gather(op, info.batch_size, in_dims, data, indices, own)
        return operators.operator(op)(data, indices, *own, *rest, threads=threads), where

    torch.library.register_vmap(f"sheaf::{op}", rule, lib=operators.library)


def _batched_scatter(op: str, size: int, dims: Any, tensors: tuple[Tensor, Tensor, Tensor],
                     axis: int, batch_dims: int) -> tuple[Any, int, int]:
    """Tensors, axis and batch_dims of the batched call."""
    data, indices, updates = tensors
    batch_dims = _inside(batch_dims, indices, dims[1])
    axis = _inside(axis, data, dims[0])
    data = _repeated(data, dims[0], size)
    updates = _repeated(updates, dims[2], size)
    if op == "scatter" and dims[1] is None and batch_dims == 0:
        return (data, indices, updates), axis + 1, 0
    return (data, _repeated(indices, dims[1], size), updates), axis + 1, batch_dims + 1


def _register_scatter(op: str) -> None:
    options = operators.SCATTER_OPTIONS[op]

    def rule(info: Any, in_dims: Any, data: Tensor, indices: Tensor, updates: Tensor, *given: Any,
             relaxed: bool = False, threads: int = 0) -> Any:
        own, how = operators.defaults(given, options, operators.HOW)
        axis, batch_dims = operators.scatter_options(op, own)
        tensors, axis, batch_dims = _batched_scatter(op, info.batch_size, in_dims,
                                                     (data, indices, updates), axis, batch_dims)
        own = {"scatter": (axis, batch_dims), "scatter_elements": (axis,),
               "scatter_nd": (batch_dims,)}[op]
        return operators.operator(op)(*tensors, *own, *how, relaxed=relaxed, threads=threads), 0

    torch.library.register_vmap(f"sheaf::{op}", rule, lib=operators.library)


def _scatter_zeros(info: Any, in_dims: Any, updates: Tensor, indices: Tensor, shape: Any, op: str,
                   axis: int, batch_dims: int, *rule: Any) -> Any:
    size = info.batch_size
    data_rank = len(shape)
    axis = axis + data_rank if axis < 0 else axis
    batch_dims = _inside(batch_dims, indices, in_dims[1])
    updates = _repeated(updates, in_dims[0], size)
    if op == "scatter" and in_dims[1] is None and batch_dims == 0:
        moved, own = indices, (axis + 1, 0)
    else:
        moved, own = _repeated(indices, in_dims[1], size), (axis + 1, batch_dims + 1)
    return torch.ops.sheaf._scatter_zeros(updates, moved, [size, *shape], op, *own, *rule), 0


for _op in operators.GATHERS:
    _register_gather(_op)
for _op in operators.SCATTERS:
    _register_scatter(_op)
torch.library.register_vmap("sheaf::_scatter_zeros", _scatter_zeros, lib=operators.library)
