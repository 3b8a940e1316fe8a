# SPDX-License-Identifier: MIT
"""Every preset gives the result that its specification prints, or that its use promises."""

from __future__ import annotations

from typing import Any

import pytest



def letter(number: int) -> str:
    """How the page writes a made-up element: a to z, aa, ab."""
    text = ""
    while number >= 0:
        text = chr(ord("a") + number % 26) + text
        number = number // 26 - 1
    return text


EXPECTED = {
    "embedding": "10 11 12 13 40 41 42 43 0 1 2 3 50 51 52 53 10 11 12 13 10 11 12 13",
    "beams": "4 5 6 7 4 5 6 7 0 1 2 3 20 21 22 23 12 13 14 15 20 21 22 23",
    "top-k": "9 7 5 8 6 4",
    "one-hot": "0 0 1 1 0 0 0 1 0 0 0 1",
    "masked": "30 0 50 0 10 0",
    "graph-mean": "4 40 3 30 0 0 8 80",
    "rotary": "0 0.5 1 10 10.5 11 20 20.5 21 20 20.5 21 30 30.5 31 40 40.5 41",
    "batched": "4 5 0 1 8 9 8 9",
    "permutation": "3 1 4 2 7 5 8 6",
    "histogram": "1 4 0 2 1",
    "dml-gather-1": "14 12 14 11 13",
    "dml-gather-2": "1 2 3 4 3 4 5 6",
    "dml-gather-3": "2 1 4 3 6 5",
    "dml-gather-4": "1 3 4 6 7 9",
    "dml-gather-5": "1 2 3 4 3 4 5 6",
    "dml-gather-dims": " ".join(str(i * 5 % 7 * 10) for i in range(24)),
    "dml-gather-nd-shape": " ".join(letter(i) for first in (1722, 798) for i in range(first, first + 42)),
    "dml-gather-nd-tuples": " ".join(str(i % 3 * 2 + i % 2) for i in range(20)),
    "dml-gather-nd-dims": "s t u v w x",
    "dml-gather-elements": "4 8 3 7 2 3",
    "dml-gather-nd-1": "2 3 0 1",
    "dml-gather-nd-2": "2 3 4 5",
    "dml-gather-nd1-1": "2 3 0 1",
    "dml-gather-nd1-2": "0 3 7 4 9 10",
    "dml-scatter": "8 6 2 7 4",
    "bnns-gather-nd-1": "20 21 22 23",
    "bnns-gather-nd-2": "20 21",
    "bnns-gather-nd-3": "23",
    "bnns-scatter": "103 200 303",
    "onnx-gather-0": "1 1.2 2.3 3.4 2.3 3.4 4.5 5.7",
    "onnx-gather-1": "1 1.9 2.3 3.9 4.5 5.9",
    "onnx-gather-elements-0": "1 1 4 3",
    "onnx-gather-elements-1": "4 8 3 7 2 3",
    "onnx-gather-nd-1": "0 3",
    "onnx-gather-nd-2": "2 3 0 1",
    "onnx-gather-nd-3": "2 3 4 5",
    "onnx-gather-nd-4": "2 3 4 5",
    "onnx-gather-nd-5": "2 3 4 5",
    "onnx-scatter-elements-1": "2 1.1 0 1 0 2.2 0 2.1 1.2",
    "onnx-scatter-elements-2": "1 1.1 3 2.1 5",
    "onnx-scatter-nd-1": "1 11 3 10 9 6 7 12",
    "onnx-scatter-nd-2": "5 5 5 5 6 6 6 6 7 7 7 7 8 8 8 8 1 2 3 4 5 6 7 8 8 7 6 5 4 3 2 1 "
                         "1 1 1 1 2 2 2 2 3 3 3 3 4 4 4 4 8 7 6 5 4 3 2 1 1 2 3 4 5 6 7 8",
    "xla-gather": "2 3 6 7 11 12 15 16",
    "xla-scatter": "0 1 2 3 4",
}


def presets(page: Any) -> dict[str, Any]:
    groups = page.tab.evaluate("sheaf.presets")
    return {preset["id"]: preset for group in groups for preset in group["presets"] if preset["as"]}


def test_the_list_is_complete(page: Any) -> None:
    assert set(presets(page)) == set(EXPECTED)


@pytest.mark.parametrize("preset", EXPECTED)
def test_output(page: Any, preset: str) -> None:
    page.tab.select_option("#preset", preset)
    assert page.texts("output") == EXPECTED[preset].split()
    assert page.tab.input_value("#operator") == presets(page)[preset]["as"]
    assert page.tab.input_value("#preset") == preset


def test_the_walk_of_the_plan_ends_where_the_run_does(page: Any) -> None:
    """Stepping replays the plan; the run is the library's own. They agree on every preset."""
    for name, preset in presets(page).items():
        answer = page.explain(preset["problem"])
        output = answer["tensors"][-1]["values"]
        steps, map_ = answer["steps"], answer["map"]
        data = answer["tensors"][0]["values"]
        scatters = answer["call"]["scatters"]
        state = list(steps["start"]) if scatters else [None] * len(output)
        for step in steps["list"]:
            for k in range(step["count"]):
                at = None if step["data"] is None else step["data"] + k
                assert (-1 if at is None else at) == map_["data"][step["grid"] + k], name
                if scatters and at is not None:
                    state[at] = step["after"][k]
                elif not scatters:
                    state[step["grid"] + k] = data[at]
        if answer["call"]["reduction"] != "mean":  # divided after the last step
            assert state == output, name
