# SPDX-License-Identifier: MIT
"""GGUF files written by the gguf package, decoded as its own decoders do; packed ONNX tensors."""

import pickle

import ml_dtypes
import numpy as np
import pytest

import sheaf

gguf = pytest.importorskip("gguf", reason="gguf is not installed (scripts/python)")

KINDS = gguf.GGMLQuantizationType
ENCODED = ["Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "Q5_K", "Q6_K"]
IDS = np.array([[17, 3], [-1, 17]])
rng = np.random.default_rng(5)
TABLE = rng.standard_normal((40, 256)).astype(np.float32)


def blocks(kind):
    """Rows that the package encodes, or where it cannot, random blocks with moderate scales."""
    try:
        return gguf.quants.quantize(TABLE, kind)
    except NotImplementedError:
        rows = rng.integers(0, 256, (40, gguf.GGML_QUANT_SIZES[kind][1]), dtype=np.uint8)
        for place in ([209] if kind == KINDS.Q6_K else [1, 3]):
            rows[:, place] = 0x20
        return rows


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 2)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b"])
    for name in [*ENCODED, "Q3_K"]:
        kind = KINDS[name]
        writer.add_tensor(name, blocks(kind), raw_dtype=kind)
    writer.add_tensor("plain", TABLE)
    writer.add_tensor("ints", np.arange(24, dtype=np.int32).reshape(2, 3, 4))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture(scope="module")
def decoded(model):
    """By name: the tensors as the package decodes them."""
    return {tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            for tensor in gguf.GGUFReader(model).tensors if tensor.name in ENCODED}


def test_lists(model):
    file = sheaf.open(model)
    assert file.format == "gguf"
    assert set(file) == {*ENCODED, "Q3_K", "plain", "ints"}
    assert file.metadata["llama.block_count"] == "2"
    assert file.metadata["tokenizer.ggml.tokens"] == "text[2]"
    table = file["Q4_K"]
    assert (table.encoding, table.shape, table.dtype) == ("q4_k", (40, 256), np.float32)
    assert table.nbytes == 40 * 144
    assert repr(table).startswith("sheaf.Table('Q4_K', q4_k, [40, 256]")
    assert file["plain"].encoding is None
    np.testing.assert_array_equal(np.asarray(file["plain"]), TABLE)
    np.testing.assert_array_equal(file["ints"][1], np.arange(12, 24).reshape(3, 4))


@pytest.mark.parametrize("name", ENCODED)
def test_decodes_as_the_package(model, decoded, name, tmp_path):
    table, expected = sheaf.open(model)[name], decoded[name]
    np.testing.assert_array_equal(table.gather(IDS), expected[IDS])
    np.testing.assert_array_equal(sheaf.gather(table, IDS), expected[IDS])
    np.testing.assert_array_equal(np.asarray(table), expected)
    np.testing.assert_array_equal(table[3:7, [0, 255, 3, 9]], expected[3:7, [0, 255, 3, 9]])
    np.testing.assert_array_equal(table.gather([5, 250], axis=1), expected[:, [5, 250]])
    each = rng.integers(0, 40, (2, 256))
    np.testing.assert_array_equal(table.gather_elements(each),
                                  np.take_along_axis(expected, each, 0))
    np.testing.assert_array_equal(table.gather_nd([[3], [39]]), expected[[3, 39]])
    for dtype in ("float16", ml_dtypes.bfloat16):
        got = table.gather(IDS, dtype=dtype)
        assert got.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(got, expected[IDS].astype(dtype))
    filled = table.gather([40, 2], out_of_range="fill", fill_value=1.5)
    np.testing.assert_array_equal(filled[0], np.full(256, 1.5, np.float32))
    np.testing.assert_array_equal(filled[1], expected[2])
    path = table.gather(IDS, out=tmp_path / "rows.npy", dtype="f16")
    np.testing.assert_array_equal(np.load(path), expected[IDS].astype(np.float16))


def test_packed_rows_are_the_bytes(model):
    stored = {tensor.name: tensor.data for tensor in gguf.GGUFReader(model).tensors}
    for name in ENCODED:
        rows = sheaf.open(model)[name].gather([5, 0], packed=True)
        np.testing.assert_array_equal(rows, stored[name][[5, 0]])


def test_refusals(model, tmp_path):
    file = sheaf.open(model)
    with pytest.raises(sheaf.FileError, match="type Q3_K is not decoded"):
        file["Q3_K"]
    table = file["Q8_0"]
    with pytest.raises(sheaf.IndexError, match=r"indices\[0\] = 40"):
        table.gather([40])
    with pytest.raises(sheaf.DTypeError, match="encoded rows become no 'int8'"):
        table.gather([0], dtype="int8")
    with pytest.raises(sheaf.ArgumentError, match="dtype of packed rows"):
        table.gather([0], dtype="f16", packed=True)
    with pytest.raises(sheaf.ArgumentError, match="are for encoded tables"):
        file["plain"].gather([0], packed=True)
    with pytest.raises(sheaf.DTypeError, match=r"'Q8_0' is q8_0\[40, 256\]"):
        table.scatter([0], TABLE[:1])
    with pytest.raises(sheaf.FileError, match=".gguf is only read"):
        file["plain"].gather([0], out=tmp_path / "a.gguf")


def test_is_opened_again_where_it_is_unpickled(model, decoded):
    table = pickle.loads(pickle.dumps(sheaf.open(model)["Q6_K"]))
    np.testing.assert_array_equal(table[[1]], decoded["Q6_K"][[1]])


def test_example(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = rng.standard_normal((1000, 64)).astype(np.float32)
    writer = gguf.GGUFWriter("model.gguf", "llama")
    writer.add_tensor("token_embd.weight", gguf.quants.quantize(values, KINDS.Q8_0),
                      raw_dtype=KINDS.Q8_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    # [example files-gguf-python]
    embed = sheaf.open("model.gguf")["token_embd.weight"]
    print(embed.encoding, embed.shape, embed.dtype)  # q8_0 (1000, 64) float32
    rows = embed[[17, 3, 42]]  # f32
    half = embed.gather([17, 3, 42], dtype="float16")
    blocks = embed.gather([17, 3, 42], packed=True)  # bytes
    # [/example]
    assert (embed.encoding, embed.shape, embed.dtype) == ("q8_0", (1000, 64), np.float32)
    np.testing.assert_array_equal(half, rows.astype(np.float16))
    assert blocks.shape == (3, 68)


SMALL = {"int4": "i4", "uint4": "u4", "int2": "i2", "uint2": "u2"}


@pytest.mark.parametrize("name", SMALL)
def test_onnx_unpacks_integers_of_a_few_bits(tmp_path, name):
    onnx = pytest.importorskip("onnx")
    dtype = np.dtype(getattr(ml_dtypes, name))
    low, high = ml_dtypes.iinfo(dtype).min, ml_dtypes.iinfo(dtype).max
    values = rng.integers(low, high + 1, (7, 5)).astype(dtype)
    raw = onnx.numpy_helper.from_array(values, "raw")
    typed = onnx.helper.make_tensor("typed", raw.data_type, values.shape,
                                    values.astype(np.int32).flatten().tolist())
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([], "g", [], [], [raw, typed])),
              tmp_path / "m.onnx")
    file = sheaf.open(tmp_path / "m.onnx")
    for table in (file["raw"], file["typed"]):
        assert table.dtype == dtype and table.shape == values.shape
        np.testing.assert_array_equal(np.asarray(table), values)
        np.testing.assert_array_equal(table[[6, 0, -2]], values[[6, 0, -2]])


@pytest.mark.parametrize("name", SMALL)
def test_integers_of_a_few_bits_move(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    low = ml_dtypes.iinfo(dtype).min
    data = np.array([[low, 1, 0], [1, low, 1]]).astype(dtype)
    assert sheaf.Spec(dtype, (2, 3)).dtype == SMALL[name]
    got = sheaf.gather(data, [1, 5], out_of_range="fill", fill_value=low)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got.astype(np.int8), [[1, low, 1], [low] * 3])
    put = sheaf.scatter(data, [0], data[1:])
    np.testing.assert_array_equal(put.astype(np.int8), np.repeat(data[1:].astype(np.int8), 2, 0))
    with pytest.raises(sheaf.ArgumentError, match=f"fill_value: 9 is not a value of type {SMALL[name]}"
                       if name != "uint4" else "fill_value: 16 is not a value of type u4"):
        sheaf.gather(data, [9], out_of_range="fill", fill_value=9 if name != "uint4" else 16)
