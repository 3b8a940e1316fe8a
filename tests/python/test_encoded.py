# SPDX-License-Identifier: MIT
"""sheaf.Encoded, and gathers and bags that decode."""

import pickle

import bag_oracle
import numpy
import pytest

import sheaf


def row_u8_f32(codes, scales, biases):
    """As PyTorch's embedding_bag_byte_prepack lays it out."""
    tail = numpy.stack([scales, biases], 1).astype("float32").view("uint8").reshape(len(codes), 8)
    return numpy.concatenate([codes, tail], 1)


@pytest.fixture
def table(rng):
    """A table of 30 x 6, its description, and what it decodes to."""
    codes = rng.integers(0, 256, (30, 6)).astype("uint8")
    scales = rng.standard_normal(30).astype("float32")
    biases = rng.standard_normal(30).astype("float32")
    encoded = sheaf.encoded_rows("row_u8_f32", row_u8_f32(codes, scales, biases))
    decoded = codes.astype("float32") * scales[:, None] + biases[:, None]
    return encoded, decoded


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    numpy.testing.assert_array_equal(got, expected)


# ---- Descriptions


def test_shapes(table, rng):
    encoded, _ = table
    assert encoded.shape == (30, 6) and len(encoded) == 30 and encoded.ndim == 2
    assert repr(encoded) == "<sheaf.Encoded row_u8_f32[30, 6]>"
    assert encoded.nbytes == 30 * 14
    assert sheaf.encoded_rows("q8_0", numpy.zeros((3, 68), "uint8")).shape == (3, 64)
    assert sheaf.encoded_rows("row_u4_f16", numpy.zeros((3, 9), "uint8")).shape == (3, 10)
    odd = sheaf.encoded_rows("row_u4_f16", numpy.zeros((3, 9), "uint8"), shape=(3, 9))
    assert odd.shape == (3, 9)
    again = pickle.loads(pickle.dumps(encoded))
    same(again.stored, encoded.stored)


def test_descriptions_that_are_refused():
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.encoded_rows("row_u8_f32", numpy.zeros((3, 7), "uint8"))
    assert str(caught.value) == (
        "Encoded: rows of another length\n"
        "  stored has shape [3, 7], but row_u8_f32 has no such rows\n"
        "  try: the bytes of whole rows, in the last dimension")
    with pytest.raises(sheaf.ArgumentError, match='there is no encoding "int3"'):
        sheaf.Encoded("int3", numpy.zeros((3, 7), "uint8"))
    with pytest.raises(sheaf.ArgumentError, match="Encoded: no scales"):
        sheaf.Encoded("u4", numpy.zeros((3, 4), "uint8"))
    with pytest.raises(sheaf.ArgumentError, match="Encoded: scales have the wrong shape"):
        sheaf.Encoded("u8", numpy.zeros((3, 4), "uint8"), numpy.ones((2, 1), "float32"))
    with pytest.raises(sheaf.ArgumentError, match="Encoded: stored elements are not bytes"):
        sheaf.Encoded("u8", numpy.zeros((3, 4), "int32"), numpy.ones((3, 1), "float32"))
    with pytest.raises(sheaf.ArgumentError, match="Encoded: scales in two places"):
        sheaf.Encoded("q8_0", numpy.zeros((3, 34), "uint8"), numpy.ones((3, 1), "float32"))
    with pytest.raises(sheaf.ArgumentError, match="Encoded: blocks along no axis"):
        sheaf.Encoded("u8", numpy.zeros((3, 4), "uint8"), numpy.ones((3, 1), "float32"), axis=2)


def test_dtype_and_packed_are_for_encoded_tables(rng):
    plain = rng.standard_normal((4, 3))
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.gather(plain, [1], packed=True)
    assert str(caught.value) == ("gather: packed with a plain table\n"
                                 "  packed=True, but data is not encoded\n"
                                 "  try: a sheaf.Encoded, or the result's own conversion")
    for call in (sheaf.gather, sheaf.gather_elements, sheaf.gather_nd):
        with pytest.raises(sheaf.ArgumentError, match="dtype with a plain table"):
            call(plain, numpy.zeros((1, 3), "int64"), dtype="float16")


# ---- Gathers


def test_gathers(table, rng):
    encoded, decoded = table
    indices = rng.integers(-30, 30, (4, 5))
    same(sheaf.gather(encoded, indices), decoded[indices])
    same(sheaf.gather(encoded, indices, dtype="float16"), decoded[indices].astype("float16"))
    columns = rng.integers(0, 6, 3)
    same(sheaf.gather(encoded, columns, axis=1), decoded[:, columns])
    same(sheaf.gather_elements(encoded, rng.integers(0, 30, (2, 6)) * 0 + 3, axis=0),
         decoded[[3, 3]])
    pairs = numpy.stack([rng.integers(0, 30, 7), rng.integers(0, 6, 7)], 1)
    same(sheaf.gather_nd(encoded, pairs), decoded[pairs[:, 0], pairs[:, 1]])
    same(sheaf.gather(encoded, [99, 0], out_of_range="fill", fill_value=2.5)[0],
         numpy.full(6, 2.5, "float32"))
    out = numpy.empty((2, 12), "float16")[:, ::2]
    assert sheaf.gather(encoded, [1, 2], out=out) is out
    same(out, decoded[[1, 2]].astype("float16"))


def test_bfloat16(table):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    encoded, decoded = table
    same(sheaf.gather(encoded, [3, 4], dtype="bfloat16"),
         decoded[[3, 4]].astype(ml_dtypes.bfloat16))


def test_gathers_that_are_refused(table):
    encoded, _ = table
    out = numpy.full((2, 6), 7, "float32")
    with pytest.raises(sheaf.IndexError) as caught:
        sheaf.gather(encoded, [0, 30], out=out)
    assert caught.value.position == (1,) and (out == 7).all()
    with pytest.raises(sheaf.DTypeError, match="encoded elements become f32, f16 or bf16"):
        sheaf.gather(encoded, [0], dtype="float64")
    with pytest.raises(sheaf.DTypeError, match="out is f32, but dtype is f16"):
        sheaf.gather(encoded, [0, 1], out=out, dtype="float16")
    with pytest.raises(sheaf.AxisError):
        sheaf.gather(encoded, [0], axis=2)
    with pytest.raises(sheaf.IndexDTypeError):
        sheaf.gather(encoded, [0.5])
    with pytest.raises(sheaf.DTypeError):
        sheaf.gather(encoded, [0, 1], out=encoded.stored[:2, :6].view("int8"))


def test_a_table_that_changes_during_the_call(table):
    encoded, _ = table
    stored = encoded.stored.copy()
    victim = sheaf.encoded_rows("row_u8_f32", stored)

    class Shrinking:
        def __array__(self, dtype=None, copy=None):
            stored.resize((2, 2), refcheck=False)
            return numpy.array([0, 1])

    with pytest.raises(sheaf.ArgumentError, match="stored changed during the call"):
        sheaf.gather(victim, Shrinking())


def test_codes_with_scales(rng):
    codes = rng.integers(0, 16, (8, 10)).astype("uint8")
    packed = codes[:, ::2] | codes[:, 1::2] << 4
    scales = rng.standard_normal((8, 3)).astype("float32")
    zeros = rng.integers(0, 16, (8, 4)).astype("uint8")
    packed_zeros = (zeros[:, ::2] | zeros[:, 1::2] << 4)
    block = numpy.arange(10) // 4
    encoded = sheaf.Encoded("u4", packed, scales, packed_zeros, block=4)
    decoded = (codes.astype("float32") - zeros[:, block]) * scales[:, block]
    same(sheaf.gather(encoded, numpy.arange(8)), decoded)
    signed = sheaf.Encoded("i8", codes.view("int8"), numpy.array([0.5], "float32"))
    same(sheaf.gather(signed, numpy.arange(8)), codes * numpy.float32(0.5))


def test_narrow_floats_as_stored(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    values = rng.standard_normal((4, 64)).astype(ml_dtypes.float8_e4m3fn)
    scales = numpy.exp2(rng.integers(-3, 3, (4, 2))).astype(ml_dtypes.float8_e8m0fnu)
    encoded = sheaf.Encoded("f8e4m3", values, scales, block=32)
    same(sheaf.gather(encoded, [2, 0]),
         (values.astype("float32") * numpy.repeat(scales.astype("float32"), 32, 1))[[2, 0]])


# ---- Bags


@pytest.mark.parametrize("pool", ["sum", "mean", "max"])
def test_bags(table, rng, pool):
    encoded, decoded = table
    indices, offsets = rng.integers(0, 30, 40), numpy.array([0, 10, 10, 33])
    weights = rng.standard_normal(40).astype("float32")
    keywords = {"pool": pool, "weights": weights}
    same(sheaf.bag(encoded, indices, offsets, **keywords),
         bag_oracle.bag(decoded, indices, offsets, **keywords))
    same(sheaf.bag(encoded, indices, offsets, dtype="float16", **keywords),
         bag_oracle.bag(decoded, indices, offsets, **keywords).astype("float16"))
    plan = sheaf.plan_bag(encoded, indices, offsets, pool=pool)
    assert str(plan).startswith(f"bag {pool} in f32, rows of 6 row_u8_f32, i64 indices")
    same(plan.run(encoded, indices, offsets), bag_oracle.bag(decoded, indices, offsets, pool=pool))
    assert pickle.loads(pickle.dumps(plan)).json() == plan.json()
    same(sheaf.segment_reduce(encoded, [0, 12], pool=pool),
         bag_oracle.bag(decoded, None, [0, 12], pool=pool))


# ---- Packed rows


def decode(encoded):
    return sheaf.gather(encoded, numpy.arange(encoded.shape[0]))


def test_packed_rows(table, rng):
    encoded, decoded = table
    indices = rng.integers(-30, 30, (3, 4))
    packed = sheaf.gather(encoded, indices, packed=True)
    assert packed.encoding == "row_u8_f32" and packed.shape == (3, 4, 6)
    same(packed.stored, encoded.stored[indices])
    same(decode(packed), decoded[indices])
    tuples = rng.integers(0, 30, (5, 1))
    same(decode(sheaf.gather_nd(encoded, tuples, packed=True)), decoded[tuples[:, 0]])


@pytest.mark.parametrize("rule", ["fail", "clamp", "wrap"])
@pytest.mark.parametrize("axis, block", [(-1, 4), (0, 3), (0, 0), (1, 2)])
def test_packed_rows_with_scales(rng, rule, axis, block):
    shape = (9, 4, 8)
    sizes = list(shape)
    sizes[axis] = -(-sizes[axis] // block) if block else 1
    codes = rng.integers(0, 256, shape).astype("uint8")
    scales = rng.standard_normal(sizes).astype("float32")
    encoded = sheaf.Encoded("u8", codes, scales, block=block, axis=axis)
    limit = 9 if rule == "fail" else 40
    indices = rng.integers(-limit, limit, 6)
    expected = sheaf.gather(encoded, indices, out_of_range=rule)
    packed = sheaf.gather(encoded, indices, out_of_range=rule, packed=True)
    same(decode(packed), expected)
    columns = rng.integers(0, 4, 3)
    same(decode(sheaf.gather(encoded, columns, axis=1, packed=True)),
         sheaf.gather(encoded, columns, axis=1))


def test_packed_rows_that_are_refused(table):
    encoded, _ = table
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.gather(encoded, [0], axis=1, packed=True)
    assert str(caught.value) == (
        "gather: packed rows along the last axis\n"
        "  axis = 1, but the bytes of a row lie along axis 1\n"
        "  try: an axis from 0 to 0")
    with pytest.raises(sheaf.UnsupportedError, match="gather_elements: packed elements"):
        sheaf.gather_elements(encoded, numpy.zeros((1, 6), "int64"), packed=True)
    with pytest.raises(sheaf.ArgumentError, match="gather: dtype with packed rows"):
        sheaf.gather(encoded, [0], packed=True, dtype="float16")
    with pytest.raises(sheaf.ArgumentError, match='gather: out_of_range="fill" with packed rows'):
        sheaf.gather(encoded, [0], packed=True, out_of_range="fill")
    with pytest.raises(sheaf.UnsupportedError, match="gather_nd: packed rows"):
        sheaf.gather_nd(encoded, [[0, 1]], packed=True)
    with pytest.raises(sheaf.IndexError):
        sheaf.gather(encoded, [30], packed=True)


# ---- Other libraries


def test_torch_tensors(table, rng):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
    encoded, decoded = table
    ours = sheaf.encoded_rows("row_u8_f32", torch.from_numpy(encoded.stored))
    indices = torch.from_numpy(rng.integers(0, 30, 7))
    rows = sheaf.gather(ours, indices, dtype=torch.float16)
    assert isinstance(rows, torch.Tensor) and rows.dtype == torch.float16
    same(rows.numpy(), decoded[indices.numpy()].astype("float16"))
    pooled = sheaf.bag(ours, indices, [0, 3], pool="mean")
    same(pooled.numpy(), bag_oracle.bag(decoded, indices.numpy(), [0, 3], pool="mean"))
    packed = sheaf.gather(ours, indices, packed=True)
    assert isinstance(packed.stored, torch.Tensor)
    f8 = torch.randn(4, 8).to(torch.float8_e4m3fn)
    decoded8 = sheaf.gather(sheaf.Encoded("f8e4m3", f8, torch.ones(1)), torch.arange(4))
    assert torch.equal(decoded8, f8.float())


def test_jax_arrays(table, rng, jax_on_cpu):
    encoded, decoded = table
    ours = sheaf.encoded_rows("row_u8_f32", jax_on_cpu.numpy.asarray(encoded.stored))
    indices = rng.integers(0, 30, 7)
    same(numpy.asarray(sheaf.gather(ours, indices)), decoded[indices])
    same(numpy.asarray(sheaf.bag(ours, indices, [0, 3])),
         bag_oracle.bag(decoded, indices, [0, 3]))
