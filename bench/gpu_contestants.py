# SPDX-License-Identifier: MIT
"""Who gathers on the GPU: for each library, a call that does a case on tensors that are there.

What each does with a bad index. Sheaf is measured twice: "clamp" bounds it as CuPy's and JAX's modes
do; "fail" looks at all indices before anything is written, and the verdict is fetched after the clock
has stopped, as in a program that does not wait for every call. PyTorch stops the process by a device
assertion, CuPy wraps around, JAX runs with mode="clip".

JAX has no out=, offers no stream to put events on, and takes int32 by default: it is timed from the
host until the result is there, on int32 copies of the indices.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

import torch

from cases import Case
from gpu_measure import DEVICE
from report import first_line

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


def index_spec(case: Case):
    import sheaf

    return sheaf.Spec(f"i{8 * case.index_bytes}", case.indices)


def sheaf_call(rule: str) -> Callable[[Case, Tensors], Call]:
    def make(case: Case, tensors: Tensors) -> Call:
        import sheaf

        x, i, out = tensors
        data, indices = sheaf.Spec("f32", case.data), index_spec(case)
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
