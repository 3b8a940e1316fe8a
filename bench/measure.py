# SPDX-License-Identifier: MIT
"""Clocks of processors and GPUs, the machine's own limit (how fast it copies), and how results are
written: times, tables, and a bar chart as SVG."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape

import numpy as np

try:
    import torch
except ImportError:  # only what is measured on a GPU needs it
    torch = None

COLOURS = {"sheaf": "#1b6ca8", "sheaf clamp": "#1b6ca8", "sheaf fail": "#6aaad6", "numpy": "#b9c0c7",
           "torch": "#e07b39", "onnxruntime": "#7a9e52", "cupy": "#7a9e52", "jax": "#b9c0c7"}
LABEL_WIDTH, BAR_WIDTH, BAR, GAP = 300, 520, 11, 12
DEVICE = "cuda"
SMALL = 512 << 20  # bytes: a call that moves less finds part of them in the cache, unless flushed
BUSY_CYCLES = 200_000  # 0.1 ms
LEAST = ((0.02, 20), (0.5, 5))  # rounds of a call that takes up to so many seconds; else 2


@dataclass(frozen=True)
class Timing:
    """Seconds per call."""

    median: float
    best: float
    p10: float
    p90: float
    rounds: int


def summary(rounds: list[float]) -> Timing:
    p10, median, p90 = np.percentile(rounds, [10, 50, 90])
    return Timing(float(median), min(rounds), float(p10), float(p90), len(rounds))


def time_call(call: Callable[[], object], seconds: float) -> Timing:
    """Rounds of one call, or of many where one is too short for the clock."""
    call()
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    per_round = max(1, int(20e-6 / max(once, 1e-9)))
    rounds: list[float] = []
    total = 0.0
    while len(rounds) < 5 or (total < seconds and len(rounds) < 2000):
        start = time.perf_counter()
        for _ in range(per_round):
            call()
        taken = time.perf_counter() - start
        rounds.append(taken / per_round)
        total += taken
    return summary(rounds)


def copy_rate(threads: int, seconds: float, size: int = 256 << 20) -> float:
    """Bytes read plus bytes written per second by memcpy, each thread on its own part."""
    source = np.ones(size, dtype=np.uint8)
    target = np.zeros(size, dtype=np.uint8)
    part = size // threads
    memmove = ctypes.memmove  # releases the GIL

    def copy(thread: int) -> None:
        memmove(target.ctypes.data + thread * part, source.ctypes.data + thread * part, part)

    with ThreadPoolExecutor(threads) as pool:
        timing = time_call(lambda: list(pool.map(copy, range(threads))), seconds)
    return 2 * part * threads / timing.median


def once(call: Callable[[], object]) -> tuple[torch.cuda.Event, torch.cuda.Event]:
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    call()
    end.record()
    return start, end


def seconds_between(events: tuple[torch.cuda.Event, torch.cuda.Event]) -> float:
    return events[0].elapsed_time(events[1]) / 1e3


def cache_flush() -> Callable[[], object]:
    """A call that leaves other memory in the cache, and clean: by reading, so that nothing of it has
    to be written back while the next call is timed."""
    other = torch.ones(SMALL // 4, device=DEVICE)
    total = torch.zeros((), device=DEVICE)
    return lambda: torch.sum(other, dim=0, out=total)


def before_rounds(settle: Callable[[], object] | None, small: bool) -> Callable[[], object] | None:
    """What runs ahead of every round. `settle` waits for the GPU, which then is kept busy for as
    long as the host needs to launch the next call: else that would be in its time."""
    flush = cache_flush() if small else None

    def before() -> None:
        if settle is not None:
            settle()
            torch.cuda._sleep(BUSY_CYCLES)
        if flush is not None:
            flush()

    return before if settle is not None or small else None


def time_events(call: Callable[[], object], seconds: float,
                before: Callable[[], object] | None = None) -> Timing:
    """All rounds are queued without a wait between them: the GPU is always behind the host, and what
    a call costs there is not in the times. `before` runs ahead of every round and is not timed."""
    for _ in range(2):
        call()
    torch.cuda.synchronize()
    first = once(call)
    torch.cuda.synchronize()
    taken = max(seconds_between(first), 1e-6)
    least = next((rounds for limit, rounds in LEAST if taken <= limit), 2)
    rounds = max(least, min(200, int(seconds / taken)))
    pairs = []
    for _ in range(rounds):
        if before is not None:
            before()
        pairs.append(once(call))
    torch.cuda.synchronize()
    return summary([seconds_between(pair) for pair in pairs])


def device_copy_rate(seconds: float, size: int = 1 << 30) -> float:
    """Bytes read plus bytes written per second by a copy from device to device."""
    source = torch.ones(size, dtype=torch.uint8, device=DEVICE)
    target = torch.zeros_like(source)
    return 2 * size / time_events(lambda: target.copy_(source), seconds).median


def host_seconds(call: Callable[[], object], settle: Callable[[], object] | None = None,
                 launches: int = 1000, rounds: int = 5) -> Timing:
    """What a launch costs on the host: many of them, and one wait at the end."""
    call()
    torch.cuda.synchronize()
    taken = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(launches):
            call()
        torch.cuda.synchronize()
        taken.append((time.perf_counter() - start) / launches)
        if settle is not None:
            settle()
    return summary(taken)


def graph_seconds(call: Callable[[], object], seconds: float, calls: int = 100) -> Timing:
    """Device time of one call: a graph of many is replayed, so that no launch is in the time."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()  # whatever is made on the first call is made before the capture
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    timing = time_events(graph.replay, seconds)
    return Timing(*(value / calls for value in (timing.median, timing.best, timing.p10,
                                                timing.p90)), timing.rounds)


def seconds_text(seconds: float) -> str:
    for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us"), (1e9, "ns")):
        if seconds * factor >= 0.9995 or unit == "ns":  # three digits of less are a thousand
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
