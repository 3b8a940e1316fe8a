# SPDX-License-Identifier: MIT
"""Tables that are split over the ranks of an MPI communicator, for programs with mpi4py.

    from mpi4py import MPI
    table = sheaf.mpi.ShardedTable(MPI.COMM_WORLD, my_rows)   # collective
    rows = table.gather(ids)                                  # each rank its own ids and rows
    table.scatter(ids, updates, reduction="add")              # in place

Results have the bits of one process. An error on one rank is raised on all, before anything moves.
"""

from __future__ import annotations

from typing import Any

import numpy
from numpy.typing import NDArray

from . import _sharded
from ._functions import GatherRule, Negative, Reduction, ScatterRule

#: A message's count is an int in MPI 3: longer ones go in pieces.
MESSAGE_BYTES = 1 << 30


class _Mpi:
    """mpi4py as a transport of NumPy arrays."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()  # what goes over it cannot meet the caller's messages
        self.rank = int(comm.Get_rank())
        self.size = int(comm.Get_size())

    def allgather(self, value: Any) -> list[Any]:
        return list(self.comm.allgather(value))

    def alltoall(self, parts: list[Any], counts: list[int]) -> list[Any]:
        received = [numpy.empty(count, numpy.uint8) for count in counts]
        requests = []
        for rank in range(self.size):
            if rank == self.rank:
                received[rank] = parts[rank]
                continue
            for at in range(0, counts[rank], MESSAGE_BYTES):
                piece = received[rank][at:at + MESSAGE_BYTES]
                requests.append(self.comm.Irecv(piece, source=rank))
            for at in range(0, len(parts[rank]), MESSAGE_BYTES):
                requests.append(self.comm.Isend(parts[rank][at:at + MESSAGE_BYTES], dest=rank))
        for request in requests:
            request.Wait()
        return received

    def to_bytes(self, array: Any) -> Any:
        return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)

    def from_bytes(self, data: Any, like: Any, shape: tuple[int, ...]) -> Any:
        return data.view(like.dtype).reshape(shape)

    def zeros(self, like: Any, shape: tuple[int, ...]) -> Any:
        return numpy.zeros(shape, like.dtype)

    def concatenate(self, arrays: list[Any], axis: int) -> Any:
        return numpy.concatenate(arrays, axis)


class ShardedTable:
    """An array whose axis `axis` is split: this rank has `shard`, the entries after those of the
    ranks before it. Every method is collective."""

    def __init__(self, comm: Any, shard: NDArray[Any], axis: int = 0) -> None:
        self._transport = _Mpi(comm)
        self.shard = shard
        self._sharding = _sharded.Sharding(self._transport, shard, axis, str(shard.dtype))

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole table."""
        return self._sharding.shape

    def gather(self, indices: Any, *, out_of_range: GatherRule = "fail",
               negative: Negative = "from_end", fill_value: Any = 0) -> NDArray[Any]:
        """This rank's rows: what sheaf.gather(whole, indices, axis) returns."""
        sharding = self._sharding
        entries = _sharded.together(self._transport, lambda: sharding.entries(
            indices, out_of_range, negative, self.shard.dtype))
        result: NDArray[Any] = _sharded.gather(
            sharding, self.shard, entries, sharding.grid_shape(indices), self.shard.itemsize,
            fill_value)
        return result

    def scatter(self, indices: Any, updates: NDArray[Any], *, reduction: Reduction = "none",
                include_self: bool = True, out_of_range: ScatterRule = "fail",
                negative: Negative = "from_end") -> None:
        """Applies the updates of all ranks to the shards, in place: those of rank 0 first."""
        sharding = self._sharding

        def check() -> Any:
            entries = sharding.entries(indices, out_of_range, negative, self.shard.dtype)
            if updates.shape != sharding.grid_shape(indices) or updates.dtype != self.shard.dtype:
                _sharded.refuse("updates do not fit", f"updates are {updates.dtype}"
                                f"{list(updates.shape)}, but these indices take "
                                f"{self.shard.dtype}{list(sharding.grid_shape(indices))}",
                                "updates of that shape and type")
            if not self.shard.flags.writeable:
                _sharded.refuse("read-only shard", "a scatter writes to it", "a copy of it")
            return entries

        entries = _sharded.together(self._transport, check)
        self.shard[...] = _sharded.scatter(sharding, self.shard, entries, updates,
                                           self.shard.itemsize, reduction, include_self)
