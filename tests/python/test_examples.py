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


def test_serve_layers(capsys: pytest.CaptureFixture[str]) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
    state, model = runpy.run_path(str(EXAMPLES / "serve_layers.py"))["main"]()
    assert state.shape == (2, 12, 16) and torch.isfinite(state).all()
    assert model.embeddings.rows.place == "file"
    assert capsys.readouterr().out == ("states (2, 12, 16) on cpu; 72 rows by the way 'file'\n")


def test_train_table(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
    first, last = runpy.run_path(str(EXAMPLES / "train_table.py"))["main"]()
    assert last < 0.8 * first
    assert "the table is on cpu" in capsys.readouterr().out
