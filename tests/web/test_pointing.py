# SPDX-License-Identifier: MIT
"""Pointing at a cell lights the cells it has to do with, joins them, and says why."""

from __future__ import annotations

from typing import Any

ELEMENTS = "gather_elements f32[3,3]={1,2,3,4,5,6,7,8,9} i64[2,3]={1,2,0,2,0,0} axis=0"
SUM = "scatter f32[3]={100,200,300} i64[4]={0,2,0,0} f32[4]={1,2,3,4} reduction=add"


def test_output_cell_of_a_gather(page: Any) -> None:
    page.show(ELEMENTS)
    page.cell("output", 4).hover()
    assert page.wires() == {("output:4", "indices:4"), ("indices:4", "data:1")}
    assert page.with_class("pointed") == {"output:4"}
    assert page.with_class("lit") == {"indices:4", "data:1"}
    assert "output[1, 1] = data[indices[1, 1], 1] = data[0, 1] = 2" in page.readout()


def test_wires_end_at_their_cells(page: Any) -> None:
    page.show(ELEMENTS)
    page.cell("output", 4).hover()
    ends = page.tab.evaluate(
        "[...document.querySelectorAll('path.wire')].map(wire => {"
        " const box = key => { const [t, e] = key.split(':');"
        "   return document.getElementById(`grid-${t}-${e}`).getBoundingClientRect(); };"
        " const at = wire.ownerSVGElement.getScreenCTM();"
        " const ends = [0, wire.getTotalLength()].map(l => wire.getPointAtLength(l)"
        "   .matrixTransform(at));"
        " return [wire.dataset.from, wire.dataset.to].map((key, i) => { const b = box(key);"
        "   return ends[i].x > b.left - 3 && ends[i].x < b.right + 3 &&"
        "     ends[i].y > b.top - 3 && ends[i].y < b.bottom + 3; }); })")
    assert ends == [[True, True], [True, True]]


def test_data_cell_says_everywhere_it_went(page: Any) -> None:
    page.show(ELEMENTS)
    page.cell("data", 2).hover()
    assert page.wires() == {("output:2", "indices:2"), ("indices:2", "data:2"),
                            ("output:5", "indices:5"), ("indices:5", "data:2")}
    assert "It goes to output[0, 2] and output[1, 2]." in page.readout()


def test_data_cell_that_no_index_picks(page: Any) -> None:
    page.show(ELEMENTS)
    page.cell("data", 4).hover()
    assert page.wires() == set()
    assert "It goes nowhere" in page.readout()


def test_index_tuple_has_a_wire_for_each_component(page: Any) -> None:
    page.show("gather_nd f32[2,2,2]={0,1,2,3,4,5,6,7} i64[2,2]={0,1,1,0}")
    page.cell("output", 3).hover()
    assert page.wires() == {("output:3", "indices:2"), ("indices:2", "data:5"),
                            ("output:3", "indices:3"), ("indices:3", "data:5")}
    assert "output[1, 1] = data[indices[1, 0], indices[1, 1], 1] = data[1, 0, 1] = 5" \
        in page.readout()


def test_index_cell_shows_its_whole_slice(page: Any) -> None:
    page.show("gather f32[3,2]={1,2,3,4,5,6} i64[2]={2,0} axis=0")
    page.cell("indices", 0).hover()
    assert page.with_class("lit") == {"output:0", "output:1", "data:4", "data:5"}


def test_update_of_a_scatter(page: Any) -> None:
    page.show(SUM)
    page.cell("updates", 1).hover()
    assert page.wires() == {("updates:1", "indices:1"), ("indices:1", "output:2")}
    assert "output[2] += 2" in page.readout()


def test_collisions_in_order_and_the_sum_as_it_grows(page: Any) -> None:
    page.show(SUM)
    page.cell("output", 0).hover()
    assert page.with_class("lit") >= {"updates:0", "updates:2", "updates:3"}
    assert "3 updates meet here" in page.readout()
    rows = page.tab.locator(".growth li").all_inner_texts()
    assert [row.split() for row in rows] == [
        ["start", "100"], ["+", "1", "updates[0]", "101"], ["+", "3", "updates[2]", "104"],
        ["+", "4", "updates[3]", "108"]]


def test_cell_that_no_update_reaches(page: Any) -> None:
    page.show(SUM)
    page.cell("output", 1).hover()
    assert "No update goes here" in page.readout()
    assert page.wires() == set()


def test_filled_element(page: Any) -> None:
    page.show("gather f32[3]={1,2,3} i64[2]={1,7} out_of_range=fill fill_value=-5")
    page.cell("output", 1).hover()
    assert page.wires() == {("output:1", "indices:1")}
    assert "out of range, so it is the fill value" in page.readout()
    assert page.texts("output") == ["2", "-5"]


def test_skipped_update(page: Any) -> None:
    page.show("scatter f32[2]={0,0} i64[2]={1,7} f32[2]={5,6} out_of_range=skip")
    page.cell("updates", 1).hover()
    assert page.wires() == {("updates:1", "indices:1")}
    assert "out of range, so it is skipped" in page.readout()


def test_click_keeps_the_cell_and_escape_lets_go(page: Any) -> None:
    page.show(ELEMENTS)
    page.cell("output", 0).click()
    page.tab.mouse.move(5, 5)
    assert page.with_class("pointed") == {"output:0"}
    assert "point=output:0" in page.tab.url
    page.tab.keyboard.press("Escape")
    assert page.with_class("pointed") == set()
    assert "point=" not in page.tab.url


def test_four_dimensions_are_a_grid_of_grids(page: Any) -> None:
    page.show("gather f32[2,3,2,4] i64[2] axis=2")
    boxes = page.tab.evaluate(
        "[0, 8, 24, 47].map(e => { const b = document.getElementById('grid-data-' + e)"
        ".getBoundingClientRect(); return [b.left, b.top]; })")
    first, across, down, last = boxes
    assert across[1] == first[1] and across[0] > first[0] + 4 * 42  # the next block, to the right
    assert down[0] == first[0] and down[1] > first[1] + 2 * 36  # the next row of blocks, below
    assert last[0] > across[0] and last[1] > down[1]
