# SPDX-License-Identifier: MIT
"""The command line, Python, the static pictures of the site and the documents draw the same picture of the same
call, byte for byte. tests/cases/pictures has the picture; tests/tools/explain_test.cc and tests/python/test_explain.py
hold the program and the package against more of them."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

np = pytest.importorskip("numpy")

from conftest import ROOT  # noqa: E402

PICTURES = ROOT / "tests" / "cases" / "pictures"
SITE = ROOT / "build" / "site"
SHEAF = ROOT / "build" / "release" / "bin" / "sheaf"
CALLS = [call for call in json.loads((PICTURES / "calls.json").read_text()) if "site" in call]

pytestmark = pytest.mark.skipif(not (SITE / "sitemap.xml").is_file(), reason="needs scripts/web --site build/site")


def drawn_by_python(call: dict[str, Any]) -> str:
    sheaf = pytest.importorskip("sheaf", reason="needs the package")
    name, options = call["python"]
    data = np.array(call["data"], np.float32) if "data" in call else sheaf.Spec("f32", call["shape"])
    arrays = [data, np.array(call["indices"]), *([np.array(call["offsets"])] if "offsets" in call else [])]
    if name == "torch.gather":
        return str(sheaf.explain(name, arrays[0], options["dim"], arrays[1]).svg)
    return str(sheaf.explain(name, *arrays, **options).svg)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call["site"])
def test_four_places_draw_one_picture(call: dict[str, Any]) -> None:
    picture = (PICTURES / call["picture"]).read_bytes()
    program = subprocess.run([SHEAF, "explain", call["problem"], "--svg", "-"], check=True, capture_output=True)
    assert program.stdout == picture, "the command line"
    assert drawn_by_python(call).encode() == picture, "Python"
    assert (SITE / call["site"] / "picture.svg").read_bytes() == picture, "the site"
    assert (ROOT / call["docs"]).read_bytes() == picture, "the documents"


def test_the_page_of_tables_has_the_picture_of_the_documents() -> None:
    """Tables are drawn by the command line, the site and the documents; Python has none but those in files."""
    picture = (ROOT / "docs" / "pictures" / "table.svg").read_bytes()
    assert (SITE / "tables" / "picture.svg").read_bytes() == picture
    problem = "table f32[6,2] i64[7]={4,1,4,0,5,4,2} from=file to=gpu piece_rows=3 cached=i64[1]={4}"
    program = subprocess.run([SHEAF, "explain", problem, "--svg", "-"], check=True, capture_output=True)
    assert program.stdout == picture


def test_the_page_draws_tables_as_the_command_line(page: Any) -> None:
    problem = "table f32[6,2] i64[7]={4,1,4,0,5,4,2} to=gpu piece_rows=3"
    program = subprocess.run([SHEAF, "explain", problem, "--svg", "-"], check=True, capture_output=True, text=True)
    assert page.explain(problem)["svg"] == program.stdout
