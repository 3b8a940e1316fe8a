# SPDX-License-Identifier: MIT
"""Where ONNX Runtime's CPU kernels depart from ONNX, and Sheaf's do not: the list of docs/onnxruntime.md.

Each holds for the pinned version. One that fails after an upgrade has been mended there: take it off the list.
"""

import numpy
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed (scripts/peers)")

from onnx import TensorProto, helper  # noqa: E402
from ort_models import THEIRS, feeds_of, model_of, node_model, session_of  # noqa: E402

import sheaf.onnxruntime  # noqa: E402

NAN = float("nan")


@pytest.fixture(scope="module", autouse=True)
def registered():
    sheaf.onnxruntime.register()


def run(op, arrays, providers=None, **attributes):
    return session_of(node_model(op, arrays, **attributes), providers).run(None, feeds_of(arrays))[0]


def indices_of(op, indices):
    return numpy.array(indices) if op == "ScatterElements" else numpy.array(indices)[:, None]


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
@pytest.mark.parametrize("reduction, function", [("max", numpy.fmax), ("min", numpy.fmin)])
def test_nan_is_lost_by_max_and_min(op, reduction, function):
    """ONNX's reference says numpy.maximum and numpy.minimum, which keep a NaN."""
    arrays = [numpy.array([NAN, 0, 0], "f4"), indices_of(op, [0, 1, 1]), numpy.array([1, NAN, 1], "f4")]
    assert numpy.isnan(run(op, arrays, reduction=reduction)).tolist() == [True, True, False]
    assert not numpy.isnan(run(op, arrays, THEIRS, reduction=reduction)).any()


@pytest.mark.parametrize("op, dtype, reduction", [
    ("ScatterElements", "bool", "max"), ("ScatterElements", "bool", "min"),
    ("ScatterElements", "float16", "add"), ("ScatterElements", "float16", "mul"),
    ("ScatterND", "bool", "max"), ("ScatterND", "bool", "min"), ("ScatterND", "float16", "add"),
    ("ScatterND", "float16", "mul"), ("ScatterND", "float16", "max"), ("ScatterND", "float16", "min")])
def test_reductions_that_are_missing(op, dtype, reduction):
    arrays = [numpy.ones(3, dtype), indices_of(op, [0, 0, 1]), numpy.ones(3, dtype)]
    wanted = [3, 2, 1] if reduction == "add" else [1, 1, 1]
    assert run(op, arrays, reduction=reduction).astype("i8").tolist() == wanted
    with pytest.raises(Exception, match="is not supported with"):
        run(op, arrays, THEIRS, reduction=reduction)


def test_rows_of_strings_lose_all_but_their_first():
    node = helper.make_node("Gather", ["x", "i"], ["y"])
    model = model_of([node], {"x": (TensorProto.STRING, [2, 2]), "i": (TensorProto.INT64, ["n"])},
                     {"y": (TensorProto.STRING, None)})
    words = numpy.array([["a", "b"], ["c", "d"]], dtype=object)
    feeds = {"x": words, "i": numpy.array([1])}
    assert session_of(model).run(None, feeds)[0].tolist() == [["c", "d"]]
    assert session_of(model, THEIRS).run(None, feeds)[0].tolist() == [["c", ""]]


def test_sums_at_one_place_from_several_threads(rng):
    """ONNX Runtime's threads add to the same elements without agreeing on who goes first, and lose summands:
    whether that happens in a run is chance, so only Sheaf's sums are held here."""
    data = numpy.zeros((50, 64), "f4")
    indices = rng.integers(0, 50, (20_000, 1))
    updates = rng.integers(0, 100, (20_000, 64)).astype("f4")
    wanted = data.copy()
    numpy.add.at(wanted, indices[:, 0], updates)
    model = node_model("ScatterND", [data, indices, updates], reduction="add")
    for threads in (1, 2, 4):
        session = session_of(model, intra_op_num_threads=threads)
        for _ in range(3):
            (got,) = session.run(None, feeds_of([data, indices, updates]))
            numpy.testing.assert_array_equal(got, wanted)


def test_bfloat16_scales():
    """GatherBlockQuantized's schema has them, its kernel does not."""
    inputs = {"scales": (TensorProto.FLOAT, [2, 1]), "indices": (TensorProto.INT64, ["n"])}
    nodes = [helper.make_node("Cast", ["scales"], ["narrow"], to=TensorProto.BFLOAT16),
             helper.make_node("GatherBlockQuantized", ["data", "indices", "narrow"], ["rows"],
                              domain="com.microsoft", block_size=16, bits=8),
             helper.make_node("Cast", ["rows"], ["out"], to=TensorProto.FLOAT)]
    data = helper.make_tensor("data", TensorProto.UINT8, [2, 2], bytes([128, 129, 130, 131]), raw=True)
    model = model_of(nodes, inputs, {"out": (TensorProto.FLOAT, None)}, [data], opset=21)
    feeds = {"scales": numpy.array([[1], [2]], "f4"), "indices": numpy.array([1, 0])}
    assert session_of(model).run(None, feeds)[0].tolist() == [[4, 6], [0, 1]]
    with pytest.raises(Exception):
        session_of(model, THEIRS).run(None, feeds)
