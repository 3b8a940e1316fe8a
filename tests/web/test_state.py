# SPDX-License-Identifier: MIT
"""The address holds the whole state, and restores it."""

from __future__ import annotations

from typing import Any


def snapshot(page: Any) -> dict[str, Any]:
    return {
        "output": page.texts("output"),
        "call": page.tab.locator("#call-text").inner_text(),
        "pointed": page.with_class("pointed"),
        "wires": page.wires(),
        "readout": page.readout(),
        "running": page.tab.locator(".plan-lines .running").all_inner_texts(),
        "fields": page.tab.evaluate(
            "[...document.querySelectorAll('input, select, textarea')].map(field =>"
            " [field.id, field.type === 'checkbox' ? field.checked : field.value])"),
        "panels": page.tab.evaluate(
            "[...document.querySelectorAll('[role=tabpanel]')].map(panel => panel.hidden)"),
        "verdict": page.tab.locator("#verdict").all_inner_texts(),
    }


def test_edited_call_survives_a_reload(new_page: Any) -> None:
    page = new_page()
    page.open()
    page.tab.select_option("#operator", "tf.gather")
    page.tab.fill("#field-data-sizes", "2, 4")
    page.tab.fill("#field-data-values", "1, 2, 3, 4, 5, 6, 7, 8")
    page.tab.fill("#field-indices-sizes", "2, 3")
    page.tab.fill("#field-indices-values", "3, 0, 1, 2, 2, 9")
    page.tab.fill("#option-axis", "1")
    page.tab.fill("#option-batch_dims", "1")
    page.tab.select_option("#option-out_of_range", "clamp")
    page.cell("output", 5).click()
    page.tab.mouse.move(5, 5)
    page.tab.click("#tab-compare")
    page.tab.select_option("#compare-with", "torch.gather")
    before = snapshot(page)
    assert before["output"] == ["4", "1", "2", "7", "7", "8"]
    assert before["pointed"] == {"output:5"}
    other = new_page()
    other.open(page.tab.url[page.tab.url.index("#"):])
    assert snapshot(other) == before


def test_running_line_and_language_are_in_the_address(new_page: Any) -> None:
    page = new_page()
    page.open("#call=gather+f32[3,2]+i64[2]={2,0}")
    page.tab.click("#forward")
    page.tab.click("#forward")
    page.tab.select_option("#language", "onnx")
    before = snapshot(page)
    assert len(before["running"]) == 1
    page.tab.reload()
    page.tab.wait_for_selector("html[data-ready]")
    assert snapshot(page) == before
    assert "helper.make_node(\"Gather\"" in page.tab.locator("#code").inner_text()


def test_changing_the_address_changes_the_page(page: Any) -> None:
    page.show("gather f32[2]={5,6} i64[1]={1}")
    assert page.texts("output") == ["6"]
    page.show("gather f32[2]={5,6} i64[1]={0}")
    assert page.texts("output") == ["5"]


def test_tensors_without_values_are_made_up_and_said_to_be(page: Any) -> None:
    page.show("scatter f32[3,2] i64[2] axis=0")
    assert page.tab.locator(".remark").all_inner_texts() == ["made up"] * 3
    assert len(page.texts("updates")) == 4
