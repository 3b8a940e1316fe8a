# SPDX-License-Identifier: MIT
"""Tables in host memory, in files and on the GPU, with indices and results on the GPU: the bits of the
same calls on the CPU, whatever way the rows take."""

import numpy as np
import pytest
import sheaf

torch = pytest.importorskip("torch", reason="needs a CUDA device and PyTorch")
if not (torch.cuda.is_available() and sheaf.cuda.is_available()):
    pytest.skip("needs a CUDA device and PyTorch", allow_module_level=True)

import sheaf.torch  # noqa: E402

GPU = "cuda"
ROWS = 500


def data(width=24, dtype=torch.float32, pinned=False):
    torch.manual_seed(34)
    rows = (torch.randn(ROWS, width) * 100).to(dtype)
    return rows.pin_memory() if pinned else rows


def ids(*shape, high=ROWS):
    return torch.randint(-high, high, shape or (300,), device=GPU)


def picked(rows, at):
    return rows[at.cpu()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.int8,
                                   torch.float64, torch.bool, torch.float8_e5m2])
@pytest.mark.parametrize("pinned", [False, True])
def test_host_rows_come_to_the_gpu(dtype, pinned):
    rows, at = data(dtype=dtype, pinned=pinned), ids(7, 40)
    table = sheaf.Table(rows)
    got = table.gather(at)
    assert got.device.type == GPU and got.dtype == dtype and got.shape == (7, 40, 24)
    assert torch.equal(got.cpu().view(torch.uint8), picked(rows, at).view(torch.uint8))
    assert table.stats()["way"] in ("ring", "mapped", "split")
    assert table.stats()["calls"] == 1


@pytest.mark.parametrize("options", [
    {"way": "ring"}, {"way": "ring", "piece_bytes": 1000, "pieces": 1},
    {"way": "ring", "cache_bytes": 2000}, {"way": "ring", "cache_bytes": 1 << 20},
    {"way": "ring", "cache_bytes": 4000, "cached_rows": range(30)},
    {"way": "mapped", "lock": True}, {"threads": 1}, {}])
def test_every_way_has_the_same_bits(options):
    rows = torch.from_numpy(np.random.default_rng(1).standard_normal((ROWS, 32)).astype("f4"))
    table = sheaf.Table(rows, **options)
    for _ in range(4):
        at = ids(1000)
        assert torch.equal(table.gather(at).cpu(), picked(rows, at))
    skewed = (torch.rand(5000, device=GPU) ** 8 * ROWS).long()
    assert torch.equal(table.gather(skewed).cpu(), picked(rows, skewed))
    if options.get("cache_bytes", 0) >= 1 << 20:
        assert table.stats()["cache_hits"] > 0


def test_numpy_tables_and_other_operators():
    rows = data().numpy()
    table = sheaf.Table(rows)
    at = ids(20)
    assert torch.equal(table.gather(at).cpu(), torch.from_numpy(rows[at.cpu()]))
    wide = torch.randint(0, 24, (5,), device=GPU)
    assert torch.equal(table.gather(wide, axis=1).cpu(), torch.from_numpy(rows[:, wide.cpu()]))
    elements = torch.randint(0, ROWS, (3, 24), device=GPU)
    assert torch.equal(table.gather_elements(elements).cpu(),
                       torch.from_numpy(np.take_along_axis(rows, elements.cpu().numpy(), 0)))
    pairs = torch.tensor([[1, 2], [3, 23]], device=GPU)
    assert torch.equal(table.gather_nd(pairs).cpu(), torch.from_numpy(rows[[1, 3], [2, 23]]))
    assert torch.equal(sheaf.gather(table, at).cpu(), torch.from_numpy(rows[at.cpu()]))


def test_out_and_rules():
    rows = data()
    for options in ({"way": "ring"}, {"way": "mapped", "lock": True}):
        table = sheaf.Table(rows, **options)
        at = torch.tensor([1, ROWS, -ROWS - 1], device=GPU)
        out = torch.full((3, 24), 7.0, device=GPU)
        with pytest.raises(sheaf.IndexError, match=rf"indices\[1\] = {ROWS}"):
            table.gather(at, out=out)
        assert (out == 7).all()
        for rule in ({"out_of_range": "clamp"}, {"out_of_range": "wrap"},
                     {"out_of_range": "fill", "fill_value": -1.5}):
            assert table.gather(at, out=out, **rule) is out
            expected = sheaf.gather(rows, at.cpu(), **rule)
            assert torch.equal(out.cpu(), expected)
        strided = torch.zeros(3, 48, device=GPU)[:, ::2]
        table.gather(at, out=strided, out_of_range="clamp")
        assert torch.equal(strided.cpu(), sheaf.gather(rows, at.cpu(), out_of_range="clamp"))
        assert table.gather(ids(0)).shape == (0, 24)


def test_arrays_in_two_places_are_refused():
    table = sheaf.Table(data())
    with pytest.raises(sheaf.ArgumentError) as refused:
        table.gather(ids(3), out=torch.empty(3, 24))
    assert str(refused.value) == (
        "gather: arrays on different devices\n"
        "  indices is on cuda:0, out is on the CPU\n"
        "  try: out moved to cuda:0; nothing is copied between devices in silence")


def test_tables_on_the_gpu():
    rows = data()
    table = sheaf.Table(rows.to(GPU))
    assert table.place == "cuda:0"
    at = ids(50)
    got = table.gather(at)
    assert got.device.type == GPU and torch.equal(got.cpu(), picked(rows, at))
    assert table.stats()["way"] == "device"
    on_host = table.gather(at.cpu())
    assert on_host.device.type == "cpu" and torch.equal(on_host, picked(rows, at))
    assert table.stats()["way"] == "download"
    assert isinstance(table.gather(at.cpu().numpy()), np.ndarray)
    with pytest.raises(sheaf.IndexError):
        table.gather(torch.tensor([ROWS], device=GPU))
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for value in range(20):
            table.data.fill_(value)
            assert (table.gather(torch.tensor([3])) == value).all()


def test_files(tmp_path):
    rows = data(64)
    np.save(tmp_path / "t.npy", rows.numpy())
    table = sheaf.Table(tmp_path / "t.npy", piece_bytes=10000)
    at = ids(7, 80)
    got = table.gather(at)
    assert got.device.type == GPU and torch.equal(got.cpu(), picked(rows, at))
    assert table.stats()["way"] == "file" and table.stats()["bytes_to_device"] > 0
    out = torch.zeros(2, 64, device=GPU)
    with pytest.raises(sheaf.IndexError):
        table.gather(torch.tensor([0, ROWS], device=GPU), out=out)
    assert not out.any()
    opened = sheaf.open(tmp_path / "t.npy").table()
    assert torch.equal(opened.gather(at).cpu(), picked(rows, at))
    assert torch.equal(sheaf.gather(opened, at).cpu(), picked(rows, at))
    cached = sheaf.Table(opened, cache_bytes=1 << 20)
    for _ in range(4):
        assert torch.equal(cached.gather(at).cpu(), picked(rows, at))
    assert cached.stats()["cache_hits"] > 0
    opened.scatter([3], np.full((1, 64), 9, np.float32))
    again = sheaf.Table(opened)
    assert (again.gather(torch.tensor([3], device=GPU)) == 9).all()
    with pytest.raises(TypeError, match="memory"):
        table.gather(at, memory=1 << 20)


def test_encoded_rows():
    stored = torch.randint(0, 256, (ROWS, 40), dtype=torch.uint8)
    stored[:, 32:] = torch.randn(ROWS, 2).view(torch.uint8)
    encoded = sheaf.encoded_rows("row_u8_f32", stored)
    table, at = sheaf.Table(encoded), ids(64)
    got = table.gather(at)
    assert got.device.type == GPU and got.dtype == torch.float32
    expected = sheaf.gather(encoded, at.cpu())
    assert torch.equal(got.cpu(), expected)
    half = table.gather(at, dtype=torch.float16)
    assert torch.equal(half.cpu(), sheaf.gather(encoded, at.cpu(), dtype="float16"))
    assert torch.equal(table.gather(at, packed=True).cpu(), stored[at.cpu()])
    bags = at.abs().reshape(8, 8) % ROWS
    assert torch.equal(table.bag(bags).cpu(), sheaf.bag(encoded, bags.cpu()))
    with pytest.raises(sheaf.UnsupportedError, match="encoded rows on a device"):
        sheaf.Table(sheaf.encoded_rows("row_u8_f32", stored.to(GPU)))


@pytest.mark.parametrize("pool", ["sum", "mean", "max", "sqrtn"])
@pytest.mark.parametrize("options", [{"way": "ring", "piece_bytes": 3000},
                                     {"way": "mapped", "lock": True}, {}])
def test_bags(pool, options):
    rows = data()
    table = sheaf.Table(rows, **options)
    at = torch.randint(0, ROWS, (100,), device=GPU)
    offsets = torch.tensor([0, 10, 10, 64], device=GPU)
    weights = torch.randn(100, device=GPU)
    got = table.bag(at, offsets, weights=weights, pool=pool)
    expected = sheaf.bag(rows, at.cpu(), offsets.cpu(), weights=weights.cpu(), pool=pool)
    assert got.device.type == GPU and torch.equal(got.cpu(), expected)
    out = torch.full((4, 24), 7.0, device=GPU)
    with pytest.raises(sheaf.IndexError):
        table.bag(at + ROWS, offsets, out=out)
    assert (out == 7).all()


def test_writes_reach_the_rows_on_the_device():
    rows = data()
    table = sheaf.Table(rows, way="ring", cache_bytes=1 << 20)
    at = torch.arange(50, device=GPU)
    for value in range(3):
        for _ in range(3):
            assert torch.equal(table.gather(at).cpu(), rows[:50])
        table.scatter(at[:9], torch.full((9, 24), float(value), device=GPU))
        assert (rows[:9] == value).all()
    rows[20] = 77
    table.forget_cached_rows()
    assert (table.gather(at[20:21]) == 77).all()


def test_a_scatter_drops_only_what_it_wrote():
    rows = data()
    table = sheaf.Table(rows, way="ring", cache_bytes=1 << 20)
    at = torch.arange(50, device=GPU)
    for _ in range(3):
        table.gather(at)
    hits = table.stats()["cache_hits"]
    table.scatter(at[:9], torch.ones(1, 24, device=GPU), reduction="add")
    assert torch.equal(table.gather(at).cpu(), rows[:50])
    assert table.stats()["cache_hits"] == hits + 41
    assert table.stats()["bytes_to_host"] > 0
    with pytest.raises(sheaf.IndexError, match=rf"indices\[0\] = {ROWS}"):
        table.scatter(at[:1] + ROWS, torch.ones(1, 24, device=GPU))
    table.scatter(at[:2].cpu().numpy(), torch.zeros(2, 24, device=GPU))  # from two places
    assert not rows[:2].any() and torch.equal(table.gather(at).cpu(), rows[:50])


def test_scatters_into_a_table_of_the_gpu():
    rows = data().to(GPU)
    expected = rows.cpu()
    table = sheaf.Table(rows)
    at, updates = ids(400), torch.randn(400, 24, device=GPU)
    version = rows._version
    table.scatter(at, updates, reduction="add")
    assert table.stats()["way"] == "device" and rows._version > version
    sheaf.scatter(expected, at.cpu(), updates.cpu(), reduction="add", out=expected)
    assert torch.equal(rows.cpu(), expected)
    table.scatter(at.cpu(), updates.cpu(), reduction="max")
    assert table.stats()["way"] == "upload"
    sheaf.scatter(expected, at.cpu(), updates.cpu(), reduction="max", out=expected)
    assert torch.equal(rows.cpu(), expected)
    with pytest.raises(sheaf.IndexError):
        table.scatter(at[:1] * 0 + ROWS, updates[:1])
    assert torch.equal(rows.cpu(), expected)


def test_prefetched_rows_are_hits():
    rows = data()
    table = sheaf.Table(rows, way="ring", cache_bytes=1 << 20)
    at = torch.tensor([3, -1, 7, ROWS], device=GPU)  # the last is left out
    table.prefetch(at)
    assert table.stats()["rows_prefetched"] == 3
    assert torch.equal(table.gather(at[:3]).cpu(), picked(rows, at[:3]))
    assert (table.stats()["cache_hits"], table.stats()["cache_misses"]) == (3, 0)


def test_the_order_of_streams():
    rows = data(256, pinned=True)
    table = sheaf.Table(rows)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(20):
            torch.cuda._sleep(1_000_000)
            at = torch.randint(0, ROWS, (400,), device=GPU)
            doubled = table.gather(at, out_of_range="clamp") * 2
            at.zero_()  # after the gather, in the order of the stream
            again = table.gather(at)
            torch.cuda.current_stream().synchronize()
            assert torch.equal(again.cpu(), rows[:1].expand(400, -1))
            assert doubled.shape == (400, 256)
    other = table.gather(torch.tensor([5], device=GPU))
    assert torch.equal(other.cpu(), rows[5:6])


@pytest.mark.filterwarnings("ignore")
def test_graphs():
    rows = data(1024, pinned=True)
    table = sheaf.Table(rows, way="mapped")
    at = ids(30)
    table.gather(at, out_of_range="clamp")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        table.gather(at, out_of_range="clamp")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        result = table.gather(at, out_of_range="clamp")
    for _ in range(2):
        at.copy_(ids(30))
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(result.cpu(), picked(rows, at))
    ring = sheaf.Table(rows, way="ring")
    with pytest.raises(sheaf.UnsupportedError, match="a graph cannot hold host threads"):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            ring.gather(at, out_of_range="clamp")
    with pytest.raises(sheaf.UnsupportedError, match='out_of_range="fail" in a captured graph'):
        with torch.cuda.graph(torch.cuda.CUDAGraph(), stream=side):
            table.gather(at)
    torch.cuda.synchronize()
    assert torch.equal(ring.gather(at).cpu(), picked(rows, at))  # the stream is usable


def test_explain_names_the_way():
    text = sheaf.Table(data()).explain(ids(3))
    assert text.startswith("rows of 96 bytes, by the way ")
    assert "host: the queue runs on device cuda" in text
    assert 'by the way "device"' in sheaf.Table(data().to(GPU)).explain(ids(3))


def test_cupy():
    cupy = pytest.importorskip("cupy")
    rows = data()
    got = sheaf.Table(rows.numpy()).gather(cupy.asarray([3, 1, -1]))
    assert isinstance(got, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(got), rows.numpy()[[3, 1, -1]])


# ---- sheaf.torch.Table


def test_training_has_the_bits_of_the_cpu():
    on_gpu, on_cpu = sheaf.torch.Table(data()), sheaf.torch.Table(data())
    steps = [(table, sheaf.torch.RowWiseAdagrad(table, lr=0.1), place)
             for table, place in ((on_gpu, GPU), (on_cpu, "cpu"))]
    for seed in range(3):
        torch.manual_seed(seed)
        batch, factor = torch.randint(0, ROWS, (64, 5)), torch.randn(64, 5, 24)
        for table, optimizer, place in steps:
            optimizer.zero_grad()
            rows = table(batch.to(place))
            assert rows.device.type == place
            (rows * factor.to(place)).sum().backward()
            optimizer.step()
    assert torch.equal(on_gpu.weight, on_cpu.weight)
    assert on_gpu.weight.device.type == "cpu"


def test_a_model_moves_and_the_table_stays():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.table = sheaf.torch.Table(data(), cache_bytes=1 << 16)
            self.head = torch.nn.Linear(24, 1)

        def forward(self, at):
            return self.head(self.table(at)).sum()

    model = Model().to(GPU)
    assert model.table.weight.device.type == "cpu" and model.head.weight.device.type == GPU
    rows = sheaf.torch.SGD(model.table, lr=0.1)
    dense = torch.optim.SGD(model.head.parameters(), lr=0.1)
    before = model.table.weight.clone()
    at = torch.randint(0, ROWS, (20,), device=GPU)
    for _ in range(3):
        for optimizer in (rows, dense):
            optimizer.zero_grad()
        model(at).backward()
        for optimizer in (rows, dense):
            optimizer.step()
    changed = (model.table.weight != before).any(1).nonzero()[:, 0]
    assert changed.tolist() == at.cpu().unique().tolist()
    assert torch.equal(model.table(at).detach().cpu(), model.table.weight[at.cpu()])


def test_steps_keep_the_rows_that_they_did_not_write():
    table = sheaf.torch.Table(data(), way="ring", cache_bytes=1 << 20)
    optimizer = sheaf.torch.SGD(table, lr=0.5)
    at = torch.arange(100, device=GPU)
    with torch.no_grad():
        for _ in range(3):
            table(at)
    table(at[:10]).sum().backward()
    optimizer.step()
    hits = table.rows.stats()["cache_hits"]
    with torch.no_grad():
        assert torch.equal(table(at).cpu(), table.weight[:100])
    assert table.rows.stats()["cache_hits"] == hits + 90


def test_compiled():
    table = sheaf.torch.Table(data())
    compiled = torch.compile(lambda at: table(at).relu() * 2, fullgraph=True)
    at = torch.randint(0, ROWS, (33,), device=GPU)
    result = compiled(at)
    assert torch.equal(result.detach().cpu(), data()[at.cpu()].relu() * 2)
    result.sum().backward()
    assert table.gradient()[0].tolist() == at.cpu().unique().tolist()


def test_a_file_serves_a_model(tmp_path):
    np.save(tmp_path / "t.npy", data().numpy())
    table = sheaf.torch.Table(tmp_path / "t.npy", cache_bytes=1 << 16).to(GPU)
    at = torch.randint(0, ROWS, (33,), device=GPU)
    with torch.no_grad():
        assert torch.equal(table(at).cpu(), data()[at.cpu()])
