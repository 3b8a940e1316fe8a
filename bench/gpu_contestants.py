# SPDX-License-Identifier: MIT
"""Gathers on the GPU: every contestant on the same tensors, checked before it is timed.

What each does with a bad index. Sheaf is measured twice: "clamp" bounds it as CuPy's and JAX's modes
do; "fail" looks at all indices before anything is written, and the verdict is fetched after the clock
has stopped, as in a program that does not wait for every call. PyTorch stops the process by a device
assertion, CuPy wraps around, JAX runs with mode="clip".

JAX has no out=, offers no stream to put events on, and takes int32 by default: it is timed from the
host until the result is there, on int32 copies of the indices.

Scatters run in place. Sheaf reduces the updates of a cell in their order, the same bits on every run
and machine; with relaxed=True it may add in any order, as PyTorch's index_add_ does by atomic
additions. PyTorch's deterministic algorithms give the same bits on every run. The timed numbers are
whole, so that every sum is exact; Sheaf's order is compared on other numbers, with what its CPU
backend gives.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from cases import Case, ScatterCase, size
from measure import DEVICE, SMALL, Timing, before_rounds, first_line, time_call, time_events

# JAX would otherwise take most of the memory for itself at its first call.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

Call = Callable[[], object]
Tensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # data, indices, output
MODULES = {"sheaf": ["sheaf"], "torch": ["torch"], "cupy": ["cupy"], "jax": ["jax"]}


def deferred_errors() -> AbstractContextManager:
    from sheaf import cuda

    return cuda.deferred_errors()


def settle_errors() -> None:
    """Each deferred call keeps its workspace until its verdict is fetched."""
    from sheaf import cuda

    cuda.check()


@dataclass(frozen=True)
class Contestant:
    """`make` gives a call, or None where the library has no such call; `settle` runs between two
    calls and is not timed."""

    library: str
    make: Callable[[Case, Tensors], Call | None]
    context: Callable[[], AbstractContextManager] = nullcontext
    settle: Callable[[], object] | None = None
    host_timed: bool = False


def data_type(case: Case) -> torch.dtype:
    return torch.float32 if case.element_bytes == 4 else torch.uint8


def index_spec(case: Case):
    import sheaf

    return sheaf.Spec(f"i{8 * case.index_bytes}", case.indices)


def sheaf_call(rule: str) -> Callable[[Case, Tensors], Call]:
    def make(case: Case, tensors: Tensors) -> Call:
        import sheaf

        x, i, out = tensors
        data = sheaf.Spec("f32" if case.element_bytes == 4 else "u8", case.data)
        indices = index_spec(case)
        if case.op == "take":
            plan = sheaf.plan_gather(data, indices, axis=case.axis, out_of_range=rule)
        elif case.op == "elements":
            plan = sheaf.plan_gather_elements(data, indices, axis=case.axis, out_of_range=rule)
        else:
            plan = sheaf.plan_gather_nd(data, indices, out_of_range=rule)
        return lambda: plan.run(x, i, out=out)

    return make


def columns_of(i: torch.Tensor) -> list[torch.Tensor]:
    return [i[..., column].contiguous() for column in range(i.shape[-1])]


def torch_call(case: Case, tensors: Tensors) -> Call | None:
    x, i, out = tensors
    if case.op == "take":
        return lambda: torch.index_select(x, case.axis, i, out=out)
    if case.op == "elements":  # int64 is its own width
        return (lambda: torch.gather(x, case.axis, i, out=out)) if case.index_bytes == 8 else None
    columns = columns_of(i)
    return lambda: torch.ops.aten.index.Tensor_out(x, columns, out=out)


def cupy_call(case: Case, tensors: Tensors) -> Call | None:
    import cupy

    x, i, out = (cupy.from_dlpack(tensor) for tensor in tensors)
    if case.op == "take":
        return lambda: cupy.take(x, i, axis=case.axis, out=out)
    if case.op == "elements":
        return (lambda: cupy.take_along_axis(x, i, case.axis)) if case.index_bytes == 8 else None
    columns = tuple(cupy.from_dlpack(column) for column in columns_of(tensors[1]))
    return lambda: x[columns]


def jax_call(case: Case, tensors: Tensors) -> Call:
    import jax
    from jax import numpy as jnp

    x = jax.dlpack.from_dlpack(tensors[0])
    i = tensors[1].to(torch.int32)
    columns = [jax.dlpack.from_dlpack(column)
               for column in (columns_of(i) if case.op == "nd" else [i])]
    torch.cuda.synchronize()  # JAX works on streams of its own
    if case.op == "take":
        work = jax.jit(lambda x, i: jnp.take(x, i, axis=case.axis, mode="clip"))
    elif case.op == "elements":
        work = jax.jit(lambda x, i: jnp.take_along_axis(x, i, axis=case.axis, mode="clip"))
    else:
        work = jax.jit(lambda x, *columns: x.at[columns].get(mode="clip"))
    return lambda: work(x, *columns).block_until_ready()


GATHERERS = {
    "sheaf clamp": Contestant("sheaf", sheaf_call("clamp")),
    "sheaf fail": Contestant("sheaf", sheaf_call("fail"), deferred_errors, settle_errors),
    "torch": Contestant("torch", torch_call),
    "cupy": Contestant("cupy", cupy_call),
    "jax": Contestant("jax", jax_call, host_timed=True),
}


def why_not(library: str) -> str | None:
    """None if the library works on this GPU; else the reason in one line."""
    case = Case("trial", "trial", "take", (4, 4), (2,))
    x, i = torch.zeros(4, 4, device=DEVICE), torch.zeros(2, dtype=torch.int64, device=DEVICE)
    try:
        for contestant in GATHERERS.values():
            if contestant.library == library:
                with contestant.context():
                    contestant.make(case, (x, i, torch.zeros(2, 4, device=DEVICE)))()
    except Exception as error:  # whatever it is, the others can still be measured
        return first_line(error)
    return None


def release(name: str) -> None:
    """Gives memory that a library keeps for its next call back to the device."""
    if name == "cupy":
        import cupy

        cupy.get_default_memory_pool().free_all_blocks()
    torch.cuda.empty_cache()

CHUNK = 1 << 25  # elements that are compared at a time: their offsets take 256 MiB


class Table:
    """Memory for the data of every case. Each four bytes hold their own place, so the expected output
    can be computed from the indices, without a gather."""

    def __init__(self, data_bytes: int) -> None:
        elements = -(-data_bytes // 4)
        self.bits = torch.empty(elements, dtype=torch.int32, device=DEVICE)
        for first in range(0, elements, CHUNK):
            last = min(elements, first + CHUNK)
            self.bits[first:last] = torch.arange(first, last, device=DEVICE)

    def view(self, case: Case) -> torch.Tensor:
        return self.bits.view(data_type(case))[: size(case.data)].view(case.data)


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
    got = got.contiguous()
    bits = got.view(torch.int32) if case.element_bytes == 4 else got

    def expected_bits(first: int, last: int) -> torch.Tensor:
        places = expected_rows(case, i, first, last)
        if case.element_bytes == 4:
            return places.int()
        return (places // 4 >> places % 4 * 8 & 255).byte()

    step = max(1, CHUNK // bits.shape[1])
    return all(torch.equal(bits[first:first + step],
                           expected_bits(first, min(first + step, len(bits))))
               for first in range(0, len(bits), step))


def as_tensor(result: object) -> torch.Tensor:
    return result if isinstance(result, torch.Tensor) else torch.from_dlpack(result)


def measure(contestant: Contestant, call: Call, seconds: float, small: bool) -> Timing:
    if contestant.host_timed:
        return time_call(call, seconds)
    return time_events(call, seconds, before_rounds(contestant.settle, small))


def run_gather(case: Case, table: Table, names: list[str], seconds: float,
               complain: Callable[[str], None]) -> dict[str, Timing]:
    x, i = table.view(case), make_indices(case)
    out = torch.empty(case.output(), dtype=data_type(case), device=DEVICE)
    timings = {}
    for name in (name for name in GATHERERS if name in names):
        contestant = GATHERERS[name]
        out.view(torch.uint8).fill_(255)
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


ScatterTensors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]  # data, written to; indices, updates
COLUMNS = 16      # columns that are summed up at a time for the check
SMALLER = 64      # the case on other numbers has this much fewer updates


def sheaf_scatter_call(rule: str, **more: object) -> Callable[[ScatterCase, ScatterTensors], Call]:
    def make(case: ScatterCase, tensors: ScatterTensors) -> Call:
        import sheaf

        x, i, u = tensors
        plan_of = sheaf.plan_scatter_elements if case.op == "elements" else sheaf.plan_scatter
        plan = plan_of(sheaf.Spec("f32", case.data), index_spec(case),
                       sheaf.Spec("f32", case.updates()), axis=case.axis, reduction=case.reduction,
                       out_of_range=rule, **more)
        return lambda: plan.run(x, i, u, out=x)

    return make


def torch_scatter_call(case: ScatterCase, tensors: ScatterTensors) -> Call:
    x, i, u = tensors
    if case.op == "elements":
        return lambda: x.scatter_add_(case.axis, i, u)
    adds = case.reduction == "add"
    return (lambda: x.index_add_(0, i, u)) if adds else (lambda: x.index_copy_(0, i, u))


def full_index(case: ScatterCase, i: Any, arange: Callable[[int], Any]) -> Any:
    """What stands in the brackets of x[...] for the rows or elements that `i` names."""
    if case.op != "elements":
        return i
    other = arange(case.indices[1 - case.axis])
    return (i, other[None, :]) if case.axis == 0 else (other[:, None], i)


def cupy_scatter_call(case: ScatterCase, tensors: ScatterTensors) -> Call:
    import cupy
    import cupyx

    x, i, u = (cupy.from_dlpack(tensor) for tensor in tensors)
    at = full_index(case, i, cupy.arange)
    if case.reduction == "add":
        return lambda: cupyx.scatter_add(x, at, u)
    return lambda: x.__setitem__(at, u)


def jax_scatter_call(case: ScatterCase, tensors: ScatterTensors) -> Call:
    """Each call hands its data to the next, so that JAX may work in place."""
    import jax
    from jax import numpy as jnp

    held = [jnp.array(jax.dlpack.from_dlpack(tensors[0]), copy=True)]
    i, u = (jax.dlpack.from_dlpack(tensor) for tensor in (tensors[1].to(torch.int32), tensors[2]))
    torch.cuda.synchronize()  # JAX works on streams of its own

    def work(x: Any, i: Any, u: Any) -> Any:
        at = x.at[full_index(case, i, jnp.arange)]
        return at.add(u, mode="clip") if case.reduction == "add" else at.set(u, mode="clip")

    run = jax.jit(work, donate_argnums=0)

    def call() -> object:
        held[0] = run(held[0], i, u).block_until_ready()
        return held[0]

    return call


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
    "sheaf clamp": Contestant("sheaf", sheaf_scatter_call("clamp")),
    "sheaf fail": Contestant("sheaf", sheaf_scatter_call("fail"), deferred_errors, settle_errors),
    "sheaf relaxed": Contestant("sheaf", sheaf_scatter_call("clamp", relaxed=True)),
    "torch": Contestant("torch", torch_scatter_call),
    "torch deterministic": Contestant("torch", torch_scatter_call, context=deterministic),
    "cupy": Contestant("cupy", cupy_scatter_call),
    "jax": Contestant("jax", jax_scatter_call, host_timed=True),
}


def whole_numbers(shape: tuple[int, ...], seed: int) -> torch.Tensor:
    generator = torch.Generator(DEVICE).manual_seed(seed)
    return torch.randint(-4, 5, shape, generator=generator, device=DEVICE, dtype=torch.int8).float()


def expected_sums(case: ScatterCase, start: torch.Tensor, i: torch.Tensor, u: torch.Tensor
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
    want = expected_sums(case, start, i, u)
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
                result = call()
                if not torch.equal(as_tensor(result) if name == "jax" else x, want):
                    complain(f"{name} gives a wrong result on: {case.name}")
                    continue
                result = None
                timings[name] = measure(contestant, call, seconds, case.moved_bytes() < SMALL)
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
        side = case.indices[0] // 8
        return replace(case, data=tuple(min(extent, side) for extent in case.data), indices=(side, side))
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
