# SPDX-License-Identifier: MIT
"""The picture of an explanation, as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

import numpy

if TYPE_CHECKING:
    from ._explain import Explanation
    from ._sheaf import Spec

_CELL = 26  # pixels
_GAP = 40  # between tensors
_TITLE = 24
_MAX_ROWS = 32
_MAX_COLUMNS = 32
_STYLE = (
    "text{font:11px sans-serif;fill:#222;text-anchor:middle}"
    ".t{font-weight:bold;text-anchor:start}rect{stroke:#fff}"
)

Cell = Callable[[int], "tuple[str, str, str]"]  # element -> colour, label, tooltip


def _colour(element: int, count: int) -> str:
    if element < 0:
        return "#dddddd"
    # Steps of the golden angle: neighbours differ, however many there are.
    return f"hsl({(element * 137.508) % 360:.0f},65%,{72 if count < 400 else 78}%)"


def _grid(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns that show a tensor: the last dimension across, all others down."""
    if not shape:
        return 1, 1
    return int(numpy.prod(shape[:-1], dtype=numpy.int64)), int(shape[-1])


def _tensor(title: str, shape: tuple[int, ...], left: int, cell: Cell) -> tuple[str, int, int]:
    """The tensor's SVG, its width and its height."""
    rows, columns = _grid(shape)
    shown_rows, shown_columns = min(rows, _MAX_ROWS), min(columns, _MAX_COLUMNS)
    parts = [f'<text class="t" x="{left}" y="16">{title}</text>']
    for row in range(shown_rows):
        for column in range(shown_columns):
            colour, label, tooltip = cell(row * columns + column)
            x, y = left + column * _CELL, _TITLE + row * _CELL
            parts.append(
                f'<g><title>{tooltip}</title><rect x="{x}" y="{y}" width="{_CELL}" '
                f'height="{_CELL}" fill="{colour}"/>'
                f'<text x="{x + _CELL // 2}" y="{y + 17}">{label}</text></g>')
    height = _TITLE + shown_rows * _CELL
    if rows > shown_rows or columns > shown_columns:
        height += 16
        parts.append(f'<text class="t" x="{left}" y="{height - 3}">'
                     f'{rows * columns} elements in all</text>')
    width = max(shown_columns * _CELL, 7 * len(title))
    return "".join(parts), width, height


def draw(explanation: Explanation, index_values: Any) -> str:
    plan = explanation.plan
    count = int(numpy.prod(plan.data.shape, dtype=numpy.int64))
    values = numpy.ravel(index_values)

    def data_cell(element: int) -> tuple[str, str, str]:
        return _colour(element, count), str(element), f"data element {element}"

    def index_cell(element: int) -> tuple[str, str, str]:
        return "#f2f2f2", str(values[element]), f"indices element {element}"

    def output_cell(element: int) -> tuple[str, str, str]:
        source = int(explanation.map.flat[element])
        label = "fill" if source < 0 else str(source)
        return _colour(source, count), label, f"from {explanation.source_of(element)}"

    def update_cell(element: int) -> tuple[str, str, str]:
        target = int(explanation.map.flat[element])
        label = "skip" if target < 0 else str(target)
        return _colour(target, count), label, f"to {explanation.target_of(element)}"

    def target_cell(element: int) -> tuple[str, str, str]:
        return _colour(element, count), str(element), f"output element {element}"

    tensors: list[tuple[str, Spec, Cell]]
    if plan.updates is None:
        tensors = [("data", plan.data, data_cell), ("indices", plan.indices, index_cell),
                   ("output", plan.output, output_cell)]
    else:
        tensors = [("updates", plan.updates, update_cell), ("indices", plan.indices, index_cell),
                   ("output", plan.output, target_cell)]
    left, height, parts = 8, 0, []
    for name, spec, cell in tensors:
        title = f"{name} {spec.dtype}{list(spec.shape)}"
        text, width, tall = _tensor(title, spec.shape, left, cell)
        parts.append(text)
        left, height = left + width + _GAP, max(height, tall)
    width = left - _GAP + 8
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 8}" '
            f'viewBox="0 0 {width} {height + 8}"><style>{_STYLE}</style>'
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>')
