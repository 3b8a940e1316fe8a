# SPDX-License-Identifier: MIT
"""The operators torch.ops.sheaf.*: their schemas and their kernels.

The kernels are Python functions that call the compiled part. That is as quick as a kernel in C++,
for PyTorch hands over to either in about 2 us, and needs no build against a version of PyTorch.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor

from .. import _sheaf

#: Each gather, with its own options as (name in schemas and calls, type, default).
GATHERS: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "gather": (("axis", "int", 0), ("batch_dims", "int", 0)),
    "gather_elements": (("axis", "int", 0), ("broadcast", "bool", False)),
    "gather_nd": (("batch_dims", "int", 0),),
}
#: Each scatter, with the gather that visits the same elements.
SCATTERS = {"scatter": "gather", "scatter_elements": "gather_elements", "scatter_nd": "gather_nd"}
SCATTER_OF = {gather: scatter for scatter, gather in SCATTERS.items()}
SCATTER_OPTIONS = {
    "scatter": GATHERS["gather"],
    "scatter_elements": (("axis", "int", 0),),
    "scatter_nd": GATHERS["gather_nd"],
}

library: Any = torch.library.Library("sheaf", "DEF")  # type: ignore[no-untyped-call]


def _schemas() -> None:
    for op, options in GATHERS.items():
        own = ", ".join(f"{kind} {name}={default}" for name, kind, default in options)
        head = (f'Tensor data, Tensor indices, {own}, str out_of_range="fail", '
                'str negative="from_end", Scalar fill_value=0, *, int threads=0')
        library.define(f"{op}({head}) -> Tensor")
        library.define(f"{op}_out({head}, Tensor(a!) out) -> Tensor(a!)")
    for op, options in SCATTER_OPTIONS.items():
        own = ", ".join(f"{kind} {name}={default}" for name, kind, default in options)
        head = (f'Tensor data, Tensor indices, Tensor updates, {own}, str reduction="none", '
                'bool include_self=True, str out_of_range="fail", str negative="from_end", *, '
                "bool relaxed=False, int threads=0")
        library.define(f"{op}({head}) -> Tensor")
        library.define(f"{op}_out({head}, Tensor(a!) out) -> Tensor(a!)")
    # The gradient of a gather: the updates, added up in zeros. `op` is the scatter's name.
    library.define("_scatter_zeros(Tensor updates, Tensor indices, SymInt[] shape, str op, "
                   "int axis, int batch_dims, str out_of_range, str negative) -> Tensor")


_schemas()


def register(op: str, kernel: Any, *keys: str) -> None:
    for key in keys:
        library.impl(op, kernel, key)


def operator(op: str) -> Any:
    return getattr(torch.ops.sheaf, op).default


def out_operator(op: str) -> Any:
    return getattr(torch.ops.sheaf, f"{op}_out").default


def gather_options(op: str, options: tuple[Any, ...]) -> tuple[int, int, bool]:
    """axis, batch_dims and broadcast, of which each operator has one or two."""
    if op == "gather":
        return options[0], options[1], False
    if op == "gather_elements":
        return options[0], 0, options[1]
    return 0, options[0], False


def scatter_options(op: str, options: tuple[Any, ...]) -> tuple[int, int]:
    """axis and batch_dims."""
    if op == "scatter":
        return options[0], options[1]
    return (options[0], 0) if op == "scatter_elements" else (0, options[0])


def run_gather(op: str, data: Tensor, indices: Tensor, options: tuple[Any, ...],
               rule: tuple[Any, ...], threads: int, out: Tensor | None = None) -> Any:
    axis, batch_dims, broadcast = gather_options(op, options)
    return _sheaf.run_gather(op, data, indices, out, threads, True, axis, batch_dims, broadcast,
                             *rule)


def run_scatter(op: str, data: Tensor, indices: Tensor, updates: Tensor, options: tuple[Any, ...],
                how: tuple[Any, ...], relaxed: bool, threads: int,
                out: Tensor | None = None) -> Any:
    axis, batch_dims = scatter_options(op, options)
    reduction, include_self, out_of_range, negative = how
    return _sheaf.run_scatter(op, data, indices, updates, out, threads, True, axis, batch_dims,
                              reduction, include_self, relaxed, out_of_range, negative)


def run_scatter_zeros(updates: Tensor, indices: Tensor, shape: Any, op: str, axis: int,
                      batch_dims: int, out_of_range: str, negative: str) -> Any:
    return _sheaf.run_scatter_zeros(op, updates, indices, list(shape), 0, axis, batch_dims,
                                    out_of_range, negative)


RULE = ("fail", "from_end", 0)
HOW = ("none", True, "fail", "from_end")


def defaults(given: tuple[Any, ...], options: tuple[tuple[str, str, Any], ...],
             rest: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The operator's own options and what follows them: PyTorch leaves trailing defaults out."""
    everything = tuple(default for _, _, default in options) + rest
    full = given + everything[len(given):]
    return full[:len(options)], full[len(options):]


def _register_gather(op: str) -> None:
    options = GATHERS[op]

    def kernel(data: Tensor, indices: Tensor, *given: Any, threads: int = 0) -> Any:
        own, rule = defaults(given, options, RULE)
        return run_gather(op, data, indices, own, rule, threads)

    def into(data: Tensor, indices: Tensor, *given: Any, out: Tensor, threads: int = 0) -> Any:
        own, rule = defaults(given, options, RULE)
        return run_gather(op, data, indices, own, rule, threads, out)

    register(op, kernel, "CPU", "CUDA")
    register(f"{op}_out", into, "CPU", "CUDA")


def _register_scatter(op: str) -> None:
    options = SCATTER_OPTIONS[op]

    def kernel(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, relaxed: bool = False,
               threads: int = 0) -> Any:
        own, how = defaults(given, options, HOW)
        return run_scatter(op, data, indices, updates, own, how, relaxed, threads)

    def into(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, out: Tensor,
             relaxed: bool = False, threads: int = 0) -> Any:
        own, how = defaults(given, options, HOW)
        return run_scatter(op, data, indices, updates, own, how, relaxed, threads, out)

    register(op, kernel, "CPU", "CUDA")
    register(f"{op}_out", into, "CPU", "CUDA")


for _op in GATHERS:
    _register_gather(_op)
for _op in SCATTERS:
    _register_scatter(_op)
register("_scatter_zeros", run_scatter_zeros, "CPU", "CUDA")


# What follows tells whether a kernel may be called at once, past the rest of PyTorch's dispatcher:
# then a call costs a third.

_PLAIN = (Tensor, torch.nn.Parameter)


def undisturbed() -> bool:
    """No transform of torch.func, no mode that watches operators, no forward-mode gradient."""
    return not (torch._C._are_functorch_transforms_active() or torch._C._len_torch_dispatch_stack()
                or forward_ad._current_level >= 0)


def are_plain(*tensors: Tensor) -> bool:
    """Tensors with memory, not stand-ins such as those of torch.compile."""
    return all(type(tensor) in _PLAIN for tensor in tensors)


def any_requires_grad(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
