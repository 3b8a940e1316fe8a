# SPDX-License-Identifier: MIT
"""Run by test_mpi.py under mpirun: sharded calls beside one process, bit for bit."""

import numpy as np
from mpi4py import MPI

import sheaf
import sheaf.mpi

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def ids_of(r, entries):
    return np.random.default_rng(r).integers(-entries, entries, (r % 3) * 5)


def check(whole, axis):
    cuts = np.linspace(0, whole.shape[axis], size + 1).astype(int) ** 2 // max(whole.shape[axis], 1)
    shard = np.split(whole, cuts[1:-1], axis)[rank].copy()
    table = sheaf.mpi.ShardedTable(comm, shard, axis)
    assert table.shape == whole.shape
    entries = whole.shape[axis]
    ids = ids_of(rank, entries)
    np.testing.assert_array_equal(table.gather(ids), sheaf.gather(whole, ids, axis))
    np.testing.assert_array_equal(
        table.gather(ids + 3 * entries, out_of_range="fill", fill_value=7),
        sheaf.gather(whole, ids + 3 * entries, axis, out_of_range="fill", fill_value=7))
    for reduction, include_self in [("none", True), ("add", True), ("mean", True), ("max", False)]:
        table = sheaf.mpi.ShardedTable(comm, shard.copy(), axis)
        updates = [np.random.default_rng(r + 99).standard_normal(
            sheaf.gather(whole, ids_of(r, entries), axis).shape).astype(whole.dtype)
            for r in range(size)]
        table.scatter(ids, updates[rank], reduction=reduction, include_self=include_self)
        wanted = sheaf.scatter(
            whole, np.concatenate([ids_of(r, entries) for r in range(size)]),
            np.concatenate(updates, axis), axis, reduction=reduction, include_self=include_self)
        np.testing.assert_array_equal(table.shard, np.split(wanted, cuts[1:-1], axis)[rank])


rng = np.random.default_rng(1)
check(rng.standard_normal((23, 3)).astype(np.float32), 0)
check(rng.standard_normal((2, 17, 3)), 1)

table = sheaf.mpi.ShardedTable(comm, np.ones((4, 2), np.float32))
before = table.shard.copy()
try:
    table.scatter([0, 4 * size if rank == size - 1 else 1], np.ones((2, 2), np.float32))
    raise SystemExit("a bad index went unnoticed")
except sheaf.IndexError as error:
    text = str(error).split("\n")
    assert text[0].endswith("index out of range"), text
    assert text[1].startswith(f"  on rank {size - 1}: indices[1] = {4 * size}, but axis 0"), text
    assert error.position == (1,)
np.testing.assert_array_equal(table.shard, before)
comm.Barrier()
if rank == 0:
    print("good")
