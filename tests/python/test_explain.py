# SPDX-License-Identifier: MIT
"""What explain() draws and says: the picture of the command line, names of other libraries, and
%%explain."""

import importlib.util
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy
import pytest

import sheaf
from sheaf import _magic

PICTURES = Path(__file__).resolve().parents[1] / "cases" / "pictures"
CALLS = json.loads((PICTURES / "calls.json").read_text())
X = numpy.arange(12, dtype="f4").reshape(4, 3)


def arrays_of(call):
    dtype = call.get("type", "float32")
    data = numpy.array(call["data"], dtype) if "data" in call else sheaf.Spec(dtype, call["shape"])
    arrays = [data, numpy.array(call["indices"])]
    if "updates" in call:
        arrays.append(numpy.array(call["updates"], dtype))
    if "offsets" in call:
        arrays.append(numpy.array(call["offsets"]))
    return arrays


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["picture"])
def test_the_picture_is_that_of_the_command_line(call):
    """tests/tools/explain_test.cc compares the program with the same files."""
    name, options = call["python"]
    arrays = arrays_of(call)
    if name == "torch.gather":
        arrays = [arrays[0], options["dim"], arrays[1]]
        options = {}
    explanation = sheaf.explain(name, *arrays, **options)
    assert explanation.svg == (PICTURES / call["picture"]).read_text(encoding="utf-8")
    assert explanation._repr_svg_() == explanation._repr_html_() == explanation.svg


@pytest.mark.parametrize("call", CALLS[:3], ids=lambda call: call["picture"])
def test_strides_do_not_change_the_picture(call):
    name, options = call["python"]
    arrays = arrays_of(call)
    expected = sheaf.explain(name, *arrays, **options).svg
    backwards = [numpy.flip(numpy.flip(array).copy()) for array in arrays]
    assert sheaf.explain(name, *backwards, **options).svg == expected


def test_values_are_there_if_they_were_given():
    plan = sheaf.plan_gather(X, [1, 0])
    assert ">a</text>" in sheaf.explain(plan, [1, 0]).svg
    assert sheaf.explain(plan, [1, 0], data=X).svg == sheaf.explain("gather", X, [1, 0]).svg
    spec = sheaf.Spec("f32", [4, 3])
    assert sheaf.explain("gather", spec, [1, 0]).svg == sheaf.explain(plan, [1, 0]).svg


def test_pictures_are_wellformed():
    for empty in (numpy.zeros((0, 3)), numpy.float32(1)):
        ElementTree.fromstring(sheaf.explain("gather_nd", empty, numpy.zeros((0, 0), int)).svg)
    for dtype in ("complex64", "bool", "S5", "datetime64[s]"):
        data = numpy.zeros((3, 2), dtype)
        ElementTree.fromstring(sheaf.explain("gather", data, [1]).svg)


def test_bags_of_encoded_rows():
    stored = numpy.zeros((2, 10), "u1")
    stored[:, :2] = [[1, 3], [2, 4]]
    stored[:, 2:].view("f4")[:] = [[0.5, 10], [1, 20]]
    table = sheaf.encoded_rows("row_u8_f32", stored)
    svg = sheaf.explain("bag", table, [[1, 0]]).svg
    assert ">10.5</text>" in svg and ">32.5</text>" in svg


# ---- Names of other libraries

def said(name, *arguments, **options):
    return sheaf.explain(name, *arguments, **options).objections


def test_names_take_the_arguments_of_their_library():
    index = numpy.array([[2, 0], [1, 1], [0, 2], [2, 2]])
    expected = numpy.take_along_axis(X, index, 1)
    for explanation in (sheaf.explain("torch.gather", X, 1, index),
                        sheaf.explain("torch.gather", X, dim=1, index=index),
                        sheaf.explain("torch.gather", X, index, axis=1),
                        sheaf.explain("numpy.take_along_axis", X, index, 1),
                        sheaf.explain("np.take_along_axis", X, index, axis=1)):
        assert numpy.array_equal(X.reshape(-1)[explanation.map], expected)
        assert explanation.objections == []
    assert explanation.call == "numpy.take_along_axis(data, indices, axis=1)"
    assert "numpy.take_along_axis(data, indices, axis=1)\n" in str(explanation)
    embedding = sheaf.explain("torch.nn.functional.embedding", [3, 0], X)
    assert embedding.map[:, 0].tolist() == [9, 0]
    added = sheaf.explain("numpy.add.at", X, [1, 1], numpy.ones((2, 3), "f4"))
    assert added.plan.updates is not None and ">5</text>" in added.svg


def test_names_without_an_axis_flatten():
    assert sheaf.explain("numpy.take", X, [5, 11]).map.tolist() == [5, 11]
    assert sheaf.explain("numpy.take", X, [1], axis=0).map.tolist() == [[3, 4, 5]]


def test_names_bring_their_rules():
    assert sheaf.explain("numpy.take", X, [7], axis=0, mode="clip").map[0, 0] == 9
    assert sheaf.explain("jnp.take", X, [7], axis=0).map[0, 0] == -1
    assert sheaf.explain("DML_GATHER", X, [7]).map[0, 0] == 9
    with pytest.raises(sheaf.IndexError):
        sheaf.explain("torch.gather", X, 0, [[-1, 0, 0]])
    reduced = sheaf.explain("Tensor.scatter_reduce", X, 0, numpy.array([[1, 1, 1]]),
                            numpy.full((1, 3), 50, "f4"), "amax")
    assert ">50</text>" in reduced.svg


def test_names_say_what_their_library_refuses():
    assert said("torch.index_select", X, 1, numpy.array([[0, 1]])) == [
        "torch.index_select refuses this: indices have 2 dimensions, and it takes 0 or 1 dimensions."]
    assert said("torch.nn.functional.embedding", [0], X, axis=1) == [
        "torch.nn.functional.embedding refuses this: axis=1, and it has no axis."]
    assert said("numpy.take_along_axis", X, numpy.array([[0, 1]]), 0, broadcast=False) == [
        "numpy.take_along_axis refuses this: indices [1, 2] and data [4, 3] differ off axis 0, "
        "where it takes equal sizes or 1."]


def test_names_that_are_wrong():
    with pytest.raises(sheaf.ArgumentError, match="did you mean torch.gather"):
        sheaf.explain("torch.gathr", X, 0, [[0]])
    with pytest.raises(TypeError, match="takes data and indices; got data"):
        sheaf.explain("torch.gather", X)
    with pytest.raises(sheaf.ArgumentError, match="XLA's general forms"):
        sheaf.explain("stablehlo.gather", X, [[0]])


# ---- %%explain

class Shell:
    """As much of IPython as the magic needs."""

    def __init__(self):
        self.user_ns = {"np": numpy, "sheaf": sheaf, "x": X.copy()}
        self.ast_transformers = []
        self.magics = {}

    def register_magic_function(self, function, kind, name):
        self.magics[kind, name] = function

    def run_cell(self, cell):
        import ast
        tree = ast.parse(cell)
        for transformer in self.ast_transformers:
            tree = ast.fix_missing_locations(transformer.visit(tree))
        exec(compile(tree, "cell", "exec"), self.user_ns)


def explained(cell):
    shell = Shell()
    sheaf.load_ipython_extension(shell)
    return shell, shell.magics["cell", "explain"]("", cell)


def test_the_magic_draws_the_gathers_of_a_cell():
    shell, pictures = explained(
        "y = np.take(x, [3, 1], axis=0)\n"
        "z = sheaf.gather(x, [2], 1)\n"
        "w = x[np.array([1, 1])]\n"
        "x[0] = 99\n"
        "total = sum(v for v in [1, 2])\n"
        "n: list[int] = [len(x[1:2]), x.take([1])[0]]\n")
    assert len(pictures.pictures) == 4
    assert "numpy.take(data, indices, axis=0)" in pictures.pictures[0]
    assert ">gather</text>" in pictures.pictures[1]
    assert "data[indices]" in pictures.pictures[2]
    assert all(">99</text>" not in picture for picture in pictures.pictures[:3])
    assert pictures._repr_html_().count("<svg") == 4
    assert shell.user_ns["y"].tolist() == X[[3, 1]].tolist()
    assert shell.user_ns["total"] == 3
    assert not any(name.startswith("__sheaf") for name in shell.user_ns)
    assert shell.ast_transformers == []


def test_the_magic_draws_lists_of_indices():
    shell, pictures = explained("y = x[[2, 0]]\nz = x[[True, False, True, False]], x[1], x[[]], {'a': 1}['a']")
    assert len(pictures.pictures) == 1
    assert "data[indices]" in pictures.pictures[0]
    assert shell.user_ns["y"].tolist() == X[[2, 0]].tolist()


def test_the_magic_draws_values_from_before_a_scatter_in_place():
    shell, pictures = explained("np.add.at(x, [0, 0], np.ones((2, 3), 'f4'))")
    assert len(pictures.pictures) == 1
    assert shell.user_ns["x"][0].tolist() == [2, 3, 4]
    assert "<p>" not in pictures._repr_html_()


def test_the_magic_lets_errors_through_and_cleans_up():
    shell = Shell()
    with pytest.raises(IndexError):
        _magic.run_cell(shell, "np.take(x, [9], axis=0)")
    assert shell.ast_transformers == [] and "__sheaf_call__" not in shell.user_ns


def test_the_magic_has_a_limit():
    _, pictures = explained("for i in range(20):\n  np.take(x, [i % 4], axis=0)\n")
    assert len(pictures.pictures) == _magic.MOST
    assert "and 4 more" in pictures._repr_html_()


def test_the_magic_leaves_frames_alone():
    shell, _ = explained(
        "class A:\n  def f(self): return 1\n"
        "class B(A):\n  def f(self): return super().f() + len(locals())\n"
        "b = B().f()\n")
    assert shell.user_ns["b"] == 3  # self and __class__


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs PyTorch")
def test_the_magic_knows_pytorch():
    _, pictures = explained(
        "import torch\n"
        "t = torch.arange(6.).reshape(2, 3)\n"
        "i = torch.tensor([[2, 0], [1, 1]])\n"
        "torch.gather(t, 1, i)\n"
        "t.gather(1, i)\n"
        "t.scatter_add(1, i, torch.ones(2, 2))\n"
        "torch.nn.functional.embedding(i, torch.ones(3, 2))\n"
        "t[torch.tensor([1])]\n"
        "torch.index_select(t, 0, torch.tensor([1, 1]))\n")
    titles = [picture.split('aria-label="')[1].split("   ")[0] for picture in pictures.pictures]
    assert titles == ["torch.gather(data, dim=1, index=indices)"] * 2 + [
        "data.scatter_add(dim=1, index=indices, src=updates)",
        "torch.nn.functional.embedding(indices, data)", "data[indices]",
        "torch.index_select(data, dim=0, index=indices)"]


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="needs IPython")
def test_the_magic_in_ipython():
    from IPython.core.interactiveshell import InteractiveShell
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "sheaf")
    shell.user_ns.update(np=numpy, x=X)
    pictures = shell.run_cell_magic("explain", "", "y = np.take(x, [3], axis=0)")
    assert len(pictures.pictures) == 1 and shell.user_ns["y"].tolist() == X[[3]].tolist()
