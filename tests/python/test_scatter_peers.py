# SPDX-License-Identifier: MIT
"""JAX and ONNX (its reference evaluator and ONNX Runtime) as oracles of the scatters."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sheaf
from scatter_oracle import places, scattered

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("name", ["bool_", "int8", "int16", "int32", "uint8", "uint16", "uint32",
                                  "float16", "bfloat16", "float32", "complex64"])
def test_every_dtype_of_jax(name, jax_on_cpu):
    jax = jax_on_cpu
    jnp = jax.numpy
    dtype = getattr(jnp, name)
    x = jnp.asarray(numpy.arange(12).reshape(4, 3) % 2).astype(dtype)
    updates = jnp.asarray(numpy.arange(9).reshape(3, 3) % 3 == 1).astype(dtype)
    indices = jnp.asarray([2, 0, 9])  # the last is left out
    got = sheaf.scatter(x, indices, updates, out_of_range="skip")
    assert isinstance(got, jax.Array) and got.dtype == x.dtype
    assert (got == x.at[indices].set(updates, mode="drop")).all()
    indices = jnp.asarray([2, 2, 7])
    got = sheaf.scatter(x, indices, updates, reduction="add", out_of_range="skip")
    if name == "bool_":  # JAX adds no bools
        assert got.tolist() == (x | jnp.zeros_like(x).at[2].set(updates[0] | updates[1])).tolist()
    else:
        assert (got == x.at[indices].add(updates, mode="drop")).all()


def test_reductions_of_jax(jax_on_cpu):
    jax = jax_on_cpu
    jnp = jax.numpy
    x = jnp.arange(12.0).reshape(3, 4)
    pairs = jnp.asarray([[0, 1], [2, 3], [0, 1]])
    updates = jnp.asarray([2.0, 8.0, -4.0])
    at = x.at[pairs[:, 0], pairs[:, 1]]
    for reduction, expected in (("add", at.add(updates)), ("sub", at.subtract(updates)),
                                ("mul", at.multiply(updates)), ("min", at.min(updates)),
                                ("max", at.max(updates))):
        assert (sheaf.scatter_nd(x, pairs, updates, reduction=reduction) == expected).all()


def test_jax_arrays_cannot_be_scattered_into(jax_on_cpu):
    jax = jax_on_cpu
    x = jax.numpy.arange(3.0)
    for call in (lambda: sheaf.scatter(x, [0], [1.0], out=x),
                 lambda: sheaf.put_along_axis(x, [0], [1.0], 0)):
        with pytest.raises(sheaf.ArgumentError, match="out is read-only"):
            call()
    assert x.tolist() == [0, 1, 2]


def by_onnx(op, x, indices, updates, **attributes):
    """What each evaluator makes of it."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed (scripts/peers)")
    from onnx.reference import ReferenceEvaluator

    helper = onnx.helper
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node(op, ["x", "i", "u"], ["y"], **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", kind, x.shape),
         helper.make_tensor_value_info("i", onnx.TensorProto.INT64, indices.shape),
         helper.make_tensor_value_info("u", kind, updates.shape)],
        [helper.make_tensor_value_info("y", kind, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)
    inputs = {"x": x, "i": indices, "u": updates}
    yield ReferenceEvaluator(model).run(None, inputs)[0]
    try:
        import onnxruntime
    except ImportError:
        return
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # on several, ScatterND loses updates to one element
    session = onnxruntime.InferenceSession(model.SerializeToString(), options,
                                           providers=["CPUExecutionProvider"])
    yield session.run(None, inputs)[0]


@settings(max_examples=40)
@given(st.data())
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "min", "max"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_against_onnx(dtype, reduction, data):
    rng = numpy.random.default_rng(data.draw(SEEDS))
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    x = rng.integers(-3, 4, shape).astype(dtype)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    if reduction == "none":  # ONNX: undefined for two updates to one element
        each = numpy.argsort(rng.random(shape), axis=axis)
    else:
        each = rng.integers(-shape[axis], shape[axis], shape)
    updates = rng.integers(-2, 3, shape).astype(dtype)
    got = sheaf.scatter_elements(x, each, updates, axis, reduction=reduction)
    for theirs in by_onnx("ScatterElements", x, each, updates, axis=axis, reduction=reduction):
        assert numpy.array_equal(got, theirs)
    size = data.draw(st.integers(1, len(shape)))
    count = 1 if reduction == "none" else 3
    tuples = numpy.stack([rng.integers(0, n, count) for n in shape[:size]], axis=-1)
    updates = rng.integers(-2, 3, (count, *shape[size:])).astype(dtype)
    got = sheaf.scatter_nd(x, tuples, updates, reduction=reduction)
    where = places("scatter_nd", len(shape), tuples, updates.shape)
    assert numpy.array_equal(got, scattered(x, where, updates, reduction))
    for theirs in by_onnx("ScatterND", x, tuples, updates, reduction=reduction):
        assert numpy.array_equal(got, theirs)
