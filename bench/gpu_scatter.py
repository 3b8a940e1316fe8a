# SPDX-License-Identifier: MIT
"""Runs one scatter on the GPU, in place, and checks it.

Sheaf reduces the updates of a cell in their order, the same bits on every run and machine; with
relaxed=True it may add in any order, as PyTorch's index_add_ does by atomic additions. PyTorch's
deterministic algorithms give the same bits on every run. The timed numbers are whole, so that every
sum is exact; Sheaf's order is compared on other numbers, with what its CPU backend gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch

from cases import ScatterCase
from gpu_gather import (Call, Contestant, deferred_errors, index_spec, release,
                             settle_errors)
from gpu_measure import DEVICE, SMALL, before_rounds, time_events
from measure import Timing
from report import first_line

Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # data, written to; indices, updates
COLUMNS = 16      # columns that are summed up at a time for the check
SMALLER = 64      # the case on other numbers has this much fewer updates


def sheaf_call(rule: str, **more: object) -> Callable[[ScatterCase, Tensors], Call]:
    def make(case: ScatterCase, tensors: Tensors) -> Call:
        import sheaf

        x, i, u = tensors
        plan_of = sheaf.plan_scatter_elements if case.op == "elements" else sheaf.plan_scatter
        plan = plan_of(sheaf.Spec("f32", case.data), index_spec(case),
                       sheaf.Spec("f32", case.updates()), axis=case.axis, reduction=case.reduction,
                       out_of_range=rule, **more)
        return lambda: plan.run(x, i, u, out=x)

    return make


def torch_call(case: ScatterCase, tensors: Tensors) -> Call:
    x, i, u = tensors
    if case.op == "elements":
        return lambda: x.scatter_add_(case.axis, i, u)
    adds = case.reduction == "add"
    return (lambda: x.index_add_(0, i, u)) if adds else (lambda: x.index_copy_(0, i, u))


@contextmanager
def deterministic() -> Iterator[None]:
    before = torch.utils.deterministic.fill_uninitialized_memory
    torch.utils.deterministic.fill_uninitialized_memory = False  # of its own scratch memory
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = before


SCATTERERS = {
    "sheaf clamp": Contestant("sheaf", sheaf_call("clamp")),
    "sheaf fail": Contestant("sheaf", sheaf_call("fail"), deferred_errors, settle_errors),
    "sheaf relaxed": Contestant("sheaf", sheaf_call("clamp", relaxed=True)),
    "torch": Contestant("torch", torch_call),
    "torch deterministic": Contestant("torch", torch_call, context=deterministic),
}


def whole_numbers(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return torch.randint(-4, 5, shape, generator=generator, device=DEVICE, dtype=torch.int8).float()


def expected(case: ScatterCase, start: torch.Tensor, i: torch.Tensor, u: torch.Tensor
             ) -> torch.Tensor:
    """In 64 bits, a few columns at a time; exact, so in whatever order."""
    want = start.clone()
    if case.reduction == "none":
        inverse = torch.empty_like(i)
        inverse[i] = torch.arange(len(i), device=DEVICE)  # the indices are a permutation
        return u[inverse]
    if case.op == "elements":
        return want.double().scatter_add_(case.axis, i, u.double()).float()
    for first in range(0, want.shape[1], COLUMNS):
        part = slice(first, first + COLUMNS)
        want[:, part] = want[:, part].double().index_add_(0, i, u[:, part].double()).float()
    return want


def run_scatter(case: ScatterCase, names: list[str], seconds: float,
                complain: Callable[[str], None]) -> dict[str, Timing]:
    start, u = whole_numbers(case.data, 1), whole_numbers(case.updates(), 2)
    i = torch.from_numpy(case.make_indices(np.random.default_rng(1))).to(DEVICE)
    want = expected(case, start, i, u)
    x = start.clone()
    timings = {}
    for name in (name for name in SCATTERERS if name in names):
        contestant = SCATTERERS[name]
        if name == "torch deterministic" and case.reduction == "none":
            continue  # nothing is reduced
        x.copy_(start)
        try:
            call = contestant.make(case, (x, i, u))
            with contestant.context():
                call()
                if not torch.equal(x, want):
                    complain(f"{name} gives a wrong result on: {case.name}")
                    continue
                before = before_rounds(contestant.settle, case.moved_bytes() < SMALL)
                timings[name] = time_events(call, seconds, before)
        except Exception as error:  # one that cannot do it does not stop the rest
            complain(f"{name} fails on {case.name}: {first_line(error)}")
        finally:
            call = None
            release(name)
    if "sheaf clamp" in timings and case.reduction == "add":
        compare_order(case, complain)
    return timings


def smaller(case: ScatterCase) -> ScatterCase:
    if case.op == "elements":
        shape = tuple(extent // 8 for extent in case.data)
        return replace(case, data=shape, indices=shape)
    rows = max(1, case.data[0] // SMALLER) if case.data[0] > 1000 else case.data[0]
    return replace(case, data=(rows, case.data[1]), indices=(case.indices[0] // SMALLER,))


def compare_order(case: ScatterCase, complain: Callable[[str], None]) -> None:
    """Numbers whose sums are rounded: only the same order gives the same bits."""
    import sheaf

    case = smaller(case)
    rng = np.random.default_rng(3)
    x, u = (rng.standard_normal(shape, dtype=np.float32) for shape in (case.data, case.updates()))
    i = case.make_indices(rng)
    scatter = sheaf.scatter_elements if case.op == "elements" else sheaf.scatter
    want = scatter(x, i, u, axis=case.axis, reduction="add")
    on_device = [torch.from_numpy(array).to(DEVICE) for array in (x, i, u)]
    got = scatter(*on_device, axis=case.axis, reduction="add").cpu().numpy()
    if not np.array_equal(got.view(np.uint32), want.view(np.uint32)):
        complain(f"sheaf adds in another order than on the CPU: {case.name}")
