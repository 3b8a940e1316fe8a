# SPDX-License-Identifier: MIT
"""axe-core's rules (names, roles, contrast) in both themes, and what it does not look at."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

STATES = {
    "pointing": "#call=gather_elements+f32[2,3]+i64[2,2]={1,0,2,2}+axis=1&point=output:1",
    "refused": "#call=gather+f32[3]+i64[2]={0,7}&show=kernels",
    "objected": "#call=gather+f32[4,3]+i64[2,2]+axis=1+out_of_range=clamp&as=torch.index_select",
    "comparing": "#call=gather+f32[3,2]+i64[2]={0,1}&as=Gather&show=compare&with=numpy.take",
    "running": "#call=scatter+f32[3]+i64[3]={0,0,1}+f32[3]+reduction=add&step=3",
}


def violations(page: Any) -> list[str]:
    # Without a copy of the style sheets, which a page from the disk may not read.
    results = axe.Axe().run(page.tab, options={"preload": False})
    return [f"{rule['id']}: {node['target']} {node['failureSummary']}"
            for rule in results.response["violations"] for node in rule["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", STATES)
def test_axe(new_page: Any, state: str, theme: str) -> None:
    page = new_page(color_scheme=theme, width=390 if state == "running" else 1440)
    page.open(STATES[state])
    assert violations(page) == []


# The contrast of text in SVG, which axe-core leaves out: each label against its own cell.
CONTRAST = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c =>
    c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const card = channels(getComputedStyle(document.querySelector('.scene')).backgroundColor);
  const over = (top, opacity) => top.slice(0, 3).map((c, i) => c * opacity + card[i] * (1 - opacity));
  const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05); };
  return [...document.querySelectorAll('.cell')].map(cell => {
    const face = getComputedStyle(cell.querySelector('rect'));
    const text = channels(getComputedStyle(cell.querySelector('text')).fill);
    const fill = face.fill === 'none' ? card : over(channels(face.fill), Number(face.opacity));
    return ratio(text, fill);
  });
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_of_cells(new_page: Any, theme: str) -> None:
    page = new_page(color_scheme=theme, reduced_motion="reduce")  # colours do not fade in
    for state in ("#call=gather+f32[30,3]+i64[4]={0,7,29,40}+axis=0",
                  "#call=gather+f32[30,3]+i64[3]={0,7,29}+axis=0&point=output:2"):
        page.open(state)
        assert min(page.tab.evaluate(CONTRAST)) >= 4.5


def test_grids_are_grids(page: Any) -> None:
    page.show("gather f32[3,2]={1,2,3,4,5,6} i64[2]={2,0} axis=0")
    grid = page.tab.get_by_role("grid", name="data f32[3, 2]")
    assert grid.get_by_role("row").count() == 3
    assert grid.get_by_role("gridcell", name="data[2, 1] = 6", exact=True).count() == 1


def test_what_happens_is_announced(page: Any) -> None:
    assert page.tab.locator("#readout").get_attribute("aria-live") == "polite"
    assert page.tab.locator("#error").get_attribute("role") == "alert"


@pytest.mark.parametrize("width", [390, 768, 1440])
def test_nothing_is_wider_than_the_screen(new_page: Any, width: int) -> None:
    page = new_page(width=width)
    page.open()
    for problem in ("gather f32[40,30] i64[9] axis=1", "gather f32[2,2,3,4] i64[2] axis=0",
                    "scatter f32[64] i64[64] f32[64] axis=0"):
        page.show(problem)
        assert page.tab.evaluate("document.documentElement.scrollWidth") <= width


def test_reduced_motion(new_page: Any) -> None:
    page = new_page(reduced_motion="reduce")
    page.open()
    durations = page.tab.evaluate(
        "[...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)")
    assert set(durations) == {"0s"}


def test_theme_button(new_page: Any) -> None:
    page = new_page(color_scheme="light")
    page.open()
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.tab.evaluate(colour)
    page.tab.click("#theme")
    assert page.tab.get_attribute("#theme", "aria-pressed") == "true"
    dark = page.tab.evaluate(colour)
    assert dark != light
    page.tab.reload()
    page.tab.wait_for_selector("html[data-ready]")
    assert page.tab.evaluate(colour) == dark
