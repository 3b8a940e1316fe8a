# SPDX-License-Identifier: MIT
"""The operators torch.ops.sheaf.*: their schemas and their kernels.

The kernels are registered from Python, which needs no build against a version of PyTorch; calls on
plain tensors run in the compiled part from there on (python/src/torch_calls.cc).
"""

from __future__ import annotations

import functools
from typing import Any

import torch
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

#: Names of other libraries for the same reductions.
REDUCTIONS = {"sum": "add", "prod": "mul", "multiply": "mul", "amin": "min", "amax": "max"}

library: Any = torch.library.Library("sheaf", "DEF")  # type: ignore[no-untyped-call]


def _schemas() -> None:
    for op, options in GATHERS.items():
        own = ", ".join(f"{kind} {name}={default}" for name, kind, default in options)
        head = (f'Tensor data, Tensor indices, {own}, str out_of_range="fail", '
                'str negative="from_end", Scalar fill_value=0, *, int threads=0')
        library.define(f"{op}({head}) -> Tensor")
        library.define(f"{op}_out({head}, Tensor(a!) out) -> ()")
    for op, options in SCATTER_OPTIONS.items():
        own = ", ".join(f"{kind} {name}={default}" for name, kind, default in options)
        head = (f'Tensor data, Tensor indices, Tensor updates, {own}, str reduction="none", '
                'bool include_self=True, str out_of_range="fail", str negative="from_end", '
                'str accumulate="", *, bool relaxed=False, int threads=0')
        library.define(f"{op}({head}) -> Tensor")
        library.define(f"{op}_out({head}, Tensor(a!) out) -> ()")
    # The gradient of a gather: the updates, added up in zeros, narrow floats in f32. `op` is the
    # scatter's name.
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


RULE = ("fail", "from_end", 0)
#: The last is what to accumulate in: "f32" for narrow floats (other types stay their own), or "".
HOW = ("none", True, "fail", "from_end", "")


def defaults(given: tuple[Any, ...], options: tuple[tuple[str, str, Any], ...],
             rest: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The operator's own options and what follows them: PyTorch leaves trailing defaults out."""
    everything = tuple(default for _, _, default in options) + rest
    full = given + everything[len(given):]
    return full[:len(options)], full[len(options):]


@functools.lru_cache(maxsize=256, typed=True)
def _gather_words(op: str, *given: Any) -> tuple[Any, ...]:
    own, rule = defaults(given, GATHERS[op], RULE[:-1])
    return (*gather_options(op, own), *rule)


def gather_arguments(op: str, *given: Any) -> tuple[Any, ...]:
    """What the compiled part takes, of the arguments that PyTorch hands over. The fill value, the
    last of them, is not kept: 0.0 and -0.0 would be one."""
    words = len(GATHERS[op]) + len(RULE) - 1
    return (*_gather_words(op, *given[:words]), given[words] if len(given) > words else RULE[-1])


@functools.lru_cache(maxsize=256, typed=True)
def scatter_arguments(op: str, *given: Any) -> tuple[Any, ...]:
    own, how = defaults(given, SCATTER_OPTIONS[op], HOW)
    return (*scatter_options(op, own), *how)


def quick(op: str, kernel: Any, into: bool = False, caller: str = "user") -> Any:
    """The operator, compiled, for plain tensors and no keywords; all else goes to `kernel`. With
    `into`, out is the tensor before the options. `caller`: "user", or which kernel of
    PyTorch's dispatcher this is, "autograd" or "backend"."""
    return _sheaf.torch_kernel(op, kernel, gather_arguments if op in GATHERS else scatter_arguments,
                               into, caller)


def run_gather(op: str, data: Tensor, indices: Tensor, given: tuple[Any, ...], threads: int,
               out: Tensor | None = None) -> Any:
    axis, batch_dims, broadcast, out_of_range, negative, fill = gather_arguments(op, *given)
    return _sheaf.run_gather(op, data, indices, out, axis=axis, batch_dims=batch_dims,
                             broadcast=broadcast, out_of_range=out_of_range, negative=negative,
                             fill_value=fill, threads=threads, inside_operator=True)


def run_scatter(op: str, data: Tensor, indices: Tensor, updates: Tensor, given: tuple[Any, ...],
                relaxed: bool, threads: int, out: Tensor | None = None) -> Any:
    (axis, batch_dims, reduction, include_self, out_of_range, negative,
     accumulate) = scatter_arguments(op, *given)
    return _sheaf.run_scatter(op, data, indices, updates, out, axis=axis, batch_dims=batch_dims,
                              reduction=reduction, include_self=include_self, relaxed=relaxed,
                              accumulate=accumulate, out_of_range=out_of_range, negative=negative,
                              threads=threads, inside_operator=True)


def run_scatter_zeros(updates: Tensor, indices: Tensor, shape: Any, op: str, axis: int,
                      batch_dims: int, out_of_range: str, negative: str) -> Any:
    return _sheaf.run_scatter_zeros(op, updates, indices, list(shape), axis=axis,
                                    batch_dims=batch_dims, out_of_range=out_of_range,
                                    negative=negative)


def _register_gather(op: str) -> None:
    def kernel(data: Tensor, indices: Tensor, *given: Any, threads: int = 0) -> Any:
        return run_gather(op, data, indices, given, threads)

    def into(data: Tensor, indices: Tensor, *given: Any, out: Tensor, threads: int = 0) -> None:
        run_gather(op, data, indices, given, threads, out)

    register(op, quick(op, kernel, caller="backend"), *_sheaf.torch_keys())
    register(f"{op}_out", into, *_sheaf.torch_keys())


def _register_scatter(op: str) -> None:
    def kernel(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, relaxed: bool = False,
               threads: int = 0) -> Any:
        return run_scatter(op, data, indices, updates, given, relaxed, threads)

    def into(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, out: Tensor,
             relaxed: bool = False, threads: int = 0) -> None:
        run_scatter(op, data, indices, updates, given, relaxed, threads, out)

    register(op, quick(op, kernel, caller="backend"), *_sheaf.torch_keys())
    register(f"{op}_out", into, *_sheaf.torch_keys())


for _op in GATHERS:
    _register_gather(_op)
for _op in SCATTERS:
    _register_scatter(_op)
register("_scatter_zeros", run_scatter_zeros, *_sheaf.torch_keys())


def any_requires_grad(*tensors: Any) -> bool:
    if torch.is_grad_enabled():
        for tensor in tensors:
            if isinstance(tensor, Tensor) and tensor.requires_grad:
                return True
    return False
