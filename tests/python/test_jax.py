# SPDX-License-Identifier: MIT
"""JAX: arrays in and out, jax.numpy's take as oracle."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")

import jax.numpy as jnp  # noqa: E402

import sheaf  # noqa: E402

pytestmark = pytest.mark.usefixtures("jax_on_cpu")


@pytest.mark.parametrize("name", ["bool_", "int8", "int16", "int32", "uint8", "uint16", "uint32",
                                  "float16", "bfloat16", "float32", "complex64",
                                  "float8_e4m3fn", "float8_e5m2"])
def test_every_dtype(name):
    x = jnp.asarray(numpy.arange(12).reshape(3, 4) % 2).astype(getattr(jnp, name))
    got = sheaf.take(x, jnp.asarray([2, 0]), axis=0)
    assert isinstance(got, jax.Array)
    assert got.dtype == x.dtype
    assert numpy.array_equal(numpy.asarray(got), numpy.asarray(x)[[2, 0]])


def test_functions():
    x = jnp.arange(12.0).reshape(3, 4)
    indices = jnp.asarray([[1, 0, 3]])
    assert (sheaf.take_along_axis(x, indices, axis=1) ==
            jnp.take_along_axis(x, indices, axis=1)).all()
    assert (sheaf.gather_nd(x, jnp.asarray([[2, 3], [0, 1]])) == x[jnp.asarray([2, 0]),
                                                                   jnp.asarray([3, 1])]).all()
    assert sheaf.take(x, 7).shape == ()


def test_jax_arrays_cannot_be_written_to():
    x = jnp.arange(3.0)
    before = numpy.asarray(x).copy()
    with pytest.raises(sheaf.ArgumentError, match="out is read-only"):
        sheaf.take(numpy.arange(9, 12, dtype="f4"), [0, 1, 2], out=x)
    assert (numpy.asarray(x) == before).all()


def test_traced_values_are_refused():
    with pytest.raises(Exception):
        jax.jit(lambda x: sheaf.take(x, [0]))(jnp.arange(3.0))


def test_tables_inside_a_compiled_program():
    rows = numpy.arange(12, dtype=numpy.float32).reshape(6, 2)
    table = sheaf.Table(rows)
    ids = jnp.asarray([4, 1])
    got = table.gather(ids)  # outside of one
    assert isinstance(got, jax.Array) and numpy.array_equal(numpy.asarray(got), rows[[4, 1]])
    for call in (table.gather, lambda ids: sheaf.gather(table, ids),
                 lambda ids: table.bag(ids[None]), table.prefetch,
                 lambda ids: table.scatter(ids, jnp.ones((2, 2)))):
        with pytest.raises(sheaf.UnsupportedError) as refused:
            jax.jit(call)(ids)
        assert "a table inside a program that JAX compiles" in str(refused.value)
    with pytest.raises(sheaf.UnsupportedError) as refused:
        jax.jit(table.gather)(ids)
    assert str(refused.value) == (
        "gather: a table inside a program that JAX compiles\n"
        "  its rows are fetched by the host, in a call of its own\n"
        "  try: jax.pure_callback(table.gather, jax.ShapeDtypeStruct(shape, dtype), indices), or the "
        "call outside jit")

    @jax.jit
    def advised(ids):
        shape = jax.ShapeDtypeStruct((*ids.shape, 2), jnp.float32)
        return jax.pure_callback(table.gather, shape, ids) * 2

    assert numpy.array_equal(numpy.asarray(advised(ids)), rows[[4, 1]] * 2)
