# SPDX-License-Identifier: MIT
"""Everything can be done with the keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def keys(page: Any) -> Any:
    page.show("gather f32[3,2]={1,2,3,4,5,6} i64[2]={2,0} axis=0")
    page.tab.evaluate("document.activeElement.blur()")
    return page.tab.keyboard


def focused(page: Any) -> str:
    return page.tab.evaluate("document.activeElement.id")


def tab_to(page: Any, wanted: str) -> None:
    for _ in range(60):
        page.tab.keyboard.press("Tab")
        if focused(page) == wanted:
            return
    raise AssertionError(f"Tab never reaches {wanted}")


def test_tab_reaches_every_control_in_the_order_of_the_page(page: Any, keys: Any) -> None:
    reached = []
    for _ in range(80):
        keys.press("Tab")
        reached.append(focused(page))
    controls = page.tab.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, svg[role=grid]')]"
        ".filter(c => !c.disabled && c.tabIndex >= 0 && c.getClientRects().length).map(c => c.id)")
    assert set(controls) <= set(reached)
    order = [control for control in reached[reached.index(controls[0]):] if control in controls]
    assert order[:len(controls)] == controls


def test_arrows_move_between_cells_and_say_what_is_there(page: Any, keys: Any) -> None:
    tab_to(page, "grid-output")
    keys.press("ArrowRight")
    keys.press("ArrowDown")
    assert page.with_class("pointed") == {"output:3"}
    assert "data[0, 1] = 2" in page.readout()
    grid = page.tab.locator("#grid-output")
    assert grid.get_attribute("aria-activedescendant") == "grid-output-3"
    keys.press("Home")
    assert page.with_class("pointed") == {"output:0"}
    keys.press("End")
    keys.press("ArrowDown")  # nowhere to go
    assert page.with_class("pointed") == {"output:3"}


def test_enter_edits_a_value(page: Any, keys: Any) -> None:
    tab_to(page, "grid-indices")
    keys.press("ArrowRight")
    keys.press("Enter")
    keys.type("1")
    keys.press("Enter")
    assert page.texts("output") == ["5", "6", "3", "4"]
    assert focused(page) == "grid-indices"
    keys.press("Enter")
    keys.type("99")
    keys.press("Escape")
    assert page.texts("indices") == ["2", "1"]


def test_running_the_plan(page: Any, keys: Any) -> None:
    tab_to(page, "next-move")
    keys.press("Enter")
    assert page.texts("output") == ["5", "6", "·", "·"]
    tab_to(page, "tick")
    keys.press("End")
    assert page.texts("output") == ["5", "6", "1", "2"]


def test_tabs_move_by_arrows(page: Any, keys: Any) -> None:
    tab_to(page, "tab-code")
    keys.press("ArrowRight")
    assert focused(page) == "tab-compare"
    assert page.tab.locator("#panel-compare").is_visible()
    keys.press("ArrowLeft")
    assert page.tab.locator("#panel-code").is_visible()


def test_choosing_an_example_and_an_operator(page: Any, keys: Any) -> None:
    tab_to(page, "preset")
    keys.type("Histogram")
    keys.press("Enter")
    assert page.texts("output") == ["1", "4", "0", "2", "1"]
    tab_to(page, "operator")
    keys.type("tf.scatter_nd")
    assert page.tab.locator("#call-text").inner_text().startswith("tf.scatter_nd")


def test_skip_link(page: Any, new_page: Any) -> None:
    fresh = new_page()
    fresh.open()
    fresh.tab.keyboard.press("Tab")
    assert fresh.tab.evaluate("document.activeElement.textContent") == "Skip to the picture"
