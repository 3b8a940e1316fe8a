# SPDX-License-Identifier: MIT
"""The kernels that PyTorch calls first: they record gradients where some are wanted."""

from __future__ import annotations

from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor

from .. import _sheaf
from .._errors import ArgumentError, refusal
from . import _gradients as gradients
from . import _operators as operators


def tracked(*tensors: Tensor) -> bool:
    """Compiled programs open levels of forward mode behind the back of forward_ad."""
    return (operators.any_requires_grad(*tensors) or forward_ad._current_level >= 0
            or gradients.in_transform())


def _register_gather(op: str) -> None:
    # The price of a small call with a gradient is that of this function: names are local.
    def kernel(data: Tensor, indices: Tensor, *given: Any, threads: int = 0,
               in_transform: Any = gradients.in_transform, record: Any = gradients.Gather.apply
               ) -> Any:
        if data.requires_grad and not in_transform():
            return record(data, indices, op, given, threads)
        if tracked(data):
            return gradients.Gather.call(data, indices, op, given, threads)
        with torch._C._AutoDispatchBelowAutograd():
            return operators.operator(op)(data, indices, *given, threads=threads)

    operators.register(op, operators.quick(op, kernel, caller="autograd"), "Autograd")


def _register_scatter(op: str) -> None:
    def kernel(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, relaxed: bool = False,
               threads: int = 0) -> Any:
        if tracked(data, updates):
            return gradients.Scatter.call(data, indices, updates, op, given, relaxed, threads)
        with torch._C._AutoDispatchBelowAutograd():
            return operators.operator(op)(data, indices, updates, *given, relaxed=relaxed,
                                          threads=threads)

    operators.register(op, operators.quick(op, kernel, caller="autograd"), "Autograd")


def _register_out(op: str) -> None:
    """As everywhere in PyTorch, out= and gradients do not go together."""
    def kernel(*tensors: Any, out: Tensor, **keywords: Any) -> None:
        inputs = [tensor for tensor in tensors if isinstance(tensor, Tensor)]
        if operators.any_requires_grad(out, *inputs):
            raise ArgumentError(refusal(
                f"{op}: out does not go with gradients",
                "one of the tensors requires a gradient, which would be lost",
                "the result that the call returns, or torch.no_grad()"))
        if out.is_neg() or out.is_conj():  # PyTorch resolves these only where a tensor is returned
            out.copy_(operators.operator(op)(*tensors, **keywords))
            return
        with torch._C._AutoDispatchBelowAutograd():
            operators.out_operator(op)(*tensors, out=out, **keywords)
        torch.autograd.graph.increment_version(out)

    operators.register(f"{op}_out", kernel, "Autograd")


def _scatter_zeros(*arguments: Any) -> Any:
    if _sheaf.are_plain_tensors(*arguments[:2]):
        return operators.run_scatter_zeros(*arguments)
    if tracked(arguments[0]):
        return gradients.ScatterZeros.call(*arguments)
    with torch._C._AutoDispatchBelowAutograd():
        return operators.operator("_scatter_zeros")(*arguments)


for _op in operators.GATHERS:
    _register_gather(_op)
for _op in operators.SCATTERS:
    _register_scatter(_op)
for _op in (*operators.GATHERS, *operators.SCATTERS):
    _register_out(_op)
operators.register("_scatter_zeros", _scatter_zeros, "Autograd")
