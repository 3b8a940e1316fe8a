# SPDX-License-Identifier: MIT
"""The comparison on a GPU, as bench/peers.py --device cuda starts it, and its small call."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

import torch

from cases import TINY, Case, ScatterCase, size
from contestants import installed
from gpu_contestants import (GATHERERS, MODULES, SCATTERERS, Call, Table, deferred_errors, run_gather,
                             run_scatter, settle_errors, sheaf_call, why_not)
from gpu_report import Row, all_marks, marks_text, print_header, print_row, print_tiny
from measure import DEVICE, Timing, device_copy_rate, first_line, graph_seconds, host_seconds


class Entry(NamedTuple):
    """A way of calling."""

    name: str
    call: Call
    context: Callable[[], AbstractContextManager] = nullcontext
    settle: Callable[[], object] | None = None


def entries(case: Case, with_sheaf: bool) -> list[Entry]:
    x = torch.rand(case.data, device=DEVICE)
    i = torch.randint(case.data[0], case.indices, device=DEVICE)
    out = torch.empty(case.output(), device=DEVICE)
    peers = [Entry("torch.index_select(out=)", lambda: torch.index_select(x, 0, i, out=out)),
             Entry("torch.index_select", lambda: torch.index_select(x, 0, i))]
    if not with_sheaf:
        return peers
    import sheaf.torch  # registers torch.ops.sheaf

    tensors = (x, i, out)
    return [
        Entry("plan.run, clamp", sheaf_call("clamp")(case, tensors)),
        Entry("plan.run, fail", sheaf_call("fail")(case, tensors), deferred_errors, settle_errors),
        Entry("sheaf.gather(out=), clamp",
              lambda: sheaf.gather(x, i, out_of_range="clamp", out=out)),
        Entry("torch.ops.sheaf.gather, clamp",
              lambda: torch.ops.sheaf.gather(x, i, out_of_range="clamp")),
        *peers,
    ]


def run_tiny(case: Case, with_sheaf: bool, seconds: float, complain: Callable[[str], None]
             ) -> dict[str, dict[str, Timing]]:
    """By way of calling: "host", a launch; "device", the kernels of one call."""
    timings: dict[str, dict[str, Timing]] = {}
    for name, call, context, settle in entries(case, with_sheaf):
        try:
            with context():
                timings[name] = {"host": host_seconds(call, settle)}
                timings[name]["device"] = graph_seconds(call, seconds)
        except Exception as error:  # a call that cannot be captured still has its host time
            torch.cuda.synchronize()
            complain(f"{name} fails on {case.name}: {first_line(error)}")
    return timings


@dataclass
class Results:
    device: str
    versions: dict[str, str]
    rate: float  # bytes read and written per second by a plain copy
    rows: list[Row] = field(default_factory=list)
    tiny: dict[str, dict[str, Timing]] = field(default_factory=dict)
    complaints: list[str] = field(default_factory=list)

    def complain(self, text: str) -> None:
        print(f"  {text}", flush=True)
        self.complaints.append(text)

    def as_json(self) -> str:
        rows = [{"family": row.case.family, "case": asdict(row.case),
                 "moved_bytes": row.case.moved_bytes(),
                 "timings": {name: asdict(timing) for name, timing in row.timings.items()}}
                for row in self.rows]
        tiny = {name: {kind: asdict(timing) for kind, timing in kinds.items()}
                for name, kinds in self.tiny.items()}
        return json.dumps({"device": self.device, "versions": self.versions,
                           "copy_bytes_per_s": self.rate, "rows": rows, "tiny": tiny,
                           "complaints": self.complaints}, indent=1)


def at_hand() -> dict[str, str]:
    """The libraries that can run here; those that cannot are named in a line each."""
    versions = installed(MODULES)
    for name in MODULES:
        if name not in versions:
            print(f"left out: {name} is not installed")
    reasons = {name: why_not(name) for name in versions}
    for name, reason in reasons.items():
        if reason is not None:
            print(f"left out: {name} does not run on this GPU: {reason}")
            del versions[name]
    return versions


def run_cases(cases: list[Case | ScatterCase], results: Results, seconds: float) -> None:
    usable = {name: c for name, c in {**GATHERERS, **SCATTERERS}.items()
              if c.library in results.versions}
    gathers = [case for case in cases if case.family == "gather" and case is not TINY]
    scatters = [case for case in cases if case.family == "scatter"]
    if gathers:
        table = Table(max(case.element_bytes * size(case.data) for case in gathers))
        names = [name for name in GATHERERS if name in usable]
        print_header(names)
        for case in gathers:
            timings = run_gather(case, table, names, seconds, results.complain)
            results.rows.append(Row(case, timings))
            print_row(results.rows[-1], names, results.rate)
        del table
        torch.cuda.empty_cache()
    if scatters:
        names = [name for name in SCATTERERS if name in usable]
        print_header(names)
        for case in scatters:
            timings = run_scatter(case, names, seconds, results.complain)
            results.rows.append(Row(case, timings))
            print_row(results.rows[-1], names, results.rate)
    if TINY in cases:
        results.tiny = run_tiny(TINY, "sheaf" in results.versions, seconds, results.complain)
        print_tiny(TINY, results.tiny)


def measure_all(cases: list[Case | ScatterCase], seconds: float) -> Results:
    begin = time.perf_counter()
    if not torch.cuda.is_available():
        sys.exit("no GPU that PyTorch can use: it keeps the clock, so nothing can be measured")
    device = torch.cuda.get_device_name()
    versions = at_hand()
    rate = device_copy_rate(max(seconds, 0.1))
    print(f"{device}; " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    print(f"copy from device to device {rate / 1e12:.3f} TB/s (read + written); times are medians, "
          "with their share of that rate")
    results = Results(device, versions, rate)
    run_cases(cases, results, seconds)
    rate_after = device_copy_rate(max(seconds, 0.1))
    peak = torch.cuda.max_memory_reserved() / (1 << 30)
    print(f"\ncopy at the end {rate_after / 1e12:.3f} TB/s; {time.perf_counter() - begin:.0f} s, "
          f"{peak:.0f} GiB taken by PyTorch\n")
    print(marks_text(all_marks(results.rows, results.tiny, rate)))
    return results


def compare(arguments: argparse.Namespace, cases: list[Case | ScatterCase]) -> None:
    results = measure_all(cases, arguments.seconds or (0.05 if arguments.quick else 0.2))
    if arguments.json:
        arguments.json.write_text(results.as_json())
    wrong = [text for text in results.complaints if text.startswith("sheaf")]
    if wrong:
        sys.exit("\n".join(["Sheaf failed:", *wrong]))
