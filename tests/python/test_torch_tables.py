# SPDX-License-Identifier: MIT
"""sheaf.torch.Table and its optimisers, on the host. Those on a GPU are in test_cuda_tables.py."""

import copy
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import sheaf

torch = pytest.importorskip("torch")
import sheaf.torch  # noqa: E402
from torch_dlpack import needs_dlpack_of  # noqa: E402

IDS = torch.tensor([[3, 1, 3], [7, 0, 1]])


def weight(rows=9, *width, dtype=torch.float32):
    torch.manual_seed(34)
    return torch.randn(rows, *(width or (4,))).to(dtype)


def reference(start, ids, loss, step):
    """The same step with PyTorch's own indexing; `step(weight, gradient, rows)`."""
    leaf = start.clone().requires_grad_()
    loss(leaf[ids]).backward()
    rows = ids.unique()
    step(leaf.data, leaf.grad, rows)
    return leaf.data


def loss(rows):
    return (rows * torch.arange(rows.numel()).reshape(rows.shape)).sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16,
                                   torch.float8_e4m3fn, torch.int32])
def test_rows(dtype):
    needs_dlpack_of(dtype)
    data = weight(dtype=dtype)
    table = sheaf.torch.Table(data)
    rows = table(IDS)
    assert rows.dtype == dtype and rows.shape == (2, 3, 4) and rows.device == IDS.device
    assert torch.equal(rows.view(torch.uint8), data[IDS].view(torch.uint8))
    assert table.rows.stats()["calls"] == 1
    assert "host" in repr(table)


def test_bad_ids():
    table = sheaf.torch.Table(weight())
    for ids in ([9], [-1]):
        with pytest.raises(sheaf.IndexError, match=r"indices\[0\]"):
            table(torch.tensor(ids))
    with pytest.raises(sheaf.DTypeError):
        table(torch.tensor([0.5]))


def test_refusals():
    with pytest.raises(sheaf.ArgumentError, match="padding_idx = 9, but the table has 9 rows"):
        sheaf.torch.Table(weight(), padding_idx=9)
    with pytest.raises(sheaf.ArgumentError, match="weight is not in host memory"):
        sheaf.torch.Table(torch.empty(2, 2, device="meta"))
    with pytest.raises(sheaf.ArgumentError, match=r"SGD: no weight to change"):
        sheaf.torch.SGD([torch.nn.Linear(1, 1)])


def test_the_gradient_is_compressed():
    table = sheaf.torch.Table(weight())
    assert table.gradient() is None
    loss(table(IDS)).backward()
    rows, sums = table.gradient()
    leaf = weight().requires_grad_()
    loss(sheaf.torch.embedding(IDS, leaf, sparse=True)).backward()
    assert rows.tolist() == [0, 1, 3, 7]
    assert torch.equal(rows, leaf.grad._indices()[0])
    assert torch.equal(sums, leaf.grad._values())
    loss(table(IDS)).backward()  # a second batch adds to it
    assert torch.equal(table.gradient()[1], 2 * sums)
    table.zero_grad()
    assert table.gradient() is None
    with torch.no_grad():
        assert not table(IDS).requires_grad


def test_a_frozen_table_has_no_gradient():
    table = sheaf.torch.Table(weight()).requires_grad_(False)
    scale = torch.ones(4, requires_grad=True)
    loss(table(IDS) * scale).backward()  # that of others goes past it
    assert table.gradient() is None and scale.grad is not None
    loss(table.requires_grad_()(IDS)).backward()
    assert table.gradient() is not None


def test_padding_has_no_gradient():
    table = sheaf.torch.Table(weight(), padding_idx=-6)  # row 3
    loss(table(IDS)).backward()
    assert table.gradient()[0].tolist() == [0, 1, 7]


@pytest.mark.parametrize("width", [(4,), (2, 3)])
def test_sgd(width):
    table = sheaf.torch.Table(weight(9, *width))
    optimizer = sheaf.torch.SGD(table, lr=0.25)
    for _ in range(2):
        optimizer.zero_grad()
        loss(table(IDS)).backward()
        optimizer.step()

    def step(data, grad, rows):
        data[rows] = data[rows] - grad[rows] * 0.25

    expected = reference(weight(9, *width), IDS, loss, step)
    expected = reference(expected, IDS, loss, step)
    assert torch.equal(table.weight, expected)
    assert torch.equal(table(IDS), expected[IDS])


def test_adagrad_is_pytorchs():
    table = sheaf.torch.Table(weight())
    optimizer = sheaf.torch.Adagrad(table, lr=0.5, initial_accumulator_value=0.1)
    leaf = weight().requires_grad_()
    theirs = torch.optim.Adagrad([leaf], lr=0.5, initial_accumulator_value=0.1)
    for ids in (IDS, IDS + 1):
        optimizer.zero_grad()
        theirs.zero_grad()
        loss(table(ids)).backward()
        loss(sheaf.torch.embedding(ids, leaf, sparse=True)).backward()
        optimizer.step()
        theirs.step()
    torch.testing.assert_close(table.weight, leaf.data)
    torch.testing.assert_close(optimizer.state_dict()["state"][0]["sum"],
                               theirs.state_dict()["state"][0]["sum"])


def test_row_wise_adagrad():
    table = sheaf.torch.Table(weight())
    optimizer = sheaf.torch.RowWiseAdagrad(table, lr=0.5, eps=1e-3)
    loss(table(IDS)).backward()
    optimizer.step()

    def step(data, grad, rows):
        some = grad[rows]
        sums = (some * some).mean(1)
        data[rows] = data[rows] - some / (sums.sqrt() + 1e-3)[:, None] * 0.5

    assert torch.equal(table.weight, reference(weight(), IDS, loss, step))
    assert optimizer.state_dict()["state"][0]["sum"].shape == (9,)
    again = sheaf.torch.RowWiseAdagrad(table, lr=0.5, eps=1e-3)
    again.load_state_dict(optimizer.state_dict())
    assert torch.equal(again.state[table.anchor]["sum"], optimizer.state[table.anchor]["sum"])


def test_steps_are_scatters_that_caches_follow():
    table = sheaf.torch.Table(weight())
    optimizer = sheaf.torch.SGD(table, lr=0.25)
    loss(table(IDS)).backward()
    version = table.weight._version
    optimizer.step()
    assert table.rows.stats()["rows_scattered"] == 4  # of nine
    assert table.weight._version > version
    optimizer.zero_grad()
    optimizer.step()                                  # without a gradient there is nothing to do
    assert table.rows.stats()["rows_scattered"] == 4
    table.load_state_dict({"weight": weight()}, assign=True)
    loss(table(IDS)).backward()
    optimizer.step()                                  # into the weight that is there now
    assert not torch.equal(table.weight, weight())


def test_narrow_rows_are_rounded_once():
    table = sheaf.torch.Table(weight(dtype=torch.bfloat16))
    optimizer = sheaf.torch.SGD(table, lr=0.3)
    loss(table(IDS).float()).backward()
    rows, sums = table.gradient()
    optimizer.step()
    start = weight(dtype=torch.bfloat16)
    start[rows] = (start[rows].float() - sums.float() * 0.3).bfloat16()
    assert torch.equal(table.weight, start)


def test_learning_rates_are_scheduled():
    table = sheaf.torch.Table(weight())
    optimizer = sheaf.torch.SGD([table], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)
    loss(table(IDS)).backward()
    optimizer.step()
    schedule.step()
    assert optimizer.param_groups[0]["lr"] == 0.5


def test_the_weight_stays_where_it_is():
    model = torch.nn.Sequential(sheaf.torch.Table(weight()), torch.nn.Linear(4, 2))
    model.half().to("meta")
    assert model[0].weight.dtype == torch.float32 and model[0].weight.device.type == "cpu"
    assert model[1].weight.device.type == "meta"
    assert [name for name, _ in model.named_parameters()] == ["1.weight", "1.bias"]


def test_state():
    table, other = sheaf.torch.Table(weight()), sheaf.torch.Table(torch.zeros(9, 4))
    state = table.state_dict()
    assert list(state) == ["weight"] and state["weight"].data_ptr() == table.weight.data_ptr()
    other.load_state_dict(state)
    assert torch.equal(other(IDS), weight()[IDS])
    other.load_state_dict({"weight": weight() + 1}, assign=True)
    assert torch.equal(other(IDS), weight()[IDS] + 1)
    with pytest.raises(RuntimeError, match="size mismatch"):
        other.load_state_dict({"weight": torch.zeros(1, 4)})


CHECKPOINT = """
import sys, torch, sheaf.torch

def grown(work):
    # The most memory during `work` beyond that before, in MiB.
    def status(name):
        return int(open("/proc/self/status").read().split(name + ":")[1].split()[0]) // 1024
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    before = status("VmRSS")
    work()
    return status("VmHWM") - before

table = sheaf.torch.Table(torch.ones(1 << 20, 16))                       # 64 MiB
other = sheaf.torch.Table(torch.full((1 << 20, 16), 2.0))
torch.save(other.state_dict(), sys.argv[1])                              # what is allocated once
saved = grown(lambda: torch.save(table.state_dict(), sys.argv[1]))
state = torch.load(sys.argv[1], mmap=True)
loaded = grown(lambda: other.load_state_dict(state))
copied = grown(lambda: table.weight + 1)
assert (other(torch.arange(5)) == 1).all() and torch.equal(other.weight, table.weight)
print(saved, loaded, copied)
"""


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="no peak of memory")
def test_checkpoints_stream(tmp_path):
    """Neither saving nor loading takes a second table of memory; pages of a mapped file count."""
    done = subprocess.run([sys.executable, "-c", CHECKPOINT, str(tmp_path / "t.pt")],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    saved, loaded, copied = map(int, done.stdout.split())
    assert copied >= 60 and saved < 32 and loaded < 64 + 32


def test_copies_and_pickles():
    table = sheaf.torch.Table(weight(), pieces=2)
    for again in (copy.deepcopy(table), pickle.loads(pickle.dumps(table))):
        assert again.key != table.key
        assert torch.equal(again(IDS), table(IDS))
        loss(again(IDS)).backward()
        assert table.gradient() is None and again.gradient() is not None
    table.share_memory()
    assert table.weight.is_shared()
    assert torch.equal(table(IDS), weight()[IDS])


def test_files(tmp_path):
    np.save(tmp_path / "t.npy", weight().numpy())
    table = sheaf.torch.Table(tmp_path / "t.npy")
    assert table.state_dict() == {} or table.state_dict()["weight"] is None
    assert torch.equal(table(IDS), weight()[IDS]) and not table(IDS).requires_grad
    assert isinstance(table.rows.gather(IDS), torch.Tensor)
    with pytest.raises(sheaf.UnsupportedError, match="no gradient of a table in a file"):
        table.requires_grad_()
    with pytest.raises(sheaf.ArgumentError, match="Adagrad: no weight"):
        sheaf.torch.Adagrad(table)
    again = pickle.loads(pickle.dumps(table))
    assert torch.equal(again(IDS), weight()[IDS])


class Lookups(torch.utils.data.Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return 4

    def __getitem__(self, at):
        with torch.no_grad():
            return self.table(torch.tensor([at, at + 1]))


@pytest.mark.parametrize("context", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork")
def test_workers_of_a_data_loader(context):
    table = sheaf.torch.Table(weight())
    loader = torch.utils.data.DataLoader(Lookups(table), num_workers=1, batch_size=2,
                                         multiprocessing_context=context)
    got = torch.cat(list(loader))
    assert torch.equal(got, torch.stack([weight()[at:at + 2] for at in range(4)]))


def test_compiled_graphs_have_one_operator():
    table = sheaf.torch.Table(weight())
    graphs = []

    def backend(graph, _):
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(lambda ids: table(ids) * 2, backend=backend, fullgraph=True)
    result = compiled(IDS)
    assert torch.equal(result, weight()[IDS] * 2)
    assert len(graphs) == 1
    assert any("table_rows" in str(node.target) for node in graphs[0].graph.nodes)
    result.sum().backward()
    assert table.gradient()[0].tolist() == [0, 1, 3, 7]


def test_compiled_gradients():
    table, plain = sheaf.torch.Table(weight()), sheaf.torch.Table(weight())
    compiled = torch.compile(lambda ids: loss(table(ids)), backend="aot_eager", fullgraph=True)
    compiled(IDS).backward()
    loss(plain(IDS)).backward()
    for ours, theirs in zip(table.gradient(), plain.gradient()):
        assert torch.equal(ours, theirs)


def test_tables_of_tensors():
    data = weight()
    table = sheaf.Table(data)
    assert table.dtype == torch.float32 and table.place == "host" and table.data is data
    rows = table.gather(IDS)
    assert isinstance(rows, torch.Tensor) and torch.equal(rows, data[IDS])
    assert isinstance(table.gather(IDS.numpy()), np.ndarray)
    out = torch.empty(2, 3, 4)
    assert sheaf.gather(table, IDS, out=out) is out and torch.equal(out, data[IDS])
    assert torch.equal(table.bag(IDS), data[IDS].sum(1))
    table.scatter(torch.tensor([2]), torch.ones(1, 4))
    assert torch.equal(data[2], torch.ones(4))
    of_numpy = sheaf.Table(data.numpy())
    assert isinstance(of_numpy.gather(IDS), torch.Tensor)
    of_numpy.scatter(torch.tensor([2]), torch.zeros(1, 4))
    assert not data[2].any()
    with pytest.raises(sheaf.Error):
        sheaf.Table(torch.empty(2, device="meta"))
