#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sheaf beside NumPy, PyTorch and ONNX Runtime, or on a GPU beside PyTorch, CuPy and JAX: one process,
the same arrays, outputs made beforehand, results compared bit for bit before anything is timed.

examples:
  scripts/python bench/peers.py --quick
  scripts/python bench/peers.py --threads 1,all --json peers.json --svg peers.svg
  scripts/python bench/peers.py --only 'inner|elements' --threads 1
  scripts/python bench/peers.py --only scatter --threads all    # or --only gather
  scripts/python bench/peers.py --growth
  scripts/bench                                                 # --table, the cells of docs/performance.md
  bench/peers.py --device cuda --quick                          # one minute, where a GPU is
  bench/peers.py --device cuda --json gpu.json --svg gpu.svg --markdown gpu.md
  bench/peers.py --device cuda --only 'rows of (16|64) B|tiny'
  bench/peers.py --device cuda --list                           # needs no GPU

scripts/peers installs the peers; those that are missing are left out and named.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
from dataclasses import asdict
from pathlib import Path

import numpy as np

from cases import MIB, Case, ScatterCase, grid, growth, scatter_grid, table
from contestants import CONTESTANTS, MODULES, installed, run_scatter, usable_threads
from gpu_cases import all_cases
from measure import Timing, copy_rate, time_call
from report import bar_chart, seconds_text

PEERS = [name for name in CONTESTANTS if name != "sheaf"]
NAME_WIDTH = 42


def check_result(name: str, case: Case, result: object, out: np.ndarray, want: np.ndarray) -> None:
    """Compares bits. A call without out= returns its result instead."""
    got = result if isinstance(result, np.ndarray) else out
    if not np.array_equal(got.view(np.uint32), want.view(np.uint32)):
        raise SystemExit(f"{name} gives another result than numpy on: {case.name}")


def expected(case: Case, x: np.ndarray, i: np.ndarray) -> np.ndarray:
    if case.op == "take":
        return np.take(x, i, axis=case.axis)
    if case.op == "elements":
        return np.take_along_axis(x, i, axis=case.axis)
    return x[tuple(np.moveaxis(i, -1, 0))]


def run_gather(case: Case, names: list[str], threads: int, seconds: float) -> dict[str, Timing]:
    rng = np.random.default_rng(1)
    x = np.arange(np.prod(case.data), dtype=np.uint32).view(np.float32).reshape(case.data)
    i = case.make_indices(rng)
    out = np.zeros(case.output(), dtype=np.float32)
    want = expected(case, x, i)
    timings = {}
    for name in names:
        call = CONTESTANTS[name](case, (x, i, out), threads)
        if call is None or (name == "numpy" and threads > 1):
            continue  # NumPy has one thread: it is in the table for one
        out.fill(0)
        check_result(name, case, call(), out, want)
        timings[name] = time_call(call, seconds)
    return timings


def run_case(case: Case | ScatterCase, names: list[str], threads: int, seconds: float
             ) -> dict[str, Timing]:
    run = run_scatter if isinstance(case, ScatterCase) else run_gather
    return run(case, names, threads, seconds)


def best_peer(timings: dict[str, Timing]) -> str | None:
    return min((name for name in PEERS if name in timings), key=lambda n: timings[n].median,
               default=None)


def print_row(case: Case | ScatterCase, timings: dict[str, Timing], names: list[str], rate: float) -> None:
    limit = case.compulsory_bytes() / rate
    peer = best_peer(timings)
    cells = [f"{case.name:{NAME_WIDTH}}"]
    cells += [f"{seconds_text(timings[n].median) if n in timings else '-':>11}" for n in names]
    cells.append(f"{seconds_text(limit):>11}")
    cells.append(f"{100 * case.moved_bytes() / timings['sheaf'].median / rate:6.1f} %")
    cells.append(f"{timings[peer].median / timings['sheaf'].median:5.2f}x {peer}" if peer else "-")
    print("  ".join(cells), flush=True)


def run_table(cases: list[Case | ScatterCase], names: list[str], threads: int, seconds: float) -> dict:
    rate = copy_rate(threads, seconds)
    print(f"\n{threads} thread{'s' if threads > 1 else ''}; "
          f"plain copy {rate / 1e9:.1f} GB/s (read + written)\n")
    header = [f"{'case':{NAME_WIDTH}}", *(f"{n:>11}" for n in names), f"{'limit':>11}", " of copy", "sheaf vs best peer"]
    print("  ".join(header))
    rows = []
    for case in cases:
        timings = run_case(case, names, threads, seconds)
        print_row(case, timings, names, rate)
        rows.append({"family": case.family, "case": asdict(case), "moved_bytes": case.moved_bytes(),
                     "limit_s": case.compulsory_bytes() / rate,
                     "timings": {name: asdict(timing) for name, timing in timings.items()}})
    return {"threads": threads, "copy_bytes_per_s": rate, "rows": rows}


def make_plot(tables: list[dict]) -> str:
    table = tables[-1]
    rows = []
    for row in table["rows"]:
        shares = {name: row["moved_bytes"] / timing["median"] / table["copy_bytes_per_s"]
                  for name, timing in row["timings"].items()}
        rows.append((row["case"]["name"], shares))
    families = sorted({row["family"].capitalize() + "s" for row in table["rows"]})
    title = f"{' and '.join(families)} on {table['threads']} threads"
    return bar_chart(title, "share of the copy rate", rows)


def cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")),
                platform.machine())


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="a few cases of each family, under two minutes each")
    parser.add_argument("--table", action="store_true", help="the cells of docs/performance.md, in about two minutes")
    parser.add_argument("--growth", action="store_true", help="time per row from 10^3 to 10^8 rows")
    parser.add_argument("--threads", default="1,all", help="thread counts on the CPU (default 1,all)")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases that match, such as scatter, gather or a part of a name")
    parser.add_argument("--seconds", type=float, default=None, help="time for each measurement")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--svg", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="with --device cuda: tables, put between the marks of docs/performance.md if FILE has them")
    parser.add_argument("--list", action="store_true", help="print the cases and what they move, and stop")
    return parser.parse_args()


def select_cases(arguments: argparse.Namespace) -> list[Case | ScatterCase]:
    if arguments.device == "cuda":
        cases = all_cases(arguments.quick, arguments.growth)
    else:
        everything = [*grid(arguments.quick), *scatter_grid(arguments.quick)]
        cases = growth() if arguments.growth else table() if arguments.table else everything
    cases = [case for case in cases if re.search(arguments.only, f"{case.family} {case.name}")]
    if not cases:
        sys.exit(f"no case matches {arguments.only!r}")
    return cases


def list_cases(cases: list[Case | ScatterCase]) -> None:
    for case in cases:
        print(f"{case.family:8}  {case.name:{NAME_WIDTH}}  "
              f"data {'f32' if case.element_bytes == 4 else 'u8'}{list(case.data)}  "
              f"indices i{8 * case.index_bytes}{list(case.indices)}  "
              f"moves {case.moved_bytes() / MIB:,.1f} MiB")


def main() -> None:
    arguments = parse_arguments()
    cases = select_cases(arguments)
    if arguments.list:
        list_cases(cases)
    elif arguments.device == "cuda":
        try:
            import torch  # noqa: F401  it keeps the clock
        except ImportError:
            sys.exit("--device cuda needs PyTorch")
        from gpu_peers import compare

        compare(arguments, cases)
    else:
        compare_on_cpu(arguments, cases)


def compare_on_cpu(arguments: argparse.Namespace, cases: list[Case | ScatterCase]) -> None:
    versions = installed(MODULES)
    if "sheaf" not in versions:
        sys.exit("sheaf is not installed; run this by scripts/python")
    missing = [name for name in MODULES if name not in versions]
    names = [name for name in CONTESTANTS if name in versions]
    print(f"{cpu_name()}, {usable_threads()} threads; "
          + ", ".join(f"{name} {version}" for name, version in versions.items()))
    if missing:
        print(f"left out: {', '.join(missing)} (scripts/peers installs them)")
    seconds = arguments.seconds or (0.15 if arguments.quick or arguments.table else 0.5)
    counts = sorted({usable_threads() if word == "all" else int(word)
                     for word in arguments.threads.split(",")})
    tables = [run_table(cases, names, threads, seconds) for threads in counts]
    if arguments.json:
        report = {"cpu": cpu_name(), "versions": versions, "tables": tables}
        arguments.json.write_text(json.dumps(report, indent=1))
    if arguments.svg:
        arguments.svg.write_text(make_plot(tables))


if __name__ == "__main__":
    main()
