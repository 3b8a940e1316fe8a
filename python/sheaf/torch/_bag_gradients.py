# SPDX-License-Identifier: MIT
"""Gradients of bags: backward and forward mode, of any order.

Sums, means and sqrtn are one trilinear form of data, weights and the gradient of the output. Each
of the three operators leaves one of them open:

    bag(data, weights)   gradient(grad, weights)   weights_gradient(grad, data)

A maximum passes everything on to the row that it came from, the first of equal ones. Other pools
are composed of gathers and scatters, which have their own gradients.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _bag_composed as composed
from . import _operators as operators
from ._autograd import tracked
from ._bag_operators import BagOptions
from ._gradients import Operator, below_autograd, both_ways, forward_mode_further_out, primal, save

_bag = torch.ops.sheaf.bag.default
_gradient = torch.ops.sheaf._bag_gradient.default
_weights_gradient = torch.ops.sheaf._bag_weights_gradient.default
_LINEAR = ("sum", "mean", "sqrtn")


def _of_data(grad: Tensor, data: Any, indices: Any, segments: Any, weights: Any, extent: Any,
             dtype: Any, options: BagOptions) -> Tensor:
    result: Tensor = _gradient(grad, data, indices, segments, weights, extent, *options)
    return result.to(dtype)


def _picked(table: Tensor, rows: Tensor) -> Tensor:
    """The elements of the rows that won; 0 in empty bags."""
    result: Tensor = operators.operator("gather_elements")(table, rows, 0, False, "fill",
                                                           "out_of_range")
    return result


def _total(*parts: Any) -> Any:
    given = [part for part in parts if part is not None]
    return sum(given[1:], given[0]) if given else None


@both_ways
class Bag(Operator):
    """pool of data[indices] * weights"""

    @staticmethod
    def compute(data: Tensor, indices: Any, segments: Any, weights: Any, options: BagOptions,
                threads: int) -> Any:
        return below_autograd("bag", data, indices, segments, weights, *options, threads=threads)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        data, indices, segments, weights, ctx.options, _ = inputs
        ctx.extent, ctx.dtype = data.shape[0], data.dtype
        # Only what is read: an optimiser may change the table before the gradient is taken.
        reads_data = weights is not None or ctx.options.pool not in _LINEAR
        save(ctx, (data if reads_data else None, indices, segments, weights))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        data, indices, segments, weights = ctx.saved_tensors
        options = ctx.options
        of_data = of_weights = None
        if ctx.needs_input_grad[0]:
            reads = data if options.pool not in _LINEAR else None
            of_data = _of_data(grad, reads, indices, segments, weights, ctx.extent, ctx.dtype,
                               options)
        if weights is not None and ctx.needs_input_grad[3]:
            of_weights = _weights_gradient(grad, data, indices, segments, weights, *options)
        return of_data, None, None, of_weights, None, None

    @staticmethod
    def jvp(ctx: Any, data_tangent: Any, _: Any, __: Any, weights_tangent: Any, *___: Any) -> Any:
        data, indices, segments, weights = ctx.saved_tensors
        options = ctx.options
        with forward_mode_further_out():
            if options.pool not in _LINEAR:
                rows = composed.winners(primal(data), indices, segments, options)
                return _picked(data_tangent, rows)
            weights = None if weights is None else primal(weights)
            return _total(
                None if data_tangent is None else
                _bag(data_tangent, indices, segments, weights, *options.linear()),
                None if weights_tangent is None else
                _bag(primal(data), indices, segments, weights_tangent,
                     *options._replace(empty_value=0)))


@both_ways
class BagGradient(Operator):
    """The gradient of data; linear in that of the output, and in the weights."""

    @staticmethod
    def compute(*arguments: Any) -> Any:
        *tensors, options = arguments
        return below_autograd("_bag_gradient", *tensors, *options)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        grad, data, indices, segments, weights, ctx.extent, ctx.options = inputs
        save(ctx, (None if weights is None else grad, data, indices, segments, weights))

    @staticmethod
    def backward(ctx: Any, of_table: Tensor) -> Any:
        grad, data, indices, segments, weights = ctx.saved_tensors
        options = ctx.options
        of_grad = of_weights = None
        if options.pool not in _LINEAR:
            of_grad = _picked(of_table, composed.winners(data, indices, segments, options))
        else:
            if ctx.needs_input_grad[0]:
                of_grad = _bag(of_table, indices, segments, weights, *options.linear())
            if weights is not None and ctx.needs_input_grad[4]:
                of_weights = _weights_gradient(grad, of_table, indices, segments, weights,
                                               *options.linear())
        return of_grad, None, None, None, of_weights, None, None

    @staticmethod
    def jvp(ctx: Any, grad_tangent: Any, _: Any, __: Any, ___: Any, weights_tangent: Any,
            *____: Any) -> Any:
        grad, data, indices, segments, weights = ctx.saved_tensors
        rest = (ctx.extent, *ctx.options)
        with forward_mode_further_out():
            weights = None if weights is None else primal(weights)
            data = None if data is None else primal(data)
            return _total(
                None if grad_tangent is None else
                _gradient(grad_tangent, data, indices, segments, weights, *rest),
                None if weights_tangent is None else
                _gradient(primal(grad), data, indices, segments, weights_tangent, *rest))


@both_ways
class BagWeightsGradient(Operator):
    """The gradient of the weights; linear in that of the output, and in data."""

    @staticmethod
    def compute(*arguments: Any) -> Any:
        *tensors, options = arguments
        return below_autograd("_bag_weights_gradient", *tensors, *options)

    @staticmethod
    def remember(ctx: Any, inputs: Any, output: Any) -> None:
        grad, data, indices, segments, weights, ctx.options = inputs
        save(ctx, (grad, data, indices, segments, weights))

    @staticmethod
    def backward(ctx: Any, of_weights: Tensor) -> Any:
        grad, data, indices, segments, _ = ctx.saved_tensors
        options = ctx.options
        of_grad = of_data = None
        if ctx.needs_input_grad[0]:
            of_grad = _bag(data, indices, segments, of_weights, *options._replace(empty_value=0))
        if ctx.needs_input_grad[1]:
            of_data = _of_data(grad, None, indices, segments, of_weights, data.shape[0],
                               data.dtype, options)
        return of_grad, of_data, None, None, None, None

    @staticmethod
    def jvp(ctx: Any, grad_tangent: Any, data_tangent: Any, *_: Any) -> Any:
        grad, data, indices, segments, weights = ctx.saved_tensors
        options = ctx.options
        with forward_mode_further_out():
            weights = primal(weights)
            return _total(
                None if grad_tangent is None else
                _weights_gradient(grad_tangent, primal(data), indices, segments, weights, *options),
                None if data_tangent is None else
                _weights_gradient(primal(grad), data_tangent, indices, segments, weights,
                                  *options.linear()))


def _bag_kernel(data: Tensor, indices: Any, segments: Any, weights: Any, *given: Any,
                threads: int = 0) -> Any:
    options = BagOptions(*given)
    if tracked(data, weights):
        if options.pool in _LINEAR or (weights is None and options.pool in ("max", "min")):
            return Bag.call(data, indices, segments, weights, options, threads)
        return composed.bag(data, indices, segments, weights, options)
    with torch._C._AutoDispatchBelowAutograd():
        return _bag(data, indices, segments, weights, *options, threads=threads)


def _gradient_kernel(grad: Tensor, data: Any, indices: Any, segments: Any, weights: Any,
                     extent: Any, *given: Any) -> Any:
    options = BagOptions(*given)
    if tracked(grad, weights):
        return BagGradient.call(grad, data, indices, segments, weights, extent, options)
    with torch._C._AutoDispatchBelowAutograd():
        return _gradient(grad, data, indices, segments, weights, extent, *options)


def _weights_kernel(grad: Tensor, data: Tensor, indices: Any, segments: Any, weights: Tensor,
                    *given: Any) -> Any:
    options = BagOptions(*given)
    if tracked(grad, data):
        return BagWeightsGradient.call(grad, data, indices, segments, weights, options)
    with torch._C._AutoDispatchBelowAutograd():
        return _weights_gradient(grad, data, indices, segments, weights, *options)


operators.register("bag", _bag_kernel, "Autograd")
operators.register("_bag_gradient", _gradient_kernel, "Autograd")
operators.register("_bag_weights_gradient", _weights_kernel, "Autograd")
