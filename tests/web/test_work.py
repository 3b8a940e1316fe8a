# SPDX-License-Identifier: MIT
"""Work is not lost: Back returns, "Your own" restores, values outlive a change of sizes."""

from __future__ import annotations

from typing import Any

import pytest

CALL = "gather f32[2,3]={1,2,3,4,5,6} i64[2]={1,0} axis=0"
SUM = "scatter f32[3,2]={1,2,3,4,5,6} i64[2]={2,0} f32[2,2]={7,8,9,10} axis=0 reduction=add"


@pytest.fixture
def work(new_page: Any) -> Any:
    page = new_page()
    page.open("#call=" + CALL.replace(" ", "+"))
    return page


def back(page: Any) -> None:
    before = page.tab.url
    page.tab.go_back()
    page.tab.wait_for_function("before => location.href !== before", arg=before)


def problem(page: Any) -> str:
    return page.tab.evaluate("sheaf.page.state.problem")


def test_back_returns_from_an_example(work: Any) -> None:
    work.tab.select_option("#preset", "histogram")
    assert work.texts("output") == ["1", "4", "0", "2", "1"]
    back(work)
    assert work.texts("data") == ["1", "2", "3", "4", "5", "6"]
    work.tab.go_forward()
    work.tab.wait_for_function("sheaf.page.state.problem.startsWith('scatter')")


def test_back_returns_from_another_operator(work: Any) -> None:
    work.tab.select_option("#operator", "torch.gather")
    assert work.texts("data")[0] == "1" and len(work.texts("data")) == 9  # its own example
    back(work)
    assert problem(work) == CALL


def test_typing_into_a_field_is_one_step_back(work: Any) -> None:
    work.tab.locator("#field-indices-values").press_sequentially(", 1")
    back(work)
    assert problem(work) == CALL
    assert work.tab.input_value("#field-indices-values") == "1, 0"


def test_each_changed_cell_is_a_step_back(work: Any) -> None:
    for element, text in ((0, "8"), (1, "9")):
        work.cell("data", element).dblclick()
        work.tab.keyboard.type(text)
        work.tab.keyboard.press("Enter")
    assert work.texts("data")[:2] == ["8", "9"]
    back(work)
    assert work.texts("data")[:2] == ["8", "2"]
    back(work)
    assert work.texts("data")[:2] == ["1", "2"]


def test_looking_around_is_no_step_back(work: Any) -> None:
    work.tab.select_option("#preset", "histogram")
    work.cell("output", 1).click()
    work.tab.click("#tab-kernels")
    work.tab.click("#next-move")
    back(work)
    assert problem(work) == CALL


def test_your_own_restores_what_was_typed(work: Any) -> None:
    work.tab.fill("#field-data-values", "9, 8, 7, 6, 5, 4")
    work.tab.select_option("#preset", "histogram")
    work.tab.select_option("#preset", "top-k")
    work.tab.select_option("#preset", "")
    assert work.texts("data") == ["9", "8", "7", "6", "5", "4"]
    assert work.tab.input_value("#preset") == ""


def test_your_own_survives_an_operator_that_brings_its_example(work: Any) -> None:
    work.tab.select_option("#operator", "stablehlo.gather")
    work.tab.select_option("#preset", "histogram")
    work.tab.select_option("#preset", "")
    assert problem(work) == CALL


def test_your_own_survives_a_reload(work: Any) -> None:
    work.tab.fill("#field-data-values", "9, 8, 7, 6, 5, 4")
    work.tab.select_option("#preset", "histogram")
    work.tab.reload()
    work.tab.wait_for_selector("html[data-ready]")
    work.tab.select_option("#preset", "")
    assert work.texts("data") == ["9", "8", "7", "6", "5", "4"]


def test_your_own_before_there_is_any(new_page: Any) -> None:
    page = new_page()
    page.open()
    page.tab.select_option("#preset", "histogram")
    page.tab.select_option("#preset", "")
    assert "it is kept here" in page.tab.locator("#toast").inner_text()


def test_sizes_that_grow_keep_positions(work: Any) -> None:
    work.tab.fill("#field-data-sizes", "3, 4")
    assert work.texts("data") == "1 2 3 0 4 5 6 0 0 0 0 0".split()


def test_sizes_that_shrink_and_grow_again_lose_nothing(work: Any) -> None:
    field = work.tab.locator("#field-data-sizes")
    field.fill("2, 1")
    assert work.texts("data") == ["1", "4"]
    field.fill("")
    field.press_sequentially("2, 13")  # by way of "2", "2, 1"
    assert work.texts("data")[:3] == ["1", "2", "3"] and len(work.texts("data")) == 26
    field.fill("2, 3")
    assert work.texts("data") == ["1", "2", "3", "4", "5", "6"]


def test_another_shape_of_the_same_values(work: Any) -> None:
    work.tab.fill("#field-data-sizes", "3, 2")
    assert work.texts("data") == ["1", "2", "3", "4", "5", "6"]


def test_indices_and_updates_keep_what_fits(page: Any) -> None:
    page.show(SUM)
    page.tab.fill("#field-indices-sizes", "3")
    assert page.texts("indices") == ["2", "0", "0"]
    assert page.texts("updates") == ["7", "8", "9", "10", "0", "0"]
    page.tab.fill("#field-data-sizes", "3, 1")
    assert page.texts("updates") == ["7", "9", "0"]
    page.tab.fill("#field-data-sizes", "3, 2")
    page.tab.fill("#field-indices-sizes", "2")
    assert page.texts("updates") == ["7", "8", "9", "10"]


def test_another_axis_keeps_the_updates(page: Any) -> None:
    page.show("scatter f32[3,2]={1,2,3,4,5,6} i64[1]={0} f32[1,2]={7,8} axis=0")
    page.tab.fill("#option-axis", "1")
    assert page.tab.locator("#error").is_hidden()
    assert page.texts("updates") == ["7", "0", "0"]


def test_another_type_keeps_values_that_it_can_hold(work: Any) -> None:
    work.tab.fill("#field-data-values", "1, 2, 3, 4, 5, 0.5")
    work.tab.select_option("#field-data-dtype", "f64")
    assert work.texts("data") == ["1", "2", "3", "4", "5", "0.5"]
    work.tab.select_option("#field-data-dtype", "i32")
    assert work.tab.locator("#error").is_hidden()
    work.tab.select_option("#field-data-dtype", "f32")
    assert work.texts("data") == ["1", "2", "3", "4", "5", "0.5"]


def test_another_operator_keeps_indices_that_are_out_of_range(page: Any) -> None:
    page.show("gather f32[3]={1,2,3} i64[2]={0,9} out_of_range=clamp", **{"as": "DML_GATHER"})
    page.tab.select_option("#operator", "numpy.take")
    assert page.texts("indices") == ["0", "9"]
    assert page.with_class("outside") == {"indices:1"}
