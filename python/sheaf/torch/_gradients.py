# SPDX-License-Identifier: MIT
"""Gradients of the operators: backward and forward mode, of any order.

A gather is linear in data. A scatter is linear, too, close to the point where it was taken:

    tangent of output = A * tangent of data + scatter-add of (C * tangent of updates)

with coefficients A, of data's shape, and C, of the updates' shape, which depend on the reduction.
Backward mode is the same read the other way. Both are made of the operators themselves, so that
they can be differentiated, batched and compiled in turn. Narrow floats are summed in f32.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
import torch.autograd.forward_ad as forward_ad
from torch import Tensor
from torch._C._functorch import set_single_level_autograd_function_allowed
from torch.autograd import Function
from torch.autograd.function import _SingleLevelFunction

from .. import _sheaf
from . import _operators as operators
from ._linearised import Linearised


class Operator(Function):
    """compute() is the operator, remember() keeps what its gradients need.

    Doing both in forward() costs a fifth of PyTorch's setup_context(), which its transforms ask
    for: `staged` is the same with that.
    """

    staged: Any

    @classmethod
    def call(cls, *arguments: Any) -> Any:
        """apply(), also inside the transforms of torch.func: there each level of a transform calls
        the operator, so that one level is all that the function sees."""
        if not in_transform():
            return cls.apply(*arguments)
        before = torch._C._functorch.get_single_level_autograd_function_allowed()
        set_single_level_autograd_function_allowed(True)
        try:
            return cls.staged.apply(*arguments)
        finally:
            set_single_level_autograd_function_allowed(before)


in_transform = torch._C._are_functorch_transforms_active


def both_ways(cls: Any) -> Any:
    """Gives the class its forward() and `staged`."""
    compute, remember = cls.compute, cls.remember

    def forward(ctx: Any, *arguments: Any) -> Any:
        output = compute(*arguments)
        remember(ctx, arguments, output)
        return output

    cls.staged = type(cls)(cls.__name__, (_SingleLevelFunction,), {
        "forward": staticmethod(cls.compute), "setup_context": staticmethod(cls.remember),
        "backward": staticmethod(cls.backward), "jvp": staticmethod(cls.jvp)})
    cls.forward = staticmethod(forward)
    return cls


def save(ctx: Any, tensors: tuple[Any, ...]) -> None:
    """For both modes. Outside of the transforms, forward mode has a level; saving for it takes a
    tenth of a small call."""
    ctx.save_for_backward(*tensors)
    if forward_ad._current_level >= 0 or in_transform():
        ctx.save_for_forward(*tensors)


def forward_mode_further_out() -> Any:
    """Inside jvp(), PyTorch switches forward mode off, for transforms further out too; this switches
    it on. Tensors must then come without the tangent of this level, that is, as primal()."""
    return forward_ad._set_fwd_grad_enabled(True)


def primal(tensor: Tensor) -> Tensor:
    """Without the tangent of the innermost forward mode, whose level is always 0: compiled programs
    do not tell forward_ad."""
    result: Tensor = torch._VF._unpack_dual(tensor, level=0)[0]
    return result


def below_autograd(op: str, *arguments: Any, **keywords: Any) -> Any:
    # A function's forward() runs without gradients of either mode; transforms further out may want
    # theirs.
    with (torch.enable_grad(), forward_ad._set_fwd_grad_enabled(True),
          torch._C._AutoDispatchBelowAutograd()):
        return operators.operator(op)(*arguments, **keywords)


#: Each operator: at once on plain tensors, else below autograd.
_compute = {op: operators.quick(op, functools.partial(below_autograd, op))
            for op in (*operators.GATHERS, *operators.SCATTERS)}


@both_ways
class Gather(Operator):
    """The gather `op`; its gradient is the scatter-add onto zeros."""

    @staticmethod
    def compute(data: Tensor, indices: Tensor, op: str, given: tuple[Any, ...],
                threads: int) -> Any:
        if threads:
            return below_autograd(op, data, indices, *given, threads=threads)
        return _compute[op](data, indices, *given)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        data, indices, *ctx.call = inputs
        ctx.shape = data.shape
        save(ctx, (indices,))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (indices,) = ctx.saved_tensors
        op, given, _ = ctx.call
        options, rule = operators.defaults(given, operators.GATHERS[op], operators.RULE)
        return _scatter_back(op, grad, indices, ctx.shape, options, rule), *[None] * 4

    @staticmethod
    def jvp(ctx: Any, data: Tensor, *_: Any) -> Any:
        (indices,) = ctx.saved_tensors
        op, given, threads = ctx.call
        options, rule = operators.defaults(given, operators.GATHERS[op], operators.RULE)
        with forward_mode_further_out():
            return operators.operator(op)(data, indices, *options, rule[0], rule[1], 0,
                                          threads=threads)


def _scatter_back(op: str, grad: Tensor, indices: Tensor, shape: Any, options: tuple[Any, ...],
                  rule: tuple[Any, ...]) -> Tensor:
    """What a gather took, added up where it came from. Dimensions of data that were stretched have
    one sum for all that they were stretched to."""
    axis, batch_dims, broadcast = operators.gather_options(op, options)
    sizes, stretched = list(shape), []
    if broadcast:
        off_axis = [d for d in range(len(sizes)) if d != axis % len(sizes)]
        stretched = [d for d in off_axis if sizes[d] == 1 and grad.shape[d] != 1]
        for d in stretched:
            sizes[d] = grad.shape[d]
        indices = indices.expand(grad.shape)
    out_of_range = "skip" if rule[0] == "fill" else rule[0]
    result: Tensor = torch.ops.sheaf._scatter_zeros(
        grad, indices, sizes, operators.SCATTER_OF[op], axis, batch_dims, out_of_range, rule[1])
    return result.sum(stretched, keepdim=True) if stretched else result


@both_ways
class ScatterZeros(Operator):
    """The scatter-add onto zeros; its gradient is the gather."""

    @staticmethod
    def compute(*arguments: Any) -> Any:
        return below_autograd("_scatter_zeros", *arguments)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        _, indices, *ctx.call = inputs
        save(ctx, (indices,))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        (indices,) = ctx.saved_tensors
        _, op, axis, batch_dims, out_of_range, negative = ctx.call
        gather = operators.SCATTERS[op]
        options = {"gather": (axis, batch_dims), "gather_elements": (axis, False),
                   "gather_nd": (batch_dims,)}[gather]
        rule = "fill" if out_of_range == "skip" else out_of_range
        result = operators.operator(gather)(grad, indices, *options, rule, negative)
        return result, *[None] * 7

    @staticmethod
    def jvp(ctx: Any, updates: Tensor, *_: Any) -> Any:
        (indices,) = ctx.saved_tensors
        with forward_mode_further_out():
            return torch.ops.sheaf._scatter_zeros(updates, indices, *ctx.call)


def _scaled(values: Tensor, coefficient: Tensor | float | None) -> Tensor:
    if coefficient is None or isinstance(coefficient, float):
        return values if coefficient in (None, 1.0) else -values
    return values * coefficient.conj()


@functools.lru_cache(maxsize=256, typed=True)
def _scatter_words(op: str, *given: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    options, how = operators.defaults(given, operators.SCATTER_OPTIONS[op], operators.HOW)
    return options, (operators.REDUCTIONS.get(how[0], how[0]), *how[1:])


@both_ways
class Scatter(Operator):
    """The scatter `op`."""

    @staticmethod
    def compute(data: Tensor, indices: Tensor, updates: Tensor, op: str, given: tuple[Any, ...],
                relaxed: bool, threads: int) -> Any:
        if relaxed or threads:
            return below_autograd(op, data, indices, updates, *given, relaxed=relaxed,
                                   threads=threads)
        return _compute[op](data, indices, updates, *given)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        data, indices, updates, ctx.op, given, *_ = inputs
        ctx.options, ctx.how = _scatter_words(ctx.op, *given)
        ctx.data_shape, ctx.updates_shape = data.shape, updates.shape
        linear = ctx.how[0] in ("none", "add", "sub", "mean")
        save(ctx, (indices,) if linear else (indices, data, updates, output))

    @staticmethod
    def _linearised(ctx: Any, like: Tensor, of: Any = None) -> tuple[Linearised, Any, Any]:
        indices, *values = ctx.saved_tensors
        values = [of(value) for value in values] if of else values
        linear = Linearised(ctx.op, ctx.options, ctx.how, indices, ctx.updates_shape)
        of_data, of_updates = linear.coefficients(like, *(values or (None, None, None)))
        return linear, of_data, of_updates

    @staticmethod
    def _replaced(ctx: Any) -> Linearised:
        """Without a reduction there are no coefficients: what is replaced has no gradient."""
        return Linearised(ctx.op, ctx.options, ctx.how, ctx.saved_tensors[0], ctx.updates_shape)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        if ctx.how[0] == "none":
            linear = Scatter._replaced(ctx)
            return (linear.put(grad, linear.zeros(grad)) if ctx.needs_input_grad[0] else None, None,
                    linear.take_last(grad) if ctx.needs_input_grad[2] else None, *[None] * 4)
        linear, of_data, of_updates = Scatter._linearised(ctx, grad)
        data = _scaled(grad, of_data) if ctx.needs_input_grad[0] else None
        updates = _scaled(linear.take(grad), of_updates) if ctx.needs_input_grad[2] else None
        return data, None, updates, *[None] * 4

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        with forward_mode_further_out():
            return Scatter._tangent(ctx, tangents[0], tangents[2])

    @staticmethod
    def _tangent(ctx: Any, data: Tensor | None, updates: Tensor | None) -> Tensor:
        like = data if data is not None else None
        if like is None:
            assert updates is not None
            like = updates.new_zeros(ctx.data_shape)
        if ctx.how[0] == "none":
            linear = Scatter._replaced(ctx)
            return linear.put(like, linear.zeros(like) if updates is None else updates)
        linear, of_data, of_updates = Scatter._linearised(ctx, like, of=primal)
        tangent = torch.zeros_like(like) if data is None else (
            data if of_data is None else data * of_data)
        if updates is not None:
            tangent = linear.put(tangent, updates * of_updates, "add")
        return tangent


def recorded(op: str) -> Any:
    """The operator by PyTorch's dispatcher; past it where all that it would do is to record a
    gradient."""
    dispatched = operators.operator(op)
    is_watched, enabled = _sheaf.is_call_watched, torch.is_grad_enabled

    def gather(data: Tensor, indices: Tensor, *given: Any) -> Any:
        if data.requires_grad and type(data) in _PLAIN and enabled() and not is_watched():
            return Gather.apply(data, indices, op, given, 0)
        return dispatched(data, indices, *given)

    def scatter(data: Tensor, indices: Tensor, updates: Tensor, *given: Any) -> Any:
        if (type(data) in _PLAIN and type(updates) in _PLAIN and enabled()
                and (data.requires_grad or updates.requires_grad) and not is_watched()):
            return Scatter.apply(data, indices, updates, op, given, False, 0)
        return dispatched(data, indices, updates, *given)

    return gather if op in operators.GATHERS else scatter


_PLAIN = (Tensor, torch.nn.Parameter)
