# SPDX-License-Identifier: MIT
"""sheaf.torch.ShardedTable over gloo, beside one process: values, gradients, errors."""

import gc
import os
import tempfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")


def ids_of(rank, entries):
    return np.random.default_rng(rank).integers(-entries, entries, rank * 5)


def program(rank, size, store):
    import torch.distributed as distributed
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank,
                                   world_size=size)
    compare(rank, size, distributed)
    # Tables hold the group. All are gone by now, so this ends its threads; one that still runs when
    # the interpreter ends makes PyTorch abort.
    gc.collect()
    distributed.barrier()
    distributed.destroy_process_group()


def compare(rank, size, distributed):
    import sheaf.torch
    for axis, shape, workspace in [(0, (23, 3), 1 << 28), (1, (2, 17, 3), 1 << 28),
                                   (1, (2, 17, 3), 400)]:  # one or two rows at a time
        whole = torch.from_numpy(np.random.default_rng(1).standard_normal(shape).astype("float32"))
        cuts = [0] + [shape[axis] * (r + 1) ** 2 // size ** 2 for r in range(size)]
        shard = whole.narrow(axis, cuts[rank], cuts[rank + 1] - cuts[rank]).clone()
        shard.requires_grad_(True)
        table = sheaf.torch.ShardedTable(distributed.group.WORLD, shard, axis,
                                         workspace_bytes=workspace)
        rows = table.gather(ids_of(rank, shape[axis]))
        ids = [ids_of(r, shape[axis]) for r in range(size)]
        alone = whole.clone().requires_grad_(True)
        wanted = sheaf.gather(alone, torch.from_numpy(ids[rank]), axis)
        assert torch.equal(rows, wanted)
        weights = [torch.from_numpy(np.random.default_rng(r + 7).standard_normal(
            sheaf.gather(whole, ids[r], axis).shape).astype("float32")) for r in range(size)]
        (rows * weights[rank]).sum().backward()
        every = sheaf.gather(alone, torch.from_numpy(np.concatenate(ids)), axis)
        (every * torch.cat(weights, axis)).sum().backward()
        part = alone.grad.narrow(axis, cuts[rank], cuts[rank + 1] - cuts[rank])
        assert torch.equal(shard.grad, part)
    table = sheaf.torch.ShardedTable(distributed.group.WORLD, torch.ones(4, 2))
    try:
        table.gather([0, 4 * size if rank == 1 else 1])
    except sheaf.IndexError as error:
        assert f"on rank 1: indices[1] = {4 * size}" in str(error), str(error)
    else:
        raise AssertionError("a bad index went unnoticed")
    try:  # of one rank only, and no index at all: the others must not wait for its rows
        table.gather([[0], [1, 2]] if rank == 1 else [0])
    except sheaf.Error as error:
        assert "on rank 1: " in str(error), str(error)
    else:
        raise AssertionError("a ragged list went unnoticed")


@pytest.mark.parametrize("size", [2, 3])
def test_values_gradients_and_errors(size):
    import torch.multiprocessing as multiprocessing
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(program, (size, os.path.join(folder, "store")), nprocs=size)
