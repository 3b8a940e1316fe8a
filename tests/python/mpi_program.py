# SPDX-License-Identifier: MIT
"""Run by test_mpi.py under mpirun: sharded calls beside one process, bit for bit."""

import numpy as np
from mpi4py import MPI

import sheaf
import sheaf.mpi

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


REDUCTIONS = ["none", "add", "sub", "mul", "min", "max", "mean"]


def ids_of(r, entries):
    return np.random.default_rng(r).integers(-entries, entries, (r % 3) * 5)


def check(whole, axis, workspace=1 << 28):
    cuts = np.linspace(0, whole.shape[axis], size + 1).astype(int) ** 2 // max(whole.shape[axis], 1)
    shard = np.split(whole, cuts[1:-1], axis)[rank].copy()
    table = sheaf.mpi.ShardedTable(comm, shard, axis, workspace_bytes=workspace)
    assert table.shape == whole.shape
    entries = whole.shape[axis]
    ids = ids_of(rank, entries)
    np.testing.assert_array_equal(table.gather(ids), sheaf.gather(whole, ids, axis))
    np.testing.assert_array_equal(
        table.gather(ids + 3 * entries, out_of_range="fill", fill_value=7),
        sheaf.gather(whole, ids + 3 * entries, axis, out_of_range="fill", fill_value=7))
    for reduction, include_self in [(reduction, include_self) for include_self in (True, False)
                                    for reduction in REDUCTIONS]:
        table = sheaf.mpi.ShardedTable(comm, shard.copy(), axis, workspace_bytes=workspace)
        updates = [np.random.default_rng(r + 99).standard_normal(
            sheaf.gather(whole, ids_of(r, entries), axis).shape).astype(whole.dtype)
            for r in range(size)]
        table.scatter(ids, updates[rank], reduction=reduction, include_self=include_self)
        wanted = sheaf.scatter(
            whole, np.concatenate([ids_of(r, entries) for r in range(size)]),
            np.concatenate(updates, axis), axis, reduction=reduction, include_self=include_self)
        np.testing.assert_array_equal(table.shard, np.split(wanted, cuts[1:-1], axis)[rank])


def check_points(whole, axis):
    """gather_elements and scatter_elements; tuples too where axis 0 is split."""
    cuts = np.linspace(0, whole.shape[axis], size + 1).astype(int)
    shard = np.split(whole, cuts[1:-1], axis)[rank].copy()
    sizes, calls = whole.shape, []
    for r in range(size):
        rng = np.random.default_rng(r + 5)
        shape = [4 + r if d == axis else n - 1 for d, n in enumerate(sizes)]
        calls.append(rng.integers(-2 * sizes[axis], 2 * sizes[axis], shape))
    table = sheaf.mpi.ShardedTable(comm, shard, axis)
    np.testing.assert_array_equal(
        table.gather_elements(calls[rank], out_of_range="fill", fill_value=5),
        sheaf.gather_elements(whole, calls[rank], axis, out_of_range="fill", fill_value=5))
    compare_scatters(table, "scatter_elements", whole, calls, (axis,), cuts, axis)
    for length in range(1, whole.ndim + 1) if axis == 0 else ():
        tuples = [np.random.default_rng(r + 9).integers(-25, 25, (r * 3, 2, length))
                  for r in range(size)]
        for rule in ("fill", "clamp", "wrap"):
            np.testing.assert_array_equal(
                table.gather_nd(tuples[rank], out_of_range=rule),
                sheaf.gather_nd(whole, tuples[rank], out_of_range=rule))
        compare_scatters(table, "scatter_nd", whole, tuples, (), cuts, 0)


def compare_scatters(table, name, whole, calls, axes, cuts, axis):
    gather = getattr(sheaf, name.replace("scatter", "gather"))
    updates = [np.random.default_rng(r + 40).standard_normal(
        gather(whole, call, *axes, out_of_range="fill").shape).astype(whole.dtype)
        for r, call in enumerate(calls)]
    for options in ({"reduction": "add"}, {}, {"reduction": "mean", "include_self": False}):
        table = sheaf.mpi.ShardedTable(comm, table.shard.copy(), axis)
        table.shard[...] = np.split(whole, cuts[1:-1], axis)[rank]
        getattr(table, name)(calls[rank], updates[rank], out_of_range="skip", **options)
        joined = 0 if name == "scatter_nd" else axis
        wanted = getattr(sheaf, name)(whole, np.concatenate(calls, joined),
                                      np.concatenate(updates, joined), *axes, out_of_range="skip",
                                      **options)
        np.testing.assert_array_equal(table.shard, np.split(wanted, cuts[1:-1], axis)[rank])


def raises_everywhere(kind, text, call):
    """An error of one rank arrives on all of them, as what it is, and nobody waits."""
    try:
        call()
    except kind as error:
        assert text in str(error), str(error)
        return
    raise SystemExit(f"not refused: {text}")


rng = np.random.default_rng(1)
check(rng.standard_normal((23, 3)).astype(np.float32), 0)
check(rng.standard_normal((2, 17, 3)), 1)
check(rng.standard_normal((23, 3)).astype(np.float32), 0, workspace=1000)  # some rows at a time
check(rng.standard_normal((2, 17, 3)), 1, workspace=5000)
check_points(rng.standard_normal((11, 3, 2)), 0)
check_points(rng.standard_normal((3, 12)).astype(np.float32), 1)

last = rank == size - 1
table = sheaf.mpi.ShardedTable(comm, np.ones((4, 2), np.float32))
ones = np.ones((1, 2), np.float32)
raises_everywhere(sheaf.Error, f"on rank {size - 1}: ",
                  lambda: sheaf.mpi.ShardedTable(comm, None if last else table.shard))
raises_everywhere(sheaf.AxisError, "axis out of range",
                  lambda: sheaf.mpi.ShardedTable(comm, table.shard, 7 if last else 0))
raises_everywhere(sheaf.IndexDTypeError, "not integers",
                  lambda: table.gather([0.5] if last else [0]))
raises_everywhere(sheaf.Error, "inhomogeneous",
                  lambda: table.gather([[0], [1, 2]] if last else [0]))
raises_everywhere(sheaf.ArgumentError, "unknown out_of_range",
                  lambda: table.gather([0], out_of_range="bogus"))
raises_everywhere(sheaf.ArgumentError, "is a rule for scatters",
                  lambda: table.gather([0], out_of_range="skip"))
raises_everywhere(sheaf.ArgumentError, "unknown reduction",
                  lambda: table.scatter([0], ones, reduction="bogus" if last else "add"))
raises_everywhere(sheaf.ArgumentError, "scatter: updates have the wrong shape",
                  lambda: table.scatter([0], ones[:, :1] if last else ones))
raises_everywhere(sheaf.ArgumentError, "gather_nd: ", lambda: table.gather_nd([[0, 0, 0]]))
raises_everywhere(sheaf.IndexError, "index out of range",
                  lambda: table.gather_nd([[0, 9 if last else 0]]))
if size > 1:
    raises_everywhere(sheaf.ArgumentError, "ranks disagree",
                      lambda: table.gather([0], out_of_range="wrap" if last else "clamp"))
    raises_everywhere(sheaf.ArgumentError, "ranks disagree", lambda: sheaf.mpi.ShardedTable(
        comm, np.zeros(3, "M8[s]" if last else "M8[ns]")))
    raises_everywhere(sheaf.ArgumentError, "workspace too small",
                      lambda: sheaf.mpi.ShardedTable(comm, ones, workspace_bytes=1).gather([0]))
np.testing.assert_array_equal(table.shard, 1)

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
