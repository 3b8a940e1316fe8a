# SPDX-License-Identifier: MIT
"""docs/tutorial.ipynb: its cells run, and print and show what is stored in it."""

import importlib.util
import json

import notebook


def test_the_tutorial():
    stored = json.loads(notebook.PATH.read_text(encoding="utf-8"))
    has_torch = importlib.util.find_spec("torch") is not None
    ran = 0
    for cell, outputs in notebook.run(stored, lambda code: has_torch or "torch" not in code):
        assert outputs == cell["outputs"], "run: scripts/python tests/python/notebook.py"
        ran += 1
    assert ran >= 5
