# SPDX-License-Identifier: MIT
"""How times, ratios and tables are written. Needs nothing but Python itself."""

from __future__ import annotations

from collections.abc import Sequence


def seconds_text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        if seconds * factor >= 0.9995 or unit == "ns":  # three digits of less are a thousand
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def is_below_one(ratio: float) -> bool:
    """Whether a ratio is below 1x as it is printed."""
    return round(ratio, 2) < 1


def ratio_text(ratio: float) -> str:
    """Below 1 a peer is faster, which tables show in bold."""
    return f"**{ratio:.2f}x**" if is_below_one(ratio) else f"{ratio:.2f}x"


def text_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as they need to be; the first flush left, the others flush right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def pad(line: Sequence[str]) -> str:
        cells = [f"{line[0]:{widths[0]}}"]
        cells += [f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:])]
        return "  ".join(cells).rstrip()

    return "\n".join(pad(line) for line in lines)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(line) + " |" for line in (header, ["---"] * len(header), *rows)]
