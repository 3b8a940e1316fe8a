# SPDX-License-Identifier: MIT
"""The Python programs of examples/ run, and print what they say."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_embedding(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "embedding.py"))
    output = capsys.readouterr().out
    assert output.startswith("[-0.1  0.  -0.2  0. ]\n")
    assert "indices[1] = 4, but axis 0 of data has 4 entries" in output
