# SPDX-License-Identifier: MIT
"""The provider's kernels against plain loops, and against ONNX Runtime's own where those follow ONNX."""

import threading

import ml_dtypes
import numpy
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed (scripts/peers)")

import onnxruntime  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from onnx import helper  # noqa: E402
from ort_models import (  # noqa: E402
    OURS,
    THEIRS,
    VERSION,
    feeds_of,
    model_of,
    node_model,
    providers_of,
    session_of,
    type_of,
)

import sheaf.onnxruntime  # noqa: E402

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
         "float32", "float64"]
OPSETS = {"Gather": [1, 11, 13], "GatherElements": [11, 13], "GatherND": [11, 12, 13],
          "ScatterElements": [11, 13, 16, 18], "ScatterND": [11, 13, 16, 18]}
REDUCE = {"none": lambda old, new: new, "add": lambda old, new: old + new,
          "mul": lambda old, new: old * new, "max": numpy.maximum, "min": numpy.minimum}


@pytest.fixture(scope="module", autouse=True)
def registered():
    sheaf.onnxruntime.register()


def values(rng, dtype, shape):
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(0, 100, shape).astype(dtype)


def loops(op, arrays, axis=0, batch_dims=0, reduction="none"):
    """The operators as their specification's own words, one element at a time."""
    data, indices = arrays[:2]
    if op == "Gather":
        return numpy.take(data, indices, axis=axis)
    axis %= max(data.ndim, 1)
    if op == "GatherElements":
        out = numpy.empty(indices.shape, data.dtype)
        for at in numpy.ndindex(indices.shape):
            out[at] = data[(*at[:axis], indices[at], *at[axis + 1:])]
        return out
    if op == "GatherND":
        grid = indices.shape[:-1]
        out = numpy.empty(grid + data.shape[batch_dims + indices.shape[-1]:], data.dtype)
        for at in numpy.ndindex(grid):
            out[at] = data[(*at[:batch_dims], *indices[at])]
        return out
    out, updates = data.copy(), arrays[2]
    grid = indices.shape if op == "ScatterElements" else indices.shape[:-1]
    for at in numpy.ndindex(grid):
        to = (*at[:axis], indices[at], *at[axis + 1:]) if op == "ScatterElements" else tuple(indices[at])
        with numpy.errstate(over="ignore"):
            out[to] = REDUCE[reduction](out[to], updates[at])
    return out


@st.composite
def problems(draw):
    op = draw(st.sampled_from(sorted(OPSETS)))
    opset = draw(st.sampled_from(OPSETS[op]))
    rng = numpy.random.default_rng(draw(st.integers(0, 10_000)))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    data = values(rng, draw(st.sampled_from(TYPES)), shape)
    index_type = draw(st.sampled_from(["int32", "int64"])) if "ND" not in op else "int64"
    low = -1 if opset >= 11 else 0
    axis = draw(st.integers(low * data.ndim, data.ndim - 1))
    attributes = {}
    if op.endswith("ND"):
        batch_dims = draw(st.integers(0, data.ndim - 1)) if op == "GatherND" and opset >= 12 else 0
        size = draw(st.integers(1, data.ndim - batch_dims))
        grid = shape[:batch_dims] + tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=2)))
        parts = [rng.integers(low * extent, extent, grid)
                 for extent in shape[batch_dims:batch_dims + size]]
        indices = numpy.stack(parts, axis=-1).astype(index_type)
        update_shape = grid + shape[batch_dims + size:]
        if batch_dims:
            attributes["batch_dims"] = batch_dims
    else:
        attributes["axis"] = axis
        extent = shape[axis]
        if op == "Gather":
            sizes = tuple(draw(st.lists(st.integers(0, 4), max_size=2)))
        else:
            sizes = tuple(draw(st.integers(1, most)) for most in shape)
        indices = rng.integers(low * extent, extent, sizes).astype(index_type)
        update_shape = indices.shape
    arrays = [data, indices]
    if op.startswith("Scatter"):
        arrays.append(values(rng, data.dtype.name, update_shape))
        names = ["none"] + ["add", "mul"] * (opset >= 16) + ["max", "min"] * (opset >= 18)
        reduction = draw(st.sampled_from(names))
        if reduction != "none":
            attributes["reduction"] = reduction
    constant = draw(st.sampled_from([(), (1,), (0,), (0, 1)]))
    return op, opset, arrays, constant, attributes, draw(st.booleans())


@settings(max_examples=400)
@given(problems())
def test_random_nodes(problem):
    op, opset, arrays, constant, attributes, is_fixed = problem
    shapes = None if is_fixed else [[None] * array.ndim for array in arrays]
    level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    model = node_model(op, arrays, constant, opset, shapes=shapes, **attributes)
    session = session_of(model, graph_optimization_level=level)
    feeds = feeds_of(arrays, constant)
    wanted = loops(op, arrays, **attributes)
    for _ in range(2):  # a new plan, then the kept one
        (got,) = session.run(None, feeds)
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        numpy.testing.assert_array_equal(got, wanted)
    if op == "ScatterElements" and attributes.get("reduction") in ("max", "min") and arrays[0].dtype == bool:
        return  # no kernel of its own
    try:
        (theirs,) = session_of(model, THEIRS, graph_optimization_level=level).run(None, feeds)
    except Exception:  # a type that it has no kernel for
        return
    numpy.testing.assert_array_equal(got, theirs)


@pytest.mark.parametrize("op", sorted(OPSETS))
@pytest.mark.parametrize("dtype", [*TYPES, "bfloat16"])
def test_every_type_is_taken(op, dtype, tmp_path, rng):
    dtype = ml_dtypes.bfloat16 if dtype == "bfloat16" else numpy.dtype(dtype)
    data = rng.integers(0, 2, (4, 3)).astype(dtype)
    indices = numpy.array([[3, -1, 0]]) if "Elements" in op else numpy.array([[3], [-2]])
    arrays = [data, indices]
    if op.startswith("Scatter"):
        arrays.append(data[:1] if "Elements" in op else data[:2])
    model = node_model(op, arrays)
    if dtype == ml_dtypes.bfloat16:  # NumPy does not have it: as the bits, through a cast
        model = bfloat16_model(op, arrays)
        arrays = [array if array.dtype == "int64" else array.astype("f4") for array in arrays]
    session = session_of(model, folder=tmp_path)
    (got,) = session.run(None, feeds_of(arrays))
    numpy.testing.assert_array_equal(got, loops(op, arrays))
    assert (op, sheaf.onnxruntime.NAME) in providers_of(session)


@pytest.mark.parametrize("constant", [(), (1,)], ids=["fed", "constant"])
@pytest.mark.parametrize("op", sorted(OPSETS))
def test_strings(op, constant, tmp_path):
    words = numpy.array([["a", "", "b"], ["a longer one than most " * 3, "d", "e"], ["é", "f", "g"]], object)
    indices = numpy.array([[2, -1, 0]]) if "Elements" in op else numpy.array([[2], [-3]])
    arrays = [words, indices]
    if op.startswith("Scatter"):
        arrays.append(words[:1] if "Elements" in op else words[1:])
    session = session_of(node_model(op, arrays, constant), folder=tmp_path)
    for _ in range(2):
        (got,) = session.run(None, feeds_of(arrays, constant))
        assert got.tolist() == loops(op, arrays).tolist()
    assert {provider for _, provider in providers_of(session)} == {sheaf.onnxruntime.NAME}


def bfloat16_model(op, arrays):
    from onnx import TensorProto
    nodes, names, inputs = [], [], {}
    for number, array in enumerate(arrays):
        name = f"in{number}"
        is_data = array.dtype != "int64"
        inputs[name] = (TensorProto.FLOAT if is_data else TensorProto.INT64, list(array.shape))
        if is_data:
            nodes.append(helper.make_node("Cast", [name], [name + "b"], to=TensorProto.BFLOAT16))
        names.append(name + "b" if is_data else name)
    nodes.append(helper.make_node(op, names, ["b"]))
    nodes.append(helper.make_node("Cast", ["b"], ["out"], to=TensorProto.FLOAT))
    return model_of(nodes, inputs, {"out": (TensorProto.FLOAT, None)})


def test_shapes_that_change(rng):
    data = rng.random((50, 8), dtype="f4")
    session = session_of(node_model("Gather", [data, numpy.zeros(1, "i8")],
                                    shapes=[["rows", 8], ["n"]]))
    for count in [*range(1, 30), 3, 3, 7]:
        x = data[:20 + count]
        indices = rng.integers(-len(x), len(x), count)
        (got,) = session.run(None, {"in0": x, "in1": indices})
        numpy.testing.assert_array_equal(got, x[indices])


@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_scatters_write_into_their_input(op, tmp_path, rng):
    """Of an input that nobody reads any more. The runtime reuses its memory, as a profile shows."""
    data = rng.random((64, 1024), dtype="f4")
    indices = numpy.array([[3, 5]]) if op == "ScatterElements" else numpy.array([[3], [5]])
    updates = data[:1, :2].copy() if op == "ScatterElements" else data[:2].copy()
    nodes = [helper.make_node("Neg", ["data"], ["negated"]),
             helper.make_node(op, ["negated", "indices", "updates"], ["scattered"], name="scatter"),
             helper.make_node("Neg", ["scattered"], ["out"])]
    arrays = {"data": data, "indices": indices, "updates": updates}
    model = model_of(nodes, {name: (type_of(array), list(array.shape)) for name, array in arrays.items()},
                     {"out": (type_of(data), list(data.shape))})
    session = session_of(model)
    session.run(None, arrays)
    numpy.testing.assert_array_equal(session.run(None, arrays)[0], -loops(op, [-data, indices, updates]))
    kept = data.copy()
    numpy.testing.assert_array_equal(data, kept)  # the caller's own input is not written to


def test_no_copies_around_the_nodes(tmp_path, rng):
    data = rng.random((50, 8), dtype="f4")
    nodes = [helper.make_node("Relu", ["data"], ["a"]), helper.make_node("Gather", ["a", "indices"], ["b"]),
             helper.make_node("Relu", ["b"], ["out"])]
    model = model_of(nodes, {"data": (1, [50, 8]), "indices": (7, ["n"])}, {"out": (1, None)})
    session = session_of(model, folder=tmp_path)
    session.run(None, {"data": data, "indices": numpy.array([3])})
    assert [op for op, _ in providers_of(session)] == ["Relu", "Gather", "Relu"]


def test_output_goes_to_the_callers_memory(rng):
    data, indices = rng.random((50, 8), dtype="f4"), numpy.array([4, -1, 0])
    session = session_of(node_model("Gather", [data, indices]))
    output = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.full((3, 8), 7, "f4"))
    binding = session.io_binding()
    binding.bind_cpu_input("in0", data)
    binding.bind_cpu_input("in1", indices)
    binding.bind_ortvalue_output("out", output)
    session.run_with_iobinding(binding)
    numpy.testing.assert_array_equal(output.numpy(), data[indices])
    # A failed run leaves it as it was.
    binding.bind_cpu_input("in1", numpy.array([0, 1, 50]))
    with pytest.raises(Exception, match="index out of range"):
        session.run_with_iobinding(binding)
    numpy.testing.assert_array_equal(output.numpy(), data[indices])


def test_many_threads_and_sessions(rng):
    data = rng.random((2000, 256), dtype="f4")
    model = node_model("Gather", [data, numpy.zeros(1, "i8")], shapes=[[2000, 256], ["n"]])
    sessions = [session_of(model, intra_op_num_threads=threads) for threads in (1, 2, 4)]
    wrong = []

    def work(seed):
        own = numpy.random.default_rng(seed)
        for _ in range(20):
            indices = own.integers(-2000, 2000, own.integers(1, 6000))
            (got,) = sessions[seed % 3].run(None, {"in0": data, "in1": indices})
            if not (got == data[indices]).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_unload_and_load_again(rng):
    data = rng.random((5, 3), dtype="f4")
    model = node_model("Gather", [data, numpy.array([1])])
    for _ in range(3):
        sheaf.onnxruntime.register()
        session = session_of(model)
        session.run(None, {"in0": data, "in1": numpy.array([1])})
        del session
        sheaf.onnxruntime.unregister()
        if VERSION >= (1, 27):  # earlier ones keep what was loaded
            with open("/proc/self/maps", encoding="utf-8") as maps:
                assert "libsheaf_onnxruntime" not in maps.read()
        assert sheaf.onnxruntime.NAME not in {device.ep_name for device in onnxruntime.get_ep_devices()}
    sheaf.onnxruntime.register()


def test_registering_twice():
    sheaf.onnxruntime.register()
    sheaf.onnxruntime.register(sheaf.onnxruntime.library())
    with pytest.raises(RuntimeError, match="registered already"):
        sheaf.onnxruntime.register("elsewhere.so")


def test_the_example(tmp_path, rng, capsys):
    table = rng.random((100, 16), dtype="f4")
    model_path = str(tmp_path / "model.onnx")
    with open(model_path, "wb") as file:
        file.write(node_model("Gather", [table, numpy.zeros(1, "i8")], (0,), shapes=[None, ["tokens"]]))
    # [example onnxruntime]
    import onnxruntime
    import sheaf.onnxruntime

    sheaf.onnxruntime.register()
    options = sheaf.onnxruntime.add_to(onnxruntime.SessionOptions())
    session = onnxruntime.InferenceSession(model_path, options)
    print(session.get_providers())

    sheaf.onnxruntime.profile(model_path, sizes={"tokens": 128})
    # [/example]
    assert capsys.readouterr().out.startswith("['SheafExecutionProvider', 'CPUExecutionProvider']\nnode ")


def test_profile(capsys, rng):
    table = rng.random((100, 16), dtype="f4")
    model = node_model("Gather", [table, numpy.zeros(1, "i8")], (0,), shapes=[None, ["tokens"]])
    found = sheaf.onnxruntime.profile(model, sizes={"tokens": 7}, runs=3)
    assert [(node.name, node.op) for node in found.nodes] == [("node", "Gather")]
    assert found.with_sheaf > 0 and found.without > 0 and found.nodes[0].without >= 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split()[:2] == ["node", "Gather"] and printed[-1].startswith("the whole model")


def test_by_name_or_by_options():
    model = node_model("Gather", [numpy.zeros((2, 2), "f4"), numpy.zeros(1, "i8")])
    assert session_of(model).get_providers() == OURS
    if VERSION < (1, 25):
        pytest.skip("takes no registered provider by name")
    assert session_of(model, OURS).get_providers() == OURS
