# SPDX-License-Identifier: MIT
"""%load_ext sheaf: %%explain draws the gathers and scatters of a notebook's cell.

The cell runs as it stands. Each call in it, and each data[indices], is looked at on its way: what
Sheaf or another library calls a gather or a scatter is drawn, with the values it had then.
"""

from __future__ import annotations

import ast
import html
import sys
from typing import Any, Callable

import numpy

from . import _sheaf
from ._explain import Explanation, explain
from ._explain_bags import BagExplanation

MOST = 16  # pictures of one cell
_CALL, _ITEM = "__sheaf_call__", "__sheaf_item__"
# Sheaf's own operators, with the number of their arrays; NumPy's functions by NumPy's names.
_OPERATORS = {"gather": 2, "gather_elements": 2, "gather_nd": 2, "scatter": 3,
              "scatter_elements": 3, "scatter_nd": 3}
_NUMPYS = ("take", "take_along_axis", "put_along_axis")
# These look at the frame they are called from.
_FRAMES = ("super", "locals", "globals", "vars", "dir", "eval", "exec")


class _Watch(ast.NodeTransformer):
    """Calls become calls of _CALL, and data[indices] one of _ITEM."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _FRAMES:
            return node
        watched = ast.Call(ast.Name(_CALL, ast.Load()), [node.func, *node.args], node.keywords)
        return ast.copy_location(ast.fix_missing_locations(watched), node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        slices = any(isinstance(part, (ast.Slice, ast.Starred)) for part in ast.walk(node.slice))
        if slices or not isinstance(node.ctx, ast.Load):
            return node
        watched = ast.Call(ast.Name(_ITEM, ast.Load()), [node.value, node.slice], [])
        return ast.copy_location(ast.fix_missing_locations(watched), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node  # x: list[int] is no data[indices]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = [self.visit(statement) for statement in node.body]
        return node  # nor are the types of arguments


def _library(array: Any) -> str:
    return type(array).__module__.partition(".")[0]


def _name_of(function: Any) -> tuple[str, tuple[Any, ...]]:
    """The name in the table of a function, and the arguments that it is bound to; "" if none."""
    name = getattr(function, "__name__", "")
    bound = getattr(function, "__self__", None)
    if name == "at" and isinstance(bound, numpy.ufunc):
        return f"numpy.{bound.__name__}.at", ()
    if bound is not None and not isinstance(bound, type(sys)):
        if _library(bound) == "torch":
            other = f"Tensor.{name}"
            return (other if _sheaf.find_name(other) else f"torch.{name}"), (bound,)
        if type(bound).__name__ == "_IndexUpdateRef":  # of JAX: data.at[indices].add(updates)
            return f"data.at[indices].{name}", (bound.array, bound.index)
        return (f"numpy.{name}", (bound,)) if isinstance(bound, numpy.ndarray) else ("", ())
    module = getattr(function, "__module__", None) or _library(bound) or ""
    package = module.partition(".")[0]
    if package == "sheaf":
        return (f"numpy.{name}" if name in _NUMPYS else name), ()
    if package == "torch" and name == "embedding":
        return "torch.nn.functional.embedding", ()
    prefix = {"numpy": "numpy", "torch": "torch", "jax": "jnp", "tensorflow": "tf"}.get(package, "")
    if not prefix and getattr(sys.modules.get("torch"), name or "?", None) is function:
        prefix = "torch"  # its builtins name no module
    return (f"{prefix}.{name}" if prefix else ""), ()


class Recorder:
    """The explanations of the calls that pass through it, in order."""

    def __init__(self) -> None:
        self.pictures: list[str] = []
        self.left_out = 0

    def _record(self, name: str, values: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        if len(self.pictures) >= MOST:
            self.left_out += 1
            return
        keywords = {key: value for key, value in keywords.items() if key not in ("out", "threads")}
        if name in _OPERATORS and len(values) > _OPERATORS[name]:
            option = "batch_dims" if name.endswith("_nd") else "axis"
            keywords[option] = values[_OPERATORS[name]]
            values = values[:_OPERATORS[name]]
        try:
            # Drawn now: a scatter in place changes the values.
            self.pictures.append(_html(explain(name, *values, **keywords)))
        except Exception:
            pass  # no gather that can be drawn, or one that fails: the call itself says why

    def call(self, function: Callable[..., Any], /, *values: Any, **keywords: Any) -> Any:
        name, bound = _name_of(function)
        if name in _OPERATORS or name == "bag" or (name and _sheaf.find_name(name)):
            self._record(name, (*bound, *values), keywords)
        return function(*values, **keywords)

    def item(self, data: Any, index: Any) -> Any:
        library = _library(data)
        if library in ("numpy", "torch", "jaxlib", "jax"):
            indices = numpy.array(index) if _is_list_of_integers(index) else index
            if getattr(indices, "ndim", 0) >= 1 and not str(indices.dtype).endswith("bool"):
                prefix = {"torch": "torch: ", "jax": "jax: ", "jaxlib": "jax: "}.get(library, "")
                self._record(f"{prefix}data[indices]", (data, indices), {})
        return data[index]


def _is_list_of_integers(index: Any) -> bool:
    """Not [True, False], which is a mask."""
    return isinstance(index, list) and len(index) > 0 and all(
        isinstance(entry, (int, numpy.integer)) and not isinstance(entry, bool) for entry in index)


def _html(explanation: Explanation | BagExplanation) -> str:
    objections = getattr(explanation, "objections", [])
    return explanation.svg + "".join(f"<p>{html.escape(text)}</p>" for text in objections)


class Pictures:
    """What %%explain shows: the pictures of a cell, one below the other."""

    def __init__(self, pictures: list[str], left_out: int) -> None:
        self.pictures, self.left_out = pictures, left_out

    def _repr_html_(self) -> str:
        more = f"<p>and {self.left_out} more</p>" if self.left_out else ""
        return "\n".join(f"<div>{picture}</div>" for picture in self.pictures) + more

    def __repr__(self) -> str:
        count = len(self.pictures)
        return f"<{count} picture{'' if count == 1 else 's'} of gathers and scatters>"


def run_cell(shell: Any, cell: str) -> Pictures:
    """Runs a cell in an IPython shell; the pictures of its gathers and scatters."""
    recorder, watch = Recorder(), _Watch()
    space = shell.user_ns
    space[_CALL], space[_ITEM] = recorder.call, recorder.item
    shell.ast_transformers.append(watch)
    try:
        shell.run_cell(cell)
    finally:
        shell.ast_transformers.remove(watch)
        for name in (_CALL, _ITEM):
            space.pop(name, None)
    return Pictures(recorder.pictures, recorder.left_out)


def load(shell: Any) -> None:
    """Registers %%explain."""

    def explain_cell(line: str, cell: str) -> Any:
        """Runs the cell and draws its gathers and scatters with their values."""
        return run_cell(shell, cell)

    shell.register_magic_function(explain_cell, "cell", "explain")
