# SPDX-License-Identifier: MIT
"""The plan runs line by line, and the output fills as it does."""

from __future__ import annotations

from typing import Any


def running(page: Any) -> str:
    return page.tab.locator(".plan-lines .running .code").inner_text().strip()


def test_lines_light_up_in_order(page: Any) -> None:
    page.show("gather_elements f32[2,2]={1,2,3,4} i64[2,2]={1,0,0,0} axis=1")
    lines = []
    for _ in range(6):
        page.tab.click("#forward")
        lines.append(running(page).split(" ")[0])
    assert lines == ["for", "for", "i0", "output", "for", "i0"]
    assert page.texts("output") == ["2", "·", "·", "·"]
    assert page.with_class("lit") == {"indices:1"}  # the index that this line reads
    notes = page.tab.locator(".plan-lines .value").all_inner_texts()
    assert notes == ["", "p0 = 0", "p1 = 1", "i0 = 0", ""]


def test_move_lights_all_three_tensors(page: Any) -> None:
    page.show("gather f32[3,2]={1,2,3,4,5,6} i64[2]={2,0} axis=0")
    page.tab.click("#next-move")
    assert page.with_class("lit") == {"data:4", "data:5", "indices:0", "output:0", "output:1"}
    assert page.texts("output") == ["5", "6", "·", "·"]
    assert page.wires() == {("output:0", "indices:0"), ("indices:0", "data:4")}
    page.tab.click("#next-move")
    assert page.texts("output") == ["5", "6", "1", "2"]


def test_sum_grows(page: Any) -> None:
    page.show("scatter i32[2]={10,20} i64[3]={1,1,0} i32[3]={1,2,3} reduction=add")
    seen = [page.texts("output")]
    for _ in range(3):
        page.tab.click("#next-move")
        seen.append(page.texts("output"))
    assert seen == [["13", "23"], ["10", "21"], ["10", "23"], ["13", "23"]]
    page.tab.click("#restart")
    assert page.tab.locator(".plan-lines .running").count() == 0


def test_play_runs_to_the_end_and_stops(page: Any) -> None:
    page.show("gather f32[2]={1,2} i64[1]={1}")
    page.tab.click("#play")
    page.tab.wait_for_function("document.querySelector('#tick').value === document.querySelector('#tick').max")
    page.tab.wait_for_function("document.querySelector('#play').textContent === 'Play'")
    assert page.texts("output") == ["2"]


def test_slider_goes_anywhere(page: Any) -> None:
    page.show("gather f32[4]={1,2,3,4} i64[4]={3,2,1,0}")
    page.tab.fill("#tick", "8")
    assert page.texts("output") == ["4", "3", "2", "·"]
