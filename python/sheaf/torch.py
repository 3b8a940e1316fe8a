# SPDX-License-Identifier: MIT
"""Sheaf's operators for PyTorch: torch.ops.sheaf.gather, .gather_elements, .gather_nd, .scatter,
.scatter_elements, .scatter_nd.

Importing this module registers them. They have gradients, to any order, and fake-tensor rules, so
torch.compile traces through them. The functions here are the operators with Sheaf's own defaults.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Sequence

import torch
from torch import Tensor
from torch.types import Number

from . import _sheaf
from ._errors import UnsupportedError

# An operator's options as PyTorch's schemas spell them: axis, batch_dims, broadcast, out_of_range,
# negative, fill_value. Each operator takes those it has.
_PLANNERS: dict[str, Callable[..., _sheaf.Plan]] = {
    "gather": _sheaf.plan_gather,
    "gather_elements": _sheaf.plan_gather_elements,
    "gather_nd": _sheaf.plan_gather_nd,
}


def _plain(tensor: Tensor) -> Tensor:
    """What DLPack accepts: no gradient, no pending conjugation or negation."""
    if not (tensor.requires_grad or tensor.is_conj() or tensor.is_neg()):
        return tensor
    return tensor.detach().resolve_conj().resolve_neg()


@torch.library.custom_op("sheaf::gather", mutates_args=())
def _gather(data: Tensor, indices: Tensor, axis: int = 0, batch_dims: int = 0,
            out_of_range: str = "fail", negative: str = "from_end",
            fill_value: Number = 0) -> Tensor:
    return _sheaf.gather(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), axis=axis, batch_dims=batch_dims,
        out_of_range=out_of_range, negative=negative,  # type: ignore[arg-type]
        fill_value=fill_value)


@torch.library.custom_op("sheaf::gather_elements", mutates_args=())
def _gather_elements(data: Tensor, indices: Tensor, axis: int = 0, broadcast: bool = False,
                     out_of_range: str = "fail", negative: str = "from_end",
                     fill_value: Number = 0) -> Tensor:
    return _sheaf.gather_elements(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), axis=axis, broadcast=broadcast,
        out_of_range=out_of_range, negative=negative,  # type: ignore[arg-type]
        fill_value=fill_value)


@torch.library.custom_op("sheaf::gather_nd", mutates_args=())
def _gather_nd(data: Tensor, indices: Tensor, batch_dims: int = 0, out_of_range: str = "fail",
               negative: str = "from_end", fill_value: Number = 0) -> Tensor:
    return _sheaf.gather_nd(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), batch_dims=batch_dims,
        out_of_range=out_of_range, negative=negative,  # type: ignore[arg-type]
        fill_value=fill_value)


@_gather.register_fake
def _(data: Tensor, indices: Tensor, axis: int = 0, batch_dims: int = 0,
      out_of_range: str = "fail", negative: str = "from_end", fill_value: Number = 0) -> Tensor:
    axis = axis % data.dim() if data.dim() else 0
    batch_dims = batch_dims + indices.dim() if batch_dims < 0 else batch_dims
    shape = [*data.shape[:axis], *indices.shape[batch_dims:], *data.shape[axis + 1:]]
    return data.new_empty(shape)


@_gather_elements.register_fake
def _(data: Tensor, indices: Tensor, axis: int = 0, broadcast: bool = False,
      out_of_range: str = "fail", negative: str = "from_end", fill_value: Number = 0) -> Tensor:
    shape = list(indices.shape)
    if broadcast:
        axis = axis % data.dim() if data.dim() else 0
        for d, (in_data, in_indices) in enumerate(zip(data.shape, indices.shape)):
            if d != axis and in_indices == 1:
                shape[d] = in_data
    return data.new_empty(shape)


@_gather_nd.register_fake
def _(data: Tensor, indices: Tensor, batch_dims: int = 0, out_of_range: str = "fail",
      negative: str = "from_end", fill_value: Number = 0) -> Tensor:
    batch_dims = batch_dims + indices.dim() if batch_dims < 0 else batch_dims
    shape = [*indices.shape[:-1], *data.shape[batch_dims + indices.shape[-1]:]]
    return data.new_empty(shape)


# The gradient of a gather is a scatter-add onto zeros. Dimensions of data that were stretched have
# one sum for all that they were stretched to.
@torch.library.custom_op("sheaf::_gather_backward", mutates_args=())
def _backward(grad: Tensor, indices: Tensor, data_shape: Sequence[int], op: str,
              options: Sequence[int], out_of_range: str, negative: str) -> Tensor:
    shape = list(data_shape)
    stretched = []
    if op == "gather_elements" and options[1]:
        stretched = [d for d in range(len(shape)) if d != options[0] % len(shape)
                     and shape[d] != grad.shape[d]]
    for d in stretched:
        shape[d] = grad.shape[d]
    spec = _sheaf.Spec(str(grad.dtype).partition(".")[2], shape)
    rule: dict[str, Any] = {"out_of_range": out_of_range, "negative": negative}
    plain_indices = _plain(indices)
    plan = _PLANNERS[op](spec, plain_indices, **_option_keywords(op, options), **rule).vjp()
    result: Tensor = plan.run(None, plain_indices.expand(plan.indices.shape),
                              _plain(grad).contiguous())
    return result.sum(stretched, keepdim=True) if stretched else result


@_backward.register_fake
def _(grad: Tensor, indices: Tensor, data_shape: Sequence[int], op: str, options: Sequence[int],
      out_of_range: str, negative: str) -> Tensor:
    return grad.new_empty(tuple(data_shape))


def _option_keywords(op: str, options: Sequence[int]) -> dict[str, Any]:
    if op == "gather":
        return {"axis": options[0], "batch_dims": options[1]}
    if op == "gather_elements":
        return {"axis": options[0], "broadcast": bool(options[1])}
    return {"batch_dims": options[0]}


def _apply(op: str, data: Tensor, indices: Tensor, options: Sequence[int],
           rule: Sequence[str]) -> Tensor:
    """The forward operator with fill_value 0: what the gradient of the gradient is."""
    operator: Any = {"gather": _gather, "gather_elements": _gather_elements,
                     "gather_nd": _gather_nd}[op]
    result: Tensor = operator(data, indices, **_option_keywords(op, options),
                              out_of_range=rule[0], negative=rule[1])
    return result


def _save_backward(ctx: Any, inputs: Any, output: Any) -> None:
    _, indices, _, ctx.op, ctx.options, *ctx.rule = inputs
    ctx.save_for_backward(indices)


def _backward_of_backward(ctx: Any, grad: Tensor) -> Any:
    (indices,) = ctx.saved_tensors
    result = _apply(ctx.op, grad.contiguous(), indices, ctx.options, ctx.rule)
    return result, None, None, None, None, None, None


_backward.register_autograd(_backward_of_backward, setup_context=_save_backward)


def _register_gradient(operator: Any, op: str, option_count: int) -> None:
    def save(ctx: Any, inputs: Any, output: Any) -> None:
        data, indices, *rest = inputs
        ctx.data_shape = data.shape
        ctx.options = [int(option) for option in rest[:option_count]]
        ctx.rule = rest[option_count:option_count + 2]
        ctx.save_for_backward(indices)

    def backward(ctx: Any, grad: Tensor) -> Any:
        (indices,) = ctx.saved_tensors
        result = _backward(grad.contiguous(), indices, list(ctx.data_shape), op, ctx.options,
                           *ctx.rule)
        return (result, *[None] * (option_count + 4))

    operator.register_autograd(backward, setup_context=save)


_register_gradient(_gather, "gather", 2)
_register_gradient(_gather_elements, "gather_elements", 2)
_register_gradient(_gather_nd, "gather_nd", 1)


@torch.library.custom_op("sheaf::scatter", mutates_args=())
def _scatter(data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0, batch_dims: int = 0,
             reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
             negative: str = "from_end") -> Tensor:
    return _sheaf.scatter(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), _plain(updates), axis=axis, batch_dims=batch_dims,
        reduction=reduction, include_self=include_self,  # type: ignore[arg-type]
        out_of_range=out_of_range, negative=negative)  # type: ignore[arg-type]


@torch.library.custom_op("sheaf::scatter_elements", mutates_args=())
def _scatter_elements(data: Tensor, indices: Tensor, updates: Tensor, axis: int = 0,
                      reduction: str = "none", include_self: bool = True,
                      out_of_range: str = "fail", negative: str = "from_end") -> Tensor:
    return _sheaf.scatter_elements(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), _plain(updates), axis=axis,
        reduction=reduction, include_self=include_self,  # type: ignore[arg-type]
        out_of_range=out_of_range, negative=negative)  # type: ignore[arg-type]


@torch.library.custom_op("sheaf::scatter_nd", mutates_args=())
def _scatter_nd(data: Tensor, indices: Tensor, updates: Tensor, batch_dims: int = 0,
                reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
                negative: str = "from_end") -> Tensor:
    return _sheaf.scatter_nd(  # type: ignore[no-any-return]
        _plain(data), _plain(indices), _plain(updates), batch_dims=batch_dims,
        reduction=reduction, include_self=include_self,  # type: ignore[arg-type]
        out_of_range=out_of_range, negative=negative)  # type: ignore[arg-type]


def _like_data(data: Tensor, *_: Any, **__: Any) -> Tensor:
    return data.new_empty(data.shape)


class _ScatterGradient:
    """The gradients of one scatter, made of the scatter itself and of the gather it undoes."""

    def __init__(self, scatter: Any, gather: Any, option_names: Sequence[str]) -> None:
        self.scatter, self.gather, self.option_names = scatter, gather, option_names
        scatter.register_fake(_like_data)
        scatter.register_autograd(self.backward, setup_context=self.save)

    def save(self, ctx: Any, inputs: Any, output: Any) -> None:
        _, indices, updates, *rest = inputs
        count = len(self.option_names)
        ctx.options = dict(zip(self.option_names, rest))
        ctx.reduction, ctx.include_self, ctx.out_of_range, ctx.negative = rest[count:]
        ctx.updates_shape = updates.shape
        ctx.save_for_backward(indices)

    def backward(self, ctx: Any, grad: Tensor) -> Any:
        if ctx.reduction not in ("none", "add"):
            raise UnsupportedError(
                f"{self.scatter._name}: no gradient\n  reduction = {ctx.reduction}, but none and "
                "add have one\n  try: x.detach(), or an operator of PyTorch")
        (indices,) = ctx.saved_tensors
        of_data = self._of_data(ctx, grad, indices) if ctx.needs_input_grad[0] else None
        of_updates = self._of_updates(ctx, grad, indices) if ctx.needs_input_grad[2] else None
        return (of_data, None, of_updates, *[None] * (len(self.option_names) + 4))

    def _of_data(self, ctx: Any, grad: Tensor, indices: Tensor) -> Tensor:
        """All of it where the old value is part of the result, else 0 at every place written to."""
        if ctx.reduction == "add" and ctx.include_self:
            return grad
        return self._put(ctx, grad, indices, grad.new_zeros(ctx.updates_shape))

    def _of_updates(self, ctx: Any, grad: Tensor, indices: Tensor) -> Tensor:
        taken = self._take(ctx, grad, indices)
        if ctx.reduction == "add":
            return taken
        # The last of several updates to one element is the one that counts.
        count = math.prod(ctx.updates_shape)
        numbers = torch.arange(count, device=grad.device).reshape(ctx.updates_shape)
        last = self._put(ctx, numbers.new_zeros(grad.shape), indices, numbers)
        return taken.masked_fill(self._take(ctx, last, indices) != numbers, 0)

    def _put(self, ctx: Any, data: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        result: Tensor = self.scatter(data, indices, updates, **ctx.options,
                                      out_of_range=ctx.out_of_range, negative=ctx.negative)
        return result

    def _take(self, ctx: Any, data: Tensor, indices: Tensor) -> Tensor:
        rule = "fill" if ctx.out_of_range == "skip" else ctx.out_of_range
        result: Tensor = self.gather(data, indices, **ctx.options, out_of_range=rule,
                                     negative=ctx.negative)
        return result


_ScatterGradient(_scatter, _gather, ("axis", "batch_dims"))
_ScatterGradient(_scatter_elements, _gather_elements, ("axis",))
_ScatterGradient(_scatter_nd, _gather_nd, ("batch_dims",))

gather = torch.ops.sheaf.gather
gather_elements = torch.ops.sheaf.gather_elements
gather_nd = torch.ops.sheaf.gather_nd
scatter = torch.ops.sheaf.scatter
scatter_elements = torch.ops.sheaf.scatter_elements
scatter_nd = torch.ops.sheaf.scatter_nd
