# SPDX-License-Identifier: MIT
"""ONNX's reference evaluator and ONNX Runtime as oracles of Gather, GatherElements and GatherND."""

import numpy
import pytest

onnx = pytest.importorskip("onnx", reason="onnx is not installed (scripts/peers)")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import sheaf  # noqa: E402


def evaluators():
    yield lambda model: ReferenceEvaluator(model).run
    try:
        import onnxruntime
    except ImportError:
        return
    yield lambda model: onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]).run


def by_onnx(op, x, indices, **attributes):
    """What each evaluator makes of it."""
    node = helper.make_node(op, ["x", "i"], ["y"], **attributes)
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape),
         helper.make_tensor_value_info("i", TensorProto.INT64, indices.shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return [make(model)(None, {"x": x, "i": indices})[0] for make in evaluators()]


def agree(ours, theirs):
    return all(ours.shape == their.shape and (ours == their).all() for their in theirs)


@settings(max_examples=40)
@given(st.data())
def test_against_onnx(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=4)))
    rng = numpy.random.default_rng(data.draw(st.integers(0, 10_000)))
    x = rng.random(shape, dtype="f4")
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    some = rng.integers(-extent, extent, data.draw(st.sampled_from([(), (3,), (2, 2)])))
    some = numpy.asarray(some, dtype="i8")
    assert agree(sheaf.gather(x, some, axis=axis), by_onnx("Gather", x, some, axis=axis))
    each = rng.integers(-extent, extent, shape)
    assert agree(sheaf.gather_elements(x, each, axis=axis),
                 by_onnx("GatherElements", x, each, axis=axis))
    batch_dims = data.draw(st.integers(0, len(shape) - 1))
    size = data.draw(st.integers(1, len(shape) - batch_dims))
    parts = [rng.integers(0, shape[batch_dims + d], (*shape[:batch_dims], 3)) for d in range(size)]
    tuples = numpy.stack(parts, axis=-1)
    assert agree(sheaf.gather_nd(x, tuples, batch_dims=batch_dims),
                 by_onnx("GatherND", x, tuples, batch_dims=batch_dims))
