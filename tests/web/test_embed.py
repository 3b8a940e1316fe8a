# SPDX-License-Identifier: MIT
"""The picture inside another page, and its steps as an animated PNG."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from test_accessibility import violations  # noqa: E402  (needs axe-core)
from test_keyboard import tab_to  # noqa: E402

CALL = "#call=gather+f32[3,2]={1,2,3,4,5,6}+i64[2]={2,0}+axis=0&as=numpy.take"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_only_the_picture_and_its_run(new_page: Any, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.open(CALL + "&embed=1")
    for hidden in ("#form", "#preset", "#tabs", "#theme", "#copy-link"):
        assert page.tab.locator(hidden).is_hidden(), hidden
    assert page.tab.locator("#stage").is_visible() and page.tab.locator("#play").is_visible()
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_the_way_back_to_the_whole_page(new_page: Any) -> None:
    page = new_page()
    page.open(CALL + "&embed=1")
    page.tab.click("#next-move")
    assert "embed=1" in page.tab.url
    address = page.tab.locator("#open-page").get_attribute("href")
    assert "step=" in address and "embed" not in address
    other = new_page()
    other.open(address[address.index("#"):])
    assert other.texts("output") == ["5", "6", "·", "·"]
    assert other.tab.locator("#form").is_visible()


def test_code_for_a_frame(new_page: Any) -> None:
    page = new_page()
    page.open(CALL)
    code = page.tab.evaluate("sheaf.page.share.frame()")
    assert code.startswith('<iframe src="file:') and "&amp;embed=1" in code and 'title="numpy.take(data, indices, axis=0)"' in code


def chunks(png: bytes) -> list[tuple[str, bytes]]:
    found, at = [], 8
    while at < len(png):
        length = int.from_bytes(png[at:at + 4], "big")
        kind, content = png[at + 4:at + 8], png[at + 8:at + 8 + length]
        assert int.from_bytes(png[at + 8 + length:at + 12 + length], "big") == zlib.crc32(kind + content)
        found.append((kind.decode(), content))
        at += 12 + length
    return found


def rows(pixels: bytes, width: int, height: int, channels: int) -> list[bytes]:
    """The rows of a picture without PNG's filters."""
    size, before, found = width * channels, bytearray(width * channels), []
    for at in range(0, height * (size + 1), size + 1):
        kind, line = pixels[at], bytearray(pixels[at + 1:at + 1 + size])
        for i in range(size):
            left = line[i - channels] if i >= channels else 0
            corner = before[i - channels] if i >= channels else 0
            guess = left + before[i] - corner
            nearest = min((left, before[i], corner), key=lambda value: abs(guess - value))
            line[i] = (line[i] + (0, left, before[i], (left + before[i]) // 2, nearest)[kind]) % 256
        before = line
        found.append(bytes(line))
    return found


def saved_steps(page: Any, press: Any) -> list[tuple[str, bytes]]:
    with page.tab.expect_download() as download:
        press()
    data = Path(download.value.path()).read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return chunks(data)


def test_steps_as_an_animated_png(new_page: Any) -> None:
    page = new_page(accept_downloads=True)
    page.open(CALL)
    parts = saved_steps(page, lambda: page.tab.click("#save-steps"))
    kinds = [kind for kind, _ in parts]
    assert kinds[:3] == ["IHDR", "acTL", "fcTL"] and kinds[-1] == "IEND"
    assert int.from_bytes(dict(parts)["acTL"][:4], "big") == 3  # before, and after each of two moves
    assert kinds.count("fcTL") == 3
    numbers = [int.from_bytes(content[:4], "big") for kind, content in parts if kind in ("fcTL", "fdAT")]
    assert numbers == list(range(len(numbers)))
    # Each frame is a whole picture, and no two are the same.
    size = parts[0][1]
    width, height = int.from_bytes(size[:4], "big"), int.from_bytes(size[4:8], "big")
    channels = {2: 3, 6: 4}[size[9]]
    frames: list[bytes] = []
    for kind, content in parts:
        if kind == "fcTL":
            frames.append(b"")
        elif kind in ("IDAT", "fdAT"):
            frames[-1] += content[4:] if kind == "fdAT" else content
    pixels = [zlib.decompress(frame) for frame in frames]
    assert all(len(each) == height * (1 + width * channels) for each in pixels)
    assert len(set(pixels)) == 3
    # What is lit is lit in its own frame: nothing fades in. A lit cell has the accent's line, thrice or more.
    accent = bytes.fromhex(page.tab.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')")
                           .strip().lstrip("#"))
    lines = [sum(1 for row in rows(frame, width, height, channels) if accent in row) for frame in pixels]
    assert lines[0] == 0 and min(lines[1:]) > 20
    # The page shows again what it showed.
    assert page.texts("output") == ["5", "6", "1", "2"] and page.with_class("lit") == set()


def test_long_runs_have_fewer_frames(new_page: Any) -> None:
    page = new_page(accept_downloads=True)
    page.open("#call=gather+f32[4]+i64[70]+axis=0")
    parts = saved_steps(page, lambda: page.tab.click("#save-steps"))
    assert int.from_bytes(dict(parts)["acTL"][:4], "big") == 36


def test_by_keyboard_alone(new_page: Any) -> None:
    page = new_page(accept_downloads=True)
    page.open(CALL)
    tab_to(page, "copy-embed")
    tab_to(page, "save-steps")
    parts = saved_steps(page, lambda: page.tab.keyboard.press("Enter"))
    assert parts[1][0] == "acTL"
