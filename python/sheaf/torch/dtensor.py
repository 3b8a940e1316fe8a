# SPDX-License-Identifier: MIT
"""Importing this module lets the operators take DTensors of torch.distributed.tensor.

A gather of a replicated table keeps the sharding of its indices, and the gradient is then a partial
sum. Dimensions that no index chooses from stay sharded as they are. Everything else is replicated
first. register_sharding, which this uses, is experimental in PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.experimental import register_sharding

from . import _operators as operators

_Rules = list[tuple[list[Any], list[Any]]]


def _rules(tensors: int, given: int, sharded: list[tuple[Any, ...]]) -> _Rules:
    """Each of `sharded` is the output's placement and the tensors'. Options have none."""
    replicated = (Replicate(),) * (tensors + 1)
    return [([output], [*inputs, *[None] * given]) for output, *inputs in [replicated, *sharded]]


def _register(op: str, rule: Any) -> None:
    register_sharding(getattr(torch.ops.sheaf, op).default)(rule)


def _gather(data: Any, indices: Any, *given: Any, **keywords: Any) -> _Rules:
    (axis, batch_dims), _ = operators.defaults(given, operators.GATHERS["gather"], operators.RULE)
    axis, grid = axis % data.ndim, indices.ndim
    whole = Replicate()
    sharded: list[tuple[Any, ...]] = []
    if batch_dims == 0:
        sharded += [(Shard(axis + q), whole, Shard(q)) for q in range(grid)]
        sharded += [(Shard(d if d < axis else d - 1 + grid), Shard(d), whole)
                    for d in range(data.ndim) if d != axis]
    return _rules(2, len(given), sharded)


def _gather_elements(data: Any, indices: Any, *given: Any, **keywords: Any) -> _Rules:
    (axis, broadcast), _ = operators.defaults(given, operators.GATHERS["gather_elements"],
                                              operators.RULE)
    axis = axis % data.ndim
    sharded: list[tuple[Any, ...]] = []
    if not broadcast:
        sharded = [(Shard(axis), Replicate(), Shard(axis))]
        sharded += [(Shard(d), Shard(d), Shard(d)) for d in range(data.ndim)
                    if d != axis and data.shape[d] == indices.shape[d]]
    return _rules(2, len(given), sharded)


def _gather_nd(data: Any, indices: Any, *given: Any, **keywords: Any) -> _Rules:
    (batch_dims,), _ = operators.defaults(given, operators.GATHERS["gather_nd"], operators.RULE)
    sharded: list[tuple[Any, ...]] = []
    if batch_dims == 0:
        grid, chosen = indices.ndim - 1, int(indices.shape[-1])
        sharded += [(Shard(q), Replicate(), Shard(q)) for q in range(grid)]
        sharded += [(Shard(d - chosen + grid), Shard(d), Replicate())
                    for d in range(chosen, data.ndim)]
    return _rules(2, len(given), sharded)


def _scatter(data: Any, indices: Any, updates: Any, *given: Any, **keywords: Any) -> _Rules:
    (axis, batch_dims), _ = operators.defaults(given, operators.SCATTER_OPTIONS["scatter"],
                                               operators.HOW)
    axis, grid = axis % data.ndim, indices.ndim
    sharded: list[tuple[Any, ...]] = [
        (Shard(d), Shard(d), Replicate(), Shard(d if d < axis else d - 1 + grid))
        for d in range(data.ndim) if d != axis and batch_dims == 0]
    return _rules(3, len(given), sharded)


def _scatter_elements(data: Any, indices: Any, updates: Any, *given: Any, **keywords: Any) -> _Rules:
    (axis,), _ = operators.defaults(given, operators.SCATTER_OPTIONS["scatter_elements"],
                                    operators.HOW)
    sharded: list[tuple[Any, ...]] = [
        (Shard(d),) * 4 for d in range(data.ndim)
        if d != axis % data.ndim and data.shape[d] == indices.shape[d]]
    return _rules(3, len(given), sharded)


def _scatter_nd(data: Any, indices: Any, updates: Any, *given: Any, **keywords: Any) -> _Rules:
    (batch_dims,), _ = operators.defaults(given, operators.SCATTER_OPTIONS["scatter_nd"],
                                          operators.HOW)
    grid, chosen = indices.ndim - 1, int(indices.shape[-1])
    sharded: list[tuple[Any, ...]] = [
        (Shard(d), Shard(d), Replicate(), Shard(d - chosen + grid))
        for d in range(chosen, data.ndim) if batch_dims == 0]
    return _rules(3, len(given), sharded)


def _scatter_zeros(updates: Any, indices: Any, shape: Any, op: str, axis: int, batch_dims: int,
                   *given: Any, **keywords: Any) -> _Rules:
    """Each rank adds up what it has, in the shape of the whole."""
    sharded: list[tuple[Any, ...]] = []
    if op == "scatter" and batch_dims == 0:
        axis = axis % len(shape)
        sharded = [(Partial(), Shard(axis + q), Shard(q)) for q in range(indices.ndim)]
    return _rules(2, 4 + len(given), sharded)


for _op, _rule in (("gather", _gather), ("gather_elements", _gather_elements),
                   ("gather_nd", _gather_nd), ("scatter", _scatter),
                   ("scatter_elements", _scatter_elements), ("scatter_nd", _scatter_nd),
                   ("_scatter_zeros", _scatter_zeros)):
    _register(_op, _rule)
