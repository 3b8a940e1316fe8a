# SPDX-License-Identifier: MIT
"""Runs one gather on the GPU: every contestant on the same tensors, checked before it is timed."""

from __future__ import annotations

from collections.abc import Callable

import torch

from cases import Case, size
from gpu_contestants import GATHERERS, Call, Contestant, release
from gpu_measure import DEVICE, SMALL, before_rounds, time_events
from measure import Timing, time_call
from report import first_line

CHUNK = 1 << 25  # elements that are compared at a time: their offsets take 256 MiB


class Table:
    """Memory for the data of every case. Each element holds its own place, so what a gather has to
    give can be computed from the indices, by nobody's gather."""

    def __init__(self, elements: int) -> None:
        self.bits = torch.empty(elements, dtype=torch.int32, device=DEVICE)
        for first in range(0, elements, CHUNK):
            last = min(elements, first + CHUNK)
            self.bits[first:last] = torch.arange(first, last, device=DEVICE)

    def view(self, shape: tuple[int, ...]) -> torch.Tensor:
        return self.bits[: size(shape)].view(torch.float32).view(shape)


def make_indices(case: Case) -> torch.Tensor:
    generator = torch.Generator(DEVICE).manual_seed(1)
    dtype = torch.int64 if case.index_bytes == 8 else torch.int32
    columns = [torch.randint(extent, (case.points(),), generator=generator, device=DEVICE,
                             dtype=dtype) for extent in case.extents()]
    if len(columns) == 1:
        return columns[0].view(case.indices)
    return torch.stack(columns, dim=-1).view(case.indices)


def expected_rows(case: Case, i: torch.Tensor, first: int, last: int) -> torch.Tensor:
    """The places in data of output[first, last), whose elements hold them."""
    width = case.data[-1]
    along = torch.arange(width, device=DEVICE)
    lines = torch.arange(first, last, device=DEVICE)[:, None]
    if case.op == "nd":
        row, column = i[first:last].long().unbind(-1)
        return (row * case.data[1] + column)[:, None] * width + along
    if case.op == "take" and case.axis == 0:
        return i[first:last, None].long() * width + along
    if case.op == "take":
        return lines * width + i[None, :]
    return lines * width + i[first:last] if case.axis == 1 else i[first:last].long() * width + along


def is_right(case: Case, i: torch.Tensor, got: torch.Tensor) -> bool:
    if tuple(got.shape) != case.output():
        return False
    bits = got.contiguous().view(torch.int32)
    step = max(1, CHUNK // bits.shape[1])
    return all(
        torch.equal(bits[first:first + step],
                    expected_rows(case, i, first, min(first + step, len(bits))).int())
        for first in range(0, len(bits), step))


def as_tensor(result: object) -> torch.Tensor:
    return result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)


def measure(contestant: Contestant, call: Call, seconds: float, small: bool) -> Timing:
    if contestant.host_timed:
        return time_call(call, seconds)
    return time_events(call, seconds, before_rounds(contestant.settle, small))


def run_gather(case: Case, table: Table, names: list[str], seconds: float,
               complain: Callable[[str], None]) -> dict[str, Timing]:
    x, i = table.view(case.data), make_indices(case)
    out = torch.empty(case.output(), device=DEVICE)
    timings = {}
    for name in (name for name in GATHERERS if name in names):
        contestant = GATHERERS[name]
        out.view(torch.int32).fill_(-1)
        try:
            call = contestant.make(case, (x, i, out))
            if call is None:
                continue
            with contestant.context():
                if not is_right(case, i, as_tensor(call())):
                    complain(f"{name} gives a wrong result on: {case.name}")
                    continue
                timings[name] = measure(contestant, call, seconds, case.moved_bytes() < SMALL)
        except Exception as error:  # one that cannot do it, or lacks memory, does not stop the rest
            complain(f"{name} fails on {case.name}: {first_line(error)}")
        finally:
            call = None
            release(name)
    return timings
