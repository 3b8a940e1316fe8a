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

from . import _functions, _sharded
from . import _sharded_points as _points
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
    ranks before it. Every method is collective, with the same options on every rank.

    The rows of one exchange take at most `workspace_bytes`; gathers and scatters of more rows are
    done in several. "mean" and reductions without the old values, and the operators on tuples and
    single elements, take one exchange whatever their size."""

    def __init__(self, comm: Any, shard: NDArray[Any], axis: int = 0, *,
                 workspace_bytes: int = _sharded.WORKSPACE_BYTES) -> None:
        self._transport = _Mpi(comm)
        self.shard = shard
        self._sharding = _sharded.Sharding(self._transport, shard, axis, workspace_bytes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole table."""
        return self._sharding.shape

    def _gather(self, indices: Any, rule: tuple[Any, Any, Any], find: Any, run: Any) -> Any:
        """find() checks on every rank, then run() moves."""
        def check() -> Any:
            self._sharding.check_gather(self.shard, *rule)
            return find(numpy.asarray(indices))

        out_of_range, negative, _ = rule
        found, shape = _sharded.together(self._transport, check, (out_of_range, negative))
        # Entries that are not there are filled by the exchange, under this rule alone.
        fill_value = rule[2] if out_of_range == "fill" else 0
        return run(self._sharding, self.shard, found, shape, self.shard.itemsize, fill_value)

    def gather(self, indices: Any, *, out_of_range: GatherRule = "fail",
               negative: Negative = "from_end", fill_value: Any = 0) -> NDArray[Any]:
        """This rank's rows: what sheaf.gather(whole, indices, axis) returns."""
        def find(given: Any) -> Any:
            entries = self._sharding.entries(given, out_of_range, negative, self.shard.dtype)
            return entries, self._sharding.grid_shape(given)

        result: NDArray[Any] = self._gather(indices, (out_of_range, negative, fill_value), find,
                                            _sharded.gather)
        return result

    def gather_elements(self, indices: Any, *, out_of_range: GatherRule = "fail",
                        negative: Negative = "from_end", fill_value: Any = 0) -> NDArray[Any]:
        """What sheaf.gather_elements(whole, indices, axis) returns."""
        def find(given: Any) -> Any:
            self._plan_elements(given)
            entries = self._sharding.entries(given, out_of_range, negative, self.shard.dtype)
            return entries, given.shape

        result: NDArray[Any] = self._gather(indices, (out_of_range, negative, fill_value), find,
                                            _points.gather_elements)
        return result

    def gather_nd(self, indices: Any, *, out_of_range: GatherRule = "fail",
                  negative: Negative = "from_end", fill_value: Any = 0) -> NDArray[Any]:
        """What sheaf.gather_nd(whole, indices) returns; axis 0 is the split one."""
        def find(given: Any) -> Any:
            tuples = _points.coordinates(self._sharding, given, out_of_range, negative,
                                         self.shard.dtype)
            return tuples, (*given.shape[:-1], *self.shape[given.shape[-1]:])

        result: NDArray[Any] = self._gather(indices, (out_of_range, negative, fill_value), find,
                                            _points.gather_nd)
        return result

    def _plan_elements(self, indices: Any) -> None:
        """Refuses indices whose shape does not fit."""
        whole = numpy.broadcast_to(numpy.zeros((), self.shard.dtype), self.shape)
        _functions.plan_gather_elements(whole, indices, self._sharding.axis)

    def _scatter(self, indices: Any, updates: Any, how: tuple[Any, Any, Any, Any], find: Any,
                 run: Any) -> None:
        def check() -> Any:
            self._sharding.check_scatter(self.shard, *how)
            found, shape = find(numpy.asarray(indices))
            if updates.shape != shape or updates.dtype != self.shard.dtype:
                _sharded.refuse("updates do not fit", f"updates are {updates.dtype}"
                                f"{list(updates.shape)}, but these indices take "
                                f"{self.shard.dtype}{list(shape)}",
                                "updates of that shape and type")
            if not self.shard.flags.writeable:
                _sharded.refuse("read-only shard", "a scatter writes to it", "a copy of it")
            return found

        found = _sharded.together(self._transport, check, how)
        self.shard[...] = run(found)

    def scatter(self, indices: Any, updates: NDArray[Any], *, reduction: Reduction = "none",
                include_self: bool = True, out_of_range: ScatterRule = "fail",
                negative: Negative = "from_end") -> None:
        """Applies the updates of all ranks to the shards, in place: those of rank 0 first."""
        def find(given: Any) -> Any:
            entries = self._sharding.entries(given, out_of_range, negative, self.shard.dtype)
            return entries, self._sharding.grid_shape(given)

        self._scatter(indices, updates, (reduction, include_self, out_of_range, negative), find,
                      lambda entries: _sharded.scatter(
                          self._sharding, self.shard, entries, updates, self.shard.itemsize,
                          reduction, include_self))

    def scatter_elements(self, indices: Any, updates: NDArray[Any], *,
                         reduction: Reduction = "none", include_self: bool = True,
                         out_of_range: ScatterRule = "fail",
                         negative: Negative = "from_end") -> None:
        """The same for sheaf.scatter_elements(whole, indices, updates, axis)."""
        def find(given: Any) -> Any:
            self._plan_elements(given)
            entries = self._sharding.entries(given, out_of_range, negative, self.shard.dtype)
            return _points.element_tuples(self._sharding, entries, given.shape), given.shape

        self._scatter_tuples(indices, updates, (reduction, include_self, out_of_range, negative),
                             find, self._sharding.axis)

    def scatter_nd(self, indices: Any, updates: NDArray[Any], *, reduction: Reduction = "none",
                   include_self: bool = True, out_of_range: ScatterRule = "fail",
                   negative: Negative = "from_end") -> None:
        """The same for sheaf.scatter_nd(whole, indices, updates); axis 0 is the split one."""
        def find(given: Any) -> Any:
            tuples = _points.coordinates(self._sharding, given, out_of_range, negative,
                                         self.shard.dtype)
            return tuples, (*given.shape[:-1], *self.shape[given.shape[-1]:])

        self._scatter_tuples(indices, updates, (reduction, include_self, out_of_range, negative),
                             find, 0)

    def _scatter_tuples(self, indices: Any, updates: NDArray[Any], how: tuple[Any, ...], find: Any,
                        axis: int) -> None:
        self._scatter(indices, updates, (how[0], how[1], how[2], how[3]), find,
                      lambda tuples: _points.scatter_tuples(
                          self._sharding, self.shard, tuples, updates, self.shard.itemsize, how[0],
                          how[1], axis))
