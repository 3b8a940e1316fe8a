#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes docs/performance.md, its plots and the figures of README.md from docs/performance/*.json, the
files of bench/publish.py, and says which of them are older than the kernels.

usage: bench/page.py [--check]     --check writes nothing: it fails where the page is not what the files give
"""

from __future__ import annotations

import json
import math
import re
import statistics
import subprocess
import sys
import textwrap
from html import escape
from pathlib import Path
from typing import Any

from text import is_below_one, markdown_table, ratio_text, seconds_text

Report = dict[str, Any]

FOLDER, PAGE = Path("docs/performance"), Path("docs/performance.md")
MAX_LINES = 150  # of the page as it opens, without what is folded: three screens
MOST_SHOWN = 28  # cases of a machine that are not folded
# In the order of the page, with the folders whose changes make a file old.
KERNELS = {"x86-64": ("src/backends/cpu", "src/execution"), "arm64": ("src/backends/cpu", "src/execution"),
           "h200": ("src/backends/cuda", "src/execution")}
TITLES = {"h200": "NVIDIA H200"}  # where the name of the file is no title

HEAD = """\
# Performance

<!-- Written by bench/page.py from docs/performance/*.json: scripts/bench --publish measures again. -->

Sheaf beside the fastest of its peers, on each machine from one run of `scripts/bench --publish`: NumPy, PyTorch, ONNX
Runtime and JAX on processors; PyTorch, CuPy and JAX on a GPU. A ratio is the time of the fastest peer over Sheaf's:
**below 1x that peer is faster**, and those cases come first. All libraries work on the same arrays in one process. Results are
compared bit for bit before anything is timed, and times are medians.

- **Bad indices.** On processors Sheaf runs under `fail`: it checks all indices before it writes. PyTorch and ONNX Runtime
  check while they write, NumPy and JAX clip. On a GPU `clamp` bounds indices, as CuPy and JAX do, `fail` checks first, and
  PyTorch stops the process.
- **Order.** Sheaf adds updates in their order, with the same bits on every machine; `relaxed` may add in any order, as the
  peers do. The peer "torch deterministic" sorts.
- **Limit.** The last number of a cell is the share of the limit: the time of a plain copy of the bytes that have to pass
  through memory, in lines of 64 bytes, over the time of the call. It exceeds 100 % where part
  of them is in a cache, or where a copy does not reach what memory can do.
- **Outputs** are allocated beforehand where a library takes one. JAX takes int32 indices and is measured on all threads
  only; NumPy has one thread. On a GPU, times are those of CUDA events, and of the host for JAX and for "call".

What limits the cases, and what was tried: [tuning.md](tuning.md).
"""

TAIL = """\
## How to repeat it

```sh
scripts/peers                # installs the peers
scripts/bench                # prints a table; options are those of bench/peers.py
scripts/bench --publish      # measures everything and writes the file of this machine and this page
scripts/bench --page         # writes this page again, and says which files are older than the kernels
scripts/gpu --only build,bench --out DIR     # the same on a machine with a GPU and without a network
```
"""


def load_reports(root: Path) -> list[Report]:
    """The files in the order of the page."""
    paths = [root / FOLDER / f"{machine}.json" for machine in KERNELS]
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def ratio_of(cell: dict[str, Any]) -> tuple[float, str] | None:
    """Against the fastest peer; None where nothing was measured beside Sheaf."""
    if not cell["peers"]:
        return None
    name = min(cell["peers"], key=cell["peers"].get)
    return cell["peers"][name] / cell["sheaf"], name


def ratios(case: dict[str, Any]) -> list[float]:
    return [found[0] for cell in case["cells"].values() if (found := ratio_of(cell))]


def lowest(case: dict[str, Any]) -> float:
    return min(ratios(case), default=math.inf)


def cell_text(cell: dict[str, Any] | None) -> str:
    if cell is None:
        return ""
    parts = [seconds_text(cell["sheaf"])]
    if found := ratio_of(cell):
        parts.append(f"{ratio_text(found[0])} {found[1]}")
    if cell.get("limit"):
        parts.append(f"{100 * cell['limit'] / cell['sheaf']:.0f} %")
    return ", ".join(parts)


def table_lines(report: Report) -> list[str]:
    """The cases with a cell below 1x, the lowest first, and folded below them all others."""
    series = list(report["copy_bytes_per_s"])
    header = ["case", *(f"Sheaf, {name}" for name in series)]

    def lines(cases: list[dict[str, Any]]) -> list[str]:
        return markdown_table(header, [
            [case["case"], *(cell_text(case["cells"].get(name)) for name in series)] for case in cases])

    behind = sorted((case for case in report["cases"] if is_below_one(lowest(case))), key=lowest)
    ahead = [case for case in report["cases"] if case not in behind]
    shown, more = behind[:MOST_SHOWN], behind[MOST_SHOWN:]
    what = f"{len(more)} more cases below 1x, and {len(ahead)}" if more else f"{len(ahead)} cases"
    folded = [f"<details><summary>{what} at 1x and above</summary>", "", *lines(more + ahead), "", "</details>", ""]
    return [*(lines(shown) if shown else ["No case is below 1x."]), "", *(folded if more or ahead else [])]


def section(report: Report) -> list[str]:
    cells = [ratio for case in report["cases"] for ratio in ratios(case)]
    below = sum(map(is_below_one, cells))
    rates = ", ".join(f"{rate / 1e9:,.0f} GB/s ({name})" for name, rate in copy_rates(report).items())
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    machine = report["machine"]
    title = TITLES.get(machine, machine)
    return [f"## {title}", "",
            f"{report['hardware']}; {report['date']}, commit {report['commit'][:10]}; {versions}. "
            f"Plain copy: {rates}, read and written. {below} of {len(cells)} cells are below 1x.", "",
            f"![Sheaf against the fastest peer, {title}](performance/{machine}.svg)", "",
            *table_lines(report)]


def copy_rates(report: Report) -> dict[str, float]:
    """Where all series have one rate, it is named once."""
    rates = report["copy_bytes_per_s"]
    return rates if len(set(rates.values())) > 1 else {"device to device": next(iter(rates.values()))}


def make_page(reports: list[Report]) -> str:
    lines = [*HEAD.splitlines(), ""]
    for report in reports:
        lines += section(report)
    return "\n".join([*lines, *TAIL.splitlines(), ""])


# The figures of README.md stand between these marks.
SPEED_BEGIN, SPEED_END = "<!-- speed: scripts/bench --page -->\n", " <!-- /speed -->"
SHOWN_ROWS, SHOWN_SUMS = ("16", "64", "256"), {"into 100": "add 8 Mi rows of 64 B into 100",
                                               "into one": "add 524,288 rows of 64 B into 1"}


def listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def shown_ratio(report: Report, name: str) -> float | None:
    """Of the case of that name: on a GPU under clamp, else on all threads."""
    series = "clamp" if "clamp" in report["copy_bytes_per_s"] else list(report["copy_bytes_per_s"])[-1]
    cells = next((case["cells"] for case in report["cases"] if case["case"] == name), {})
    found = ratio_of(cells[series]) if series in cells else None
    return found and found[0]


def is_move(case: dict[str, Any]) -> bool:
    return not case["case"].startswith(("call", "sums", "tiny"))


def speed_text(reports: list[Report]) -> str:
    medians, rest = [], []
    for report in reports:
        found = [ratio for case in report["cases"] if is_move(case)
                 if (ratio := shown_ratio(report, case["case"]))]
        gpu = "clamp" in report["copy_bytes_per_s"]
        where = "an H200" if gpu else f"{list(report['copy_bytes_per_s'])[-1]} of {report['machine']}"
        medians.append(f"{statistics.median(found):.1f}x on {where}")
        rows = [(row, ratio) for row in SHOWN_ROWS if (ratio := shown_ratio(report, f"rows of {row} B"))]
        if rows:
            rest.append(f"There, rows of {listed([row for row, _ in rows])} bytes come "
                        f"{listed([f'{ratio:.2f}' for _, ratio in rows])} times as fast.")
        sums = [f"{ratio:.2f}x {words}" for words, name in SHOWN_SUMS.items() if (ratio := shown_ratio(report, name))]
        if sums:
            rest.append(f"Its sums of rows of 64 bytes are in serial order, with the bits of the CPU: {listed(sums)}.")
    cells = [ratio for report in reports for case in report["cases"] for ratio in ratios(case)]
    below = sum(map(is_below_one, cells))
    words = " ".join([f"The median case is {listed(medians)}.", *rest,
                      f"{below} of {len(cells)} measured cells are below 1x, and the page shows them first:"])
    return textwrap.fill(words, 110, initial_indent="  ", subsequent_indent="  ")


def readme_with(text: str, reports: list[Report]) -> str:
    before, begin, rest = text.partition(SPEED_BEGIN)
    _, end, after = rest.partition(SPEED_END)
    return before + begin + speed_text(reports) + end + after if begin and end else text


# A plot has two columns of cases. Ratios are on a logarithmic axis from LEAST to MOST.
LEAST, MOST, TICKS = 0.25, 32.0, (0.25, 0.5, 1, 2, 4, 8, 16, 32)
COLOURS = ("#1b6ca8", "#e07b39", "#7a9e52")
LABEL, AXIS, COLUMN, ROW, TOP = 250, 170, 440, 13, 44


def place(ratio: float) -> float:
    share = math.log(min(max(ratio, LEAST), MOST) / LEAST) / math.log(MOST / LEAST)
    return LABEL + AXIS * share


def text(x: float, y: float, content: str, **more: str) -> str:
    attributes = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in more.items())
    return f'<text x="{x:.0f}" y="{y:.0f}"{attributes}>{escape(content)}</text>'


def plot_column(cases: list[dict[str, Any]], series: list[str], left: int) -> list[str]:
    bottom = TOP + ROW * len(cases)
    parts = [f'<g transform="translate({left} 0)">']
    for tick in TICKS:
        look = 'stroke="#222" stroke-width="1.5"' if tick == 1 else 'stroke="#ddd"'
        x = place(tick)
        parts += [f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 4}" y2="{bottom}" {look}/>',
                  text(x, TOP - 8, f"{tick:g}x", text_anchor="middle", fill="#555", font_size="9")]
    for number, case in enumerate(cases):
        y = TOP + ROW * number + ROW / 2
        bold = {"font_weight": "bold"} if is_below_one(lowest(case)) else {}
        parts.append(text(LABEL - 10, y + 3, case["case"], text_anchor="end", **bold))
        for name, colour in zip(series, COLOURS):
            found = ratio_of(case["cells"][name]) if name in case["cells"] else None
            if found:
                parts.append(f'<circle cx="{place(found[0]):.1f}" cy="{y:.1f}" r="3.5" fill="{colour}" '
                             'fill-opacity="0.8"/>')
    return [*parts, "</g>"]


def make_plot(report: Report) -> str:
    """One row per case with one dot per series, and a line at 1x."""
    series = list(report["copy_bytes_per_s"])
    cases = report["cases"]
    half = -(-len(cases) // 2)
    height = TOP + ROW * half + 8
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * COLUMN}" height="{height}" '
             f'viewBox="0 0 {2 * COLUMN} {height}" font-family="sans-serif" font-size="10">',
             f'<rect width="{2 * COLUMN}" height="{height}" fill="white"/>',
             text(10, 18, f"Sheaf against the fastest peer, {TITLES.get(report['machine'], report['machine'])}: times as fast", font_size="13")]
    for number, name in enumerate(series):
        x = COLUMN + 80 + 110 * number
        parts += [f'<circle cx="{x}" cy="14" r="4" fill="{COLOURS[number]}"/>', text(x + 8, 18, name)]
    for number, part in enumerate((cases[:half], cases[half:])):
        parts += plot_column(part, series, COLUMN * number)
    return "\n".join([*parts, "</svg>", ""])


def written_files(root: Path) -> dict[Path, str]:
    """Every file that the reports give, with its contents."""
    reports = load_reports(root)
    if not reports:
        return {}
    files = {root / FOLDER / f"{report['machine']}.svg": make_plot(report) for report in reports}
    readme = root / "README.md"
    if readme.exists():
        files[readme] = readme_with(readme.read_text(encoding="utf-8"), reports)
    return {root / PAGE: make_page(reports), **files}


def shown_lines(page: str) -> int:
    return re.sub(r"<details>.*?</details>", "", page, flags=re.DOTALL).count("\n")


def differences(root: Path) -> list[str]:
    """What is not as the reports give it, as lines path:line: reason."""
    errors = []
    for path, wanted in written_files(root).items():
        name = path.relative_to(root)
        got = path.read_text(encoding="utf-8") if path.exists() else ""
        if got != wanted:
            pairs = zip(got.splitlines(), wanted.splitlines())
            line = next((number for number, (a, b) in enumerate(pairs, 1) if a != b), 1)
            errors.append(f"{name}:{line}: differs from {FOLDER}/*.json; run scripts/bench --page")
        if path == root / PAGE and shown_lines(wanted) > MAX_LINES:
            errors.append(f"{name}:1: opens with more than {MAX_LINES} lines, three screens")
    return errors


def write_page(root: Path) -> None:
    for path, wanted in written_files(root).items():
        path.write_text(wanted, encoding="utf-8")


def age_lines(root: Path) -> list[str]:
    """For each machine, how many commits have changed its kernels since it was measured."""
    reports = {report["machine"]: report for report in load_reports(root)}
    lines = []
    for machine, folders in KERNELS.items():
        if machine not in reports:
            lines.append(f"{machine}: not measured yet")
            continue
        commit = reports[machine]["commit"]
        done = subprocess.run(["git", "-C", root, "rev-list", "--count", f"{commit}..HEAD", "--", *folders],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            state = f"measured at {commit[:10]}, which this repository does not know"
        elif count := int(done.stdout):
            state = (f"OLDER than the kernels: {count} commit{'s' if count > 1 else ''} in {', '.join(folders)} "
                     f"since {commit[:10]}")
        else:
            state = f"up to date, measured at {commit[:10]}"
        lines.append(f"{machine}: {state}")
    return lines


def main() -> None:
    root = Path(__file__).resolve().parent.parent
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    if sys.argv[1:]:
        errors = differences(root)
        sys.exit("\n".join(errors) if errors else 0)
    write_page(root)
    print(*age_lines(root), sep="\n")


if __name__ == "__main__":
    main()
