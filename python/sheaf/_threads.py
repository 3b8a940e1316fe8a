# SPDX-License-Identifier: MIT
"""How many threads calls use: for the process, for a block of code, or by SHEAF_NUM_THREADS."""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import Iterator

from . import _sheaf

VARIABLE = "SHEAF_NUM_THREADS"


def set_num_threads(threads: int) -> None:
    """At most this many threads for every call without threads=; 0: as many as pay."""
    _sheaf.set_process_threads(threads)


def get_num_threads() -> int:
    """The limit that holds for calls of this thread; 0: none."""
    return _sheaf.thread_limit()


@contextlib.contextmanager
def num_threads(threads: int) -> Iterator[None]:
    """Inside, calls of this thread use at most this many threads; 0: as many as pay."""
    if threads < 0:
        _sheaf.set_process_threads(threads)  # refuses it in the usual words
    before = _sheaf.set_own_threads(threads)
    try:
        yield
    finally:
        _sheaf.set_own_threads(before)


def read_environment() -> None:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return
    if text.isdecimal() and int(text) < 2**31:
        set_num_threads(int(text))
    else:
        warnings.warn(f"sheaf: {VARIABLE}={text!r} is not a number of threads; it is not used",
                      RuntimeWarning, stacklevel=3)
