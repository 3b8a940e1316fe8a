# SPDX-License-Identifier: MIT
"""Tables that are split over a process group of torch.distributed, with gradients."""

from __future__ import annotations

from typing import Any

import numpy
import torch
import torch.distributed as distributed
from torch import Tensor

from .. import _sharded
from .._functions import GatherRule, Negative


class _Group:
    """A process group as a transport of tensors in host memory (gloo)."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self.rank = distributed.get_rank(group)
        self.size = distributed.get_world_size(group)

    def allgather(self, value: Any) -> list[Any]:
        values: list[Any] = [None] * self.size
        distributed.all_gather_object(values, value, group=self.group)
        return values

    def alltoall(self, parts: list[Any], counts: list[int]) -> list[Any]:
        sent = [torch.as_tensor(part) for part in parts]
        received = torch.empty(sum(counts), dtype=torch.uint8)
        distributed.all_to_all_single(received, torch.cat(sent), counts,
                                      [len(part) for part in sent], group=self.group)
        return list(torch.split(received, counts))

    def to_bytes(self, array: Tensor) -> Tensor:
        return array.contiguous().reshape(-1).view(torch.uint8)

    def from_bytes(self, data: Tensor, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        return data.clone().view(like.dtype).reshape(shape)  # a split may start anywhere

    def zeros(self, like: Tensor, shape: tuple[int, ...]) -> Tensor:
        return torch.zeros(shape, dtype=like.dtype)

    def concatenate(self, arrays: list[Tensor], axis: int) -> Tensor:
        return torch.cat(arrays, axis)


class _Gather(torch.autograd.Function):
    """The gradient of a gather is a scatter-add: to each owner, in the order of the ranks."""

    @staticmethod
    def forward(ctx: Any, shard: Tensor, sharding: Any, entries: Any, shape: Any,
                fill_value: Any) -> Tensor:
        ctx.sharding, ctx.entries, ctx.shard_shape = sharding, entries, shard.shape
        result: Tensor = _sharded.gather(sharding, shard.detach(), entries, shape,
                                         shard.element_size(), fill_value)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        zeros = torch.zeros(ctx.shard_shape, dtype=grad.dtype)
        summed = _sharded.scatter(ctx.sharding, zeros, ctx.entries, grad.contiguous(),
                                  grad.element_size(), "add", True)
        return summed, None, None, None, None


class ShardedTable:
    """A tensor whose axis `axis` is split over the ranks of a process group: this rank has `shard`,
    the entries after those of the ranks before it. Every method is collective, and so is the
    backward pass: the gradient of a shard is that of the sum of all ranks' losses. The rows of one
    exchange take at most `workspace_bytes`; calls on more rows do several."""

    def __init__(self, process_group: Any, shard: Tensor, axis: int = 0, *,
                 workspace_bytes: int = _sharded.WORKSPACE_BYTES) -> None:
        self._transport = _Group(process_group)
        self.shard = shard
        self._sharding = _sharded.Sharding(self._transport, shard, axis, workspace_bytes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole table."""
        return self._sharding.shape

    def gather(self, indices: Any, *, out_of_range: GatherRule = "fail",
               negative: Negative = "from_end", fill_value: Any = 0) -> Tensor:
        """This rank's rows, as sheaf.gather(whole, indices, axis) returns them."""
        sharding = self._sharding

        def check() -> Any:
            sharding.check_gather(self.shard.detach(), out_of_range, negative, fill_value)
            given = numpy.asarray(indices)
            entries = sharding.entries(given, out_of_range, negative, numpy.float32)
            return entries, sharding.grid_shape(given)

        entries, shape = _sharded.together(self._transport, check, (out_of_range, negative))
        result: Tensor = _Gather.apply(self.shard, sharding, entries, shape,
                                       fill_value if out_of_range == "fill" else 0)
        return result
