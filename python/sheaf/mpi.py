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

from numpy.typing import NDArray

from . import _sharded

#: A message's count is an int in MPI 3: longer ones go in pieces.
MESSAGE_BYTES = 1 << 30


class _Mpi:
    """mpi4py as a transport."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()  # what goes over it cannot meet the caller's messages
        self.rank = int(comm.Get_rank())
        self.size = int(comm.Get_size())

    def exchange(self, to: list[memoryview], received: list[memoryview]) -> int:
        from mpi4py import MPI
        arriving, leaving = [], []
        for rank in range(self.size):
            for at in range(0, len(received[rank]), MESSAGE_BYTES):
                piece = received[rank][at:at + MESSAGE_BYTES]
                arriving.append(self.comm.Irecv([piece, MPI.BYTE], source=rank))
            for at in range(0, len(to[rank]), MESSAGE_BYTES):
                piece = to[rank][at:at + MESSAGE_BYTES]
                leaving.append(self.comm.Isend([piece, MPI.BYTE], dest=rank))
        came, status = 0, MPI.Status()
        for request in arriving:
            request.Wait(status)
            came += status.Get_count(MPI.BYTE)
        for request in leaving:
            request.Wait()
        return came


class ShardedTable(_sharded.ShardedTable):
    __doc__ = _sharded.ShardedTable.__doc__

    shard: NDArray[Any]

    def __init__(self, comm: Any, shard: NDArray[Any], axis: int = 0, *,
                 workspace_bytes: int = _sharded.WORKSPACE_BYTES) -> None:
        super().__init__(_Mpi(comm), shard, axis, workspace_bytes)
