# SPDX-License-Identifier: MIT
"""Names of other libraries: each gives a sound call, and comparing two of them tells the truth."""

from __future__ import annotations

from typing import Any

import pytest

DIALECTS = ["Sheaf", "DirectML", "BNNS", "ONNX", "NumPy", "PyTorch", "TensorFlow", "JAX and XLA",
            "WebNN"]
ROWS = "gather_elements f32[2,4]={1,2,3,4,5,6,7,8} i64[2,3]={3,0,1,2,2,1} axis=1"


def names(page: Any) -> list[dict[str, Any]]:
    return [name for dialect in page.tab.evaluate("sheaf.dialects") for name in dialect["names"]]


def verdict(page: Any, problem: str, left: str, right: str, **fields: Any) -> str:
    page.show(problem, **{"as": left, "show": "compare", "with": right, **fields})
    return page.tab.locator("#verdict").inner_text()


def test_every_dialect_is_there(page: Any) -> None:
    assert [d["name"] for d in page.tab.evaluate("sheaf.dialects")] == DIALECTS


def test_names_are_unique(page: Any) -> None:
    ids = [name["id"] for name in names(page)]
    assert len(ids) == len(set(ids))


def test_every_name_gives_a_sound_call_with_its_rule(page: Any) -> None:
    for name in names(page):
        page.tab.select_option("#operator", name["id"])
        assert page.tab.locator("#error").is_hidden(), name["id"]
        call = page.tab.evaluate("sheaf.page.state.answer.call")
        assert call["op"] == name["op"]
        assert [call["negative"], call["out_of_range"]] == name["rule"], name["id"]
        for key, value in name.get("fixed", {}).items():
            if value != "lost":
                assert str(int(call[key]) if isinstance(call[key], bool) else call[key]) == value
        text = page.tab.locator("#call-text").inner_text()
        assert "{axis}" not in text and "undefined" not in text


@pytest.mark.parametrize("left, right, fields, said", [
    # The question people search for.
    ("torch.gather", "tf.gather", {"axis_b": 1, "batch_b": 1}, "Same plan."),
    ("torch.gather", "tf.gather", {"axis_b": 1, "batch_b": 0}, "shape of the output"),
    ("torch.gather", "GatherElements", {"axis_b": 1}, "Same moves, another rule."),
    ("torch.gather", "GatherElements", {"axis_b": 0}, "One of the two is refused."),
    ("GatherElements", "numpy.take_along_axis", {"axis_b": 1}, "Same plan."),
    ("DML_GATHER_ELEMENTS", "gatherElements", {"axis_b": 1}, "Same plan."),
    ("DML_GATHER_ELEMENTS", "GatherElements", {"axis_b": 1},
     "indices out of range: clamp on the left, fail on the right"),
])
def test_comparison(page: Any, left: str, right: str, fields: dict[str, int], said: str) -> None:
    rules = {name["id"]: name["rule"] for name in names(page)}
    negative, out_of_range = rules[left]
    problem = ROWS
    if negative != "from_end":
        problem += f" negative={negative}"
    if out_of_range != "fail":
        problem += f" out_of_range={out_of_range}"
    assert said in verdict(page, problem, left, right, **fields)


def test_scatters_compare(page: Any) -> None:
    problem = "scatter f32[4,2] i64[3]={3,0,3} f32[3,2]={1,2,3,4,5,6} axis=0 reduction=add"
    assert "Same plan." in verdict(page, problem, "numpy.add.at", "sheaf.scatter", axis_b=0)
    assert "negative indices: from_end on the left, out_of_range on the right" in \
        verdict(page, problem, "numpy.add.at", "Tensor.index_add", axis_b=0)


def test_changed_axis_on_the_right(page: Any) -> None:
    problem = "gather f32[3,3] i64[2]={2,0} axis=0"
    assert "Same plan." in verdict(page, problem, "Gather", "numpy.take", axis_b=0)
    page.tab.fill("#compare-axis", "1")
    assert "Different plans." in page.tab.locator("#verdict").inner_text()
