# SPDX-License-Identifier: MIT
"""Clocks, and the machine's own limit: how fast it copies."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np


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
