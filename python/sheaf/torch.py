# SPDX-License-Identifier: MIT
"""Sheaf's gathers as PyTorch operators: torch.ops.sheaf.gather, .gather_elements, .gather_nd.

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

# An operator's options as PyTorch's schemas spell them: axis, batch_dims, broadcast, out_of_range,
# negative, fill_value. Each operator takes those it has.
_PLANNERS: dict[str, Callable[..., _sheaf.Plan]] = {
    "gather": _sheaf.plan_gather,
    "gather_elements": _sheaf.plan_gather_elements,
    "gather_nd": _sheaf.plan_gather_nd,
}


def _plain(tensor: Tensor) -> Tensor:
    """What DLPack accepts: no gradient, no pending conjugation or negation."""
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


# The gradient of a gather adds each element of `grad` to the element of data it came from. Sheaf's
# element map says which that is for every operator and rule; PyTorch does the adding.
@torch.library.custom_op("sheaf::_gather_backward", mutates_args=())
def _backward(grad: Tensor, indices: Tensor, data_shape: Sequence[int], op: str,
              options: Sequence[int], out_of_range: str, negative: str) -> Tensor:
    spec = _sheaf.Spec("u8", list(data_shape))
    rule: dict[str, Any] = {"out_of_range": out_of_range, "negative": negative}
    plain_indices = _plain(indices)
    plan = _PLANNERS[op](spec, plain_indices, **_option_keywords(op, options), **rule)
    sources = torch.from_numpy(_sheaf.element_map(plan, plain_indices)[0]).reshape(-1)
    inside = sources >= 0
    result = grad.new_zeros(math.prod(data_shape))
    result.index_add_(0, sources[inside], grad.detach().reshape(-1)[inside])
    return result.reshape(tuple(data_shape))


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

gather = torch.ops.sheaf.gather
gather_elements = torch.ops.sheaf.gather_elements
gather_nd = torch.ops.sheaf.gather_nd
