# SPDX-License-Identifier: MIT
"""sheaf.jax.bag in programs that JAX compiles: jit, grad, vmap."""

import bag_oracle
import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")

import sheaf  # noqa: E402

if not sheaf._sheaf.has_jax_ffi():
    pytest.skip("the package was built without jaxlib", allow_module_level=True)

import jax.numpy as jnp  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import sheaf.jax  # noqa: E402

pytestmark = pytest.mark.usefixtures("jax_on_cpu")


@pytest.fixture
def table(rng):
    return rng.standard_normal((12, 5)).astype("float32")


def same(got, expected):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    numpy.testing.assert_array_equal(numpy.asarray(got), expected)


FORMS = {"offsets": {"offsets": numpy.array([0, 3, 3, 9], "int32")},
         "last": {"offsets": numpy.array([0, 3, 3, 9], "int32"), "last_offset": True},
         "lengths": {"lengths": numpy.array([4, 0, 8], "int32")},
         "ids": {"ids": numpy.array([0, 0, 1, 1, 1, 1, 3, 3, 3, 3, 3, 4], "int32"), "bags": 6},
         "matrix": {}}


@pytest.mark.parametrize("form, pool", [
    ("offsets", "sum"), ("offsets", "min"), ("last", "mean"), ("lengths", "max"), ("ids", "mul"),
    ("matrix", "sqrtn")])
def test_jit(table, rng, form, pool):
    indices = rng.integers(-12, 12, 12).astype("int32")
    indices = indices.reshape(3, 4) if form == "matrix" else indices
    weights = rng.standard_normal(indices.shape).astype("float32")
    keywords = {"pool": pool, **FORMS[form]}
    arrays = {name: value for name, value in keywords.items() if hasattr(value, "shape")}
    rest = {name: value for name, value in keywords.items() if name not in arrays}
    run = jax.jit(lambda t, i, w, a: sheaf.jax.bag(t, i, weights=w, **a, **rest))
    same(run(table, indices, weights, arrays),
         bag_oracle.bag(table, indices, weights=weights, **keywords))
    plain = jax.jit(lambda t, i: sheaf.bag(t, i, **keywords))  # sheaf.bag knows what is traced
    same(plain(table, indices), bag_oracle.bag(table, indices, **keywords))


def test_options(table, rng):
    indices = rng.integers(-30, 30, (6, 4)).astype("int32")
    for keywords in ({"out_of_range": "skip", "empty_value": -1.5}, {"out_of_range": "clamp"},
                     {"out_of_range": "fill", "fill_value": 0.5}, {"out_of_range": "wrap"},
                     {"out_of_range": "skip", "padding_index": 3, "pool": "mean"}):
        same(sheaf.jax.bag(table, indices, **keywords), bag_oracle.bag(table, indices, **keywords))
    half = table.astype("float16")
    same(sheaf.jax.bag(half, indices, out_of_range="wrap", dtype="float32"),
         bag_oracle.bag(half.astype("float32"), indices, out_of_range="wrap"))


def test_segments_in_order(table):
    same(jax.jit(lambda t, o: sheaf.jax.bag(t, offsets=o))(table, numpy.array([0, 5], "int32")),
         bag_oracle.bag(table, None, [0, 5]))
    run = jax.jit(lambda t: sheaf.segment_reduce(t, numpy.array([0, 5], "int32"), pool="max"))
    same(run(table), bag_oracle.bag(table, None, [0, 5], pool="max"))


def test_refusals(table):
    indices = numpy.zeros((2, 2), "int32")
    with pytest.raises(sheaf.ArgumentError, match="the number of bags is not known"):
        sheaf.jax.bag(table, indices[0], ids=indices[0])
    with pytest.raises(sheaf.ArgumentError, match="out in a compiled program"):
        jax.jit(lambda t: sheaf.bag(t, indices, out=numpy.empty((2, 5), "float32")))(table)
    with pytest.raises(sheaf.ArgumentError, match="weights have the wrong shape"):
        sheaf.jax.bag(table, indices, weights=numpy.ones(3, "float32"))
    with pytest.raises(sheaf.ArgumentError, match="two kinds of segments"):
        sheaf.jax.bag(table, indices[0], [0], lengths=[2])
    with pytest.raises(Exception, match="out of range"):
        jax.block_until_ready(sheaf.jax.bag(table, indices + 12))
    with pytest.raises(Exception, match="segments do not fit"):
        jax.block_until_ready(sheaf.jax.bag(table, indices[0], numpy.array([1], "int32")))


@pytest.mark.parametrize("pool, form", [
    ("sum", "offsets"), ("mean", "last"), ("sqrtn", "lengths"), ("mean", "ids"), ("max", "matrix"),
    ("mul", "offsets")])
def test_gradients(rng, pool, form):
    table = jnp.asarray(rng.standard_normal((6, 3)), "float32")
    indices = rng.integers(0, 6, 12).astype("int32")
    indices = indices.reshape(3, 4) if form == "matrix" else indices
    weights = jnp.asarray(rng.standard_normal(indices.shape), "float32")

    def weighted(t, w):
        return sheaf.jax.bag(t, indices, weights=w, pool=pool, padding_index=2, **FORMS[form])

    check_grads(weighted, (table, weights), 2, atol=2e-2, rtol=2e-2, eps=1e-3)


def test_gradients_are_those_of_the_composition(table, rng):
    indices = rng.integers(0, 12, (6, 4)).astype("int32")
    weights = rng.standard_normal((6, 4)).astype("float32")

    def ours(t, w):
        return (sheaf.jax.bag(t, indices, weights=w) ** 2).sum()

    def theirs(t, w):
        return ((t[indices] * w[..., None]).sum(1) ** 2).sum()

    for a, b in zip(jax.jit(jax.grad(ours, (0, 1)))(table, weights),
                    jax.grad(theirs, (0, 1))(table, weights)):
        numpy.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_the_first_maximum_has_the_gradient():
    table = jnp.array([[1.0], [2.0], [2.0], [0.0]])
    indices = jnp.array([[0, 2, 1], [3, 3, 3]])
    gradient = jax.grad(lambda t: sheaf.jax.bag(t, indices, pool="max").sum())(table)
    assert gradient.ravel().tolist() == [0, 0, 1, 1]


def test_vmap(rng):
    tables = rng.standard_normal((3, 10, 4)).astype("float32")
    many = rng.integers(0, 10, (3, 5, 2)).astype("int32")
    for pool in ("sum", "max"):
        same(jax.vmap(lambda t: sheaf.jax.bag(t, many[0], pool=pool))(tables),
             numpy.stack([bag_oracle.bag(t, many[0], pool=pool) for t in tables]))
        same(jax.jit(jax.vmap(lambda t, i: sheaf.jax.bag(t, i, pool=pool)))(tables, many),
             numpy.stack([bag_oracle.bag(t, i, pool=pool) for t, i in zip(tables, many)]))


def test_encoded_tables(rng):
    codes = rng.integers(0, 256, (30, 6)).astype("uint8")
    scale = rng.standard_normal((30, 1)).astype("float32")
    bias = rng.standard_normal((30, 1)).astype("float32")
    stored = numpy.concatenate([codes, numpy.concatenate([scale, bias], 1).view("uint8")], 1)
    decoded = codes * scale + bias
    indices = rng.integers(0, 30, (4, 3)).astype("int32")
    run = jax.jit(lambda s, i: sheaf.bag(sheaf.encoded_rows("row_u8_f32", s), i, pool="mean"))
    same(run(stored, indices), bag_oracle.bag(decoded, indices, pool="mean"))
    beside = jax.jit(lambda c, s, z, i: sheaf.jax.bag(sheaf.Encoded("u8", c, s, z), i))
    same(beside(codes, scale, bias, indices), bag_oracle.bag(decoded, indices))


def test_lowering_for_gpus(table):
    """The program for a GPU is made on this machine, too; its segments are made to fit."""
    indices = jax.ShapeDtypeStruct((12,), "int32")
    offsets = jax.ShapeDtypeStruct((3,), "int32")
    data = jax.ShapeDtypeStruct(table.shape, "float32")
    for keywords in ({"offsets": offsets}, {"lengths": offsets}):
        run = jax.jit(lambda t, i, a: sheaf.jax.bag(t, i, **a))
        traced = run.trace(data, indices, keywords).lower(lowering_platforms=("cuda",))
        assert "sheaf_bag" in traced.as_text()
