#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sheaf beside NumPy, PyTorch, ONNX Runtime and JAX, or on a GPU beside PyTorch, CuPy and JAX: one
process, the same arrays, outputs made beforehand, results compared bit for bit before anything is timed.
bench/publish.py runs all of it for docs/performance.md.

examples:
  scripts/bench --quick
  scripts/bench --only 'inner|elements' --threads 1 --json peers.json
  scripts/bench --only scatter --threads all                    # or --only gather
  scripts/bench --growth
  bench/peers.py --device cuda --quick                          # one minute, where a GPU is
  bench/peers.py --device cuda --only 'rows of (16|64) B|tiny'
  bench/peers.py --device cuda --list                           # needs no GPU

scripts/peers installs the peers; those that are missing are left out and named.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import asdict
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from bags import BagCase, cpu_bags, run_bag
from cases import MIB, Case, ScatterCase, cpu_cases, gpu_cases, growth
from contestants import CONTESTANTS, MODULES, installed, run_scatter, usable_threads
from measure import Timing, copy_rate, cpu_name, time_call
from text import seconds_text

PEERS = [name for name in CONTESTANTS if name != "sheaf"]
NAME_WIDTH = 42


def check_result(name: str, case: Case, result: object, out: np.ndarray, want: np.ndarray) -> None:
    """Compares bits. A call without out= returns its result instead."""
    got = np.asarray(result) if name == "jax" or isinstance(result, np.ndarray) else out
    if not np.array_equal(got.view(np.uint32), want.view(np.uint32)):
        raise SystemExit(f"{name} gives another result than numpy on: {case.name}")


def expected(case: Case, x: np.ndarray, i: np.ndarray) -> np.ndarray:
    if case.op == "take":
        return np.take(x, i, axis=case.axis)
    if case.op == "elements":
        return np.take_along_axis(x, i, axis=case.axis)
    return x[tuple(np.moveaxis(i, -1, 0))]


@lru_cache(maxsize=1)
def gather_inputs(case: Case) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Data, indices, memory for the output, and what has to be in it."""
    x = np.arange(np.prod(case.data), dtype=np.uint32).view(np.float32).reshape(case.data)
    i = case.make_indices(np.random.default_rng(1))
    return x, i, np.zeros(case.output(), dtype=np.float32), expected(case, x, i)


def run_gather(case: Case, names: list[str], threads: int, seconds: float) -> dict[str, Timing]:
    x, i, out, want = gather_inputs(case)
    timings = {}
    for name in names:
        call = CONTESTANTS[name](case, (x, i, out), threads)
        if call is None or (name == "numpy" and threads > 1):
            continue  # NumPy has one thread: it is in the table for one
        out.fill(0)
        check_result(name, case, call(), out, want)
        timings[name] = time_call(call, seconds)
    return timings


def run_case(case: Case | ScatterCase | BagCase, names: list[str], threads: int, seconds: float
             ) -> dict[str, Timing]:
    if isinstance(case, BagCase):
        return run_bag(case, names, threads, seconds)
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


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--quick", action="store_true", help="a few cases of each kind")
    parser.add_argument("--growth", action="store_true", help="time per row from 10^3 to 10^8 rows")
    parser.add_argument("--threads", default="1,all", help="thread counts on the CPU (default 1,all)")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases that match, such as scatter, gather, bag or a part of a name")
    parser.add_argument("--seconds", type=float, default=None, help="time for each measurement")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--list", action="store_true", help="print the cases and what they move, and stop")
    return parser.parse_args()


def every_cpu_case(quick: bool) -> list[Case | ScatterCase | BagCase]:
    """Bags are measured beside PyTorch alone, and their tables made by it."""
    return [*cpu_cases(quick), *(cpu_bags(quick) if find_spec("torch") else [])]


def select_cases(arguments: argparse.Namespace) -> list[Case | ScatterCase]:
    if arguments.device == "cuda":
        cases = gpu_cases(arguments.quick, arguments.growth)
    else:
        cases = growth() if arguments.growth else every_cpu_case(arguments.quick)
    cases = [case for case in cases if re.search(arguments.only, f"{case.family} {case.name}")]
    if not cases:
        sys.exit(f"no case matches {arguments.only!r}")
    return cases


def type_of(case: Case | ScatterCase | BagCase) -> str:
    if isinstance(case, BagCase):
        return case.kind
    return "f32" if case.element_bytes == 4 else "u8"


def list_cases(cases: list[Case | ScatterCase]) -> None:
    for case in cases:
        print(f"{case.family:8}  {case.name:{NAME_WIDTH}}  "
              f"data {type_of(case)}{list(case.data)}  "
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
    seconds = arguments.seconds or 0.15
    counts = sorted({usable_threads() if word == "all" else int(word)
                     for word in arguments.threads.split(",")})
    tables = [run_table(cases, names, threads, seconds) for threads in counts]
    if arguments.json:
        report = {"cpu": cpu_name(), "versions": versions, "tables": tables}
        arguments.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
