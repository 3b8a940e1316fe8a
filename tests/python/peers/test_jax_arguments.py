# SPDX-License-Identifier: MIT
"""What sheaf.jax takes: fill values, updates that are broadcast and cast, small integers, symbolic
shapes, donated arrays; and the plain functions inside programs that JAX traces."""

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
import jax.numpy as jnp  # noqa: E402
from jax import export  # noqa: E402

import sheaf  # noqa: E402
import sheaf.jax as ours  # noqa: E402

pytestmark = [pytest.mark.usefixtures("jax_on_cpu"), pytest.mark.skipif(
    not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")]
X = numpy.arange(12, dtype="f4").reshape(4, 3)
BAD = numpy.array([7, 1], "i4")


def same_bits(a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype, value", [
    ("float32", 2.5), ("float32", -0.0), ("float32", 0.0), ("float32", float("nan")),
    ("float32", float("inf")), ("float32", 7), ("int32", -3), ("int8", 5.0), ("uint32", 2**32 - 1),
    ("bfloat16", 1.5), ("float16", numpy.float16(0.1)), ("complex64", 2 - 1j), ("bool", True),
    ("float8_e4m3fn", 0.5)])
def test_fill_values(dtype, value):
    data = jnp.asarray(X).astype(dtype)
    got = jax.jit(lambda d, i: ours.gather(d, i, out_of_range="fill", fill_value=value))(data, BAD)
    eager = ours.gather(data, BAD, out_of_range="fill", fill_value=value)
    expected = sheaf.gather(numpy.asarray(data), BAD, out_of_range="fill", fill_value=value)
    assert same_bits(got, expected) and same_bits(eager, expected)


def test_fill_values_of_64_bits():
    with jax.enable_x64(True):
        for dtype, value in (("uint64", 2**64 - 1), ("int64", -2**63), ("float64", 0.1)):
            data = jnp.asarray(X).astype(dtype)
            got = ours.gather_nd(data, BAD[:, None], out_of_range="fill", fill_value=value)
            assert got.dtype == dtype and got[0, 0] == numpy.dtype(dtype).type(value)


def test_the_gradient_is_not_filled():
    def run(d):
        return ours.gather(d, BAD, out_of_range="fill", fill_value=5.0)
    tangent = jax.jvp(run, (jnp.asarray(X),), (jnp.ones((4, 3)),))[1]
    assert tangent.tolist() == [[0] * 3, [1] * 3]
    assert jax.grad(lambda d: run(d).sum())(jnp.asarray(X)).tolist() == [
        [0] * 3, [1] * 3, [0] * 3, [0] * 3]


REFUSED_FILLS = [
    ("int32", 2.5, """gather: fill_value does not fit
  fill_value: 2.5 is not a value of type i32
  data i32[4, 3]   indices i32[2]   axis 0   output i32[2, 3]
  try: a value of type i32"""),
    ("int4", 8, """gather: fill_value does not fit
  fill_value: 8 is not a value of type int4
  try: a value of type int4"""),
    ("float32", "a", """fill_value is no number
  it is <class 'str'>
  try: an int, float or complex"""),
]


@pytest.mark.parametrize("dtype, value, text", REFUSED_FILLS)
def test_fill_values_that_do_not_fit(dtype, value, text):
    with pytest.raises(sheaf.Error) as error:
        ours.gather(jnp.asarray(X).astype(dtype), BAD, out_of_range="fill", fill_value=value)
    assert str(error.value) == text


def test_a_traced_fill_value_is_refused():
    with pytest.raises(sheaf.ArgumentError) as error:
        jax.jit(lambda v: ours.gather(X, BAD, out_of_range="fill", fill_value=v))(1.0)
    assert str(error.value) == """gather: fill_value is traced
  it is part of the compiled program, so its value must be known
  try: a number, or a static argument of jax.jit"""


@pytest.mark.parametrize("updates", [1.5, [1.0, 2.0, 3.0], [[4.0], [5.0]], numpy.ones((1, 3), "i4"),
                                     True, numpy.float64(0.5)])
def test_updates_are_broadcast_and_cast(updates):
    for reduction in ("none", "add"):
        got = ours.scatter(X, [1, 3], updates, reduction=reduction)
        assert same_bits(got, sheaf.scatter(X, [1, 3], updates, reduction=reduction))
        got = ours.scatter_nd(X, [[1], [3]], updates, reduction=reduction)
        assert same_bits(got, sheaf.scatter_nd(X, [[1], [3]], updates, reduction=reduction))
        got = ours.scatter_elements(X, [[0, 1, 2], [3, 3, 3]], updates, reduction=reduction)
        assert same_bits(got, sheaf.scatter_elements(X, [[0, 1, 2], [3, 3, 3]], updates,
                                                     reduction=reduction))


def test_the_gradient_of_broadcast_updates():
    def total(u):
        return (ours.scatter(X, [1, 3], u, reduction="add") * X).sum()
    assert jax.grad(total)(jnp.ones(3)).tolist() == (X[1] + X[3]).tolist()


def test_updates_that_do_not_fit():
    with pytest.raises(sheaf.DTypeError) as error:
        ours.scatter(X, [1], jnp.ones((1, 3), jnp.complex64))
    assert str(error.value) == """scatter: types differ
  updates is c64, but data is f32
  data f32[4, 3]   indices i32[1]   updates c64[1, 3]   axis 0
  try: updates of type f32; nothing is converted"""
    with pytest.raises(sheaf.ArgumentError, match="updates have the wrong shape"):
        ours.scatter(X, [1, 2], jnp.ones((5, 3)))


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_small_integers(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    limits = ml_dtypes.iinfo(getattr(ml_dtypes, name))
    values = numpy.arange(16).reshape(4, 4) % (int(limits.max) - int(limits.min) + 1)
    data = (values + int(limits.min)).astype(name)
    rows, updates = numpy.array([3, 0, 3], "i4"), data[[1, 2, 3]]
    assert same_bits(jax.jit(ours.gather)(data, rows), sheaf.gather(data, rows))
    assert same_bits(ours.scatter(data, rows, updates), sheaf.scatter(data, rows, updates))
    for reduction in ("add", "mul", "max", "mean"):
        keywords = {"reduction": reduction, "accumulate": "f32"}
        assert same_bits(ours.scatter(data, rows, updates, **keywords),
                         sheaf.scatter(data, rows, updates, **keywords))
    with pytest.raises(sheaf.DTypeError, match="reduction does not fit the type"):
        ours.scatter(data, rows, updates, reduction="add")


def test_verdicts_of_narrow_indices():
    wide, small = jnp.zeros((300, 2)), jnp.zeros((4, 2))
    for data, indices, dtype, verdict in [
            (wide, [0, 255], "uint8", [0, -1]), (wide, [-128, 127], "int8", [0, -1]),
            (small, [0, 255], "uint8", [1, 1]), (small, [-4, -5, 4], "int8", [2, 1])]:
        assert ours.gather(data, jnp.asarray(indices, dtype), check=True)[1].tolist() == verdict


CUSTOM_CALLS = [export.DisabledSafetyCheck.custom_call(f"sheaf_{name}") for name in (
    "gather", "scatter", "gather_unsized", "scatter_unsized")]


def program(x, i):
    taken = ours.gather(x, i, out_of_range="clamp")
    back = ours.scatter(x, i, taken * 2, reduction="add", out_of_range="skip")
    pairs = ours.gather_nd(x, jnp.stack([i, i], -1), out_of_range="wrap")
    return back.sum() + pairs.sum() + ours.gather_elements(x, i[:, None], broadcast=True,
                                                           out_of_range="clamp").sum()


def test_symbolic_shapes():
    n, b = export.symbolic_shape("n, b")
    arguments = (jax.ShapeDtypeStruct((n, 3), jnp.float32), jax.ShapeDtypeStruct((b,), jnp.int32))
    for function in (program, jax.grad(program)):
        exported = export.export(jax.jit(function), disabled_checks=CUSTOM_CALLS)(*arguments)
        for rows, ids in ((4, [1, 1, 7]), (6, [0, -1]), (1, [0])):
            x, i = jnp.arange(3.0 * rows).reshape(rows, 3), jnp.asarray(ids)
            assert same_bits(exported.call(x, i), jax.jit(function)(x, i))


def test_export_for_a_gpu_that_is_elsewhere():
    exported = export.export(jax.jit(program), platforms=["cpu", "cuda"],
                             disabled_checks=CUSTOM_CALLS)(X, BAD)
    assert same_bits(exported.call(X, BAD), jax.jit(program)(X, BAD))


def test_donated_data_is_written_in_place():
    run = jax.jit(lambda d, i, u: ours.scatter(d, i, u), donate_argnums=0)
    data, ids, updates = jnp.zeros((256, 64)), jnp.array([5, 9]), jnp.ones((2, 64))
    program = run.lower(data, ids, updates).compile().as_text()
    assert "output_to_operand_aliasing={{}: (0, {})}" in program and " copy(" not in program
    address = data.unsafe_buffer_pointer()
    result = run(data, ids, updates)
    assert data.is_deleted() and result.unsafe_buffer_pointer() == address
    assert result.sum() == 128


def test_data_that_is_used_again_is_kept():
    data = jnp.asarray(X)
    both = jax.jit(lambda d: (ours.scatter(d, [1], 5.0), d + 0, ours.scatter(d, [2], 6.0)))
    for result, row, value in zip(both(data), (1, 0, 2), ([5.0] * 3, [0.0, 1, 2], [6.0] * 3)):
        expected = X.copy()
        expected[row] = value
        assert same_bits(result, expected)
    assert same_bits(data, X)
    assert not jax.grad(lambda d: ours.scatter(d, [1], 5.0).sum())(data)[1].any()


PLAIN = [
    (lambda x, i, u: sheaf.gather(x, i, 0, out_of_range="fill", fill_value=3.0), "gather"),
    (lambda x, i, u: sheaf.gather_elements(x, i[:, None], broadcast=True), "gather_elements"),
    (lambda x, i, u: sheaf.gather_nd(x, i[:, None]), "gather_nd"),
    (lambda x, i, u: sheaf.scatter(x, i, u, reduction="add", include_self=False), "scatter"),
    (lambda x, i, u: sheaf.scatter_elements(x, i[:, None], u[:, :1], reduction="max"),
     "scatter_elements"),
    (lambda x, i, u: sheaf.scatter_nd(x, i[:, None], u, out_of_range="skip"), "scatter_nd"),
]


@pytest.mark.parametrize("function, name", PLAIN)
def test_plain_functions_are_traced(function, name):
    i, u = numpy.array([2, 0, 2], "i4"), numpy.full((3, 3), 2, "f4")
    expected = function(X, i, u)
    assert same_bits(jax.jit(function)(X, i, u), expected)
    assert same_bits(jax.jit(lambda i: function(X, i, jnp.asarray(u)))(i), expected)
    gradient = jax.grad(lambda x: (function(x, i, u) ** 2).sum())(jnp.asarray(X))
    assert gradient.shape == X.shape
    assert name in str(jax.make_jaxpr(function)(X, i, u))


def test_no_out_in_a_compiled_program():
    with pytest.raises(sheaf.ArgumentError) as error:
        jax.jit(lambda x: sheaf.gather(x, BAD, out=x))(X)
    assert str(error.value) == """gather: out in a compiled program
  arrays of JAX are not written to
  try: the result of the call; donated data is overwritten"""


def test_eager_calls_compile_once():
    from sheaf.jax._operators import _gather_program
    for fill in (-0.0, float("nan"), 3, 1j):
        programs = {_gather_program.cache_info().misses}
        for _ in range(3):
            ours.gather(X.astype("c8"), BAD, out_of_range="fill", fill_value=fill)
            programs.add(_gather_program.cache_info().misses)
        assert len(programs) <= 2
    with jax.disable_jit():
        assert same_bits(ours.gather(X, [1]), X[1:2])
