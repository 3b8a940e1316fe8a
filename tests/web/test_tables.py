# SPDX-License-Identifier: MIT
"""Tables that lie anywhere have a picture too: the library's own, in the page's colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)

CACHED = "table f32[6,2] i64[7]={4,1,4,0,5,4,2} from=file to=gpu piece_rows=3 cached=i64[1]={4}"
TEXTS = "[...document.querySelector('.drawn').shadowRoot.querySelectorAll('text')].map(text => text.textContent)"


@pytest.fixture
def tables(new_page: Any) -> Any:
    page = new_page(accept_downloads=True)
    page.open()
    return page


@pytest.mark.parametrize("preset, way", [("table-ring", "ring"), ("table-cache", "file"), ("table-mapped", "mapped")])
def test_presets(tables: Any, preset: str, way: str) -> None:
    tables.tab.select_option("#preset", preset)
    assert tables.tab.locator("#error").is_hidden(), tables.tab.locator("#error").inner_text()
    assert tables.tab.input_value("#preset") == preset
    assert f"{way}: runs this gather" in tables.tab.locator("#plan-lines").inner_text()
    assert f"by the way {way}." in tables.tab.locator("#summary").inner_text()
    for hidden in ("#form", "#tabs", "#player", "#moves"):
        assert tables.tab.locator(hidden).is_hidden()


def test_rows_pass_through_pieces(tables: Any) -> None:
    tables.tab.fill("#problem", CACHED)
    texts = tables.tab.evaluate(TEXTS)
    assert [texts.count(word) for word in ("piece", "cache,", "output")] == [3, 1, 1]


def test_what_is_wrong(tables: Any) -> None:
    tables.tab.fill("#problem", "table f32[6,2] i64[1]={7} to=gpu")
    assert "indices[0] = 7, but axis 0 of data has 6 entries" in tables.tab.locator("#error").inner_text()
    tables.tab.fill("#problem", "table f32[6,2] i64[1] to=gpu way=file")
    assert "no way to the rows" in tables.tab.locator("#error").inner_text()


def test_back_and_an_operator_after_it(tables: Any) -> None:
    before = tables.texts("output")
    tables.tab.select_option("#preset", "table-ring")
    tables.tab.go_back()
    tables.tab.wait_for_selector("#form:visible")
    assert tables.texts("output") == before
    tables.tab.select_option("#preset", "table-ring")
    tables.tab.select_option("#operator", "numpy.take")
    assert tables.tab.locator(".drawn").count() == 0 and tables.tab.locator("#tabs").is_visible()


def test_saved_as_files(tables: Any) -> None:
    tables.tab.fill("#problem", CACHED)
    for button, start in (("#save-svg", b"<svg"), ("#save-png", b"\x89PNG")):
        with tables.tab.expect_download() as download:
            tables.tab.click(button)
        assert Path(download.value.path()).read_bytes().startswith(start)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open("#call=" + CACHED.replace(" ", "+"))
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
    # In the theme of the page, also where the system has the other one.
    page.tab.click("#theme")
    ink, text = page.tab.evaluate("[getComputedStyle(document.body).color, getComputedStyle("
                                  "document.querySelector('.drawn').shadowRoot.querySelector('text')).fill]")
    assert ink == text
