# SPDX-License-Identifier: MIT
"""sheaf.Table on host memory and files: the results, errors and statistics of the same calls on
arrays. Those of GPUs are in test_cuda_tables.py."""

import concurrent.futures
import gc
import os
import pickle
import weakref

import numpy as np
import pytest
import sheaf

RNG = np.random.default_rng(34)
ROWS = RNG.standard_normal((50, 6)).astype(np.float32)
IDS = np.array([[3, -1, 7], [7, 0, 49]])


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    return tmp_path / "t.npy"


def encoded(rows=40, width=8):
    stored = RNG.integers(0, 256, (rows, width + 8)).astype(np.uint8)
    scales = RNG.standard_normal((rows, 2)).astype(np.float32)
    stored[:, width:] = scales.view(np.uint8)
    return sheaf.encoded_rows("row_u8_f32", stored)


def test_what_a_table_says_of_itself(file):
    table = sheaf.Table(ROWS)
    assert (table.shape, table.ndim, len(table), table.nbytes) == ((50, 6), 2, 50, ROWS.nbytes)
    assert table.dtype == np.float32 and table.place == "host" and table.data is ROWS
    assert table.path is None and table.encoding is None and table.name == ""
    assert repr(table) == "sheaf.Table(float32, [50, 6], 'host')"
    in_file = sheaf.Table(file)
    assert in_file.place == "file" and in_file.data is None and in_file.path == str(file)
    assert sheaf.open(file).table().shape == in_file.shape
    with pytest.raises(AttributeError):
        table.shape = (1, 2)
    with pytest.raises(TypeError, match="without dimensions"):
        len(sheaf.Table(np.float32(1)))


@pytest.mark.parametrize("dtype", ["f4", "i1", "f8", "c16", "?", "M8[s]", "S3", "i4,f4"])
def test_gathers_have_the_results_of_arrays(dtype):
    data = RNG.integers(0, 2, (9, 4)).astype(dtype) if dtype != "i4,f4" else np.zeros((9, 4), dtype)
    table = sheaf.Table(data)
    got = table.gather([[8, 0], [-1, 3]])
    assert got.dtype == data.dtype
    np.testing.assert_array_equal(got, data[[[8, 0], [-1, 3]]])
    assert table.stats()["way"] == "host"


@pytest.mark.parametrize("order", ["C", "F"])
def test_every_operator_and_axis(order):
    data = np.asarray(ROWS, order=order)
    table = sheaf.Table(data)
    np.testing.assert_array_equal(table.gather(IDS), ROWS[IDS])
    np.testing.assert_array_equal(table.gather([1, 5], axis=1), ROWS[:, [1, 5]])
    at = RNG.integers(0, 50, (3, 6))
    np.testing.assert_array_equal(table.gather_elements(at), np.take_along_axis(ROWS, at, 0))
    pairs = np.array([[1, 2], [49, 5]])
    np.testing.assert_array_equal(table.gather_nd(pairs), ROWS[[1, 49], [2, 5]])
    assert table.stats()["calls"] == 4
    np.testing.assert_array_equal(np.asarray(table), ROWS)
    np.testing.assert_array_equal(table[3:5, [0, 2]], ROWS[3:5, [0, 2]])


def test_the_plain_functions_take_tables(file):
    for table in (sheaf.Table(ROWS), sheaf.Table(file)):
        np.testing.assert_array_equal(sheaf.gather(table, IDS), ROWS[IDS])
        np.testing.assert_array_equal(sheaf.take(table, IDS, 0), ROWS[IDS])
        out = np.empty((2, 3, 6), np.float32)
        assert sheaf.gather(table, IDS, out=out) is out
        np.testing.assert_array_equal(out, ROWS[IDS])
        got = sheaf.bag(table, [1, 2, 2], [0, 1], pool="sum")
        np.testing.assert_array_equal(got, [ROWS[1], ROWS[2] + ROWS[2]])


def test_rules_of_indices():
    table = sheaf.Table(ROWS)
    np.testing.assert_array_equal(table.gather([99, -99], out_of_range="clamp"), ROWS[[49, 0]])
    got = table.gather([1, 50], out_of_range="fill", fill_value=7)
    np.testing.assert_array_equal(got, [ROWS[1], np.full(6, 7)])
    np.testing.assert_array_equal(table.gather([51], out_of_range="wrap"), ROWS[[1]])
    out = np.full((2, 6), 9, np.float32)
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 50"):
        table.gather([1, 50], out=out)
    np.testing.assert_array_equal(out, 9)
    with pytest.raises(sheaf.IndexError, match=r"indices\[0\] = -1"):
        table.gather([-1], negative="out_of_range")


def test_errors_have_the_text_of_arrays():
    table = sheaf.Table(ROWS)
    for call in (lambda data: sheaf.gather(data, [50]), lambda data: sheaf.gather(data, [0.5]),
                 lambda data: sheaf.gather(data, [0], axis=2),
                 lambda data: sheaf.gather(data, [0], out_of_range="maybe"),
                 lambda data: sheaf.gather(data, [0], out=np.empty((2, 6), np.float32))):
        with pytest.raises(sheaf.Error) as of_array:
            call(ROWS)
        with pytest.raises(type(of_array.value)) as of_table:
            call(table)
        assert str(of_table.value) == str(of_array.value)


def test_out_of_another_meaning_is_refused():
    days = np.arange(4).astype("M8[D]")
    with pytest.raises(sheaf.DTypeError) as refused:
        sheaf.Table(days).gather([1], out=np.empty(1, "M8[s]"))
    assert str(refused.value) == ("gather: types differ\n"
                                  "  out is datetime64[s], but the table is datetime64[D]\n"
                                  "  try: out of that type; nothing is converted")


def test_encoded_rows():
    data = encoded()
    table = sheaf.Table(data)
    assert table.encoding == "row_u8_f32" and table.shape == (40, 8) and table.dtype == np.float32
    np.testing.assert_array_equal(table.gather(IDS % 40), sheaf.gather(data, IDS % 40))
    half = table.gather([1, 2], dtype="float16")
    assert half.dtype == np.float16
    np.testing.assert_array_equal(half, sheaf.gather(data, [1, 2], dtype="float16"))
    np.testing.assert_array_equal(table.gather([5, 1], packed=True), data.stored[[5, 1]])
    np.testing.assert_array_equal(table.bag([1, 2, 5], [0, 1], pool="mean"),
                                  sheaf.bag(data, [1, 2, 5], [0, 1], pool="mean"))
    with pytest.raises(sheaf.DTypeError, match="encoded rows are only read"):
        table.scatter([0], np.zeros((1, 8), np.float32))
    with pytest.raises(sheaf.DTypeError, match="unsupported dtype"):
        table.gather([0], dtype="int8")
    with pytest.raises(sheaf.ArgumentError, match="dtype and packed are for encoded tables"):
        sheaf.Table(ROWS).gather([0], packed=True)
    beside = sheaf.Encoded("u8", np.zeros((4, 8), np.uint8), np.ones((4, 1), np.float32), block=8)
    with pytest.raises(sheaf.ArgumentError, match="rows that are not complete"):
        sheaf.Table(beside)


def test_scatters_write_the_array():
    data = ROWS.copy()
    table = sheaf.Table(data)
    updates = RNG.standard_normal((3, 6)).astype(np.float32)
    expected = sheaf.scatter(ROWS, [1, 1, 4], updates, reduction="add")
    table.scatter([1, 1, 4], updates, reduction="add")
    np.testing.assert_array_equal(data, expected)
    table.scatter_elements([[0] * 6], updates[:1])
    np.testing.assert_array_equal(data[0], updates[0])
    table.scatter_nd([[3, 2]], np.float32([5]))
    assert data[3, 2] == 5
    np.testing.assert_array_equal(table.gather([0, 3]), data[[0, 3]])
    with pytest.raises(sheaf.IndexError):
        table.scatter([50], updates[:1])
    with pytest.raises(sheaf.ArgumentError, match="out of a table in memory"):
        table.scatter([0], updates[:1], out="there.npy")
    data.flags.writeable = False
    with pytest.raises(sheaf.Error, match="read-only"):
        table.scatter([0], updates[:1])


@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "min", "mean"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_scatters_have_the_results_of_arrays(reduction, order):
    data = np.asarray(ROWS, order=order).copy(order="K")
    expected = ROWS.copy()
    table = sheaf.Table(data)
    ids, updates = RNG.integers(-50, 50, 70), RNG.standard_normal((70, 6)).astype(np.float32)
    for keywords in ({}, {"include_self": False}, {"out_of_range": "skip", "threads": 1}):
        sheaf.scatter(expected, ids, updates, reduction=reduction, out=expected, **keywords)
        table.scatter(ids, updates, reduction=reduction, **keywords)
        np.testing.assert_array_equal(data, expected)
    columns = RNG.standard_normal((50, 2)).astype(np.float32)
    sheaf.scatter(expected, [4, 1], columns, 1, out=expected)
    table.scatter([4, 1], columns, axis=1)
    np.testing.assert_array_equal(data, expected)
    stats = table.stats()
    assert stats["way"] == "host" and stats["calls"] == 4 and stats["rows_scattered"] >= 210


def test_updates_are_cast_and_repeated():
    data = ROWS.copy()
    table = sheaf.Table(data)
    table.scatter([1, 2], 7)                                # lists and numbers
    assert (data[1:3] == 7).all()
    table.scatter([1, 2], np.arange(6.0))                   # f64, one row for all
    np.testing.assert_array_equal(data[1:3], [np.arange(6)] * 2)
    with pytest.raises(sheaf.DTypeError):
        sheaf.Table(np.arange(4)).scatter([0], [0.5])
    halves = np.zeros((3, 2), np.float16)
    sheaf.Table(halves).scatter([0, 0], np.full((2, 2), 0.1), reduction="add", accumulate="f32")
    np.testing.assert_array_equal(halves[0], np.float16(np.float32(2) * np.float32(np.float16(0.1))))
    days = np.zeros(3, "M8[D]")
    sheaf.Table(days).scatter([1], np.array(["2020-01-02"], "M8[D]"))
    assert str(days[1]) == "2020-01-02"
    with pytest.raises(sheaf.DTypeError, match="updates is datetime64.s., but the table is"):
        sheaf.Table(days).scatter([1], np.zeros(1, "M8[s]"))


def test_scatters_that_are_refused_change_nothing():
    data = ROWS.copy()
    table = sheaf.Table(data)
    row = np.ones((1, 6), np.float32)
    for call in (lambda out: out([50], row), lambda out: out([0.5], row),
                 lambda out: out([0], np.ones((3, 5), np.float32)),
                 lambda out: out([0], row, reduction="most"), lambda out: out([0], row, axis=2),
                 lambda out: out([0], row, threads=-1), lambda out: out(None, row)):
        with pytest.raises(sheaf.Error) as of_array:
            call(lambda *rest, **named: sheaf.scatter(ROWS, *rest, **named))
        with pytest.raises(type(of_array.value)):
            call(table.scatter)
    with pytest.raises(TypeError, match="speed"):
        table.scatter([0], row, speed=1)
    with pytest.raises(sheaf.Error, match="overlap"):
        table.scatter([0, 1], data[1:3])
    np.testing.assert_array_equal(data, ROWS)
    assert table.stats()["rows_scattered"] == 0
    once = np.broadcast_to(np.float32([1, 2]), (3, 2))
    once.flags.writeable = True
    with pytest.raises(sheaf.Error):
        sheaf.Table(once).scatter([0], np.zeros((1, 2), np.float32))
    np.testing.assert_array_equal(once[0], [1, 2])


def test_arrays_are_writable_or_not_when_a_scatter_looks():
    data = ROWS.copy()
    data.flags.writeable = False
    table = sheaf.Table(data)
    with pytest.raises(sheaf.Error, match="read-only"):
        table.scatter([0], np.zeros((1, 6), np.float32))
    data.flags.writeable = True
    table.scatter([0], np.zeros((1, 6), np.float32))
    assert not data[0].any()


def test_prefetch_is_a_hint(file):
    for table in (sheaf.Table(ROWS, cache_bytes=1 << 10), sheaf.Table(file), sheaf.Table(encoded())):
        assert table.prefetch(IDS % 40) is None
        table.prefetch([99])                                # left out
        assert table.stats()["rows_prefetched"] == 0        # the host has no such cache
    with pytest.raises(sheaf.AxisError):
        sheaf.Table(ROWS).prefetch([0], axis=2)
    with pytest.raises(sheaf.Error):
        sheaf.Table(ROWS).prefetch([0.5])


def test_files(file, tmp_path):
    table = sheaf.Table(file, pieces=2, piece_bytes=1000)
    np.testing.assert_array_equal(table.gather(IDS), ROWS[IDS])
    assert table.file_stats["bytes_read"] > 0
    stats = table.stats()
    assert (stats["calls"], stats["rows"], stats["way"]) == (1, 6, "file")
    out = np.empty((2, 3, 6), np.float32)
    assert table.gather(IDS, out=out) is out
    np.testing.assert_array_equal(out, ROWS[IDS])
    assert table.stats()["calls"] == 2
    np.testing.assert_array_equal(table.bag(IDS), sheaf.bag(ROWS, IDS))
    assert table.gather([3], out=tmp_path / "o.npy") == str(tmp_path / "o.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), ROWS[[3]])
    np.testing.assert_array_equal(table.gather([3], memory=1 << 20, reader="pread"), ROWS[[3]])
    assert table.file_stats["reader"] == "pread"
    table.scatter([3], np.zeros((1, 6), np.float32))
    assert not np.load(file)[3].any() and not table.gather([3]).any()
    assert table.stats()["rows_scattered"] == 1
    with pytest.raises(sheaf.FileNotFoundError):
        sheaf.Table(tmp_path / "none.npy")
    with pytest.raises(sheaf.Error, match="nope"):
        sheaf.Table(file, "nope")


def test_options():
    table = sheaf.Table(ROWS, way="host", piece_bytes=4096, pieces=1, threads=1, lock=False,
                        cache_bytes=1 << 10, cached_rows=[1, 2])
    np.testing.assert_array_equal(table.gather(IDS), ROWS[IDS])
    forced = sheaf.Table(table, way="ring")
    assert forced.data is ROWS
    with pytest.raises(sheaf.UnsupportedError, match="ring: the queue runs on the host"):
        forced.gather(IDS)
    with pytest.raises(sheaf.UnsupportedError, match='"fast" names no way'):
        sheaf.Table(ROWS, way="fast").gather([0])
    with pytest.raises(sheaf.ArgumentError, match=r"pieces 65 \(1 to 64\)"):
        sheaf.Table(ROWS, pieces=65)
    with pytest.raises(sheaf.ArgumentError, match="cached_rows has 50"):
        sheaf.Table(ROWS, cache_bytes=100, cached_rows=[50])
    with pytest.raises(sheaf.ArgumentError, match='reader="tape"'):
        sheaf.Table(ROWS, reader="tape")
    with pytest.raises(TypeError, match="speed"):
        sheaf.Table(ROWS, speed=11)
    with pytest.raises(TypeError, match="memory"):
        table.gather([0], memory=1 << 20)
    with pytest.raises(sheaf.ArgumentError, match="a file for rows that are in memory"):
        table.gather([0], out="o.npy")
    with pytest.raises(sheaf.ArgumentError, match="a name with an array"):
        sheaf.Table(ROWS, "embed")


def test_explain_lists_the_ways(file):
    text = sheaf.Table(ROWS).explain(IDS)
    assert text.startswith('rows of 24 bytes, by the way "host"\n')
    assert "\n  ring: the queue runs on the host\n" in text
    assert '"file"' in sheaf.Table(file).explain([0])
    with pytest.raises(sheaf.AxisError):
        sheaf.Table(ROWS).explain([0], axis=9)


def test_arrays_that_are_no_tables():
    with pytest.raises(sheaf.ArgumentError, match="negative strides"):
        sheaf.Table(ROWS[::-1])
    with pytest.raises(sheaf.Error):
        sheaf.Table(np.array([object()]))
    record = np.zeros(5, "i2,i4")
    with pytest.raises(sheaf.ArgumentError, match="strides that are not whole elements"):
        sheaf.Table(record["f1"])
    with pytest.raises(sheaf.Error):
        sheaf.Table(np.zeros((3, 2), "V100"))
    np.testing.assert_array_equal(sheaf.Table([[1, 2], [3, 4]]).gather([1]), [[3, 4]])


def test_the_array_is_held():
    array = ROWS.copy()
    gone = weakref.ref(array)
    table = sheaf.Table(array)
    again = sheaf.Table(table, threads=1)
    del array, table
    gc.collect()
    assert gone() is not None
    np.testing.assert_array_equal(again.gather([5]), ROWS[[5]])
    del again
    gc.collect()
    assert gone() is None


def test_an_array_that_changed_is_refused():
    array = np.arange(8.0)
    table = sheaf.Table(array)
    array.resize((4, 2), refcheck=False)
    with pytest.raises(sheaf.Error, match="changed"):
        table.gather([0])


def test_many_threads(file):
    ids = [RNG.integers(-50, 50, 200) for _ in range(8)]
    for table in (sheaf.Table(ROWS), sheaf.Table(file)):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for at, got in zip(ids * 4, pool.map(table.gather, ids * 4)):
                np.testing.assert_array_equal(got, ROWS[at])
        assert table.stats()["way"] in ("host", "file")


def test_pickle(file):
    with pytest.raises(TypeError, match="a table in memory cannot be pickled"):
        pickle.dumps(sheaf.Table(ROWS))
    again = pickle.loads(pickle.dumps(sheaf.Table(file, pieces=2)))
    np.testing.assert_array_equal(again.gather(IDS), ROWS[IDS])
    assert again._options == {"pieces": 2}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_process_reads_host_tables():
    table = sheaf.Table(ROWS)
    table.gather(IDS)
    child = os.fork()
    if child == 0:
        os._exit(0 if (table.gather(IDS) == ROWS[IDS]).all() else 1)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("pool", ["sum", "mean", "max", "min", "mul", "sqrtn"])
def test_bags_have_the_results_of_arrays(pool, file):
    ids, offsets = RNG.integers(0, 50, 20), [0, 5, 5, 12]
    weights = RNG.standard_normal(20).astype(np.float32)
    expected = sheaf.bag(ROWS, ids, offsets, weights=weights, pool=pool)
    for table in (sheaf.Table(ROWS), sheaf.Table(file)):
        got = table.bag(ids, offsets, weights=weights, pool=pool)
        np.testing.assert_array_equal(got, expected)
        out = np.empty_like(expected)
        assert table.bag(ids, offsets, weights=weights, pool=pool, out=out) is out
        np.testing.assert_array_equal(out, expected)
        got = table.bag(ids, lengths=[5, 0, 7, 8], weights=weights, pool=pool)
        np.testing.assert_array_equal(got, expected)
    with pytest.raises(sheaf.IndexError, match="50"):
        sheaf.Table(ROWS).bag([[50]])


def test_the_documented_calls(file, monkeypatch):
    monkeypatch.chdir(file.parent)
    ids, updates = np.array([3, 1]), np.ones((2, 6), np.float32)
    weights = ROWS.copy()
    # [example tables-python]
    table = sheaf.Table("t.npy")                          # or ("model.safetensors", "embed.weight")
    rows = table.gather(ids)                              # where ids are: NumPy's give NumPy's
    sums = table.bag(ids, [0, 1], pool="mean")

    table = sheaf.Table(weights, cache_bytes=1 << 20)     # an array of the host, or of a GPU
    rows = table.gather(ids, out_of_range="clamp")
    table.scatter(ids, updates, reduction="add")          # into `weights`
    print(table.explain(ids))                             # which way rows take, and why
    print(table.stats()["way"], table.stats()["rows"])
    # [/example]
    np.testing.assert_array_equal(rows, ROWS[ids])
    np.testing.assert_array_equal(sums, ROWS[ids])
    np.testing.assert_array_equal(weights[ids], ROWS[ids] + 1)
