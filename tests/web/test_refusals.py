# SPDX-License-Identifier: MIT
"""What a name's own library refuses is said, and said truly: the libraries are asked where they are installed."""

from __future__ import annotations

from typing import Any, Callable

import pytest

np = pytest.importorskip("numpy")

TYPES = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


def objections(page: Any, name: str, problem: str) -> list[str]:
    found = page.tab.evaluate("([n, p]) => sheaf.objections(n, p)", [name, problem])
    return [f"{each['kind']}: {each['text']}" for each in found]


def refused(page: Any, name: str, problem: str) -> bool:
    return any(text.startswith("refuses") for text in objections(page, name, problem))


PLAIN = "gather_elements f32[3,3] i64[2,2] axis=0"
SAID = [
    ("numpy.take_along_axis", PLAIN, "refuses: numpy.take_along_axis refuses this: indices [2, 2] and data [3, 3] "
     "differ off axis 0, where it takes equal sizes or 1."),
    ("torch.index_select", "gather f32[4,3] i64[2,2] negative=out_of_range",
     "refuses: torch.index_select refuses this: indices have 2 dimensions, and it takes 0 or 1 dimensions."),
    ("torch.index_select", "gather f32[4,3] i64[] negative=out_of_range",
     "differs: torch.index_select would do something else: it takes a scalar index for a vector of one, so its "
     "output keeps the axis."),
    ("torch.nn.functional.embedding", "gather f32[4,3] i64[2] axis=1 negative=out_of_range",
     "refuses: torch.nn.functional.embedding refuses this: axis=1, and it has no axis."),
    ("torch.nn.functional.embedding", "gather f32[4,3,2] i64[2] negative=out_of_range",
     "refuses: torch.nn.functional.embedding refuses this: data has 3 dimensions, and it takes 2 dimensions."),
    ("GatherND", "gather_nd f32[4,3] i32[2,1]",
     "refuses: GatherND refuses this: indices are i32, and it takes i64."),
    ("ScatterElements", "scatter_elements f32[3] i64[2] f32[2] reduction=mean",
     "refuses: ScatterElements refuses this: reduction=mean, and it has none, add, mul, max and min."),
    ("DML_GATHER", "gather f32[4,3] u32[2] axis=-1 out_of_range=clamp",
     "refuses: DML_GATHER refuses this: axis=-1, and its axis is unsigned."),
    ("Tensor.scatter_add", "scatter_elements f32[3] i64[2] f32[2] negative=out_of_range",
     "refuses: Tensor.scatter_add refuses this: reduction=none, and it has add only."),
    ("numpy.put_along_axis", "scatter_elements f32[3,3] i64[2,1] f32[2,1] axis=0",
     "differs: numpy.put_along_axis would do something else: indices [2, 1] have a 1 off axis 0, which it "
     "stretches over data [3, 3]."),
    ("gatherElements", "gather_elements f32[3,3] i64[2,2] axis=0 out_of_range=clamp",
     "refuses: gatherElements refuses this: indices [2, 2] and data [3, 3] differ off axis 0, where it takes "
     "equal sizes."),
    ("numpy.take", "gather f32[3] i64[2]={0,9} out_of_range=clamp",
     "differs: numpy.take would do something else: out of range means clamp here, and fail there."),
    ("torch.gather", "gather_elements f32[3] i64[2]",
     "differs: torch.gather would do something else: negative indices are from end here, and out of range there."),
]


@pytest.mark.parametrize("name, problem, text", SAID)
def test_said(page: Any, name: str, problem: str, text: str) -> None:
    axis = problem.replace("axis=-1", "axis=1")  # the library's own answer has no negative axis
    if axis != problem:
        page.show(axis, **{"as": name.replace(" ", "+")})
        page.tab.fill("#option-axis", "-1")
        assert page.tab.locator("#objections").inner_text() == text.split(": ", 1)[1]
        return
    assert objections(page, name, problem) == [text]
    page.show(problem, **{"as": name})
    assert page.tab.locator("#objections").inner_text() == text.split(": ", 1)[1]


@pytest.mark.parametrize("name, problem", [
    ("torch.gather", "gather_elements f32[3,3] i64[2,2] axis=0 negative=out_of_range"),
    ("numpy.take_along_axis", "gather_elements f32[3,3] i64[2,1] axis=0 broadcast=1"),
    ("numpy.take_along_axis", "gather_elements f32[3,3] i64[2,3] axis=0"),
    ("sheaf.gather", "gather f32[3,3] u8[2] axis=-1 out_of_range=fill fill_value=7 negative=out_of_range"),
    ("jnp.take", "gather f32[3,3] i64[2] out_of_range=fill fill_value=7"),
    ("torch.nn.functional.embedding", "gather f32[3,3] i64[2,2] axis=-2 negative=out_of_range"),
])
def test_nothing_to_say(page: Any, name: str, problem: str) -> None:
    assert objections(page, name, problem) == []


def test_every_example_under_every_name_is_taken(page: Any) -> None:
    for name in [n["id"] for d in page.tab.evaluate("sheaf.dialects") for n in d["names"]]:
        problem = page.tab.evaluate("name => sheaf.example(name)", name)
        assert objections(page, name, problem) == [], name


def test_choosing_a_name_that_refuses_the_tensors_keeps_them(page: Any) -> None:
    page.show("gather f32[4,3] i64[2,2]={0,1,2,3} axis=1 out_of_range=clamp", **{"as": "DML_GATHER"})
    page.tab.select_option("#operator", "torch.index_select")
    assert page.texts("indices") == ["0", "1", "2", "3"]
    assert "torch.index_select refuses this: indices have 2 dimensions" in page.tab.locator("#objections").inner_text()


def test_refusals_are_announced(page: Any) -> None:
    assert page.tab.locator("#objections").get_attribute("role") == "status"


# What the libraries say, type by type and shape by shape.

def fails(call: Callable[[], Any]) -> bool:
    try:
        call()
    except (IndexError, ValueError, RuntimeError, TypeError):
        return True
    return False


def check_types(page: Any, names: list[tuple[str, str, Callable[[str], Any]]], rule: str) -> None:
    for name, problem, call in names:
        for kind in TYPES:
            text = problem.replace("i64", kind) + rule
            assert refused(page, name, text) == fails(lambda: call(kind)), f"{name}, {kind}"


def test_numpy_agrees(page: Any) -> None:
    data = np.arange(9.0).reshape(3, 3)
    for sizes in [(2, 3), (2, 2), (2, 1), (3, 3)]:
        shape = ",".join(map(str, sizes))
        assert refused(page, "numpy.take_along_axis", f"gather_elements f32[3,3] i64[{shape}] axis=0") == \
            fails(lambda: np.take_along_axis(data, np.zeros(sizes, int), 0)), sizes
        assert refused(page, "numpy.put_along_axis", f"scatter_elements f32[3,3] i64[{shape}] f32[{shape}]") == \
            fails(lambda: np.put_along_axis(data, np.zeros(sizes, int), 0, 0)), sizes


def test_pytorch_agrees(page: Any) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch (scripts/peers)")
    types = {"i": "int", "u": "uint"}
    data, row = torch.arange(12.0).reshape(4, 3), torch.ones(1, 3)

    def one(kind: str, values: Any) -> Any:
        return torch.tensor(values).to(getattr(torch, types[kind[0]] + kind[1:]))

    def line(kind: str) -> Any:
        return one(kind, [1])

    def grid(kind: str) -> Any:
        return one(kind, [[1, 0, 1]])

    along, slices = "f32[4,3] i64[1,3]", "f32[4,3] i64[1]"
    check_types(page, [
        ("torch.gather", f"gather_elements {along}", lambda k: torch.gather(data, 0, grid(k))),
        ("torch.take_along_dim", f"gather_elements {along} broadcast=1", lambda k: torch.take_along_dim(data, grid(k), 0)),
        ("torch.index_select", f"gather {slices}", lambda k: torch.index_select(data, 0, line(k))),
        ("torch: data[indices]", f"gather {slices}", lambda k: data[line(k)]),
        ("torch.nn.functional.embedding", f"gather {slices}", lambda k: torch.nn.functional.embedding(line(k), data)),
        ("Tensor.scatter", f"scatter_elements {along}", lambda k: data.scatter(0, grid(k), row)),
        ("Tensor.scatter_add", f"scatter_elements {along} reduction=add", lambda k: data.scatter_add(0, grid(k), row)),
        ("Tensor.scatter_reduce", f"scatter_elements {along} reduction=add",
         lambda k: data.scatter_reduce(0, grid(k), row, "sum")),
        ("Tensor.index_add", f"scatter {slices} reduction=add", lambda k: data.index_add(0, line(k), row)),
        ("Tensor.index_copy", f"scatter {slices}", lambda k: data.index_copy(0, line(k), row)),
        ("Tensor.index_put", "scatter_nd f32[4,3] i64[1,1]", lambda k: data.index_put((line(k),), row)),
    ], "")
    for rank in (0, 1, 2):
        index = torch.zeros([1] * rank, dtype=torch.int64)
        shape = ",".join(["1"] * rank)
        updates = torch.ones([1] * rank + [3])
        assert refused(page, "torch.index_select", f"gather f32[4,3] i64[{shape}]") == \
            fails(lambda: torch.index_select(data, 0, index))
        assert refused(page, "Tensor.index_add", f"scatter f32[4,3] i64[{shape}] reduction=add") == \
            fails(lambda: data.index_add(0, index, updates))
        assert refused(page, "Tensor.index_copy", f"scatter f32[4,3] i64[{shape}]") == \
            fails(lambda: data.index_copy(0, index, updates))
    for rank in (1, 2, 3):
        shape = ",".join(["2"] * rank)
        assert refused(page, "torch.nn.functional.embedding", f"gather f32[{shape}] i64[1]") == \
            fails(lambda: torch.nn.functional.embedding(torch.tensor([0]), torch.ones([2] * rank)))
    words = {"none": "none", "add": "sum", "sub": "sub", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}
    for reduction, word in words.items():
        assert refused(page, "Tensor.scatter_reduce", f"scatter_elements {along} reduction={reduction}") == \
            fails(lambda: data.scatter_reduce(0, grid("i64"), row, word)), reduction


def test_jax_agrees(page: Any) -> None:
    pytest.importorskip("jax", reason="needs JAX (scripts/peers)")
    import jax.numpy as jnp
    data = jnp.arange(9.0).reshape(3, 3)
    for sizes in [(2, 3), (2, 2), (2, 1), (3, 3)]:
        shape = ",".join(map(str, sizes))
        assert refused(page, "jnp.take_along_axis", f"gather_elements f32[3,3] i64[{shape}] axis=0") == \
            fails(lambda: jnp.take_along_axis(data, jnp.zeros(sizes, int), axis=0)), sizes


def test_onnx_agrees(page: Any) -> None:
    """ONNX's own schemas say which types the indices have, and which reductions there are."""
    onnx = pytest.importorskip("onnx", reason="needs onnx (scripts/peers)")
    names = {n["id"]: n for d in page.tab.evaluate("sheaf.dialects") for n in d["names"]}
    of_onnx = {f"tensor(int{bits})": f"i{bits}" for bits in (8, 16, 32, 64)}
    for name in ("Gather", "GatherElements", "GatherND", "ScatterElements", "ScatterND"):
        schema = onnx.defs.get_schema(name)
        allowed = {of_onnx.get(kind, kind) for kind in schema.inputs[1].types}
        assert set(names[name]["needs"]["index_types"]) == allowed, name
        if "reduction" in schema.attributes:
            for word in names[name]["words"].values():
                assert f"'{word}'" in schema.attributes["reduction"].description or word == "none", word
