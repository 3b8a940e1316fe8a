# SPDX-License-Identifier: MIT
"""What is wrong is said in the library's own words, and nothing is lost."""

from __future__ import annotations

from typing import Any


def error(page: Any) -> str:
    return page.tab.locator("#error").inner_text()


def test_index_out_of_range(page: Any) -> None:
    page.show("gather f32[3,2]={1,2,3,4,5,6} i64[3]={0,7,-9} axis=0")
    assert page.with_class("outside") == {"indices:1", "indices:2"}
    assert "indices[1] = 7, but axis 0 of data has 3 entries (allowed -3..2)" in error(page)
    assert page.texts("output") == ["·"] * 6  # the output is untouched
    assert "out of range" in page.cell("indices", 1).get_attribute("aria-label")


def test_trust_is_not_taken_on_its_word(page: Any) -> None:
    page.show("gather f32[3]={1,2,3} i64[2]={0,900000} out_of_range=trust")
    assert "index out of range" in error(page)


def test_editing_the_index_mends_it(page: Any) -> None:
    page.show("gather f32[3]={1,2,3} i64[2]={0,7}")
    page.cell("indices", 1).dblclick()
    page.tab.keyboard.type("2")
    page.tab.keyboard.press("Enter")
    assert page.tab.locator("#error").is_hidden()
    assert page.texts("output") == ["1", "3"]
    assert "i64[2]={0, 2}".replace(" ", "+") in page.tab.url


def test_shapes_that_do_not_fit(page: Any) -> None:
    page.show("gather_elements f32[3,3] i64[2,3] axis=0")
    page.tab.fill("#field-indices-sizes", "2")
    assert "ranks differ" in error(page)
    assert "stale" in (page.tab.get_attribute("body", "class") or "")
    page.tab.fill("#field-indices-sizes", "1, 3")
    assert page.tab.locator("#error").is_hidden()
    assert len(page.texts("output")) == 3


def test_text_that_is_no_call(page: Any) -> None:
    page.tab.fill("#problem", "gather f32[3 i64[2]")
    assert "problem:" in error(page) and "^" in error(page)
    page.tab.fill("#problem", "gather f32[3]={7,8,9} i64[2]={2,0}")
    assert page.texts("output") == ["9", "7"]


def test_address_that_is_no_call(new_page: Any) -> None:
    page = new_page()
    page.open("#call=<img+src=x>&point=%zz")
    assert "unknown operator" in error(page)
    assert page.tab.locator("#error img").count() == 0
