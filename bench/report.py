# SPDX-License-Identifier: MIT
"""How results are written: times, tables, and a bar chart as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

COLOURS = {"sheaf": "#1b6ca8", "sheaf clamp": "#1b6ca8", "sheaf fail": "#6aaad6", "numpy": "#b9c0c7",
           "torch": "#e07b39", "onnxruntime": "#7a9e52", "cupy": "#7a9e52", "jax": "#b9c0c7"}
LABEL_WIDTH, BAR_WIDTH, BAR, GAP = 300, 520, 11, 12


def seconds_text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        if seconds * factor >= 1 or unit == "ns":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def ratio_text(ratio: float) -> str:
    """Below 1 a peer is faster, which tables show in bold."""
    return f"{ratio:.2f}x" if ratio >= 1 else f"**{ratio:.2f}x**"


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; the first flush left, the others flush right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def pad(line: Sequence[str]) -> str:
        cells = [f"{line[0]:{widths[0]}}"]
        cells += [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:])]
        return "  ".join(cells).rstrip()

    return "\n".join(pad(line) for line in lines)


def bar_chart(title: str, unit: str, rows: list[tuple[str, dict[str, float]]]) -> str:
    """One block of bars per case, one bar per library.

    `rows` holds a case's name and each library's value in [0, …); longer bars are better.
    """
    names = [name for name in COLOURS if any(name in values for _, values in rows)]
    longest = max((value for _, values in rows for value in values.values()), default=1.0)
    top = 64
    height = top + len(rows) * (len(names) * BAR + GAP) + 16
    width = LABEL_WIDTH + BAR_WIDTH + 90
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="12" y="22" font-size="15">{escape(title)}</text>',
    ]
    parts += legend(names, unit)
    y = top
    for label, values in rows:
        middle = y + len(names) * BAR / 2 + 4
        parts.append(f'<text x="{LABEL_WIDTH - 8}" y="{middle}" text-anchor="end">'
                     f"{escape(label)}</text>")
        for name in names:
            if name in values:
                length = BAR_WIDTH * values[name] / longest
                parts.append(f'<rect x="{LABEL_WIDTH}" y="{y}" width="{length:.1f}" '
                             f'height="{BAR - 2}" fill="{COLOURS[name]}"/>')
                parts.append(f'<text x="{LABEL_WIDTH + length + 4:.1f}" y="{y + BAR - 3}" '
                             f'font-size="9" fill="#555">{values[name]:.2f}</text>')
            y += BAR
        y += GAP
    return "\n".join([*parts, "</svg>", ""])


def legend(names: list[str], unit: str) -> list[str]:
    parts = [f'<text x="12" y="44" fill="#555">{escape(unit)}</text>']
    x = LABEL_WIDTH
    for name in names:
        parts.append(f'<rect x="{x}" y="35" width="10" height="10" fill="{COLOURS[name]}"/>')
        parts.append(f'<text x="{x + 14}" y="44">{escape(name)}</text>')
        x += 100
    return parts
