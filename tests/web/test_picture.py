# SPDX-License-Identifier: MIT
"""The picture fills its card, made-up data is letters, and the plan is said in elements first."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

CALL = "gather f32[4,3] i64[2,2]={3,0,1,3}"


@pytest.mark.parametrize("width, least", [(1440, 0.8), (768, 0.8), (390, 0.7)])
def test_the_picture_fills_its_card(new_page: Any, width: int, least: float) -> None:
    page = new_page(width=width)
    page.open("#call=" + CALL.replace(" ", "+"))
    used, room = page.tab.evaluate(
        "(() => { const cells = [...document.querySelectorAll('#stage .cell rect')].map(r => r.getBoundingClientRect());"
        " const stage = document.getElementById('stage').getBoundingClientRect();"
        " return [Math.max(...cells.map(b => b.right)) - stage.left, stage.width]; })()")
    assert least * room < used <= room


def test_a_window_that_changes_its_width_changes_the_picture(new_page: Any) -> None:
    page = new_page(width=1440)
    page.open("#call=" + CALL.replace(" ", "+"))
    height = "document.querySelector('#grid-data-0 rect').getBoundingClientRect().height"
    wide = page.tab.evaluate(height)
    page.tab.set_viewport_size({"width": 1100, "height": 900})
    page.tab.wait_for_function(f"{height} < {wide}")
    page.cell("output", 4).hover()
    assert page.wires() == {("output:4", "indices:1"), ("indices:1", "data:1")}


def test_vectors_are_not_blown_up(page: Any) -> None:
    page.show("gather f32[3] i64[2]={2,0}")
    height = page.tab.evaluate("document.querySelector('#grid-data-0 rect').getBoundingClientRect().height")
    assert 36 <= height <= 36 * 1.8


def test_made_up_data_is_letters(page: Any) -> None:
    page.show(CALL)
    assert page.texts("data") == list("abcdefghijkl")
    assert page.texts("output") == list("jklabcdefjkl")
    page.cell("output", 3).hover()
    assert page.readout().splitlines()[-1] == "output[0, 1, 0] = data[indices[0, 1], 0] = data[0, 0] = a"
    page.tab.click("#next-move")
    assert page.texts("output")[:4] == ["j", "k", "l", "·"]


def test_made_up_updates_are_capitals(page: Any) -> None:
    page.show("scatter f32[3] i64[3]={2,0,2} axis=0")
    assert page.texts("data") == ["a", "b", "c"] and page.texts("updates") == ["A", "B", "C"]
    assert page.texts("output") == ["B", "b", "C"]
    seen = []
    for _ in range(3):
        page.tab.click("#next-move")
        seen.append(page.texts("output"))
    assert seen == [["a", "b", "A"], ["B", "b", "A"], ["B", "b", "C"]]


def test_letters_only_where_values_are_moved_as_they_are(page: Any) -> None:
    page.show("scatter f32[2] i64[2]={1,1} axis=0 reduction=add")
    assert page.texts("output") == ["0", "31"]
    page.show("gather f32[2]={7,8} i64[2]={1,1}")
    assert page.texts("output") == ["8", "8"]
    page.show("gather f32[2] i64[2]={1,9} out_of_range=fill fill_value=-1")
    assert page.texts("output") == ["b", "-1"]


def test_many_letters(page: Any) -> None:
    page.show("gather f32[30] i64[3]={25,26,29}")
    assert page.texts("output") == ["z", "aa", "ad"]


def test_code_and_edits_have_numbers(page: Any) -> None:
    page.show("gather f32[3] i64[1]={2}")
    assert "[0., 1., 2.]" in page.tab.locator("#code").inner_text() or "[0, 1, 2]" in page.tab.locator("#code").inner_text()
    page.cell("data", 2).dblclick()
    assert page.tab.input_value(".cell-input") == "2"
    page.tab.keyboard.type("9")
    page.tab.keyboard.press("Enter")
    assert page.texts("data") == ["0", "1", "9"]


@pytest.mark.parametrize("problem, moves", [
    ("gather_elements f32[2,2] i64[2,2]={1,0,0,0} axis=1",
     ["output[0,0] = data[0,1]", "output[0,1] = data[0,0]", "output[1,0] = data[1,0]", "output[1,1] = data[1,0]"]),
    ("gather f32[4,3] i64[2]={3,0}", ["output[0,:] = data[3,:]", "output[1,:] = data[0,:]"]),
    ("gather f32[4,2,3] i64[1]={3}", ["output[0,:,:] = data[3,:,:]"]),
    ("scatter f32[3] i64[2]={2,0} reduction=add", ["output[2] += updates[0]", "output[0] += updates[1]"]),
    ("scatter f32[3] i64[2]={2,9} out_of_range=skip", ["output[2] = updates[0]", "updates[1] is skipped"]),
    ("gather f32[3] i64[2]={2,9} out_of_range=fill fill_value=7", ["output[0] = data[2]", "output[1] = 7"]),
    ("xla_gather f32[4,4] i64[1,2]={0,1} offset_dims=[1,2] start_index_map=[0,1] index_vector_dim=1 slice_sizes=[2,2]",
     ["output[0,0,:] = data[0,1:3]", "output[0,1,:] = data[1,1:3]"]),
])
def test_moves(page: Any, problem: str, moves: list[str]) -> None:
    page.show(problem)
    assert page.tab.locator("#moves li").all_inner_texts() == moves


def test_the_move_that_runs_is_lit_and_in_view(page: Any) -> None:
    page.show("gather f32[4] i64[400] axis=0")
    assert page.tab.locator("#moves li").count() == 121
    assert page.tab.locator("#moves li").last.inner_text() == "and 280 more"
    last = page.tab.evaluate("sheaf.page.player.ticks.length - 1")
    page.tab.fill("#tick", str(last))
    running = page.tab.locator("#moves .running")
    assert running.inner_text().startswith("output[399] = ")
    inside = page.tab.evaluate("(() => { const a = document.querySelector('#moves .running').getBoundingClientRect();"
                               " const b = document.getElementById('moves').getBoundingClientRect();"
                               " return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; })()")
    assert inside
    before = page.tab.evaluate("document.getElementById('moves').compareDocumentPosition("
                               "document.getElementById('plan-lines'))")
    assert before == 4  # the bytes come after the elements


def test_by_keyboard_alone(page: Any) -> None:
    page.show(CALL)
    page.tab.evaluate("document.activeElement.blur()")
    tab_to(page, "moves")
    page.tab.keyboard.press("Tab")
    assert page.tab.evaluate("document.activeElement.id") != "moves"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open("#call=" + CALL.replace(" ", "+") + "&step=5")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
