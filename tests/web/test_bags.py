# SPDX-License-Identifier: MIT
"""Bags and quantised rows have their pictures too: the library's own, in the page's colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

MEAN = "bag f32[5,3] i64[6]={4,0,2,2,1,3} offsets=i64[3]={0,2,3} pool=mean"
PRESETS = ["embedding-bag", "weighted-bag", "segment-max", "q4-rows"]
TEXTS = "[...document.querySelector('.drawn').shadowRoot.querySelectorAll('text')].map(text => text.textContent)"


@pytest.fixture
def bags(new_page: Any) -> Any:
    page = new_page(accept_downloads=True)
    page.open()
    return page


@pytest.mark.parametrize("preset", PRESETS)
def test_presets(bags: Any, preset: str) -> None:
    bags.tab.select_option("#preset", preset)
    assert bags.tab.locator("#error").is_hidden(), bags.tab.locator("#error").inner_text()
    assert bags.tab.input_value("#preset") == preset
    assert len(bags.tab.evaluate(TEXTS)) > 20
    assert bags.tab.locator("#plan-lines li").count() > 1
    for hidden in ("#form", "#tabs", "#player", "#moves"):
        assert bags.tab.locator(hidden).is_hidden()


def test_rows_go_into_their_bags(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    assert "(m+a)/2" in bags.tab.evaluate(TEXTS)  # rows 4 and 0
    assert "mean of data[indices[p], …]" in bags.tab.locator("#formula").inner_text()


def test_values_are_pooled(bags: Any) -> None:
    bags.tab.fill("#problem", "bag f32[3,1]={1,2,4} i64[3]={0,2,1} offsets=i64[2]={0,2} pool=sum")
    assert "5" in bags.tab.evaluate(TEXTS)


def test_the_address_holds_it(bags: Any, new_page: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    other = new_page()
    other.open(bags.tab.url[bags.tab.url.index("#"):])
    assert other.tab.evaluate(TEXTS) == bags.tab.evaluate(TEXTS)


def test_back_and_forth(bags: Any) -> None:
    before = bags.texts("output")
    bags.tab.select_option("#preset", "weighted-bag")
    bags.tab.go_back()
    bags.tab.wait_for_selector("#grid-output-0")
    assert bags.texts("output") == before
    assert bags.tab.locator("#form").is_visible() and bags.tab.locator("#player").is_visible()


def test_the_operator_by_name(bags: Any) -> None:
    bags.tab.select_option("#operator", "sheaf.bag")
    assert bags.tab.input_value("#preset") == "embedding-bag"
    assert bags.tab.input_value("#operator") == "sheaf.bag"


def test_an_operator_after_a_bag(bags: Any) -> None:
    bags.tab.select_option("#preset", "weighted-bag")
    bags.tab.select_option("#operator", "numpy.take")
    assert bags.tab.locator(".drawn").count() == 0
    assert bags.tab.locator("#grid-output-0").is_visible()


def test_what_is_wrong_with_a_bag(bags: Any) -> None:
    bags.tab.fill("#problem", "bag f32[3,1] i64[2]={0,9} offsets=i64[1]={0}")
    assert "indices[1] = 9, but axis 0 of data has 3 entries" in bags.tab.locator("#error").inner_text()
    bags.tab.fill("#problem", "bag f32[3,1] i64[2] offsets=i64[1] pool=most")
    assert "most" in bags.tab.locator("#error").inner_text()


def test_saved_as_files(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    for button, start in (("#save-svg", b"<svg"), ("#save-png", b"\x89PNG")):
        with bags.tab.expect_download() as download:
            bags.tab.click(button)
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_by_keyboard_alone(bags: Any) -> None:
    tab_to(bags, "preset")
    bags.tab.keyboard.type("Segments")
    bags.tab.keyboard.press("Enter")
    assert bags.tab.locator(".drawn").is_visible()
    tab_to(bags, "problem")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open("#call=" + MEAN.replace(" ", "+"))
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    # In the theme of the page, also where the system has the other one.
    page.tab.click("#theme")
    ink, text = page.tab.evaluate("[getComputedStyle(document.body).color, getComputedStyle("
                                  "document.querySelector('.drawn').shadowRoot.querySelector('text')).fill]")
    assert ink == text
