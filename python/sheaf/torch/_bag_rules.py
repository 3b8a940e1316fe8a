# SPDX-License-Identifier: MIT
"""Bags on tensors without memory (torch.compile), and under torch.vmap."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from . import _operators as operators
from ._bag_composed import bag_count
from ._bag_operators import BagOptions
from ._shapes import check_devices, spec

_TYPES = {"": None, "f32": torch.float32, "float32": torch.float32, "f16": torch.float16,
          "float16": torch.float16, "bf16": torch.bfloat16, "bfloat16": torch.bfloat16,
          "f64": torch.float64, "float64": torch.float64}


def _check(tensors: tuple[Any, ...], options: BagOptions) -> None:
    """Refuses what does not fit, where all sizes are known."""
    specs = [None if tensor is None else spec(tensor) for tensor in tensors]
    missing = any(s is None and t is not None for s, t in zip(specs, tensors))
    if not missing and isinstance(options.bags, int):
        data, indices, segments, weights = specs
        _sheaf.plan_bag("bag", data, indices, segments, weights, None, **options.keywords())


def _fake_bag(data: Tensor, indices: Any, segments: Any, weights: Any, *given: Any,
              threads: int = 0) -> Tensor:
    options = BagOptions(*given)
    tensors = (data, indices, segments, weights)
    check_devices("bag", *(tensor for tensor in tensors if tensor is not None))
    _check(tensors, options)
    bags = bag_count(indices, segments, options)
    return data.new_empty([bags, *data.shape[1:]], dtype=_TYPES[options.dtype] or data.dtype)


def _fake_gradient(gradient: Tensor, data: Any, indices: Any, segments: Any, weights: Any,
                   extent: Any, *given: Any) -> Tensor:
    return gradient.new_empty([extent, *gradient.shape[1:]])


def _fake_weights_gradient(gradient: Tensor, data: Tensor, indices: Any, segments: Any,
                           weights: Tensor, *given: Any) -> Tensor:
    return weights.new_empty(weights.shape)


def _one_by_one(op: Any, info: Any, dims: Any, arguments: Any) -> Any:
    """Each of the batch by itself: bags have no dimension to put it in."""
    def part(value: Any, dim: Any, i: int) -> Any:
        return value if dim is None else value.select(dim, i)

    results = [op(*(part(value, dim, i) for value, dim in zip(arguments, dims)))
               for i in range(info.batch_size)]
    return torch.stack(results), 0


def _rows_with_batch(table: Tensor, dim: int) -> Tensor:
    """The batch behind the first dimension: it becomes part of the rows."""
    return table.movedim(dim, 0).movedim(0, 1).contiguous()


def _only_first(dims: Any) -> bool:
    return dims[0] is not None and all(dim is None for dim in dims[1:])


def _batched_bag(info: Any, in_dims: Any, data: Tensor, *rest: Any, threads: int = 0) -> Any:
    op = operators.operator("bag")
    if _only_first(in_dims) and info.batch_size:
        return op(_rows_with_batch(data, in_dims[0]), *rest, threads=threads), 1
    return _one_by_one(lambda *arguments: op(*arguments, threads=threads), info, in_dims,
                       (data, *rest))


def _batched_gradient(info: Any, in_dims: Any, gradient: Tensor, *rest: Any) -> Any:
    op = operators.operator("_bag_gradient")
    if _only_first(in_dims) and rest[0] is None and info.batch_size:  # no data, so no winners
        return op(_rows_with_batch(gradient, in_dims[0]), *rest), 1
    return _one_by_one(op, info, in_dims, (gradient, *rest))


def _batched_weights_gradient(info: Any, in_dims: Any, *arguments: Any) -> Any:
    return _one_by_one(operators.operator("_bag_weights_gradient"), info, in_dims, arguments)


for _op, _fake, _batched in (("bag", _fake_bag, _batched_bag),
                             ("_bag_gradient", _fake_gradient, _batched_gradient),
                             ("_bag_weights_gradient", _fake_weights_gradient,
                              _batched_weights_gradient)):
    torch.library.register_fake(f"sheaf::{_op}", _fake, lib=operators.library)
    torch.library.register_vmap(f"sheaf::{_op}", _batched, lib=operators.library)
