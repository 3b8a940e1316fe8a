# SPDX-License-Identifier: MIT
"""One browser for all tests of the page, which is opened from the disk: build/web/index.html."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Iterator

import pytest

playwright_api = pytest.importorskip("playwright.sync_api", reason="needs playwright")

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "build" / "web" / "index.html"
CHROMIUM = shutil.which("chromium")

if CHROMIUM is None:
    pytest.skip("needs Debian's chromium", allow_module_level=True)
if not PAGE.is_file():
    pytest.skip("needs the page: scripts/web --no-serve", allow_module_level=True)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        # No sandbox: tests run as root in containers, where chromium has none.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Page:
    """The page, with the few things every test does."""

    def __init__(self, browser: Any, **context: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1440, "height": 1000}, **context)
        self.tab = self.context.new_page()
        self.complaints: list[str] = []
        self.tab.on("console", lambda m: self.complaints.append(m.text)
                    if m.type in ("error", "warning") else None)
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))

    def open(self, fragment: str = "") -> None:
        self.tab.goto("about:blank")
        self.tab.goto(PAGE.as_uri() + fragment)
        self.tab.wait_for_selector("html[data-ready]")

    def show(self, problem: str, **state: Any) -> None:
        """Shows a call as if somebody had followed a link to it."""
        rest = "".join(f"&{key}={value}" for key, value in state.items())
        fragment = "#call=" + problem.replace(" ", "+") + rest
        self.tab.evaluate("fragment => { location.hash = fragment; }", fragment)
        self.tab.wait_for_function("fragment => window.sheaf.page.state.problem === fragment",
                                   arg=problem)

    def explain(self, problem: str) -> Any:
        return self.tab.evaluate("problem => sheaf.engine.explain(problem)", problem)

    def cell(self, tensor: str, element: int) -> Any:
        return self.tab.locator(f"#grid-{tensor}-{element}")

    def texts(self, tensor: str) -> list[str]:
        return self.tab.locator(f"#grid-{tensor} .cell text").all_text_contents()

    def with_class(self, name: str) -> set[str]:
        """The cells that have a class, as in {"data:3"}."""
        return set(self.tab.evaluate(
            "name => [...document.querySelectorAll('.cell.' + name)].map(cell =>"
            " cell.closest('[data-tensor]').dataset.tensor + ':' + cell.dataset.e)", name))

    def side(self, side: str, name: str) -> set[str]:
        """The cells of one of two compared pictures that have a class."""
        return set(self.tab.evaluate(
            "([side, name]) => [...document.querySelectorAll(`[data-side=${side}] .cell.${name}`)].map("
            "cell => cell.closest('[data-tensor]').dataset.tensor + ':' + cell.dataset.e)", [side, name]))

    def wires(self) -> set[tuple[str, str]]:
        pairs = self.tab.evaluate("[...document.querySelectorAll('path.wire')].map(wire =>"
                                  " [wire.dataset.from, wire.dataset.to])")
        return {(start, end) for start, end in pairs}

    def readout(self) -> str:
        return self.tab.locator("#readout").inner_text()


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Page]:
    page = Page(browser)
    page.open()
    yield page
    assert page.complaints == []
    page.context.close()


@pytest.fixture
def new_page(browser: Any) -> Iterator[Any]:
    """Makes pages with a context of their own: other widths, themes, media."""
    made: list[Page] = []

    def make(**context: Any) -> Page:
        width = context.pop("width", 1440)
        page = Page(browser, **context)
        page.tab.set_viewport_size({"width": width, "height": 900})
        made.append(page)
        return page

    yield make
    for page in made:
        assert page.complaints == []
        page.context.close()
