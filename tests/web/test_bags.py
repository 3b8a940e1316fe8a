# SPDX-License-Identifier: MIT
"""Bags and quantised rows: drawn, pointed at, stepped through, compared, and handed out as code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

MEAN = "bag f32[5,3] i64[6]={4,0,2,2,1,3} offsets=i64[3]={0,2,3} pool=mean"
WEIGHTED = "bag row_u8_f32[5,4] i64[2,2]={4,0,2,2} weights=f32[2,2]={1,2,0.5,1}"
SKIPPED = ("bag f32[3,1]={1,2,4} i64[4]={0,9,2,1} lengths=i64[3]={2,0,2} pool=sum out_of_range=skip "
           "padding_index=1")
PRESETS = ["embedding-bag", "weighted-bag", "segment-max", "q4-rows"]


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
    assert bags.texts("output") and "·" not in bags.texts("output")
    assert bags.tab.locator("#plan-lines li").count() > 1
    assert bags.tab.locator("#form").is_hidden()
    for shown in ("#tabs", "#player", "#moves", "#save-steps"):
        assert bags.tab.locator(shown).is_visible()


def test_rows_are_pooled(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    # Rows 4 and 0 of 0, 1, 2, …: the mean of 12 and 0.
    assert bags.texts("output")[:3] == ["6", "7", "8"]
    assert "mean of data[indices[p], …]" in bags.tab.locator("#formula").inner_text()
    bags.tab.fill("#problem", "bag f32[3,1]={1,2,4} i64[3]={0,2,1} offsets=i64[2]={0,2} pool=sum")
    assert bags.texts("output") == ["5", "2"]


def test_the_steps_end_with_the_result(bags: Any) -> None:
    """Each step is a bag that the library ran; the last ones are the output."""
    for problem in (MEAN, WEIGHTED, SKIPPED, "bag f16[3,2] i64[4]={0,2,1,1} offsets=i64[2]={0,3} pool=sqrtn",
                    "bag i32[4,2] lengths=i64[2]={3,1} pool=max", "bag q4_0[4,32] i64[2]={3,1} offsets=i64[2]={0,1}",
                    "bag u8[4,2] i64[3]={3,1,0} offsets=i64[1]={0} scales=f32[4,1]",
                    "bag f32[3,1] i64[2]={0,7} offsets=i64[1]={0} out_of_range=fill fill_value=5 pool=mul"):
        answer = bags.explain(problem)
        steps, output = answer["steps"]["list"], answer["tensors"][-1]
        last = [step for step in steps if step["entry"] is None]
        assert [value for step in last for value in step["after"]] == output["values"], problem
        # Before the division there is nothing between the last entry and the result.
        if answer["call"]["pool"] not in ("mean", "sqrtn"):
            for before, step in zip(steps, steps[1:]):
                if step["entry"] is None and step["pooled"]:
                    assert before["after"] == step["after"], problem


def test_each_entry_is_read_decoded_weighted_and_added(bags: Any) -> None:
    bags.tab.fill("#problem", WEIGHTED)
    assert bags.tab.locator("#moves li").all_text_contents()[:3] == [
        "output[0,:] = 1 * decode(data[4,:])", "output[0,:] += 2 * decode(data[0,:])", "output[0,:] is done"]
    bags.tab.click("#next-move")
    readout = bags.readout()
    assert "read: index 4" in readout and "stored: 30 31 32 33 " in readout
    decoded = bags.explain(WEIGHTED)["tensors"][0]["values"][16:20]
    assert f"decoded: [{', '.join(decoded)}]" in readout
    assert "weighted by 1" in readout and "bag 0 is now" in readout
    assert {"indices:0", "weights:0", "data:16", "data:19", "output:0"} <= bags.with_class("lit")
    assert ("output:0", "indices:0") in bags.wires() and ("indices:0", "data:16") in bags.wires()
    assert bags.texts("output")[4:] == ["·"] * 4, "the second bag is not begun"


def test_a_mean_is_divided_at_the_end(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    assert bags.tab.locator("#moves li").all_text_contents()[:3] == [
        "output[0,:] = data[4,:]", "output[0,:] += data[0,:]", "output[0,:] /= 2"]
    for wanted in (["12", "13", "14"], ["12", "14", "16"], ["6", "7", "8"]):
        bags.tab.click("#next-move")
        assert bags.texts("output")[:3] == wanted


def test_what_is_left_out(bags: Any) -> None:
    bags.tab.fill("#problem", SKIPPED)
    moves = bags.tab.locator("#moves li").all_text_contents()
    assert moves == ["output[0,0] = data[0,0]", "entry 1 is left out", "output[0,0] is done",
                     "output[1,0] = 0: no rows", "output[2,0] = data[2,0]", "entry 3 is left out", "output[2,0] is done"]
    assert bags.texts("output") == ["1", "0", "4"]
    for _ in range(2):
        bags.tab.click("#next-move")
    assert "left out" in bags.readout()


def test_pointing(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    bags.cell("output", 1).hover()
    assert {"data:13", "data:1", "indices:0", "indices:1"} <= bags.with_class("lit")
    assert "mean of 13, 1" in bags.readout()
    bags.cell("data", 7).hover()
    assert "It goes into bag 1, bag 2." in bags.readout()
    bags.cell("offsets", 2).hover()
    assert "Bag 2 has 3 entries." in bags.readout()


def test_compared_with_a_gather_and_a_scatter(bags: Any) -> None:
    """EmbeddingBag against gather + sum: the same values, by way of the rows in between."""
    bags.tab.fill("#problem", WEIGHTED)
    bags.tab.click("#tab-compare")
    bags.tab.select_option("#compare-bag", "gather, then scatter")
    assert "Same values, another way." in bags.tab.locator("#verdict").inner_text()
    assert bags.side("b", "differs") == set()
    rows = bags.tab.locator("#b-grid-updates .cell text").all_text_contents()
    assert len(rows) == 4 * 4
    for move, (left, right) in enumerate([("data:16", "updates:0"), ("data:0", "updates:4"), (None, "updates:4")], 1):
        bags.tab.click("#both-forward")
        assert left is None or left in bags.side("a", "lit"), move
        assert right in bags.side("b", "lit"), move


def test_compared_with_another_pool(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    bags.tab.click("#tab-compare")
    bags.tab.select_option("#compare-bag", "sheaf.bag, max")
    verdict = bags.tab.locator("#verdict").inner_text()
    assert "Other values." in verdict and "output[0, 0] = 6 on the left, output[0, 0] = 12 on the right" in verdict
    assert bags.side("a", "differs") == {"output:0"} == bags.side("b", "differs")
    bags.tab.select_option("#compare-bag", "sheaf.bag, mean")
    assert "Same plan." in bags.tab.locator("#verdict").inner_text()


def test_what_pytorch_refuses(bags: Any) -> None:
    bags.tab.fill("#problem", WEIGHTED)
    bags.tab.click("#tab-compare")
    bags.tab.select_option("#compare-bag", "torch.nn.functional.embedding_bag, mean")
    text = bags.tab.locator("#panel-compare").inner_text()
    assert "refuses: rows are plain floats" in text and 'refuses: per_sample_weights only with mode="sum"' in text
    assert "One of the two is refused." in text


@pytest.mark.parametrize("language, text", [
    ("python", 'sheaf.bag(data, indices, offsets=offsets, pool="mean")'),
    ("cpp", ".pool = sheaf::Pool::kMean"), ("c", ".pool = SHEAF_POOL_MEAN"), ("numpy", "np.add.at(output, ids, rows)"),
    ("pytorch", 'embedding_bag(indices, data, offsets, mode="mean")'), ("onnx", "ONNX has no bags"),
])
def test_code(bags: Any, language: str, text: str) -> None:
    bags.tab.fill("#problem", MEAN)
    bags.tab.select_option("#language", language)
    assert text in bags.tab.locator("#code").inner_text()


def test_the_address_holds_it(bags: Any, new_page: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    bags.tab.click("#next-move")
    bags.tab.click("#tab-compare")
    bags.tab.select_option("#compare-bag", "gather, then scatter")
    other = new_page()
    other.open(bags.tab.url[bags.tab.url.index("#"):])
    assert other.texts("output") == bags.texts("output")
    assert other.tab.input_value("#compare-bag") == "gather, then scatter"


def test_back_and_forth(bags: Any) -> None:
    before = bags.texts("output")
    bags.tab.select_option("#preset", "weighted-bag")
    bags.tab.go_back()
    bags.tab.wait_for_selector("#form:visible")
    assert bags.texts("output") == before
    assert bags.tab.locator("#player").is_visible()


def test_the_operator_by_name(bags: Any) -> None:
    bags.tab.select_option("#operator", "sheaf.bag")
    assert bags.tab.input_value("#preset") == "embedding-bag"
    assert bags.tab.input_value("#operator") == "sheaf.bag"


def test_an_operator_after_a_bag(bags: Any) -> None:
    bags.tab.select_option("#preset", "weighted-bag")
    bags.tab.select_option("#operator", "numpy.take")
    assert bags.tab.locator("#grid-weights").count() == 0
    assert bags.tab.locator("#grid-output-0").is_visible()
    bags.tab.click("#tab-compare")
    assert bags.tab.locator("#compare-with").is_visible() and bags.tab.locator("#compare-bag").is_hidden()


def test_what_is_wrong_with_a_bag(bags: Any) -> None:
    bags.tab.fill("#problem", "bag f32[3,1] i64[2]={0,9} offsets=i64[1]={0}")
    assert "indices[1] = 9, but axis 0 of data has 3 entries" in bags.tab.locator("#error").inner_text()
    assert bags.with_class("outside") == {"indices:1"}
    bags.tab.fill("#problem", "bag f32[3,1] i64[2]={0,1} offsets=i64[2]={0,9}")
    assert "segments do not fit" in bags.tab.locator("#error").inner_text()
    bags.tab.fill("#problem", "bag f32[3,1] i64[2] offsets=i64[1] pool=most")
    assert "most" in bags.tab.locator("#error").inner_text()


def test_values_are_edited_in_their_cells(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    bags.cell("indices", 1).dblclick()
    bags.tab.keyboard.type("3")
    bags.tab.keyboard.press("Enter")
    assert "i64[6]={4,3,2,2,1,3}" in bags.tab.input_value("#problem")
    bags.cell("offsets", 1).dblclick()
    bags.tab.keyboard.type("1")
    bags.tab.keyboard.press("Enter")
    assert "offsets=i64[3]={0,1,3}" in bags.tab.input_value("#problem")
    assert bags.texts("output")[:3] == ["12", "13", "14"]
    bags.tab.go_back()
    bags.tab.wait_for_function("document.getElementById('problem').value.includes('{0,2,3}')")
    # A value that cannot be read leaves the bag as it is, greyed.
    bags.cell("indices", 0).dblclick()
    bags.tab.keyboard.type("x")
    bags.tab.keyboard.press("Enter")
    assert bags.tab.locator("#error").is_visible() and bags.tab.locator("#form").is_hidden()
    bags.tab.fill("#problem", WEIGHTED)
    bags.cell("data", 0).dblclick()
    assert bags.tab.locator(".cell-input").count() == 0, "bytes of encoded rows are made up"


def test_a_large_bag_is_planned_only(bags: Any) -> None:
    bags.tab.fill("#problem", "bag row_u8_f32[1000000,64] i64[4096,20]")
    assert "Too large to draw" in bags.tab.locator("#stage").inner_text()
    assert "for s in 0..4096" in bags.tab.locator("#plan-lines").inner_text()


def test_saved_as_files(bags: Any) -> None:
    bags.tab.fill("#problem", MEAN)
    for button, start in (("#save-svg", b"<svg"), ("#save-png", b"\x89PNG"), ("#save-steps", b"\x89PNG")):
        with bags.tab.expect_download() as download:
            bags.tab.click(button)
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_by_keyboard_alone(bags: Any) -> None:
    tab_to(bags, "preset")
    bags.tab.keyboard.type("Segments")
    bags.tab.keyboard.press("Enter")
    assert bags.tab.locator("#grid-lengths").is_visible()
    tab_to(bags, "problem")
    tab_to(bags, "next-move")
    bags.tab.keyboard.press("Enter")
    assert "Move 1" in bags.readout()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open("#call=" + MEAN.replace(" ", "+") + "&step=4&show=compare&with=gather,+then+scatter&move=2")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert page.tab.input_value("#compare-bag") == "gather, then scatter"
    assert violations(page) == []
