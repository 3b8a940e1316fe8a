# SPDX-License-Identifier: MIT
"""Tables in files, written by the libraries that people write them with."""

import errno
import json
import os
import pickle
import threading

import numpy as np
import pytest

import sheaf

rng = np.random.default_rng(11)
TABLE = rng.standard_normal((50, 3, 4)).astype(np.float32)
IDS = np.array([7, -1, 0, 7])


def arrays():
    return {
        "rows": TABLE,
        "fortran": np.asfortranarray(TABLE[:, 0]),
        "scalar": np.array(2.5),
        "empty": np.zeros((0, 3), np.int16),
        "bools": TABLE[:, 0, 0] > 0,
        "bytes": np.arange(10, dtype=np.uint8),
        "complex": (TABLE[:5, 0] + 1j).astype(np.complex64),
        "halves": TABLE[:6, 1].astype(np.float16),
    }


def check_all(file, expected):
    assert set(file) == set(expected)
    for name, array in expected.items():
        table = file[name]
        assert table.shape == array.shape and table.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(table), array)
        if array.ndim and len(array):
            ids = IDS % len(array)
            np.testing.assert_array_equal(table[ids], array[ids])


def test_npy_written_by_numpy(tmp_path):
    for name, array in arrays().items():
        np.save(tmp_path / "a.npy", array)
        check_all(sheaf.open(tmp_path / "a.npy"), {"data": array})


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_npy_versions(tmp_path, version):
    with open(tmp_path / "a.npy", "wb") as file:
        np.lib.format.write_array(file, TABLE, version=version)
    np.testing.assert_array_equal(np.asarray(sheaf.open(tmp_path / "a.npy").table()), TABLE)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_written_by_numpy(tmp_path, save):
    save(tmp_path / "a.npz", **arrays())
    check_all(sheaf.open(tmp_path / "a.npz"), arrays())


def test_safetensors_written_by_safetensors(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    expected = {name: np.ascontiguousarray(array) for name, array in arrays().items()}
    safetensors.save_file(expected, tmp_path / "a.safetensors", metadata={"made": "here"})
    file = sheaf.open(tmp_path / "a.safetensors")
    assert file.metadata == {"made": "here"}
    check_all(file, expected)


def test_sharded_safetensors(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    weights = {}
    for number, (name, array) in enumerate(arrays().items()):
        shard = f"model-{number}.safetensors"
        safetensors.save_file({name: array.copy(order="C")}, tmp_path / shard)
        weights[name] = shard
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weights}))
    check_all(sheaf.open(index), arrays())


def test_bfloat16(tmp_path):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    safetensors = pytest.importorskip("safetensors.numpy")
    values = TABLE[:, 0].astype(ml_dtypes.bfloat16)
    safetensors.save_file({"w": values}, tmp_path / "a.safetensors")
    table = sheaf.open(tmp_path / "a.safetensors")["w"]
    assert table.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(table[[3, 1]], values[[3, 1]])


def onnx_model(tensors):
    onnx = pytest.importorskip("onnx")
    graph = onnx.helper.make_graph([], "g", [], [], tensors)
    return onnx.helper.make_model(graph)


def test_onnx_written_by_onnx(tmp_path):
    onnx = pytest.importorskip("onnx")
    expected = {name: np.ascontiguousarray(a) for name, a in arrays().items() if a.size}
    raw = [onnx.numpy_helper.from_array(array, name) for name, array in expected.items()]
    onnx.save(onnx_model(raw), tmp_path / "raw.onnx")
    check_all(sheaf.open(tmp_path / "raw.onnx"), expected)
    # Most types may also stand in typed fields.
    typed = []
    for name, array in expected.items():
        kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
        typed.append(onnx.helper.make_tensor(name, kind, array.shape, array.flatten().tolist()
                                             if array.dtype != np.float16 else array.flatten()))
    onnx.save(onnx_model(typed), tmp_path / "typed.onnx")
    check_all(sheaf.open(tmp_path / "typed.onnx"), expected)
    onnx.save_model(onnx_model(raw), tmp_path / "outside.onnx", save_as_external_data=True,
                    location="outside.data", size_threshold=0)
    file = sheaf.open(tmp_path / "outside.onnx")
    assert file["rows"].path.endswith("outside.data")
    check_all(file, expected)


def test_files_that_others_read(tmp_path):
    table = sheaf.open_raw(write(tmp_path / "t.bin", TABLE), np.float32, TABLE.shape)
    table.gather(IDS, out=tmp_path / "o.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "o.npy"), TABLE[IDS])
    table.gather(IDS, out=tmp_path / "o.npz")
    np.testing.assert_array_equal(np.load(tmp_path / "o.npz")["output"], TABLE[IDS])


def test_safetensors_and_onnx_read_ours(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    onnx = pytest.importorskip("onnx")
    table = sheaf.open_raw(write(tmp_path / "t.bin", TABLE), np.float32, TABLE.shape)
    table.gather(IDS, out=tmp_path / "o.safetensors")
    loaded = safetensors.load_file(tmp_path / "o.safetensors")
    np.testing.assert_array_equal(loaded["output"], TABLE[IDS])
    table.gather(IDS, out=tmp_path / "o.onnx")
    model = onnx.load(tmp_path / "o.onnx")
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(model.graph.initializer[0]),
                                  TABLE[IDS])


def write(path, array):
    array.tofile(path)
    return path


@pytest.fixture
def table(tmp_path):
    np.save(tmp_path / "t.npy", TABLE)
    return sheaf.open(tmp_path / "t.npy").table()


def test_every_gather_takes_a_table(table):
    for axis in range(3):
        ids = IDS % TABLE.shape[axis]
        expected = sheaf.gather(TABLE, ids, axis=axis)
        np.testing.assert_array_equal(table.gather(ids, axis=axis), expected)
        np.testing.assert_array_equal(sheaf.gather(table, ids, axis=axis), expected)
    elements = rng.integers(0, 50, (7, 3, 4))
    expected = sheaf.gather_elements(TABLE, elements)
    np.testing.assert_array_equal(sheaf.gather_elements(table, elements), expected)
    tuples = np.array([[3, 2], [-1, 0]], np.int32)
    expected = sheaf.gather_nd(TABLE, tuples)
    np.testing.assert_array_equal(sheaf.gather_nd(table, tuples), expected)
    np.testing.assert_array_equal(sheaf.take(table, IDS, axis=0), TABLE[IDS])
    np.testing.assert_array_equal(
        sheaf.gather(table, [70], out_of_range="fill", fill_value=-1), np.full((1, 3, 4), -1.0))


def test_scatter_with_a_table_as_data_gives_an_array(table):
    updates = np.ones((2, 3, 4), np.float32)
    result = sheaf.scatter(table, [1, 1], updates, reduction="add")
    expected = TABLE.copy()
    expected[1] = expected[1] + 1 + 1  # one after the other
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.asarray(table), TABLE)


def test_indexing(table):
    np.testing.assert_array_equal(table[3], TABLE[3])
    np.testing.assert_array_equal(table[-4:], TABLE[-4:])
    np.testing.assert_array_equal(table[40::-7], TABLE[40::-7])
    mask = TABLE[:, 0, 0] > 0
    np.testing.assert_array_equal(table[mask], TABLE[mask])
    np.testing.assert_array_equal(table[[]], TABLE[[]])
    assert len(table) == 50 and table.ndim == 3


def test_scatter_replaces_the_file(tmp_path, table):
    updates = rng.standard_normal((4, 3, 4)).astype(np.float32)
    table.scatter(IDS, updates, reduction="add")
    expected = TABLE.copy()
    np.add.at(expected, IDS, updates)
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), expected)
    np.testing.assert_array_equal(np.asarray(table), expected)  # the table follows
    sheaf.open(tmp_path / "t.npy").table().scatter_nd([[0, 0, 0]], np.float32([9]),
                                                      out=tmp_path / "u.npy")
    assert np.load(tmp_path / "u.npy")[0, 0, 0] == 9


def test_cache_and_stats(table):
    cache = sheaf.RowCache(1 << 20)
    table.gather(IDS, cache=cache)
    assert table.file_stats["cache_misses"] == 4 and table.file_stats["bytes_read"] > 0
    table.gather(IDS, cache=cache)
    assert table.file_stats["cache_hits"] == 4 and table.file_stats["bytes_read"] == 0
    assert cache.hits == 4 and cache.misses == 4 and 0 < cache.nbytes <= 1 << 20


def test_errors(tmp_path, table):
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 50, but axis 0"):
        table[[0, 50]]
    with pytest.raises(sheaf.AxisError):
        table.gather([0], axis=3)
    with pytest.raises(sheaf.DTypeError):
        table.gather([0.5])
    with pytest.raises(sheaf.FileError, match="No such file") as raised:
        sheaf.open(tmp_path / "missing.npy")
    assert isinstance(raised.value, OSError)
    with pytest.raises(KeyError, match="'other' is no tensor of .*t.npy; it has "):
        sheaf.open(tmp_path / "t.npy")["other"]
    with pytest.raises(TypeError, match="unexpected keyword 'memroy'"):
        table.gather([0], memroy=1)
    with pytest.raises(sheaf.FileError, match="impossible options"):
        table.gather([0], memory=1)
    np.save(tmp_path / "o.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(sheaf.FileError, match="Python objects"):
        sheaf.open(tmp_path / "o.npy")
    np.save(tmp_path / "b.npy", TABLE.astype(">f4"))
    with pytest.raises(sheaf.FileError, match="big-endian"):
        sheaf.open(tmp_path / "b.npy")
    os.truncate(tmp_path / "t.npy", 200)
    with pytest.raises(sheaf.FileError, match="changed since it was opened"):
        table[0]


def test_example(tmp_path, monkeypatch):
    safetensors = pytest.importorskip("safetensors.numpy")
    monkeypatch.chdir(tmp_path)
    safetensors.save_file({"embed_tokens.weight": TABLE}, "model.safetensors")
    # [example files-python]
    import sheaf

    embed = sheaf.open("model.safetensors")["embed_tokens.weight"]  # shape and type, no data
    rows = embed[[17, 3, 42]]  # an ordinary NumPy array; only these rows were read
    # [/example]
    np.testing.assert_array_equal(rows, TABLE[[17, 3, 42]])


def test_a_cache_knows_deflated_tensors_apart(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", first=TABLE, second=TABLE + 1)
    file, cache = sheaf.open(tmp_path / "a.npz"), sheaf.RowCache(1 << 20)
    for _ in range(2):
        for name, expected in (("first", TABLE), ("second", TABLE + 1)):
            np.testing.assert_array_equal(file[name].gather(IDS, cache=cache), expected[IDS])
    assert cache.hits == 2 * len(IDS)


# Files that change hands.

def test_scatters_follow_each_other(tmp_path):
    path = tmp_path / "two.safetensors"
    safetensors_numpy = pytest.importorskip("safetensors.numpy")
    zeros = np.zeros((4, 2), np.float32)
    safetensors_numpy.save_file({"a": zeros, "b": zeros + 7}, path)
    table = sheaf.open(path)["a"]
    row = np.ones((1, 2), np.float32)
    for i in range(4):
        table.scatter([i], row * i)
        np.testing.assert_array_equal(table[i], row[0] * i)
    again = safetensors_numpy.load_file(path)
    np.testing.assert_array_equal(again["a"][:, 0], [0, 1, 2, 3])
    np.testing.assert_array_equal(again["b"], zeros + 7)


def test_a_replaced_file_is_not_written_back(tmp_path):
    path = tmp_path / "t.npy"
    np.save(path, np.zeros(3, np.float32))
    old = sheaf.open(path).table()
    sheaf.open(path).table().scatter([0], np.float32([5]))
    with pytest.raises(sheaf.FileError, match="replaced since it was opened") as caught:
        old.scatter([1], np.float32([6]))
    assert caught.value.errno == errno.ESTALE
    np.testing.assert_array_equal(np.load(path), [5, 0, 0])


def test_a_result_never_replaces_its_table(tmp_path):
    path, link = tmp_path / "t.npy", tmp_path / "link.npy"
    np.save(path, np.arange(3.0))
    link.symlink_to(path)
    table = sheaf.open(path).table()
    for out in (path, link):
        with pytest.raises(sheaf.FileError, match="is its own input"):
            table.gather([1], out=out)
    np.testing.assert_array_equal(np.load(path), np.arange(3.0))


def test_suffixes(tmp_path, table):
    with pytest.raises(sheaf.FileError, match="unknown suffix"):
        table.gather([1], out=tmp_path / "r.parquet")
    table.gather([1], out=tmp_path / "r.parquet", format="npy")
    np.testing.assert_array_equal(np.load(tmp_path / "r.parquet"), np.asarray(table)[[1]])
    with pytest.raises(sheaf.ArgumentError, match="format is npy, npz"):
        table.gather([1], out=tmp_path / "r.x", format="parquet")


def test_a_wrong_name_lists_the_names(tmp_path):
    np.savez(tmp_path / "many.npz", **{f"layer_{i}": np.zeros(1) for i in range(10)})
    file = sheaf.open(tmp_path / "many.npz")
    with pytest.raises(KeyError) as caught:
        file["layr_3"]
    assert caught.value.args[0] == (
        f"'layr_3' is no tensor of {tmp_path / 'many.npz'}; did you mean 'layer_3'? it has "
        + ", ".join(f"layer_{i}" for i in range(8)) + " and 2 more")
    assert "layr_3" not in file and file.get("layr_3") is None


def test_with(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3.0))
    with sheaf.open(tmp_path / "a.npz") as file:
        table = file["x"]
    assert table[[2, 0]].tolist() == [2, 0]
    assert list(file) == ["x"]
    with pytest.raises(ValueError, match="is closed"):
        file["x"]
    with pytest.raises(ValueError, match="is closed"), file:
        pass


def test_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        sheaf.open(tmp_path / "missing.npy")
    assert isinstance(caught.value, sheaf.FileError)
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "missing.npy")
    assert str(caught.value).startswith("file: cannot open\n  No such file")
    with pytest.raises(sheaf.FileError, match="NUL in a path"):
        sheaf.open(str(tmp_path / "a.npy") + "\0.bak")


def test_names_of_any_bytes(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.npy")
    np.save(path, np.arange(3.0))
    table = sheaf.open(path).table()
    assert table.path == path
    np.testing.assert_array_equal(table[[1]], [1.0])
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"\x07\0\0\0\0\0\0\0{\"\xff\xfe\":1")
    with pytest.raises(sheaf.FileError, match="malformed JSON"):
        sheaf.open(bad)


def test_pickle(tmp_path, table):
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again[[1]], table[[1]])
    (tmp_path / "r.bin").write_bytes(np.arange(6, dtype=np.int16).tobytes())
    raw = pickle.loads(pickle.dumps(sheaf.open_raw(tmp_path / "r.bin", "i16", [2, 2], 4)))
    np.testing.assert_array_equal(raw, [[2, 3], [4, 5]])
    file = pickle.loads(pickle.dumps(sheaf.open(table.path)))
    assert list(file) == [table.name]


# Arguments whose code changes other arguments.

def _flip(ids):
    """Gives the array another type while a call is on its way."""
    try:
        ids.dtype = np.int8
    except (AttributeError, ValueError, DeprecationWarning):
        pytest.skip("this NumPy does not let the type of an array be changed")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_arguments_that_change_each_other(tmp_path, table):
    rows = table.shape[0]

    class Out:
        def __fspath__(self):
            _flip(ids)
            return str(tmp_path / "out.npy")

    class Updates:
        def __array__(self, dtype=None, copy=None):
            _flip(ids)
            return np.zeros((rows, *table.shape[1:]), table.dtype)

    for call in (lambda: table.gather(ids, out=Out()), lambda: table.scatter(ids, Updates())):
        ids = np.arange(rows)
        try:
            call()  # on the indices as they were, or as they are: 8 * rows small numbers
        except sheaf.Error:
            pass
    for name in ("dtype", "shape", "nbytes", "path", "file_stats"):
        with pytest.raises(AttributeError):
            setattr(table, name, None)


def test_indices_that_change_during_a_gather(tmp_path):
    path = tmp_path / "t.npy"
    data = np.repeat(np.arange(2048, dtype=np.float32)[:, None], 1024, axis=1)
    np.save(path, data)
    table = sheaf.open(path).table()
    ids = np.arange(4000) % 2048
    stop = threading.Event()

    def flip():
        while not stop.is_set():
            ids[1000:] = 0
            ids[1000:] = 2047

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        for memory in (1 << 20, 1 << 28):
            rows = table.gather(ids, memory=memory)
            assert (rows == rows[:, :1]).all()
            np.testing.assert_array_equal(rows[:1000, 0], np.arange(1000))
    finally:
        stop.set()
        thread.join()


# table[...] is NumPy's.

_MASK = np.arange(5) % 2 == 0
_KEYS = [
    (5 % 5, 0), (2, 0), (slice(None), 0), (slice(1, 4), slice(None), 1), Ellipsis, (), (Ellipsis, 1),
    (1, Ellipsis), slice(4, 0, -2), ([0, 3], 1), ([0, 3], [1, 2]), (2, slice(None), [0, 1]),
    ([[0, 1], [2, 3]], slice(None), 1), (slice(None), [2, 0]), _MASK, (_MASK, 2), [], (slice(0, 0), 1),
    (np.arange(20).reshape(5, 4) % 3 == 0,), (slice(None), np.array([True, False, True, False])),
    (-1, -1, -1), np.int64(3), np.uint8([1, 2]), (slice(None), slice(None), [[1], [0]]), (slice(None),) * 3,
    (1, slice(None), [True, False]),
]


@pytest.mark.parametrize("key", _KEYS, ids=str)
def test_indexing_is_numpys(tmp_path, key):
    data = np.arange(40.0).reshape(5, 4, 2)
    np.save(tmp_path / "t.npy", data)
    got = sheaf.open(tmp_path / "t.npy").table()[key]
    np.testing.assert_array_equal(got, data[key])
    assert np.shape(got) == np.shape(data[key])


@pytest.mark.parametrize("key", [
    None, (None, 1), "a", (1, "a"), 1.5, [0.5], True, (0, 0, 0, 0), (Ellipsis, Ellipsis), [[1], [2, 3]],
    np.ones(4, bool), object(),
], ids=str)
def test_indexing_that_is_refused(tmp_path, key):
    np.save(tmp_path / "t.npy", np.arange(40.0).reshape(5, 4, 2))
    table = sheaf.open(tmp_path / "t.npy").table()
    with pytest.raises(sheaf.IndexError, match="try: integers, slices"):
        table[key]


@pytest.mark.parametrize("key", [5, -6, (5, 0), (0, 4), (slice(None), 4), ([0, 5], [0, 0]), (0, [4], 1)], ids=str)
def test_indexing_out_of_range(tmp_path, key):
    np.save(tmp_path / "t.npy", np.arange(40.0).reshape(5, 4, 2))
    with pytest.raises(sheaf.IndexError):
        sheaf.open(tmp_path / "t.npy").table()[key]
