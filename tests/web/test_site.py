# SPDX-License-Identifier: MIT
"""The site of scripts/web --site, served by a plain file server and crawled."""

from __future__ import annotations

import re
import subprocess
import xml.etree.ElementTree as ElementTree
from functools import partial
from html.parser import HTMLParser
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Iterator
from urllib.parse import urljoin, urlsplit

import pytest

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")

from conftest import ROOT  # noqa: E402
from test_accessibility import violations  # noqa: E402  (needs axe-core)

SITE = ROOT / "build" / "site"

pytestmark = pytest.mark.skipif(not (SITE / "sitemap.xml").is_file(), reason="needs scripts/web --site build/site")


class Links(HTMLParser):
    """What a page points at, and its meta tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.meta: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        for key in ("href", "src"):
            if value := named.get(key):
                self.links.append(value)
        if tag == "meta" and (name := named.get("property") or named.get("name")):
            self.meta[name] = named.get("content") or ""
            if name == "og:image":
                self.links.append(self.meta[name])


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("localhost", 0), partial(Quiet, directory=str(SITE)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}/"
    server.shutdown()


def read(address: str) -> tuple[int, str, bytes]:
    parts = urlsplit(address)
    connection = HTTPConnection(parts.hostname or "", parts.port or 80)
    connection.request("GET", parts.path)
    answer = connection.getresponse()
    return answer.status, answer.getheader("Content-Type") or "", answer.read()


@pytest.fixture(scope="module")
def crawled(server: str) -> dict[str, tuple[int, str, bytes]]:
    """Every address that can be reached from the first one."""
    found: dict[str, tuple[int, str, bytes]] = {}
    waiting = [server]
    while waiting:
        address = waiting.pop()
        if address in found:
            continue
        found[address] = read(address)
        status, kind, body = found[address]
        if status == 200 and kind.startswith("text/html"):
            for link in Links(body.decode()).links:
                whole = urljoin(address, link).split("#")[0]
                assert whole.startswith(server), f"{address} leads to {whole}"
                waiting.append(whole)
    return found


def test_no_dead_link(crawled: dict[str, tuple[int, str, bytes]]) -> None:
    assert {address for address, (status, _, _) in crawled.items() if status != 200} == set()


def test_an_address_for_each_name_and_pair(page: Any, server: str, crawled: dict[str, Any]) -> None:
    slugs = [name["slug"] for dialect in page.tab.evaluate("sheaf.dialects") for name in dialect["names"]]
    assert len(set(slug.lower() for slug in slugs)) == len(slugs)
    for slug in [*slugs, "vs/gather_elements-gather_nd", "vs/torch.gather-tf.gather"]:
        assert f"{server}{slug}/" in crawled, slug


def test_the_sitemap_has_every_page(server: str, crawled: dict[str, Any]) -> None:
    tree = ElementTree.fromstring((SITE / "sitemap.xml").read_text())
    listed = {urljoin(server, loc.text or "") for loc in tree.iter() if loc.tag.endswith("loc")}
    assert listed == {address for address, (_, kind, _) in crawled.items() if kind.startswith("text/html")}


def test_previews(crawled: dict[str, tuple[int, str, bytes]]) -> None:
    for address, (_, kind, body) in crawled.items():
        if not kind.startswith("text/html"):
            continue
        meta = Links(body.decode()).meta
        assert {"og:title", "og:description", "og:image", "og:image:alt", "twitter:card"} <= set(meta), address
        image = crawled[urljoin(address, meta["og:image"])][2]
        assert image.startswith(b"\x89PNG")
        width, height = (int.from_bytes(image[at:at + 4], "big") for at in (16, 20))
        assert width >= 600 and abs(width - int(meta["og:image:width"])) <= 2
        assert abs(height - int(meta["og:image:height"])) <= 2
        picture = crawled[urljoin(address, "picture.svg")][2]
        assert ElementTree.fromstring(picture).tag.endswith("svg")
        assert f'alt="{meta["description"]}"'.encode() in body or b'class="prerendered"' in body


def test_titles_differ(crawled: dict[str, tuple[int, str, bytes]]) -> None:
    titles = [re.search(rb"<title>(.*?)</title>", body)[1]  # type: ignore[index]
              for _, kind, body in crawled.values() if kind.startswith("text/html")]
    assert len(set(titles)) == len(titles)


@pytest.mark.parametrize("path, call, output", [
    ("torch.gather/", "torch.gather(data, dim=0, index=indices)", "4 8 3 7 2 3"),
    ("numpy.take-clip/", 'numpy.take(data, indices, axis=0, mode="clip")', "30 31 32 0 1 2 30 31 32"),
])
def test_a_name_starts_with_its_call(new_page: Any, server: str, path: str, call: str, output: str) -> None:
    page = new_page()
    page.tab.goto(server + path)
    page.tab.wait_for_selector("html[data-ready]")
    assert page.tab.locator("#call-text").inner_text() == call
    assert page.texts("output") == output.split()
    assert page.tab.url == server + path  # short until something is changed
    page.tab.fill("#option-axis", "1")
    page.tab.wait_for_function("location.hash.startsWith('#call=')")
    page.tab.go_back()
    page.tab.wait_for_function("!location.hash")
    assert page.texts("output") == output.split()


def test_a_pair_starts_compared(new_page: Any, server: str) -> None:
    page = new_page()
    page.tab.goto(server + "vs/gather_elements-gather_nd/")
    page.tab.wait_for_selector("html[data-ready]")
    page.tab.wait_for_function("document.getElementById('verdict').getBoundingClientRect().top < innerHeight")
    assert len(page.side("a", "differs")) == 1 and len(page.side("b", "differs")) == 1


@pytest.mark.parametrize("path, shown", [
    ("sheaf.bag/", "#grid-offsets-0"), ("quantised-rows/", "#grid-weights-0"), ("tables/", ".drawn")])
def test_bags_and_tables_have_pages(new_page: Any, server: str, path: str, shown: str) -> None:
    page = new_page()
    page.tab.goto(server + path)
    page.tab.wait_for_selector("html[data-ready]")
    assert page.tab.locator(shown).is_visible()
    assert page.tab.locator("#error").is_hidden()
    assert page.tab.url == server + path


def test_an_embedding_bag_starts_beside_a_gather_and_a_scatter(new_page: Any, server: str) -> None:
    page = new_page()
    page.tab.goto(server + "vs/embedding_bag-gather_scatter/")
    page.tab.wait_for_selector("html[data-ready]")
    assert page.tab.input_value("#compare-bag") == "gather, then scatter"
    assert "Same values, another way." in page.tab.locator("#verdict").inner_text()


def test_a_name_in_a_frame_of_another_page(new_page: Any, server: str) -> None:
    page = new_page()
    page.tab.goto(server)
    page.tab.wait_for_selector("html[data-ready]")  # what is still on its way would look for its elements
    page.tab.set_content(f'<p>A page.</p><iframe src="{server}torch.gather/#embed=1" title="torch.gather"></iframe>')
    frame = page.tab.frame_locator("iframe")
    frame.locator("#grid-output-0").wait_for()
    assert frame.locator("#call-text").inner_text() == "torch.gather(data, dim=0, index=indices)"
    assert frame.locator("#preset").is_hidden()


def test_every_pair_draws_both(new_page: Any, server: str, crawled: dict[str, Any]) -> None:
    page = new_page()
    for address in sorted(a for a in crawled if "/vs/" in a and a.endswith("/")):
        page.tab.goto(address)
        page.tab.wait_for_selector("html[data-ready]")
        assert page.tab.locator("#a-stage").is_visible() and page.tab.locator("#b-stage").is_visible(), address
        assert page.tab.locator("#panel-compare .error").count() == 0, address


def test_the_picture_is_there_before_the_library(new_page: Any, server: str) -> None:
    page = new_page(java_script_enabled=False)
    page.tab.goto(server + "torch.gather/")
    assert page.tab.evaluate("document.querySelector('#stage img').naturalWidth") > 100


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 768, 1440])
def test_every_width_and_theme(new_page: Any, server: str, width: int, theme: str) -> None:
    page = new_page(width=width, color_scheme=theme)
    page.tab.goto(server + "torch.gather/")
    page.tab.wait_for_selector("html[data-ready]")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_a_base_address_makes_whole_ones(tmp_path: Path) -> None:
    script = ROOT / "build" / "site.cjs"
    subprocess.run(["node", script, ROOT / "build" / "web", tmp_path, ROOT / "build" / "release" / "bin" / "sheaf",
                    "https://example.org/sheaf/"], check=True, capture_output=True)
    text = (tmp_path / "torch.gather" / "index.html").read_text()
    meta = Links(text).meta
    assert meta["og:image"] == "https://example.org/sheaf/torch.gather/picture.png"
    assert meta["og:url"] == "https://example.org/sheaf/torch.gather/"
    assert "<loc>https://example.org/sheaf/torch.gather/</loc>" in (tmp_path / "sitemap.xml").read_text()
    assert "Sitemap: https://example.org/sheaf/sitemap.xml" in (tmp_path / "robots.txt").read_text()
