# SPDX-License-Identifier: MIT
"""sheaf.torch.ShardedTable over gloo, beside one process: values, gradients, errors."""

import gc
import os
import tempfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")

REDUCTIONS = ["none", "add", "sub", "mul", "min", "max", "mean"]


def program(rank, size, store):
    import torch.distributed as distributed
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank,
                                   world_size=size)
    group = distributed.group.WORLD
    for axis, shape, workspace in [(0, (23, 3), 1 << 28), (1, (2, 17, 3), 1 << 28),
                                   (1, (2, 17, 3), 5000)]:  # some rows at a time
        gathers_and_gradients(rank, size, group, axis, shape, workspace)
        scatters(rank, size, group, axis, shape, workspace)
    points(rank, size, group)
    narrow_gradients(rank, size, group)
    changes(rank, size, group)
    errors(rank, size, group)
    # Tables hold the group. All are gone by now, so this ends its threads; one that still runs when
    # the interpreter ends makes PyTorch abort.
    gc.collect()
    distributed.barrier()
    distributed.destroy_process_group()


def random(seed, shape, dtype=torch.float32):
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(values.astype("float32")).to(dtype)


def ids_of(rank, entries):
    """Rank 0 has none."""
    return np.random.default_rng(rank).integers(-entries, entries, rank * 5)


def cuts_of(entries, size):
    """Where the shards end: unequal ones, and with many ranks some without entries."""
    return [0] + [entries * (r + 1) ** 2 // size ** 2 for r in range(size)]


def part(whole, axis, cuts, rank):
    return whole.narrow(axis, cuts[rank], cuts[rank + 1] - cuts[rank])


def gathers_and_gradients(rank, size, group, axis, shape, workspace):
    import sheaf.torch
    whole, cuts = random(1, shape), cuts_of(shape[axis], size)
    shard = part(whole, axis, cuts, rank).clone().requires_grad_(True)
    table = sheaf.torch.ShardedTable(group, shard, axis, workspace_bytes=workspace)
    assert table.shape == tuple(shape)
    ids = [ids_of(r, shape[axis]) for r in range(size)]
    rows = table.gather(ids[rank])
    alone = whole.clone().requires_grad_(True)
    assert torch.equal(rows, sheaf.gather(alone, torch.from_numpy(ids[rank]), axis))
    weights = [random(r + 7, sheaf.gather(whole, ids[r], axis).shape) for r in range(size)]
    (rows * weights[rank]).sum().backward()
    every = sheaf.gather(alone, torch.from_numpy(np.concatenate(ids)), axis)
    (every * torch.cat(weights, axis)).sum().backward()
    assert torch.equal(shard.grad, part(alone.grad, axis, cuts, rank))
    for rule in ("clamp", "wrap", "fill"):
        outside = torch.from_numpy(ids[rank] * 3)
        assert torch.equal(table.gather(outside, out_of_range=rule, fill_value=7),
                           sheaf.gather(whole, outside, axis, out_of_range=rule, fill_value=7))


def scatters(rank, size, group, axis, shape, workspace):
    import sheaf.torch
    whole, cuts = random(2, shape), cuts_of(shape[axis], size)
    ids = [ids_of(r, shape[axis]) for r in range(size)]
    updates = [random(r + 99, sheaf.gather(whole, ids[r], axis).shape) for r in range(size)]
    for reduction in REDUCTIONS:
        for include_self in (True, False):
            shard = part(whole, axis, cuts, rank).clone()
            table = sheaf.torch.ShardedTable(group, shard, axis, workspace_bytes=workspace)
            table.scatter(ids[rank], updates[rank], reduction=reduction, include_self=include_self)
            wanted = sheaf.scatter(whole, np.concatenate(ids), torch.cat(updates, axis), axis,
                                   reduction=reduction, include_self=include_self)
            assert torch.equal(shard, part(wanted, axis, cuts, rank)), (reduction, include_self)


def points(rank, size, group):
    """gather_elements, gather_nd and their scatters, with the gradients of the gathers."""
    import sheaf.torch
    whole, cuts = random(3, (11, 4)), cuts_of(11, size)
    calls = {
        "gather_elements": [np.random.default_rng(r).integers(-20, 20, (r + 2, 3))
                            for r in range(size)],
        "gather_nd": [np.random.default_rng(r).integers(-14, 14, (r * 3, 2)) for r in range(size)]}
    for name, indices in calls.items():
        shard = part(whole, 0, cuts, rank).clone().requires_grad_(True)
        table = sheaf.torch.ShardedTable(group, shard)
        alone = whole.clone().requires_grad_(True)
        got = getattr(table, name)(indices[rank], out_of_range="fill", fill_value=5)
        mine = getattr(sheaf, name)(alone, torch.from_numpy(indices[rank]), out_of_range="fill",
                                    fill_value=5)
        assert torch.equal(got, mine)
        every = getattr(sheaf, name)(alone, torch.from_numpy(np.concatenate(indices)),
                                     out_of_range="fill", fill_value=5)
        (got * got).sum().backward()
        (every * every).sum().backward()
        assert torch.equal(shard.grad, part(alone.grad, 0, cuts, rank)), name
        scatter = name.replace("gather", "scatter")
        updates = [random(r + 4, tuple(getattr(sheaf, name)(whole, ids, out_of_range="fill").shape))
                   for r, ids in enumerate(indices)]
        for reduction in REDUCTIONS:
            getattr(table, scatter)(indices[rank], updates[rank], reduction=reduction,
                                    out_of_range="skip")
            whole = getattr(sheaf, scatter)(whole, np.concatenate(indices), torch.cat(updates),
                                            reduction=reduction, out_of_range="skip")
            assert torch.equal(shard.detach(), part(whole, 0, cuts, rank)), (scatter, reduction)


def narrow_gradients(rank, size, group):
    """Sums of bf16 are rounded once, as on one process."""
    import sheaf.torch
    whole, cuts = random(5, (6, 2), torch.bfloat16), cuts_of(6, size)
    ids = torch.arange(40) % 3
    shard = part(whole, 0, cuts, rank).clone().requires_grad_(True)
    table = sheaf.torch.ShardedTable(group, shard)
    alone = whole.clone().requires_grad_(True)
    weights = random(6, (40, 2), torch.bfloat16)
    (table.gather(ids) * weights).sum().backward()
    (sheaf.gather(alone, ids.repeat(size)) * weights.repeat(size, 1)).sum().backward()
    assert torch.equal(shard.grad, part(alone.grad, 0, cuts, rank))


def changes(rank, size, group):
    """A shard that moved to other memory, and one that a gradient still needs."""
    import sheaf.torch
    parameter = torch.nn.Parameter(torch.full((2, 2), float(rank)))
    table = sheaf.torch.ShardedTable(group, parameter)
    parameter.data = torch.full((2, 2), float(rank + 10))
    assert torch.equal(table.gather([2 * size - 1]), torch.full((1, 2), float(size + 9)))
    squares = parameter * parameter
    table.scatter([0], torch.ones(1, 2), reduction="add")
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squares.sum().backward()


def raises_everywhere(kind, text, call):
    with pytest.raises(kind) as raised:
        call()
    assert text in str(raised.value), str(raised.value)


def errors(rank, size, group):
    import sheaf.torch
    last = rank == size - 1
    shard = torch.ones(4, 2)
    table = sheaf.torch.ShardedTable(group, shard)
    where = f"on rank {size - 1}: "
    raises_everywhere(sheaf.IndexError, f"{where}indices[1] = {4 * size}",
                      lambda: table.gather([0, 4 * size if last else 1]))
    # Of one rank only, and no index at all: the others must not wait for its rows.
    raises_everywhere(sheaf.ArgumentError, where,
                      lambda: table.gather([[0], [1, 2]] if last else [0]))
    raises_everywhere(sheaf.IndexDTypeError, where, lambda: table.gather([0.5] if last else [0]))
    raises_everywhere(sheaf.DTypeError, "an option has the wrong type",
                      lambda: table.gather([0], out_of_range=3 if last else "fail"))
    raises_everywhere(sheaf.ArgumentError, where,
                      lambda: table.scatter([0], torch.ones(1, 3 if last else 2)))
    raises_everywhere(sheaf.IndexError, where,
                      lambda: table.scatter([4 * size if last else 0], torch.ones(1, 2)))
    raises_everywhere(sheaf.Error, where,
                      lambda: sheaf.torch.ShardedTable(group, None if last else shard))
    raises_everywhere(sheaf.AxisError, where,
                      lambda: sheaf.torch.ShardedTable(group, shard, 7 if last else 0))
    if size > 1:
        raises_everywhere(sheaf.ArgumentError, "ranks disagree",
                          lambda: table.gather([0], out_of_range="wrap" if last else "clamp"))
        raises_everywhere(sheaf.ArgumentError, "ranks disagree",
                          lambda: sheaf.torch.ShardedTable(group, torch.ones(4, 3 if last else 2)))
        tight = sheaf.torch.ShardedTable(group, shard, workspace_bytes=1)
        raises_everywhere(sheaf.ArgumentError, "workspace too small", lambda: tight.gather([0]))
    assert torch.equal(shard, torch.ones(4, 2))


def test_transports_that_fail():
    """What a transport raises is raised; one that brings fewer bytes, or says nonsense, is refused."""
    import sheaf._sharded

    class Broken:
        def __init__(self, answer):
            self.rank, self.size, self.answer = 0, 2, answer

        def exchange(self, to, received):
            return self.answer(sum(len(part) for part in received))

    def fail(_):
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError, match="gone"):
        sheaf._sharded.ShardedTable(Broken(fail), np.ones(3), 0, 1 << 20)
    with pytest.raises(sheaf.DeviceError, match="an exchange brought 23 bytes, but 24 were sent"):
        sheaf._sharded.ShardedTable(Broken(lambda bytes: bytes - 1), np.ones(3), 0, 1 << 20)
    with pytest.raises(RuntimeError):
        sheaf._sharded.ShardedTable(Broken(lambda _: "all"), np.ones(3), 0, 1 << 20)


@pytest.mark.parametrize("size", [1, 2, 4])
def test_values_gradients_and_errors(size):
    import torch.multiprocessing as multiprocessing
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(program, (size, os.path.join(folder, "store")), nprocs=size)
