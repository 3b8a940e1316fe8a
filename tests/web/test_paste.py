# SPDX-License-Identifier: MIT
"""Values, code and error texts can be pasted: shapes follow, the bad index is shown, a way out is offered."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

CALL = "gather f32[2,3]={1,2,3,4,5,6} i64[2]={1,0} axis=0"


def paste(page: Any, text: str) -> None:
    """As Ctrl+V does, where the focus is."""
    page.tab.evaluate("""text => {
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', text);
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', {clipboardData, bubbles: true}));
    }""", text)


def fields(page: Any, tensor: str) -> tuple[str, str, list[str]]:
    state = page.tab.evaluate(f"sheaf.page.state.answer.tensors.find(t => t.name === '{tensor}')")
    return state["dtype"], ",".join(map(str, state["sizes"])), state["values"]


@pytest.mark.parametrize("text, sizes, values", [
    ("[[1,0,1],[0,1,1]]", "2,3", "1 0 1 0 1 1"),
    ("[[1 0 1]\n [0 1 1]]", "2,3", "1 0 1 0 1 1"),
    ("tensor([[1, 0],\n        [0, 1]])", "2,2", "1 0 0 1"),
    ("tensor([1, 0], device='cuda:0')", "2", "1 0"),
    ("torch.tensor([[1], [0]])", "2,1", "1 0"),
    ("idx = np.array([[1, 0]], dtype=np.int64)", "1,2", "1 0"),
    ("array([1, 0, 1])", "3", "1 0 1"),
    ("Array([1, 0, 1], dtype=int32)", "3", "1 0 1"),
    ("((1, 0), (0, 1))", "2,2", "1 0 0 1"),
    ("1 0 1", "3", "1 0 1"),
    ("1, 0, 1\n0, 1, 1", "2,3", "1 0 1 0 1 1"),
    ("1\n0\n1", "3", "1 0 1"),
    ("tensor([True, False])", "2", "1 0"),
    ("[[[1], [0]]]", "1,2,1", "1 0"),
])
def test_values(page: Any, text: str, sizes: str, values: str) -> None:
    page.show(CALL)
    page.tab.fill("#field-indices-values", text)
    assert page.tab.locator("#error").is_hidden(), page.tab.locator("#error").inner_text()
    _, got, pasted = fields(page, "indices")
    assert (got, pasted) == (sizes, values.split())
    page.tab.evaluate("document.activeElement.blur()")
    assert page.tab.input_value("#field-indices-sizes").replace(" ", "") == sizes


@pytest.mark.parametrize("text, dtype, sizes, values", [
    ("[[1.5, 2.], [.5, 1e3], [nan, 0]]", "f32", "3,2", "1.5 2 0.5 1000 nan 0"),
    ("np.array([[1, 2]], dtype='float64')", "f64", "1,2", "1 2"),
    ("torch.tensor([[3, 4]], dtype=torch.int32)", "i32", "1,2", "3 4"),
    ("10 20 30 40 50 60", "f32", "2,3", "10 20 30 40 50 60"),  # as many as before: the shape stays
])
def test_values_of_data(page: Any, text: str, dtype: str, sizes: str, values: str) -> None:
    page.show("gather f32[2,3]={1,2,3,4,5,6} i64[1]={0} axis=0")
    page.tab.fill("#field-data-values", text)
    assert fields(page, "data") == (dtype, sizes, values.split())


@pytest.mark.parametrize("text, said", [
    ("[[1, 0], [1]]", "indices: rows of 2 and of 1 values"),
    ("[1, 0", "indices: a bracket is not closed"),
    ("[[1, 0], 3]", "indices: values and rows are mixed"),
])
def test_what_is_wrong_with_an_array(page: Any, text: str, said: str) -> None:
    page.show(CALL)
    page.tab.fill("#field-indices-values", text)
    assert page.tab.locator("#error").inner_text() == said


TORCH = """import torch
x = torch.tensor([[1., 2.], [3., 4.]])
idx = torch.tensor([[0, 0], [1, 0]])
y = torch.gather(x, 1, idx)"""


@pytest.mark.parametrize("code, name, output", [
    (TORCH, "torch.gather", "1 1 4 3"),
    (TORCH.replace("torch.gather(x, 1, idx)", "x.gather(dim=1, index=idx)"), "torch.gather", "1 1 4 3"),
    ("np.take([[1, 2], [3, 4]], [1, 0], axis=1)", "numpy.take", "2 1 4 3"),
    (">>> a = np.arange(6).reshape(3, 2)\n>>> np.take(a, [2, 0], axis=0)", "numpy.take", "4 5 0 1"),
    ("numpy.take(np.array([5, 6, 7]), [9, 0], mode='clip')", "numpy.take, clip", "7 5"),
    ("x = torch.arange(4)\ni = torch.tensor([3, 1])\nx[i]", "torch: data[indices]", "3 1"),
    ("a = np.arange(4)\ni = np.array([3, 1])\nb = a[i]", "data[indices]", "3 1"),
    ("import torch.nn.functional as F\nw = torch.arange(6).reshape(3, 2)\nF.embedding(torch.tensor([2, 2]), w)",
     "torch.nn.functional.embedding", "4 5 4 5"),
    ("tf.gather([[1, 2], [3, 4]], [[0], [1]], axis=1, batch_dims=1)", "tf.gather", "1 4"),
    ("x = torch.zeros(3)\nx.scatter_add_(0, torch.tensor([2, 2]), torch.tensor([5., 6.]))", "Tensor.scatter_add",
     "0 0 11"),
    ("a = np.zeros(3)\nnp.add.at(a, [1, 1], [4, 5])", "numpy.add.at", "0 9 0"),
    ("x = jnp.zeros(3)\nx.at[jnp.array([1])].set(7)", "data.at[indices].set", "0 7 0"),
    ("np.take_along_axis(np.array([[3, 1], [2, 4]]), np.array([[1], [0]]), axis=1)", "numpy.take_along_axis", "1 2"),
])
def test_code(page: Any, code: str, name: str, output: str) -> None:
    page.show(CALL)
    page.tab.fill("#problem", code)
    assert page.tab.locator("#error").is_hidden(), page.tab.locator("#error").inner_text()
    assert page.tab.input_value("#operator") == name
    assert page.texts("output") == output.split()
    assert page.tab.locator("#pasted").inner_text() == f"Read as {name}."


def test_code_whose_arrays_are_elsewhere(page: Any) -> None:
    page.show(CALL)
    page.tab.fill("#problem", "out = torch.gather(logits, 1, labels)")
    assert page.tab.locator("#error").is_hidden()
    assert page.tab.locator("#call-text").inner_text() == "torch.gather(data, dim=1, index=indices)"
    assert "does not say what logits and labels are: made up." in page.tab.locator("#pasted").inner_text()


TRACEBACK = """Traceback (most recent call last):
  File "train.py", line 12, in <module>
    picked = np.take(table, rows, axis=0)
  File "numpy/_core/fromnumeric.py", line 206, in take
IndexError: index 7 is out of bounds for axis 0 with size 4"""


@pytest.mark.parametrize("text, name, size, value", [
    (TRACEBACK, "numpy.take", 4, "7"),
    ("IndexError: index 7 is out of bounds for axis 0 with size 4", "numpy.take", 4, "7"),
    ("IndexError: index -6 is out of bounds for axis 1 with size 5", "numpy.take", 5, "-6"),
    ("RuntimeError: index 10 is out of bounds for dimension 1 with size 10", "torch.gather", 10, "10"),
    ("InvalidArgumentError: indices[1] = 9 is not in [0, 3) [Op:GatherV2]", "tf.gather", 3, "9"),
    ("indices element out of data bounds, idx=12 must be within the inclusive range [-6,5]", "Gather", 6, "12"),
    ("gather: index out of range\n  indices[2] = 9, but axis 0 of data has 3 entries (allowed -3..2)", "sheaf.gather",
     3, "9"),
])
def test_error_text(page: Any, text: str, name: str, size: int, value: str) -> None:
    page.show(CALL)
    page.tab.fill("#problem", text)
    assert page.tab.input_value("#operator") == name
    assert size in page.tab.evaluate("sheaf.page.state.answer.tensors[0].sizes")
    outside = page.with_class("outside")
    assert len(outside) == 1
    element = int(next(iter(outside)).split(":")[1])
    assert page.texts("indices")[element] == value
    assert f"Index {value} is out of range: axis" in page.tab.locator("#pasted").inner_text()
    assert page.tab.locator("#fix-nearest").is_visible()


def test_error_with_the_code_that_failed(page: Any) -> None:
    page.show(CALL)
    page.tab.fill("#problem", TORCH.replace("[1, 0]]", "[1, 2]]") +
                  "\nRuntimeError: index 2 is out of bounds for dimension 1 with size 2")
    assert page.texts("data") == ["1", "2", "3", "4"]
    assert page.with_class("outside") == {"indices:3"}


@pytest.mark.parametrize("fix, label, indices, output", [
    ("nearest", "Set indices[1] to 2", ["0", "2"], ["1", "3"]),
    ("clamp", "Clamp what is out of range", ["0", "7"], ["1", "3"]),
    ("larger", "Give axis 0 of data 8 entries", ["0", "7"], ["1", "0"]),
])
def test_fixes(page: Any, fix: str, label: str, indices: list[str], output: list[str]) -> None:
    page.show("gather f32[3]={1,2,3} i64[2]={0,7}")
    assert page.tab.locator(f"#fix-{fix}").inner_text() == label
    page.tab.click(f"#fix-{fix}")
    assert page.tab.locator("#error").is_hidden()
    assert page.texts("indices") == indices and page.texts("output") == output


def test_fixes_for_indices_that_count_from_one_or_from_the_end(page: Any) -> None:
    page.show("gather f32[3]={1,2,3} i64[3]={3,1,2}")
    page.tab.click("#fix-from-one")
    assert page.texts("output") == ["3", "1", "2"]
    page.show("gather f32[3]={1,2,3} i64[2]={0,-1} negative=out_of_range", **{"as": "torch.index_select"})
    page.tab.click("#fix-from-end")
    assert page.texts("output") == ["1", "3"]
    assert "torch.index_select would do something else" in page.tab.locator("#objections").inner_text()


def test_pasting_beside_the_fields(page: Any) -> None:
    page.show(CALL)
    page.tab.evaluate("document.activeElement.blur()")
    paste(page, "[[0, 1], [1, 1]]")
    assert fields(page, "indices")[1:] == ("2,2", ["0", "1", "1", "1"])
    page.tab.focus("#grid-data")
    paste(page, "np.array([[5, 6]])")
    assert fields(page, "data")[1:] == ("1,2", ["5", "6"])
    page.tab.evaluate("document.activeElement.blur()")
    paste(page, TORCH)
    assert page.tab.input_value("#operator") == "torch.gather"


def test_by_keyboard_alone(page: Any) -> None:
    page.show(CALL)
    page.tab.evaluate("document.activeElement.blur()")
    tab_to(page, "problem")
    page.tab.keyboard.press("Control+A")
    page.tab.keyboard.insert_text("IndexError: index 7 is out of bounds for axis 0 with size 4")
    assert page.with_class("outside") == {"indices:1"}
    tab_to(page, "fix-nearest")
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("#error").is_hidden()
    assert page.tab.evaluate("document.activeElement.id") == "grid-indices"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open()
    page.tab.fill("#problem", TRACEBACK)
    assert page.tab.locator("#fix-nearest").is_visible()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
