# SPDX-License-Identifier: MIT
"""What the functions with PyTorch's names have in common: its rules for tensors without dimensions,
dimensions and out, and the ways to call an operator."""

from __future__ import annotations

import builtins
import functools
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor

from .._errors import ArgumentError, AxisError, DTypeError, refusal
from . import _operators as operators
from ._gradients import in_transform, recorded

#: As in most of PyTorch, negative indices are out of range.
FAIL = ("fail", "out_of_range")
#: Narrow floats are summed in f32, on every device.
SUMS = ("fail", "out_of_range", "f32")

is_compiling = torch.compiler.is_compiling


class IndexShapeError(ArgumentError, builtins.IndexError):
    """An index whose shape does not fit."""


IndexShapeError.__module__ = "sheaf.torch"

_at_once = {op: operators.quick(op, recorded(op))
            for op in (*operators.GATHERS, *operators.SCATTERS)}


def _out(op: str, data: Tensor, indices: Tensor, updates: Tensor, out: Tensor,
         *options: Any) -> Tensor:
    operators.out_operator(op)(data, indices, updates, *options, out=out)
    return out


def run(op: str, *arguments: Any) -> Any:
    """The operator: at once on plain tensors, else by PyTorch's dispatcher."""
    return (operators.operator(op) if is_compiling() else _at_once[op])(*arguments)


_at_once_into = {op: operators.quick(op, functools.partial(_out, op), True)
                 for op in operators.SCATTERS}


def change(op: str, data: Tensor, *arguments: Any) -> Any:
    """The scatter in place. With gradients, PyTorch records that data has changed."""
    if (operators.any_requires_grad(data, *arguments) or in_transform()
            or forward_ad._current_level >= 0):
        return data.copy_(run(op, data.clone(), *arguments))  # a gradient may need what was there
    indices, updates, *options = arguments
    kernel = functools.partial(_out, op) if is_compiling() else _at_once_into[op]
    return kernel(data, indices, updates, data, *options)


def row(tensor: Tensor) -> Tensor:
    """A tensor without dimensions as one with one entry."""
    return tensor.reshape(1) if tensor.dim() == 0 else tensor


def wrapped(call: str, dim: int, rank: int) -> int:
    """The dimension, counted from the front. A tensor without dimensions has dimension 0."""
    rank = max(rank, 1)
    if not -rank <= dim < rank:
        raise AxisError(refusal(f"{call}: dim out of range",
                                f"dim = {dim}, but input has {rank} dimensions",
                                f"a dim from {-rank} to {rank - 1}"))
    return dim + rank if dim < 0 else dim


def refuse_other_type(call: str, name: str, other: Tensor, input: Tensor) -> None:
    if other.dtype != input.dtype:
        raise DTypeError(refusal(f"{call}: types differ",
                                 f"{name} is {other.dtype}, but input is {input.dtype}",
                                 f"{name}.to(input.dtype)"))


def refuse_gradients(out: Tensor, *inputs: Any) -> None:
    if operators.any_requires_grad(out, *inputs):
        raise ArgumentError(refusal(
            "out does not go with gradients",
            "one of the tensors requires a gradient, which would be lost",
            "the result that the call returns, or torch.no_grad()"))


def _shares(out: Tensor, other: Any) -> bool:
    """Whether two tensors without gaps have a byte in common: of others, PyTorch does not ask."""
    if type(other) is not Tensor or not (out.is_contiguous() and other.is_contiguous()):
        return False
    begin, end = out.data_ptr(), out.data_ptr() + out.nbytes
    return begin < other.data_ptr() + other.nbytes and other.data_ptr() < end


def _refuse_overlap(out: Tensor, inputs: tuple[Any, ...] | None) -> None:
    """With one of the inputs, or, without any, of elements of out with one another."""
    if is_compiling() or in_transform() or type(out) is not Tensor:
        return  # PyTorch's own copy looks
    if inputs is None:
        overlaps = torch._debug_has_internal_overlap(out) == 1
        what = "its elements share memory with one another"
    else:
        overlaps = any(_shares(out, other) for other in inputs)
        what = "it shares memory with an input"
    if overlaps:
        raise ArgumentError(refusal("out overlaps", what, "out.clone()"))


def into(out: Tensor | None, result: Tensor, *inputs: Any) -> Tensor:
    """PyTorch's rules for out: its size may change, its type may not, it records nothing, and it
    shares no memory with `inputs`."""
    if out is None:
        return result
    if out.dtype != result.dtype or out.device != result.device:
        raise ArgumentError(refusal(
            "out does not fit",
            f"out is {out.dtype} on {out.device}, but the result is {result.dtype} on "
            f"{result.device}",
            "an out of that type there"))
    refuse_gradients(out, result)
    _refuse_overlap(out, None)
    if out.shape != result.shape:  # which torch.compile does not follow
        out.resize_(result.shape)
    _refuse_overlap(out, inputs)
    return out.copy_(result)
