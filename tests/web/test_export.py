# SPDX-License-Identifier: MIT
"""The picture as a file, the folder as it is shipped."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from conftest import PAGE

SVG = "{http://www.w3.org/2000/svg}"
CALL = "#call=gather+f32[3,2]={1,2,3,4,5,6}+i64[2]={2,0}+axis=0&point=output:3"


def saved(page: Any, button: str) -> bytes:
    with page.tab.expect_download() as download:
        page.tab.click(button)
    return Path(download.value.path()).read_bytes()


def test_svg_stands_alone(new_page: Any) -> None:
    page = new_page(accept_downloads=True)
    page.open(CALL)
    picture = ElementTree.fromstring(saved(page, "#save-svg"))
    texts = ["".join(text.itertext()) for text in picture.iter(f"{SVG}text")]
    assert {"data f32[3, 2]", "indices i64[2]", "output f32[2, 2]"} <= set(texts)
    assert len(list(picture.iter(f"{SVG}path"))) == 2  # output to index, index to data
    # Colours are in it: no style sheet comes along.
    styles = [rect.get("style") or "" for rect in picture.iter(f"{SVG}rect")]
    assert all("fill:" in style and "var(" not in style for style in styles)
    assert not list(picture.iter(f"{SVG}image"))


def test_png(new_page: Any) -> None:
    page = new_page(accept_downloads=True)
    page.open(CALL)
    data = saved(page, "#save-png")
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[at:at + 4], "big") for at in (16, 20))
    assert width > 600 and height > 200


def test_folder_is_small_and_names_no_other_host() -> None:
    files = list(PAGE.parent.iterdir())
    assert sum(file.stat().st_size for file in files) < 1_250_000
    for name in ("index.html", "style.css", "parts.css"):
        text = (PAGE.parent / name).read_text(encoding="utf-8")
        assert "//" not in text.replace("http://www.w3.org", "")


def test_any_web_server_will_do(new_page: Any) -> None:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=str(PAGE.parent)))
    Thread(target=server.serve_forever, daemon=True).start()
    page = new_page()
    requests: list[str] = []
    page.tab.on("request", lambda request: requests.append(request.url))
    page.tab.goto(f"http://localhost:{server.server_port}/{CALL}")
    page.tab.wait_for_selector("html[data-ready]")
    assert page.texts("output") == ["5", "6", "1", "2"]
    assert all(url.startswith((f"http://localhost:{server.server_port}/", "data:")) for url in requests)
    server.shutdown()
