# SPDX-License-Identifier: MIT
"""Two calls as two pictures: on the same data, stepping together, the first difference marked."""

from __future__ import annotations

from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

DATA = "f32[3,4]={1,2,3,4,5,6,7,8,9,10,11,12}"
CALL = f"gather_elements {DATA} i64[3,2]={{3,0,1,1,2,3}} axis=1 negative=out_of_range"
SIDES = {"as": "torch.gather", "show": "compare", "with": "tf.gather", "axis_b": 1}


def texts(page: Any, side: str, tensor: str) -> list[str]:
    return page.tab.locator(f"#{side}-grid-{tensor} .cell text").all_text_contents()


def test_two_pictures_on_the_same_data(page: Any) -> None:
    page.show(CALL, **SIDES, batch_b=0)
    assert texts(page, "a", "data") == texts(page, "b", "data") == [str(n) for n in range(1, 13)]
    assert texts(page, "a", "output") == "4 1 6 6 11 12".split()
    assert len(texts(page, "b", "output")) == 18
    boxes = page.tab.evaluate("['a', 'b'].map(s => document.querySelector(`[data-side=${s}]`)"
                              ".getBoundingClientRect()).map(b => [b.left, b.right, b.top])")
    assert boxes[0][1] < boxes[1][0] and boxes[0][2] == boxes[1][2]


def test_the_first_cell_that_differs_is_marked_in_both(page: Any) -> None:
    page.show(CALL, **SIDES, batch_b=0)
    assert page.side("a", "differs") == {"output:2"}
    assert page.side("b", "differs") == {"output:2"}
    assert "First cell that differs: output[1, 0] = 6 on the left, output[0, 1, 0] = 2 on the right." in \
        page.tab.locator("#verdict").inner_text()
    label = page.tab.locator("#b-grid-output-2").get_attribute("aria-label")
    assert label == "output[0, 1, 0] = 2, the first that differs"


def test_a_cell_that_only_one_has(page: Any) -> None:
    page.show("gather f32[2,2]={1,1,1,1} i64[1]={0} axis=0",
              **{"as": "Gather", "show": "compare", "with": "numpy.take", "axis_b": 1})
    assert page.side("a", "differs") == {"output:1"}
    assert page.side("b", "differs") == set()
    assert "is not there on the right" in page.tab.locator("#verdict").inner_text()


def test_the_same_values_have_no_mark(page: Any) -> None:
    page.show(CALL, **SIDES, batch_b=1)
    assert page.side("a", "differs") == page.side("b", "differs") == set()
    assert "With these indices every cell is the same." in page.tab.locator("#verdict").inner_text()


def test_both_step_together(page: Any) -> None:
    page.show(CALL, **SIDES, batch_b=0)
    for _ in range(3):
        page.tab.click("#both-forward")
    assert texts(page, "a", "output") == ["4", "1", "6", "·", "·", "·"]
    assert texts(page, "b", "output")[:4] == ["4", "1", "2", "·"]
    assert page.side("a", "lit") == {"data:5", "indices:2", "output:2"}
    assert page.side("b", "lit") == {"data:1", "indices:2", "output:2"}
    assert "move 3 of 18" in page.tab.locator(".stepper").inner_text()
    assert "move=3" in page.tab.url
    page.tab.fill("#both-move", "18")  # the left one is over
    assert texts(page, "a", "output") == "4 1 6 6 11 12".split()
    page.tab.click("#both-restart")
    assert "move=" not in page.tab.url


def test_both_play(page: Any) -> None:
    page.show("gather f32[2]={1,2} i64[2]={1,0}",
              **{"as": "Gather", "show": "compare", "with": "numpy.take"})
    page.tab.click("#both-play")
    page.tab.wait_for_function("document.querySelector('#both-move').value === '2'")
    page.tab.wait_for_function("document.querySelector('#both-play').textContent === 'Play'")


def test_the_move_is_in_the_address(new_page: Any) -> None:
    page = new_page()
    page.open(f"#call={CALL.replace(' ', '+')}&as=torch.gather&with=tf.gather&axis_b=1&batch_b=0&move=2&show=compare")
    assert texts(page, "a", "output")[:3] == ["4", "1", "·"]


def test_pointing_at_one_points_at_the_other(page: Any) -> None:
    page.show(CALL, **SIDES, batch_b=0)
    page.tab.locator("#a-grid-output-2").hover()
    assert page.side("a", "pointed") == page.side("b", "pointed") == {"output:2"}
    page.tab.mouse.move(5, 5)
    assert page.side("a", "pointed") == page.side("b", "pointed") == set()


def test_a_side_that_is_refused_says_so_instead(page: Any) -> None:
    page.show(CALL, **{**SIDES, "with": "numpy.take_along_axis", "axis_b": 0})
    assert "One of the two is refused." in page.tab.locator("#verdict").inner_text()
    assert page.tab.locator("#b-stage").is_hidden()
    assert "equal sizes, or size 1" in page.tab.locator("[data-side=b] .error").inner_text()
    assert page.tab.locator("#a-stage").is_visible()
    assert page.side("a", "differs") == set()


def test_a_bad_index_is_red_on_its_side(page: Any) -> None:
    page.show(CALL, **{**SIDES, "with": "GatherElements", "axis_b": 0})
    assert page.side("a", "outside") == set()
    assert page.side("b", "outside") == {"indices:0", "indices:5"}
    assert "axis 0 of data has 3 entries" in page.tab.locator("[data-side=b] .error").inner_text()


def test_by_keyboard_alone(page: Any) -> None:
    page.show(CALL, **{**SIDES, "with": ""}, batch_b=0)
    page.tab.evaluate("document.activeElement.blur()")
    tab_to(page, "compare-with")
    page.tab.keyboard.type("tf.gather")
    tab_to(page, "both-forward")
    page.tab.keyboard.press("Enter")
    assert "move 1 of" in page.tab.locator(".stepper").inner_text()
    tab_to(page, "b-grid-output")
    page.tab.keyboard.press("ArrowRight")
    assert page.side("a", "pointed") == page.side("b", "pointed") == {"output:1"}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open(f"#call={CALL.replace(' ', '+')}&as=torch.gather&with=tf.gather&axis_b=1&batch_b=0&move=3&show=compare")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []
