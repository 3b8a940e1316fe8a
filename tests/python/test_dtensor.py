# SPDX-License-Identifier: MIT
"""DTensors over two processes of gloo, beside one process: values, placements and gradients."""

import os
import tempfile

import pytest

torch = pytest.importorskip("torch")

IDS = [3, 0, 3, 1]


def program(rank, size, store):
    import torch.distributed as distributed
    distributed.init_process_group("gloo", init_method=f"file://{store}", rank=rank,
                                   world_size=size)
    compare(size)
    distributed.barrier()
    distributed.destroy_process_group()


def compare(size):
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor, init_device_mesh

    import sheaf
    import sheaf.torch.dtensor
    mesh = init_device_mesh("cpu", (size,))
    whole, ids = torch.arange(24.0).reshape(6, 4), torch.tensor(IDS)
    rows = torch.arange(16.0).reshape(4, 4) + 1

    def spread(tensor, placement):
        return distribute_tensor(tensor, mesh, [placement])

    table = spread(whole, Replicate()).requires_grad_()
    got = sheaf.gather(table, spread(ids, Shard(0)))
    assert got.placements == (Shard(0),) and torch.equal(got.full_tensor(), whole[ids])
    (got * spread(rows, Shard(0))).sum().backward()
    expected = torch.zeros(6, 4).index_add_(0, ids, rows)
    assert torch.equal(table.grad.full_tensor(), expected)

    columns = sheaf.gather(spread(whole, Shard(1)), spread(ids, Replicate()))
    assert columns.placements == (Shard(1),)
    assert torch.equal(columns.full_tensor(), whole[ids])
    sums = sheaf.scatter(spread(whole, Shard(1)), spread(ids, Replicate()), spread(rows, Shard(1)),
                         reduction="add")
    assert sums.placements == (Shard(1),)
    assert torch.equal(sums.full_tensor(), whole.index_add(0, ids, rows))
    # Rows that are split must come together first.
    split = sheaf.gather(spread(whole, Shard(0)), spread(ids, Replicate()))
    assert torch.equal(split.full_tensor(), whole[ids])
    tuples = spread(torch.tensor([[0, 1], [5, 3]]), Shard(0))
    assert sheaf.gather_nd(spread(whole, Replicate()), tuples).full_tensor().tolist() == [1, 23]


def test_two_processes():
    import torch.multiprocessing as multiprocessing
    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(program, (2, os.path.join(folder, "store")), nprocs=2)
