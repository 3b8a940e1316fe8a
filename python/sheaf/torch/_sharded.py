# SPDX-License-Identifier: MIT
"""Tables that are split over a process group of torch.distributed, with gradients."""

from __future__ import annotations

from typing import Any

import numpy
import torch
import torch.distributed as distributed
from torch import Tensor

from .. import _sharded
from . import _operators as operators

_NARROW = (torch.float16, torch.bfloat16)


class _Group:
    """A process group as a transport. The bytes of an exchange are copied once more: into one tensor
    for all ranks, where the backend of the group takes it."""

    def __init__(self, group: Any) -> None:
        self.group = group
        self.rank = distributed.get_rank(group)
        self.size = distributed.get_world_size(group)
        known: Any = group or distributed.group.WORLD
        takes, host = known._device_types, torch.device("cpu")
        self.device = host if host in takes else takes[0]  # NCCL takes no tensors of the host

    def exchange(self, to: list[memoryview], received: list[memoryview]) -> int:
        counts = [len(part) for part in received]
        sent = torch.from_numpy(numpy.frombuffer(bytearray().join(to), numpy.uint8))
        came = torch.empty(sum(counts), dtype=torch.uint8, device=self.device)
        distributed.all_to_all_single(came, sent.to(self.device), counts,
                                      [len(part) for part in to], group=self.group)
        for part, data in zip(received, torch.split(came.cpu(), counts)):
            part[:] = data.numpy().data
        return len(came)


class _Gather(torch.autograd.Function):
    """The gradient of a gather is a scatter-add: to each owner, in the order of the ranks. As on one
    process, narrow floats are added up in f32."""

    @staticmethod
    def forward(ctx: Any, shard: Tensor, table: Any, op: str, indices: Any, rule: Any) -> Any:
        result = table.gather(op, shard.detach(), indices, *rule)
        ctx.table, ctx.op, ctx.rule, ctx.like = table, op, rule, shard.detach()
        if isinstance(indices, Tensor):
            ctx.save_for_backward(indices)
        else:
            ctx.indices = numpy.array(indices)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        indices = ctx.saved_tensors[0] if ctx.saved_tensors else ctx.indices
        out_of_range, negative, _ = ctx.rule
        wide = torch.float32 if grad.dtype in _NARROW else grad.dtype
        sums = torch.zeros_like(ctx.like, dtype=wide, memory_format=torch.contiguous_format)
        ctx.table.scatter(operators.SCATTER_OF[ctx.op], sums, indices, grad.detach().to(wide), "add",
                          True, "skip" if out_of_range == "fill" else out_of_range, negative)
        return sums.to(grad.dtype), None, None, None, None


class ShardedTable(_sharded.ShardedTable):
    __doc__ = f"""{_sharded.ShardedTable.__doc__}

    Gathers have gradients, if the shards of all ranks require them. The backward pass is collective,
    too: every rank runs it. The gradient of a shard is that of the sum of all ranks' losses. A
    scatter is not recorded, like the step of an optimizer."""

    shard: Tensor

    def __init__(self, process_group: Any, shard: Tensor, axis: int = 0, *,
                 workspace_bytes: int = _sharded.WORKSPACE_BYTES) -> None:
        super().__init__(_Group(process_group), shard, axis, workspace_bytes)

    def _values(self) -> Any:
        return self.shard.detach() if isinstance(self.shard, Tensor) else self.shard

    def _gather(self, op: str, indices: Any, rule: tuple[Any, Any, Any]) -> Any:
        if isinstance(self.shard, Tensor):
            return _Gather.apply(self.shard, self._table, op, indices, rule)
        return super()._gather(op, indices, rule)
