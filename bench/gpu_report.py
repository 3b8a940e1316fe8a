# SPDX-License-Identifier: MIT
"""What a run on a GPU prints, and its tables and plot for docs/performance.md."""

from __future__ import annotations

from pathlib import Path

from cases import Case, size
from gpu_marks import Row
from measure import Timing
from report import bar_chart, markdown_table, ratio_text, seconds_text

NAME_WIDTH, CELL_WIDTH = 44, 21
TITLES = {"sheaf clamp": "Sheaf, clamp", "sheaf fail": "Sheaf, fail", "torch": "PyTorch",
          "cupy": "CuPy", "jax": "JAX", "sheaf relaxed": "Sheaf, relaxed",
          "torch deterministic": "PyTorch, deterministic"}
HOST_TIMED = {"jax"}
BEGIN, END = "<!-- tables of bench/peers.py --device cuda -->\n", "<!-- end of the tables -->\n"


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


def plain_cell(row: Row, name: str, rate: float) -> str:
    if name not in row.timings:
        return ""
    return f"{seconds_text(row.timings[name].median)}, {100 * row.bandwidth(name) / rate:.1f} %"


def against_best(row: Row, text=ratio_text) -> str:
    peer = row.best_peer()
    if peer is None or "sheaf clamp" not in row.timings:
        return "-"
    return f"{text(row.speed('sheaf clamp', peer))} {peer}"


def print_row(row: Row, names: list[str], rate: float) -> None:
    line = f"{row.case.name:{NAME_WIDTH}}"
    line += "".join(f"{cell(row, name, rate):>{CELL_WIDTH}}" for name in names)
    print(f"{line}   {against_best(row, lambda ratio: f'{ratio:.2f}x')}", flush=True)


def print_tiny(case: Case, tiny: dict[str, dict[str, Timing]]) -> None:
    print(f"\n{case.name:{NAME_WIDTH}}{'host, a launch':>{CELL_WIDTH}}{'device':>{CELL_WIDTH}}")
    for name, kinds in tiny.items():
        texts = [seconds_text(kinds[kind].median) if kind in kinds else "-"
                 for kind in ("host", "device")]
        print(f"{name:{NAME_WIDTH}}" + "".join(f"{text:>{CELL_WIDTH}}" for text in texts))


def names_in(rows: list[Row]) -> list[str]:
    return [name for name in TITLES if any(name in row.timings for row in rows)]


def rows_markdown(rows: list[Row], rate: float) -> str:
    names = names_in(rows)
    header = ["case", *(TITLES[name] for name in names), "clamp against the best peer"]
    lines = [[row.case.name, *(plain_cell(row, name, rate) for name in names), against_best(row)]
             for row in rows]
    return markdown_table(header, lines)


def growth_markdown(rows: list[Row]) -> str:
    names = names_in(rows)
    lines = []
    for row in rows:
        count = size(row.case.indices)
        lines.append([f"{count:,}", *(f"{1e9 * row.timings[name].median / count:.3f} ns"
                                      if name in row.timings else "" for name in names)])
    return markdown_table(["rows", *(f"{TITLES[name]}, a row" for name in names)], lines)


def tiny_markdown(tiny: dict[str, dict[str, Timing]]) -> str:
    lines = [[f"`{name}`", *(seconds_text(kinds[kind].median) if kind in kinds else ""
                             for kind in ("host", "device"))] for name, kinds in tiny.items()]
    return markdown_table(["32 rows of 256 B", "host, a launch", "device"], lines)


def markdown(device: str, versions: dict[str, str], rows: list[Row],
             tiny: dict[str, dict[str, Timing]], rate: float, plot: Path | None) -> str:
    growth = [row for row in rows if row.case.group == "growth"]
    gathers = [row for row in rows if row.case.family == "gather" and row not in growth]
    scatters = [row for row in rows if row.case.family == "scatter"]
    listed = ", ".join(f"{name} {version}" for name, version in versions.items())
    parts = [f"{device}, copy from device to device {rate / 1e12:.2f} TB/s; {listed}.\n"]
    if plot:
        parts.append(f"![Gathers on {device}: share of the copy rate]({plot.name})\n")
    if gathers:
        parts.append("### Gathers on the GPU\n\n" + rows_markdown(gathers, rate))
    if growth:
        parts.append("### Growth on the GPU: rows of 16 bytes out of 1 GiB\n\n"
                     + growth_markdown(growth))
    if scatters:
        parts.append("### Scatters on the GPU\n\n" + rows_markdown(scatters, rate))
    if tiny:
        parts.append("### Small calls on the GPU\n\n" + tiny_markdown(tiny))
    return "\n".join(parts)


def write_markdown(path: Path, tables: str) -> None:
    """Between the marks where the file has them, as docs/performance.md has; else the whole file."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    whole = f"{before}{BEGIN}\n{tables}\n{END}{after}" if begin and end else tables
    path.write_text(whole, encoding="utf-8")


def make_plot(device: str, rows: list[Row], rate: float) -> str:
    bars = [(row.case.name, {name: row.bandwidth(name) / rate for name in row.timings})
            for row in rows if row.case.family == "gather" and row.case.group != "growth"]
    return bar_chart(f"Gathers on {device}", "share of the copy rate", bars)
