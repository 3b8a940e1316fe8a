# SPDX-License-Identifier: MIT
"""One small call: what a launch costs on the host, and what it takes on the device."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import NamedTuple

import torch

from cases import Case
from gpu_contestants import Call, deferred_errors, settle_errors, sheaf_call
from gpu_measure import DEVICE, graph_seconds, host_seconds
from measure import Timing
from report import first_line


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
