# SPDX-License-Identifier: MIT
"""Large tensors are drawn through a window; larger ones are planned only."""

from __future__ import annotations

from typing import Any


def test_only_the_cells_near_the_window_are_in_the_page(page: Any) -> None:
    page.show("gather f32[200,40] i64[3]={199,0,100} axis=0")
    assert 0 < page.tab.locator("#grid-data .cell").count() < 3000
    assert page.cell("data", 7999).count() == 0
    page.cell("output", 5).hover()  # row 199 of data: its window follows
    page.cell("data", 199 * 40 + 5).wait_for()
    assert page.wires() == {("output:5", "indices:0"), ("indices:0", "data:7965")}
    page.tab.evaluate("document.querySelector('[data-tensor=data] .scroll').scrollTo(9999, 0)")
    page.cell("data", 39).wait_for()


def test_too_large_to_draw_is_still_planned(page: Any) -> None:
    page.show("gather f32[1000000,64] i64[4096] axis=0")
    assert "Too large to draw" in page.tab.locator("#stage").inner_text()
    assert "for p0 in 0..4096" in page.tab.locator("#plan-lines").inner_text()
    assert page.tab.locator("#play").is_disabled()


def test_six_dimensions(page: Any) -> None:
    page.show("gather f32[2,1,2,2,2,3] i64[2]={1,0} axis=-1")
    assert len(page.texts("data")) == 48
    assert len(page.texts("output")) == 32


def test_scalars_and_empty_tensors(page: Any) -> None:
    page.show("gather f32[3]={7,8,9} i64[]={1}")
    assert page.texts("output") == ["8"]
    page.show("gather f32[3,2] i64[0] axis=0")
    assert page.texts("output") == []
    assert "no elements" in page.tab.locator("[data-tensor=output]").inner_text()
