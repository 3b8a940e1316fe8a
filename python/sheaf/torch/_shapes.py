# SPDX-License-Identifier: MIT
"""What the operators check and the shapes they make, for tensors without memory.

Where sizes are numbers, the plan of the call decides, as in a real run. Sizes that torch.compile
keeps symbolic are replaced by the sizes it has seen; the result's shape is then made of symbols.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from . import _operators as operators


def _number(size: Any) -> int | None:
    """The size, or the one that was seen for a symbol; None if there was none."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    return int(hint) if hint is not None else None


def spec(tensor: Tensor) -> _sheaf.Spec | None:
    sizes = [size for size in map(_number, tensor.shape) if size is not None]
    if len(sizes) < tensor.dim():
        return None
    name = str(tensor.dtype).partition(".")[2]
    return _sheaf.Spec({"complex32": "opaque4"}.get(name, name), sizes)


def _plan(call: Any, op: str, *tensors: Tensor, **options: Any) -> Any:
    specs = [spec(tensor) for tensor in tensors]
    return call(op, *specs, None, **options) if None not in specs else None


def check_devices(op: str, *tensors: Tensor) -> None:
    devices = {tensor.device.type for tensor in tensors}
    if len(devices) > 1:
        raise RuntimeError(f"sheaf::{op}: tensors on different devices: "
                           f"{', '.join(str(tensor.device) for tensor in tensors)}")


def gather_shape(op: str, data: Tensor, indices: Tensor, options: tuple[Any, ...]) -> list[Any]:
    """The output's, of sizes that fit."""
    axis, batch_dims, broadcast = operators.gather_options(op, options)
    batch_dims = batch_dims + indices.dim() if batch_dims < 0 else batch_dims
    axis = axis + data.dim() if axis < 0 else axis
    if op == "gather":
        return [*data.shape[:axis], *indices.shape[batch_dims:], *data.shape[axis + 1:]]
    if op == "gather_nd":
        return [*indices.shape[:-1], *data.shape[batch_dims + int(indices.shape[-1]):]]
    shape = list(indices.shape)
    if broadcast:
        for d, (in_data, in_indices) in enumerate(zip(data.shape, indices.shape)):
            if d != axis and in_indices == 1:
                shape[d] = in_data
    return shape


def _register_gather(op: str) -> None:
    options = operators.GATHERS[op]

    def fake(data: Tensor, indices: Tensor, *given: Any, threads: int = 0) -> Tensor:
        own, rule = operators.defaults(given, options, operators.RULE)
        check_devices(op, data, indices)
        axis, batch_dims, broadcast = operators.gather_options(op, own)
        out_of_range, negative, fill_value = rule
        plan = _plan(_sheaf.plan_gather, op, data, indices, axis=axis, batch_dims=batch_dims,
                     broadcast=broadcast, out_of_range=out_of_range, negative=negative,
                     fill_value=fill_value)
        sizes = (*data.shape, *indices.shape)
        if plan is not None and all(isinstance(size, int) for size in sizes):
            return data.new_empty(plan.shape)
        return data.new_empty(gather_shape(op, data, indices, own))

    def fake_out(data: Tensor, indices: Tensor, *given: Any, out: Tensor,
                 threads: int = 0) -> None:
        fake(data, indices, *given)

    torch.library.register_fake(f"sheaf::{op}", fake, lib=operators.library)
    torch.library.register_fake(f"sheaf::{op}_out", fake_out, lib=operators.library)


def _register_scatter(op: str) -> None:
    options = operators.SCATTER_OPTIONS[op]

    def fake(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, relaxed: bool = False,
             threads: int = 0) -> Tensor:
        own, how = operators.defaults(given, options, operators.HOW)
        check_devices(op, data, indices, updates)
        reduction, include_self, out_of_range, negative, _ = how
        axis, batch_dims = operators.scatter_options(op, own)
        _plan(_sheaf.plan_scatter, op, data, indices, updates, axis=axis, batch_dims=batch_dims,
              reduction=reduction, include_self=include_self, relaxed=relaxed,
              out_of_range=out_of_range, negative=negative)
        return data.new_empty(data.shape)

    def fake_out(data: Tensor, indices: Tensor, updates: Tensor, *given: Any, out: Tensor,
                 relaxed: bool = False, threads: int = 0) -> None:
        fake(data, indices, updates, *given, relaxed=relaxed)

    torch.library.register_fake(f"sheaf::{op}", fake, lib=operators.library)
    torch.library.register_fake(f"sheaf::{op}_out", fake_out, lib=operators.library)


def _fake_scatter_zeros(updates: Tensor, indices: Tensor, shape: Any, *_: Any) -> Tensor:
    return updates.new_empty(shape)


for _op in operators.GATHERS:
    _register_gather(_op)
for _op in operators.SCATTERS:
    _register_scatter(_op)
torch.library.register_fake("sheaf::_scatter_zeros", _fake_scatter_zeros, lib=operators.library)
