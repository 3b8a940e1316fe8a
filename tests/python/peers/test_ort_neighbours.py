# SPDX-License-Identifier: MIT
"""Slice and OneHot between gathers, where the provider takes them, against ONNX Runtime's own kernels."""

import ml_dtypes
import numpy
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed (scripts/peers)")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from ort_models import THEIRS, model_of, providers_of, session_of, type_of  # noqa: E402

import sheaf.onnxruntime  # noqa: E402

ROWS = 300
TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "float32", "float64"]


@pytest.fixture(scope="module", autouse=True)
def registered():
    sheaf.onnxruntime.register()


def between_gathers(node, data, initializers, out_type, opset, more_outputs=()):
    """Gather → node ("a" to "b") → Gather, and feeds that change nothing but the order of rows."""
    nodes = [helper.make_node("Gather", ["data", "order"], ["a"]), node,
             helper.make_node("Gather", ["b", "order"], ["out"])]
    rows = data.shape[0]
    feeds = {"data": data, "order": numpy.arange(rows)[::-1].copy()}
    outputs = {"out": (out_type, None), **{name: (out_type, None) for name in more_outputs}}
    model = model_of(nodes, {"data": (type_of(data), list(data.shape)), "order": (7, [rows])}, outputs,
                     initializers, opset)
    return model, feeds


def compare(model, feeds, folder):
    """The result, the same as without Sheaf bit for bit, and who ran the node in the middle."""
    session = session_of(model, folder=folder)
    for _ in range(2):
        (got,) = session.run(None, feeds)
    (wanted,) = session_of(model, THEIRS).run(None, feeds)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape and got.tobytes() == wanted.tobytes()
    return got, dict(providers_of(session))


def slice_node(starts, ends, axes, steps, dtype="int64"):
    lists = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    given = [numpy_helper.from_array(numpy.array(values, dtype), name) for name, values in lists.items()]
    return helper.make_node("Slice", ["a", *lists], ["b"]), given


@pytest.mark.parametrize("dtype", TYPES)
def test_slices_of_every_type(dtype, tmp_path, rng):
    data = rng.integers(0, 2, (ROWS, 5, 80)).astype(dtype)
    node, lists = slice_node([3], [78], [2], [1])
    model, feeds = between_gathers(node, data, lists, type_of(data), 18)
    got, ran = compare(model, feeds, tmp_path)
    numpy.testing.assert_array_equal(got, data[:, :, 3:78])
    assert ran["Slice"] == sheaf.onnxruntime.NAME


def test_slices_of_bfloat16(tmp_path, rng):
    data = rng.random((ROWS, 5, 80), dtype="f4")
    node, lists = slice_node([-2], [-90], [-1], [-1])
    nodes = [helper.make_node("Cast", ["data"], ["narrow"], to=TensorProto.BFLOAT16),
             helper.make_node("Gather", ["narrow", "order"], ["a"]), node,
             helper.make_node("Gather", ["b", "order"], ["c"]),
             helper.make_node("Cast", ["c"], ["out"], to=TensorProto.FLOAT)]
    model = model_of(nodes, {"data": (1, list(data.shape)), "order": (7, [ROWS])}, {"out": (1, None)}, lists)
    session = session_of(model, folder=tmp_path)
    (got,) = session.run(None, {"data": data, "order": numpy.arange(ROWS)})
    numpy.testing.assert_array_equal(got, data.astype(ml_dtypes.bfloat16).astype("f4")[:, :, -2::-1])
    assert dict(providers_of(session))["Slice"] == sheaf.onnxruntime.NAME


@pytest.mark.parametrize("opset", [1, 9, 10, 11, 13, 18])
@pytest.mark.parametrize("index_type", ["int32", "int64"])
def test_slices_of_every_version(opset, index_type, tmp_path, rng):
    data = rng.random((ROWS, 5, 80), dtype="f4")
    if opset < 10:
        node = helper.make_node("Slice", ["a"], ["b"], starts=[0, -78], ends=[2**31 - 1, 79], axes=[1, 2])
        lists = []
    else:
        node, lists = slice_node([0, -78], [2**31 - 1, 79], [1, 2], [1, 1], index_type)
    model, feeds = between_gathers(node, data, lists, 1, opset)
    got, ran = compare(model, feeds, tmp_path)
    numpy.testing.assert_array_equal(got, data[:, :, 2:79])
    assert ran["Slice"] == sheaf.onnxruntime.NAME


def test_random_slices(tmp_path, rng):
    taken = 0
    data = rng.integers(-99, 99, (ROWS, 5, 400)).astype("i4")
    for case in range(40):
        steps = [int(step) for step in rng.choice([-3, -2, -1, 1, 2, 3], 2)]
        starts = [int(rng.integers(-9, 9)), int(rng.choice([-2**63, -3, 0, 3, 2**62]))]
        ends = [int(rng.integers(-9, 9)), int(rng.choice([-2**63, -3, 3, 2**62]))]
        if case % 2 == 0:  # all of the middle
            starts[0], ends[0], steps[0] = 0, 5, 1
        node, lists = slice_node(starts, ends, [1, 2], steps)
        model, feeds = between_gathers(node, data, lists, 6, 18)
        folder = tmp_path / str(case)
        folder.mkdir()
        got, ran = compare(model, feeds, folder)
        numpy.testing.assert_array_equal(got, data[:, starts[0]:ends[0]:steps[0], starts[1]:ends[1]:steps[1]])
        taken += ran.get("Slice") == sheaf.onnxruntime.NAME
    assert taken >= 5


@pytest.mark.parametrize("opset", [9, 11, 18])
@pytest.mark.parametrize("axis", [-1, 0, 1])
@pytest.mark.parametrize("index_type, depth_type, value_type", [
    ("int64", "int64", "float32"), ("int32", "int32", "float32"), ("int64", "float32", "int32"),
    ("int64", "int64", "int64")])
def test_one_hot(opset, axis, index_type, depth_type, value_type, tmp_path, rng):
    data = rng.integers(-20, 20, ROWS).astype(index_type)  # some out of range
    values = numpy.array([3, 7], value_type)
    given = [numpy_helper.from_array(numpy.array(17, depth_type), "depth"),
             numpy_helper.from_array(values, "values")]
    node = helper.make_node("OneHot", ["a", "depth", "values"], ["b"], axis=axis)
    nodes = [helper.make_node("Gather", ["data", "order"], ["a"]), node,
             helper.make_node("Gather", ["b", "some"], ["out"])]
    model = model_of(nodes, {"data": (type_of(data), [ROWS]), "order": (7, [ROWS]), "some": (7, [3])},
                     {"out": (type_of(values), None)}, given, opset)
    feeds = {"data": data, "order": numpy.arange(ROWS), "some": numpy.array([0, 5, 16])}
    session = session_of(model, folder=tmp_path)
    (got,) = session.run(None, feeds)
    wanted = numpy.where(numpy.arange(17) == (numpy.where(data < 0, data + 17, data))[:, None], 7, 3)
    wanted = wanted.astype(value_type) if axis % 2 else wanted.T.astype(value_type)
    numpy.testing.assert_array_equal(got, wanted[[0, 5, 16]])
    assert dict(providers_of(session))["OneHot"] == sheaf.onnxruntime.NAME
    try:
        (theirs,) = session_of(model, THEIRS).run(None, feeds)
    except Exception:  # types that it has no kernel for
        return
    assert got.tobytes() == theirs.tobytes()


def test_left_where_others_read_it(tmp_path, rng):
    data = rng.random((ROWS, 5, 80), dtype="f4")
    node, lists = slice_node([3], [78], [2], [1])
    model, feeds = between_gathers(node, data, lists, 1, 18, more_outputs=("b",))
    session = session_of(model, folder=tmp_path)
    session.run(None, feeds)
    ran = dict(providers_of(session))
    assert ran == {"Gather": sheaf.onnxruntime.NAME, "Slice": "CPUExecutionProvider"}


def test_whole_rows_are_left(tmp_path, rng):
    """They are copied equally fast by both."""
    data = rng.random((ROWS, 5, 80), dtype="f4")
    node, lists = slice_node([-1], [-90], [-1], [-1])
    model, feeds = between_gathers(node, data, lists, 1, 18)
    _, ran = compare(model, feeds, tmp_path)
    assert ran["Slice"] == "CPUExecutionProvider"


def test_left_where_it_is_small(tmp_path, rng):
    data = rng.random((ROWS, 5, 8), dtype="f4")
    node, lists = slice_node([3], [7], [2], [1])
    model, feeds = between_gathers(node, data, lists, 1, 18)
    _, ran = compare(model, feeds, tmp_path)
    assert ran["Slice"] == "CPUExecutionProvider"
