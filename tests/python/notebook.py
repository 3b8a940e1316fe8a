# SPDX-License-Identifier: MIT
"""Runs the cells of docs/tutorial.ipynb without Jupyter.

usage: scripts/python tests/python/notebook.py     runs it and stores what the cells print and show
"""

import ast
import io
import json
from contextlib import redirect_stdout
from pathlib import Path

PATH = Path(__file__).resolve().parents[2] / "docs" / "tutorial.ipynb"


def run_cell(source, namespace):
    """What the cell prints, and its last expression if it has a picture."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(tree, "tutorial", "exec"), namespace)
        value = eval(compile(ast.Expression(last.value), "tutorial", "eval"), namespace) if last else None
    outputs = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout",
                        "text": printed.getvalue().splitlines(keepends=True)})
    if hasattr(value, "_repr_svg_"):
        outputs.append({"output_type": "display_data", "metadata": {},
                        "data": {"image/svg+xml": [value._repr_svg_()],
                                 "text/plain": [repr(value)]}})
    return outputs


def run(notebook, keep):
    """The outputs of each code cell that `keep` says yes to, in order."""
    namespace = {}
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and keep(source):
            yield cell, run_cell(source, namespace)


def main():
    notebook = json.loads(PATH.read_text(encoding="utf-8"))
    for number, (cell, outputs) in enumerate(run(notebook, lambda source: True), 1):
        cell["outputs"], cell["execution_count"] = outputs, number
    PATH.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
