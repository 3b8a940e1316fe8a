#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures every case on the machine at hand and writes one file per machine, x86-64.json, arm64.json or
h200.json, from which bench/page.py writes docs/performance.md. Where a GPU is, it is measured first.

examples:
  scripts/bench --publish                                  # into docs/performance, and the page
  scripts/bench --publish --quick --out /tmp/trial         # a few cases, to see that all of it works
  bench/publish.py --out DIR --commit HASH                 # where there is no checkout of git
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from calls import measure_calls
from bags import BagCase
from cases import Case, ScatterCase, gpu_cases
from contestants import CONTESTANTS, MODULES, installed, usable_threads
from measure import copy_rate, cpu_name
from page import FOLDER, age_lines, write_page
from peers import every_cpu_case, run_case

ROOT = Path(__file__).resolve().parent.parent
PROCESSORS = {"x86_64": "x86-64", "aarch64": "arm64"}
Cells = dict[str, dict[str, Any]]


def cell(sheaf: float, peers: dict[str, float], limit: float | None) -> dict[str, Any]:
    return {"sheaf": rounded(sheaf), "peers": {name: rounded(time) for name, time in peers.items()},
            "limit": limit and rounded(limit)}


def rounded(number: float) -> float:
    """To four digits: the fifth is noise."""
    return float(f"{number:.4g}")


def limit_of(case: Case | ScatterCase | BagCase, rate: float) -> float | None:
    return None if case.group == "tiny" else case.compulsory_bytes() / rate


def call_cases(device: str, default: str) -> list[dict[str, Any]]:
    """Calls that move next to nothing, and sums into bins. `default` is the series of calls without options."""
    cells: dict[str, Cells] = {}
    for name, mine, peer, other in measure_calls(device):
        series = "clamp" if device == "cuda" and "clamp" in name else default
        title = name if name.startswith("sums") else f"call, {name}"
        found = cells.setdefault(title, {series: cell(mine, {}, None)})
        found[series]["peers"][peer] = rounded(other)
    return [{"case": name, "cells": found} for name, found in cells.items()]


def cpu_report(arguments: argparse.Namespace) -> dict[str, Any]:
    versions = installed(MODULES)
    names = [name for name in CONTESTANTS if name in versions]
    print(f"left out: {', '.join(name for name in MODULES if name not in versions) or 'nothing'}")
    series = {f"{count} thread{'s' if count > 1 else ''}": count
              for count in sorted({1, usable_threads()})}
    rates = {name: copy_rate(threads, 0.5) for name, threads in series.items()}
    measured = []
    for case in selected(every_cpu_case(arguments.quick), arguments.only):
        cells = {}
        for name, threads in series.items():
            times = {who: timing.median for who, timing in
                     run_case(case, names, threads, arguments.seconds).items()}
            cells[name] = cell(times.pop("sheaf"), times, limit_of(case, rates[name]))
        measured.append({"case": case.name, "cells": cells})
        print(f"{case.name}: {cells}", flush=True)
    measured += [] if arguments.only else call_cases("cpu", list(series)[-1])
    return {"machine": PROCESSORS.get(platform.machine(), platform.machine()),
            "hardware": f"{cpu_name()}, {usable_threads()} cores", "versions": versions,
            "copy_bytes_per_s": {name: rounded(rate) for name, rate in rates.items()}, "cases": measured}


def gpu_report(arguments: argparse.Namespace) -> dict[str, Any]:
    from gpu_peers import measure_all

    results = measure_all(selected(gpu_cases(arguments.quick), arguments.only), arguments.seconds)
    measured = []
    for row in results.rows:
        times = {name: timing.median for name, timing in row.timings.items()}
        peers = {name: time for name, time in times.items() if not name.startswith("sheaf")}
        cells = {name.removeprefix("sheaf "): cell(time, peers, limit_of(row.case, results.rate))
                 for name, time in times.items() if name.startswith("sheaf")}
        measured.append({"case": row.case.name, "cells": cells})
    measured += tiny_cases(results.tiny) + ([] if arguments.only else call_cases("cuda", "fail"))
    rates = dict.fromkeys(("clamp", "fail", "relaxed"), rounded(results.rate))
    return {"machine": results.device.split()[-1].lower(), "hardware": results.device,
            "versions": results.versions, "copy_bytes_per_s": rates, "complaints": results.complaints,
            "cases": measured}


def tiny_cases(tiny: dict[str, Any]) -> list[dict[str, Any]]:
    """One planned call: its time on the host, and that of its kernel."""
    peer, found = "torch.index_select(out=)", []
    for kind in ("host", "device"):
        cells = {rule: cell(tiny[f"plan.run, {rule}"][kind].median, {"torch": tiny[peer][kind].median}, None)
                 for rule in ("clamp", "fail") if kind in tiny.get(f"plan.run, {rule}", {})}
        if cells:
            found.append({"case": f"tiny: 32 rows of 256 B, {kind}", "cells": cells})
    return found


def selected(cases: list[Any], only: str) -> list[Any]:
    return [case for case in cases if re.search(only, f"{case.family} {case.name}")]


def head_commit() -> str:
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() or sys.exit("no checkout of git here: name the commit by --commit HASH")


def write_report(report: dict[str, Any], commit: str, folder: Path) -> None:
    """One line per case, so that a difference between two files can be read."""
    cases = report.pop("cases")
    first = {"machine": report.pop("machine"), "date": str(datetime.date.today()), "commit": commit, **report}
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    path = folder / f"{first['machine']}.json"
    path.write_text(json.dumps(first, indent=1).removesuffix("\n}") + f',\n "cases": [\n{lines}\n ]\n}}\n',
                    encoding="utf-8")
    print(f"wrote {path}", flush=True)


def has_gpu() -> bool:
    try:
        import torch
    except ImportError:
        return False
    return torch.cuda.is_available()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), help="only that (default: what is there)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write there, and leave the page alone")
    parser.add_argument("--commit", metavar="HASH", help="what is measured (default: HEAD)")
    parser.add_argument("--quick", action="store_true", help="a few cases of each kind")
    parser.add_argument("--only", default="", metavar="REGEX", help="cases that match, without calls")
    parser.add_argument("--seconds", type=float, default=0.15, help="time for each measurement")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    if arguments.out is None and (arguments.quick or arguments.only):
        sys.exit("a file with a part of the cases is not for the page: name a folder by --out DIR")
    commit = arguments.commit or os.environ.get("SHEAF_COMMIT") or head_commit()
    folder = arguments.out or ROOT / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    wrong = []
    if arguments.device != "cpu" and has_gpu():
        report = gpu_report(arguments)
        wrong = [text for text in report["complaints"] if text.startswith("sheaf")]
        write_report(report, commit, folder)
    if arguments.device != "cuda":
        write_report(cpu_report(arguments), commit, folder)
    if arguments.out is None:
        write_page(ROOT)
        print(*age_lines(ROOT), sep="\n")
    if wrong:
        sys.exit("\n".join(["Sheaf failed:", *wrong]))


if __name__ == "__main__":
    main()
