# SPDX-License-Identifier: MIT
"""Hostile models and inputs: a clear error, or the same answer as without the provider; never a crash."""

import subprocess
import sys

import numpy
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed (scripts/peers)")

from onnx import helper  # noqa: E402
from ort_models import THEIRS, feeds_of, model_of, node_model, providers_of, session_of  # noqa: E402

import sheaf.onnxruntime  # noqa: E402


@pytest.fixture(scope="module", autouse=True)
def registered():
    sheaf.onnxruntime.register()


DATA = numpy.arange(12, dtype="f4").reshape(4, 3)
OPEN = [[None] * 2, [None] * 2, [None] * 2]  # shapes that the model does not tell


def message_of(model, feeds):
    session = session_of(model)
    with pytest.raises(Exception) as error:
        session.run(None, feeds)
    return str(error.value)


@pytest.mark.parametrize("bad", [4, -5, 2**31, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("op", ["Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"])
@pytest.mark.parametrize("constant", [(), (1,)], ids=["fed", "constant"])
def test_bad_index(op, bad, constant):
    indices = numpy.array([[0, bad, 1]]) if "Elements" in op else numpy.array([[0], [bad]])
    arrays = [DATA, indices]
    if op.startswith("Scatter"):
        arrays.append(DATA[:1] if "Elements" in op else DATA[:2])
    text = message_of(node_model(op, arrays, constant), feeds_of(arrays, constant))
    snake = {"Gather": "gather", "GatherElements": "gather_elements", "GatherND": "gather_nd",
             "ScatterElements": "scatter_elements", "ScatterND": "scatter_nd"}[op]
    assert f"{snake}: index out of range\n" in text
    assert f"= {bad}, but axis 0 of data has 4 entries (allowed -4..3)" in text
    assert "INVALID_ARGUMENT" in text


def test_a_failed_run_changes_nothing_for_the_next():
    model = node_model("Gather", [DATA, numpy.array([1])], shapes=[[4, 3], ["n"]])
    session = session_of(model)
    for _ in range(3):
        with pytest.raises(Exception, match="index out of range"):
            session.run(None, {"in0": DATA, "in1": numpy.array([9])})
        numpy.testing.assert_array_equal(session.run(None, {"in0": DATA, "in1": numpy.array([3])})[0], DATA[3:])


def test_shapes_that_do_not_fit():
    arrays = [DATA, numpy.zeros((2, 2), "i8"), numpy.zeros((2, 3), "f4")]
    text = message_of(node_model("ScatterElements", arrays, shapes=OPEN), feeds_of(arrays))
    assert "scatter_elements:" in text and "INVALID_ARGUMENT" in text
    arrays = [DATA, numpy.zeros((2, 3), "i8")]
    assert "gather_nd:" in message_of(node_model("GatherND", arrays, shapes=OPEN), feeds_of(arrays))


def test_axis_out_of_range():
    model = node_model("Gather", [DATA, numpy.array([1])], axis=5, shapes=[None, None])
    assert "axis" in message_of(model, {"in0": DATA, "in1": numpy.array([1])})


def test_empty_axis():
    empty = numpy.zeros((0, 3), "f4")
    model = node_model("Gather", [empty, numpy.array([0])], shapes=[[None, 3], ["n"]])
    assert "gather:" in message_of(model, {"in0": empty, "in1": numpy.array([0])})
    session = session_of(model)
    assert session.run(None, {"in0": DATA, "in1": numpy.zeros(0, "i8")})[0].shape == (0, 3)


def test_output_beyond_all_memory():
    wide = numpy.zeros((1, 2**24), "f4")
    indices = numpy.zeros(2**23, "i8")  # 512 TiB of output: more than addresses, wherever memory is promised freely
    model = node_model("Gather", [wide, indices], shapes=[[1, 2**24], ["n"]])
    text = message_of(model, {"in0": wide, "in1": indices})
    assert "llocat" in text or "memory" in text


def test_garbage_is_no_model():
    for bytes_of in (b"", b"\x00" * 100, node_model("Gather", [DATA, numpy.array([1])])[:-20]):
        with pytest.raises(Exception):
            session_of(bytes_of)


def test_nodes_inside_loops(rng):
    """A subgraph, whose outputs the runtime may have given memory."""
    from onnx import TensorProto, numpy_helper
    one = numpy_helper.from_array(numpy.array(1), "one")
    body = helper.make_graph(
        [helper.make_node("Gather", ["table", "step"], ["row"]),
         helper.make_node("Add", ["before", "row"], ["after"]),
         helper.make_node("Identity", ["going"], ["go_on"]),
         helper.make_node("Gather", ["table", "step"], ["rows"])],
        "body",
        [helper.make_tensor_value_info("step", TensorProto.INT64, []),
         helper.make_tensor_value_info("going", TensorProto.BOOL, []),
         helper.make_tensor_value_info("before", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, []),
         helper.make_tensor_value_info("after", TensorProto.FLOAT, [3]),
         helper.make_tensor_value_info("rows", TensorProto.FLOAT, [3])])
    nodes = [helper.make_node("Loop", ["count", "", "start"], ["end", "all"], body=body)]
    model = model_of(nodes, {"count": (TensorProto.INT64, []), "start": (TensorProto.FLOAT, [3]),
                             "table": (TensorProto.FLOAT, [4, 3])},
                     {"end": (TensorProto.FLOAT, [3]), "all": (TensorProto.FLOAT, None)}, [one])
    feeds = {"count": numpy.array(4), "start": numpy.zeros(3, "f4"), "table": DATA}
    for got, wanted in zip(session_of(model).run(None, feeds), session_of(model, THEIRS).run(None, feeds)):
        numpy.testing.assert_array_equal(got, wanted)
    feeds["count"] = numpy.array(5)
    with pytest.raises(Exception, match="index out of range"):
        session_of(model).run(None, feeds)


IN_PLACE = """
import resource, sys
import numpy
from onnx import helper
from ort_models import model_of, session_of
import sheaf.onnxruntime
sheaf.onnxruntime.register()
rows = 64  # of a MiB
nodes = [helper.make_node("Neg", ["data"], ["negated"]),
         helper.make_node("ScatterND", ["negated", "indices", "updates"], ["scattered"]),
         helper.make_node("ReduceMax", ["scattered"], ["out"], keepdims=0)]
model = model_of(nodes, {"data": (1, [rows, 1 << 18]), "indices": (7, [1, 1]), "updates": (1, [1, 1 << 18])},
                 {"out": (1, [])})
session = session_of(model, enable_cpu_mem_arena=False, enable_mem_pattern=False)
feeds = {"data": numpy.ones((rows, 1 << 18), "f4"), "indices": numpy.array([[3]]),
         "updates": numpy.full((1, 1 << 18), 5, "f4")}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert session.run(None, feeds)[0] == 5 and feeds["data"].max() == 1
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_scatter_writes_into_its_input():
    """64 MiB for the intermediate tensor, and none for the scatter's output."""
    import os
    folder = os.path.dirname(__file__)
    path = os.pathsep.join([folder, *sys.path])
    done = subprocess.run([sys.executable, "-c", IN_PLACE], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": path})
    assert int(done.stdout) < 100
