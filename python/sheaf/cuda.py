# SPDX-License-Identifier: MIT
"""Arrays on NVIDIA GPUs: whether they can be used, and when a bad index is told.

Under out_of_range="fail" a call waits for the GPU, for it must know whether to raise. Inside
deferred_errors() it does not, and check() tells later. While a CUDA graph is captured nothing can
be waited for: call check() after a replay.
"""

from __future__ import annotations

import contextlib
from typing import Iterator

from . import _sheaf

__all__ = ["check", "deferred_errors", "description", "forget_captured", "is_available"]


def is_available() -> bool:
    """Whether this build of Sheaf can run on the current CUDA device."""
    return _sheaf.gpu_available()


def description() -> str:
    """The current CUDA device in words, or why there is none to use."""
    return _sheaf.gpu_description()


@contextlib.contextmanager
def deferred_errors() -> Iterator[None]:
    """Inside, no call waits for its indices to be checked; the end does, for all of them.

    Holds for all threads. A call whose index was bad has left its output untouched. Each call keeps
    its workspace until the check.
    """
    _sheaf.gpu_defer(1)
    try:
        yield
    finally:
        _sheaf.gpu_defer(-1)
    check()


def check() -> None:
    """Waits for all calls whose check was put off, and raises the first IndexError.

    The calls in captured graphs are looked at each time: they tell of the last replay. Not to be
    called during a capture.
    """
    _sheaf.gpu_check()


def forget_captured() -> None:
    """Lets go of the memory that calls in captured graphs need: for when these graphs are gone."""
    _sheaf.gpu_forget()
