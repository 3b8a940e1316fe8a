# SPDX-License-Identifier: MIT
"""How the plain functions (sheaf.gather, ...) call the operators when a tensor is PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from .._errors import ArgumentError, Error, refusal
from . import _gradients as gradients
from . import _operators as operators
from . import _autograd, _batching, _shapes  # noqa: F401  they register

_MODES = {"raise": ("fail", "from_end", 0), "wrap": ("wrap", "from_end", 0),
          "clip": ("clamp", "out_of_range", 0)}
_NUMBERS = (int, float, complex)


def _gather_into(op: str) -> Any:
    def kernel(data: Tensor, indices: Tensor, out: Tensor, *options: Any) -> Tensor:
        operators.out_operator(op)(data, indices, *options, out=out)
        return out
    return kernel


def _scatter_into(op: str) -> Any:
    def kernel(data: Tensor, indices: Tensor, updates: Tensor, out: Tensor, *options: Any) -> Tensor:
        operators.out_operator(op)(data, indices, updates, *options, out=out)
        return out
    return kernel


#: Each operator: at once on plain tensors, else by PyTorch's dispatcher.
_quick = {op: operators.quick(op, gradients.recorded(op))
          for op in (*operators.GATHERS, *operators.SCATTERS)}
_quick_into = {
    **{op: operators.quick(op, _gather_into(op), True) for op in operators.GATHERS},
    **{op: operators.quick(op, _scatter_into(op), True) for op in operators.SCATTERS}}


def _all_tensors(*arrays: Any) -> bool:
    return all(isinstance(array, Tensor) for array in arrays if array is not None)


def _as_indices(indices: Any, like: Any) -> Any:
    """Lists and numbers as a tensor beside `like`; arrays of other libraries as they are."""
    if isinstance(like, Tensor) and isinstance(indices, (int, list, tuple)):
        device = like.device
        if device.type != "cpu":  # nothing is copied between devices in silence
            return indices
        made = torch.tensor(indices, device=device)
        return made.to(torch.int64) if made.numel() == 0 else made
    return indices


def gather(op: str, data: Any, indices: Any, out: Any, options: tuple[Any, ...],
           rule: tuple[Any, ...], threads: int) -> Any:
    if not isinstance(rule[2], _NUMBERS) and hasattr(rule[2], "item"):
        rule = (rule[0], rule[1], rule[2].item())
    too_large = isinstance(rule[2], int) and rule[2] >= 1 << 63  # for PyTorch's numbers
    if (isinstance(indices, Tensor) and isinstance(data, Tensor) and not threads
            and isinstance(rule[2], _NUMBERS) and not too_large
            and not torch.compiler.is_compiling()):
        if out is None:
            return _quick[op](data, indices, *options, *rule)
        if isinstance(out, Tensor):
            return _quick_into[op](data, indices, out, *options, *rule)
    indices = _as_indices(indices, data)
    if too_large or not _all_tensors(data, indices, out):  # or arrays of several libraries
        axis, batch_dims, broadcast = operators.gather_options(op, options)
        out_of_range, negative, fill_value = rule
        return _sheaf.run_gather(op, data, indices, out, axis=axis, batch_dims=batch_dims,
                                 broadcast=broadcast, out_of_range=out_of_range, negative=negative,
                                 fill_value=fill_value, threads=threads)
    if out is None:
        return operators.operator(op)(data, indices, *options, *rule, threads=threads)
    operators.out_operator(op)(data, indices, *options, *rule, threads=threads, out=out)
    return out


def _updates_shape(op: str, data: Tensor, indices: Tensor, options: tuple[Any, ...]) -> Any:
    gather_options = (options[0], False) if op == "scatter_elements" else options
    return _shapes.gather_shape(operators.SCATTERS[op], data, indices, gather_options)


def _as_updates(op: str, data: Tensor, indices: Tensor, updates: Any,
                options: tuple[Any, ...]) -> Any:
    """Broadcast to the shape that indices ask for, and cast within the same kind."""
    if isinstance(updates, (int, float, complex, list, tuple)) and data.device.type == "cpu":
        made = torch.as_tensor(updates)
        if made.is_floating_point() and data.is_complex() or torch.can_cast(made.dtype, data.dtype):
            made = made.to(data.dtype)
        updates = made
    if not isinstance(updates, Tensor):
        return updates
    if updates.dtype != data.dtype and torch.can_cast(updates.dtype, data.dtype):
        updates = updates.to(data.dtype)
    try:
        shape = _updates_shape(op, data, indices, options)
        return updates if list(updates.shape) == shape else updates.expand(shape)
    except (IndexError, RuntimeError):
        return updates  # the operator says what does not fit


_NARROW = (torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2)


def _refuse_to_accumulate(op: str, data: Any, accumulate: str) -> None:
    """Everything but narrow floats, and f32 itself."""
    if accumulate != "f32":
        raise ArgumentError(refusal("unknown accumulate", f"accumulate={accumulate!r}",
                                    '"f32", or None for the type of data'))
    only_moved = data.is_floating_point() and data.element_size() == 1  # refused by the reduction
    if data.dtype not in (*_NARROW, torch.float32) and not only_moved:
        raise ArgumentError(refusal(f"{op}: nothing to accumulate in f32",
                                    f"data is {data.dtype}, but narrower floats are rounded from f32",
                                    "leave accumulate out"))


def scatter(op: str, data: Any, indices: Any, updates: Any, out: Any, options: tuple[Any, ...],
            how: tuple[Any, ...], relaxed: bool, threads: int, accumulate: str | None = None) -> Any:
    indices = _as_indices(indices, data)
    if isinstance(data, Tensor) and isinstance(indices, Tensor):
        updates = _as_updates(op, data, indices, updates, options)
    if accumulate is not None and isinstance(data, Tensor):
        _refuse_to_accumulate(op, data, accumulate)
        how = (*how, accumulate)
    if not _all_tensors(data, indices, updates, out):
        reduction, include_self, out_of_range, negative, *_ = how
        axis, batch_dims = operators.scatter_options(op, options)
        result = _sheaf.run_scatter(op, data, indices, updates, out, axis=axis,
                                    batch_dims=batch_dims, reduction=reduction,
                                    include_self=include_self, relaxed=relaxed,
                                    accumulate=accumulate or "", out_of_range=out_of_range,
                                    negative=negative, threads=threads)
        if isinstance(out, Tensor):
            torch.autograd.graph.increment_version(out)
        return result
    if not relaxed and not threads and not torch.compiler.is_compiling():
        if out is None:
            return _quick[op](data, indices, updates, *options, *how)
        return _quick_into[op](data, indices, updates, out, *options, *how)
    keywords = {"relaxed": relaxed, "threads": threads}
    if out is None:
        return operators.operator(op)(data, indices, updates, *options, *how, **keywords)
    operators.out_operator(op)(data, indices, updates, *options, *how, **keywords, out=out)
    return out


def _refuse_again(call: Any, x: Tensor, *arguments: Any) -> None:
    """What a gather refused, in the words of the call that the user made."""
    x = x.detach()
    if _sheaf.are_plain_tensors(x, arguments[0] if isinstance(arguments[0], Tensor) else x):
        call(x, *arguments)


def take(x: Any, indices: Any, axis: int | None, out: Any, mode: str, threads: int) -> Any:
    if mode not in _MODES or not isinstance(x, Tensor) or out is not None:
        result = _sheaf.take(x, indices, axis, out, mode, threads)
        if isinstance(out, Tensor):
            torch.autograd.graph.increment_version(out)
        return result
    flat = axis is None or x.dim() == 0
    options = (0 if axis is None else int(axis), 0)
    try:
        return gather("gather", x.reshape(-1) if flat else x, indices, None, options, _MODES[mode],
                      threads)
    except Error:
        _refuse_again(_sheaf.take, x, indices, axis, None, mode, threads)
        raise


def take_along_axis(x: Any, indices: Any, axis: int | None, out: Any, threads: int) -> Any:
    if not isinstance(x, Tensor) or out is not None:
        result = _sheaf.take_along_axis(x, indices, axis, out, threads)
        if isinstance(out, Tensor):
            torch.autograd.graph.increment_version(out)
        return result
    options = (0 if axis is None else int(axis), True)
    try:
        return gather("gather_elements", x.reshape(-1) if axis is None else x, indices, None, options,
                      operators.RULE, threads)
    except Error:
        _refuse_again(_sheaf.take_along_axis, x, indices, axis, None, threads)
        raise


def add_at(a: Tensor, indices: Any, b: Any, threads: int) -> None:
    how = ("add", True, "fail", "from_end")
    if isinstance(indices, list):
        indices = torch.tensor(indices, device=a.device)
    if isinstance(indices, int) and not isinstance(indices, bool) or (
            isinstance(indices, Tensor) and indices.dtype not in (torch.bool, torch.uint8)):
        scatter("scatter", a, indices, b, a, (0, 0), how, False, threads)
        return
    numbers = torch.arange(a.numel(), device=a.device).reshape(a.shape)[indices]
    places = torch.stack(torch.unravel_index(numbers, a.shape), -1) if a.dim() else (
        numbers.new_zeros((*numbers.shape, 0)))
    scatter("scatter_nd", a, places, torch.as_tensor(b).expand(numbers.shape), a, (0,), how, False,
            threads)


def _put_by_operator(arr: Tensor, indices: Any, values: Any, axis: int | None) -> None:
    """put_along_axis in steps that torch.compile can follow."""
    flat = arr.reshape(-1) if axis is None else arr
    at = 0 if axis is None else axis
    indices = _as_indices(indices, arr)
    shape = list(flat.shape)
    shape[at] = indices.shape[at]
    made = values if isinstance(values, Tensor) else torch.as_tensor(values)
    result = scatter("scatter_elements", flat, indices.expand(shape),
                     made.to(arr.dtype).expand(shape), None, (at,), operators.HOW, False, 0)
    arr.copy_(result.reshape(arr.shape))


def put_along_axis(arr: Tensor, indices: Any, values: Any, axis: int | None, threads: int) -> None:
    if operators.any_requires_grad(*(t for t in (arr, values) if isinstance(t, Tensor))):
        raise ArgumentError(refusal(
            "put_along_axis: in place, gradients would be lost",
            "one of the tensors requires a gradient",
            "sheaf.scatter_elements, which returns its result"))
    if torch.compiler.is_compiling():
        _put_by_operator(arr, indices, values, axis)
        return
    _sheaf.put_along_axis(arr, indices, values, axis, threads)
    torch.autograd.graph.increment_version(arr)
