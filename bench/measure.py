# SPDX-License-Identifier: MIT
"""Clocks of processors and GPUs, and the machine's own limit: how fast it copies."""

from __future__ import annotations

import ctypes
import platform
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

try:
    import torch
except ImportError:  # only what is measured on a GPU needs it
    torch = None

DEVICE = "cuda"
SMALL = 512 << 20  # bytes: a call that moves less finds part of them in the cache, unless flushed
BUSY_CYCLES = 200_000  # 0.1 ms
LEAST = ((0.02, 20), (0.5, 5))  # (seconds, rounds): at least that many for a call that takes up to that long; else 2


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
    return 2 * part * threads / timing.best  # a limit: what slows a copy down does not lower it


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


def first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def cpu_name() -> str:
    """As lscpu says it, which knows the names of arm64's processors too."""
    try:
        lines = subprocess.run(["lscpu"], capture_output=True, text=True, check=True,
                               env={"LC_ALL": "C"}).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("Model name:")]
    return next((name for name in names if name != "-"), platform.machine())
