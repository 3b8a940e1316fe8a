# SPDX-License-Identifier: MIT
"""The problems for a GPU: buffers far larger than its caches, so that memory is what is measured."""

from __future__ import annotations

from cases import MIB, Case, ScatterCase, growth, rows_case

GIB = 1 << 30
TABLE = 8 * GIB
SIDE = 16384  # of the square for the inner axis and for elements
LONG = (2048, 100_000)

# Rows whose bytes are no multiple of 16 stand beside the next size that is one.
ODD = {7: 16, 12: 16, 13: 16, 20: 32, 33: 48, 65: 80, 200: 208, 1000: 1008, 1001: 1008,
       10248: 10256}
ROWS = (4, 7, 8, 12, 13, 16, 20, 32, 33, 48, 64, 65, 80, 128, 200, 208, 256, 512, 1000, 1001, 1008,
        1024, 4096, 10248, 10256, 16384)
QUICK_ROWS = (4, 12, 16, 64, 128, 256, 512, 4096)


def index_name(index_bytes: int) -> str:
    return f"int{8 * index_bytes}"


def far_rows(row_bytes: int, index_bytes: int = 8) -> Case:
    name = f"rows of {row_bytes} B" + (", int32" if index_bytes == 4 else "")
    output = GIB // 4 if row_bytes == 4 else GIB
    element = 1 if row_bytes % 4 else 4
    return Case(name, "rows", "take", (TABLE // row_bytes, row_bytes // element),
                (output // row_bytes,), index_bytes=index_bytes, element_bytes=element)


def square(op: str, axis: int, index_bytes: int, shape: tuple[int, int] = (SIDE, SIDE)) -> Case:
    what = "inner axis" if op == "take" else f"elements, axis {(0, -1)[axis]}"
    size = "" if shape == (SIDE, SIDE) else f", {shape[0]:,} x {shape[1]:,}"
    indices = shape[axis:] if op == "take" else shape
    return Case(f"{what}{size}, {index_name(index_bytes)}", "square", op, shape, indices, axis=axis,
                index_bytes=index_bytes)


def pairs(channels: int) -> Case:
    output = {1: GIB // 4, 4: GIB // 2}.get(channels, GIB)
    shape = (4096, 4096, channels)
    return Case(f"nd pairs, C = {channels}", "nd", "nd", shape, (output // (4 * channels), 2))


def gathers(quick: bool) -> list[Case]:
    cases = [far_rows(row) for row in (QUICK_ROWS if quick else ROWS)]
    cases += [far_rows(row, 4) for row in ((16,) if quick else (4, 16, 64, 512))]
    for op, axis in (("take", 1), ("elements", 1), ("elements", 0)):
        cases += [square(op, axis, width) for width in ((8,) if quick else (8, 4))]
    if not quick:  # rows longer than shared memory
        cases += [square(op, 1, 8, LONG) for op in ("take", "elements")]
    cases += [pairs(channels) for channels in ((1, 32) if quick else (1, 4, 32, 128))]
    return cases


def added_elements(axis: int) -> ScatterCase:
    shape = (SIDE, SIDE)
    return ScatterCase(f"add elements, axis {(0, -1)[axis]}", "scatter other", "elements", shape,
                       shape, axis=axis)


def scatters(quick: bool) -> list[ScatterCase]:
    many = 8 * MIB
    cases = [rows_case(many, MIB), rows_case(many, MIB, row_bytes=512)]
    if not quick:
        cases += [rows_case(many, 100), rows_case(many // 2, 1000)]
        cases += [rows_case(many // 2, MIB, row_bytes=row) for row in (4, 16)]
        for row in (64, 512):
            cases += [rows_case(MIB // 2, 1, row_bytes=row),
                      rows_case(many // 2, MIB, "zipf 1.2", row)]
        cases += [added_elements(axis) for axis in (1, 0)]
    cases.append(ScatterCase("put 8 Mi unique rows of 64 B", "scatter rows", "rows", (many, 16),
                             (many,), distribution="unique", reduction="none"))
    return cases


TINY = Case("tiny: 32 rows of 256 B", "tiny", "take", (1000, 64), (32,))


def all_cases(quick: bool, growth_only: bool) -> list[Case | ScatterCase]:
    """In the order of the tables. Growth is the slowest to learn little from: not in `quick`."""
    if growth_only:
        return growth()
    return [*gathers(quick), *([] if quick else growth()), *scatters(quick), TINY]
