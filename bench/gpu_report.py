# SPDX-License-Identifier: MIT
"""What a run on a GPU prints: its table, and the marks it is held to.

A mark is a share of the copy rate, or a ratio of speeds against a peer measured in the same run.
Equal to a peer means within 1 %: medians of two equal kernels differ by that much.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from cases import ODD, Case, ScatterCase, size
from measure import Timing
from text import seconds_text, text_table

RULES = ("sheaf clamp", "sheaf fail")
PEERS = ("torch", "cupy", "jax")
EQUAL = 0.99

ROW_SHARES = {4: 0.128, 16: 0.30, 32: 0.45, 64: 0.72, 128: 0.90}  # wider rows:
WIDE_SHARE = 0.94
ODD_SHARE, BYTES_SHARE = 0.90, 0.85  # of the bandwidth at the next multiple of 16; rows of bytes
ROW_RATIOS = {16: 15, 64: 12, 256: 4.5, 512: 2.2, 4096: 1.1}  # times torch.index_select
SQUARES = {  # share of copy, times PyTorch
    "inner axis, int32": (0.90, 3), "inner axis, int64": (0.85, 3),
    "elements, axis -1, int64": (0.92, 1.8), "elements, axis 0, int64": (0.40, 3),
    "inner axis, 2,048 x 100,000, int64": (0.35, 1.4),
    "elements, axis -1, 2,048 x 100,000, int64": (0.60, 1.25),
}
SCATTER_RATIOS = {  # in order, times PyTorch's atomics
    "add 524,288 rows of 64 B into 1": 0.58, "add 524,288 rows of 512 B into 1": 1.47,
    "add 4 Mi rows of 64 B into 1 Mi, zipf 1.2": 0.61,
    "add 4 Mi rows of 512 B into 1 Mi, zipf 1.2": 1, "add 4 Mi rows of 64 B into 1,000": 1.1,
    "add 8 Mi rows of 64 B into 100": 1.49, "add 4 Mi rows of 16 B into 1 Mi": 0.6,
    "add elements, axis -1": 1.3, "add elements, axis 0": 2.8, "put 8 Mi unique rows of 64 B": 1,
}
SMALL_GROWTH = 10_000  # rows; up to here a call is held to the best peer
PAIR_SHARES = {32: 0.85, 128: 0.90}


@dataclass(frozen=True)
class Row:
    """What was measured for one case."""

    case: Case | ScatterCase
    timings: dict[str, Timing]

    def bandwidth(self, name: str) -> float:
        # JAX reads int32 indices whatever the others read.
        case = replace(self.case, index_bytes=4) if name == "jax" else self.case
        return case.moved_bytes() / self.timings[name].median

    def speed(self, name: str, peer: str) -> float:
        return self.timings[peer].median / self.timings[name].median

    def best_peer(self) -> str | None:
        peers = [peer for peer in (*PEERS, "torch deterministic") if peer in self.timings]
        return min(peers, key=lambda peer: self.timings[peer].median, default=None)


@dataclass(frozen=True)
class Mark:
    """`got` holds what each way of calling Sheaf reached."""

    case: str
    what: str
    wanted: float
    got: dict[str, float]


def share_mark(row: Row, rate: float, wanted: float) -> Mark:
    got = {rule: row.bandwidth(rule) / rate for rule in RULES if rule in row.timings}
    return Mark(row.case.name, "of copy", wanted, got)


def ratio_mark(row: Row, peer: str, wanted: float, rules: tuple[str, ...] = RULES) -> list[Mark]:
    if peer not in row.timings:
        return []
    got = {rule: row.speed(rule, peer) for rule in rules if rule in row.timings}
    return [Mark(row.case.name, f"times {peer}", wanted, got)] if got else []


def peer_marks(row: Row) -> list[Mark]:
    peer = row.best_peer()
    if peer is None:
        return []
    got = {rule: row.speed(rule, peer) for rule in RULES if rule in row.timings}
    return [Mark(row.case.name, f"times the best peer ({peer})", EQUAL, got)]


def row_marks(row: Row, rate: float, rows: dict[int, Row]) -> list[Mark]:
    width = row.case.row_bytes()
    marks = []
    if width in ODD and ODD[width] in rows:
        other = rows[ODD[width]]
        got = {rule: row.bandwidth(rule) / other.bandwidth(rule) for rule in RULES
               if rule in row.timings and rule in other.timings}
        share = ODD_SHARE if row.case.element_bytes == 4 else BYTES_SHARE
        marks.append(Mark(row.case.name, f"of rows of {ODD[width]} B", share, got))
    elif width in ROW_SHARES or width > 128 and width not in ODD:
        marks.append(share_mark(row, rate, ROW_SHARES.get(width, WIDE_SHARE)))
    marks += peer_marks(row)
    if width in ROW_RATIOS and row.case.index_bytes == 8:
        marks += ratio_mark(row, "torch", ROW_RATIOS[width])
    return marks


def scatter_marks(row: Row) -> list[Mark]:
    marks = ratio_mark(row, "torch", EQUAL, ("sheaf relaxed",))
    marks += ratio_mark(row, "sheaf clamp", EQUAL, ("sheaf relaxed",))
    if row.case.name in SCATTER_RATIOS:
        marks += ratio_mark(row, "torch", SCATTER_RATIOS[row.case.name])
    if row.case.distribution == "uniform" and row.case.data[0] > 1000:
        marks += ratio_mark(row, "torch deterministic", 1.5)
        if row.case.row_bytes() == 512:
            marks += ratio_mark(row, "torch", EQUAL)
    return marks


def gather_marks(row: Row, rate: float, rows: dict[int, Row]) -> list[Mark]:
    case = row.case
    if case.group == "rows":
        return row_marks(row, rate, rows)
    if case.name in SQUARES:
        share, ratio = SQUARES[case.name]
        return [share_mark(row, rate, share), *ratio_mark(row, "torch", ratio), *peer_marks(row)]
    if case.group == "growth" and size(case.indices) <= SMALL_GROWTH:
        return peer_marks(row)
    if case.group == "nd":
        wanted = PAIR_SHARES.get(case.data[-1])
        return ([share_mark(row, rate, wanted)] if wanted else []) + peer_marks(row)
    return []


def tiny_marks(tiny: dict[str, dict[str, Timing]]) -> list[Mark]:
    peer = "torch.index_select(out=)"
    names = {"sheaf clamp": "plan.run, clamp", "sheaf fail": "plan.run, fail"}
    if peer not in tiny:
        return []
    got = {rule: tiny[peer]["host"].median / tiny[name]["host"].median
           for rule, name in names.items() if name in tiny}
    return [Mark("tiny: a launch from Python", "times torch", 1.0, got)] if got else []


def all_marks(rows: list[Row], tiny: dict[str, dict[str, Timing]], rate: float) -> list[Mark]:
    marks = []
    plain = {row.case.row_bytes(): row for row in rows
             if row.case.group == "rows" and row.case.index_bytes == 8}
    for row in rows:
        if not any(name.startswith("sheaf") for name in row.timings):
            continue
        scatters = isinstance(row.case, ScatterCase)
        marks += scatter_marks(row) if scatters else gather_marks(row, rate, plain)
    return marks + tiny_marks(tiny)


def value_text(mark: Mark, value: float) -> str:
    return f"{value:.2f}x" if mark.what.startswith("times") else f"{100 * value:.1f} %"


def cells(mark: Mark) -> list[str]:
    texts = [mark.case, f"{value_text(mark, mark.wanted)} {mark.what}"]
    for rule in (*RULES, "sheaf relaxed"):
        value: Any = mark.got.get(rule)
        verdict = "" if value is None else "pass" if value >= mark.wanted else "SHORT"
        texts.append("" if value is None else f"{value_text(mark, value)} {verdict}")
    return texts


def marks_text(marks: list[Mark]) -> str:
    """The table, and how many are reached."""
    if not marks:
        return "no marks: Sheaf was not measured\n"
    table = text_table(["case", "mark", "clamp", "fail", "relaxed"], [cells(mark) for mark in marks])
    counts = []
    for rule in (*RULES, "sheaf relaxed"):
        values = [mark.got[rule] >= mark.wanted for mark in marks if rule in mark.got]
        if values:
            counts.append(f"{rule} {sum(values)} of {len(values)}")
    return f"{table}\n\nmarks reached: {', '.join(counts)}\n"


NAME_WIDTH, CELL_WIDTH = 44, 21
HOST_TIMED = {"jax"}


def print_header(names: list[str]) -> None:
    marked = [f"{name}*" if name in HOST_TIMED else name for name in names]
    print("\n" + f"{'case':{NAME_WIDTH}}" + "".join(f"{name:>{CELL_WIDTH}}" for name in marked)
          + "   clamp vs best peer")
    if HOST_TIMED & set(names):
        print(f"{'':{NAME_WIDTH}}(* timed from the host, int32 indices)")


def cell(row: Row, name: str, rate: float) -> str:
    if name not in row.timings:
        return "-"
    return f"{seconds_text(row.timings[name].median)} {100 * row.bandwidth(name) / rate:5.1f} %"


def against_best(row: Row) -> str:
    peer = row.best_peer()
    if peer is None or "sheaf clamp" not in row.timings:
        return "-"
    return f"{row.speed('sheaf clamp', peer):.2f}x {peer}"


def print_row(row: Row, names: list[str], rate: float) -> None:
    line = f"{row.case.name:{NAME_WIDTH}}"
    line += "".join(f"{cell(row, name, rate):>{CELL_WIDTH}}" for name in names)
    print(f"{line}   {against_best(row)}", flush=True)


def print_tiny(case: Case, tiny: dict[str, dict[str, Timing]]) -> None:
    print(f"\n{case.name:{NAME_WIDTH}}{'host, per launch':>{CELL_WIDTH}}{'device':>{CELL_WIDTH}}")
    for name, kinds in tiny.items():
        texts = [seconds_text(kinds[kind].median) if kind in kinds else "-"
                 for kind in ("host", "device")]
        print(f"{name:{NAME_WIDTH}}" + "".join(f"{text:>{CELL_WIDTH}}" for text in texts))
