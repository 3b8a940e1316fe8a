# SPDX-License-Identifier: MIT
"""The gathers and scatters in Sheaf's own words, and the plans of the same calls.

Tensors of PyTorch go through its dispatcher (sheaf.torch), so that gradients, transforms and
torch.compile work; what JAX traces becomes a call of its program (sheaf.jax); all other arrays go
straight to the compiled part.
"""

from __future__ import annotations

from typing import Any, Sequence, TypeVar, Union, overload

from numpy.typing import NDArray

from . import _sheaf
from ._dispatch import all_numpy, is_table, is_torch, is_traced, torch_calls, traced
from ._decoded import (
    decoded,
    packed_gather,
    packed_gather_nd,
    refuse_packed_elements,
    refuse_plain,
)
from ._encoded import Encoded
from ._interop import is_small_integer, small_integers
from ._options import Accumulate as Accumulate
from ._options import GatherRule as GatherRule
from ._options import Negative as Negative
from ._options import Reduction as Reduction
from ._options import ScatterRule as ScatterRule

Array = TypeVar("Array")
#: Without a dtype: these become NumPy arrays.
Numbers = Union[Sequence[Any], float]


@overload
def gather(data: Numbers, indices: Any, axis: int = ..., *, batch_dims: int = ...,
           out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
           threads: int = ..., out: None = ..., dtype: None = ...,
           packed: bool = ...) -> NDArray[Any]: ...
@overload
def gather(data: Encoded, indices: Any, axis: int = ..., *, batch_dims: int = ...,
           out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
           threads: int = ..., out: Any = ..., dtype: Any = ..., packed: bool = ...) -> Any: ...
@overload
def gather(data: Array, indices: Any, axis: int = ..., *, batch_dims: int = ...,
           out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
           threads: int = ..., out: Array | None = ..., dtype: None = ...,
           packed: bool = ...) -> Array: ...
def gather(data: Any, indices: Any, axis: int = 0, *, batch_dims: int = 0,
           out_of_range: GatherRule = "fail", negative: Negative = "from_end",
           fill_value: Any = 0, threads: int = 0, out: Any = None, dtype: Any = None,
           packed: bool = False) -> Any:
    """Whole slices of data along one axis.

        output[pre, q, post] = data[pre, indices[q], post]

    The first batch_dims dimensions are shared by data and indices. out_of_range says what becomes
    of an index that is out of range: "fail" raises an IndexError, "clamp" takes the nearest entry,
    "fill" writes fill_value, "wrap" counts modulo the size, "trust" checks nothing. With
    negative="from_end", -1 is the last entry. The result is an array of data's kind; with out it
    is written there, and out is returned.

    data may be a sheaf.Encoded: its elements become f32, or dtype; with packed=True the result is
    a sheaf.Encoded of the rows as they are stored.
    """
    if (dtype is not None or packed) and type(data) is not Encoded:
        refuse_plain("gather", dtype, packed)
    if not all_numpy(data, indices, out):
        if is_table(data):
            return data.gather(indices, axis=axis, batch_dims=batch_dims, out_of_range=out_of_range,
                               negative=negative, fill_value=fill_value, threads=threads, out=out)
        if type(data) is Encoded:
            if packed:
                return packed_gather(
                    lambda array, at, axis, batch: gather(
                        array, at, axis, batch_dims=batch, out_of_range=out_of_range,
                        negative=negative, threads=threads),
                    data, indices, axis, batch_dims, dtype, out, out_of_range, negative)
            return decoded("gather", data, indices, out, dtype, axis=axis, batch_dims=batch_dims,
                           out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                           threads=threads)
        if is_torch(data) or is_torch(out):
            return torch_calls().gather("gather", data, indices, out, (axis, batch_dims),
                                        (out_of_range, negative, fill_value), threads)
        if is_traced(data) or is_traced(indices):
            return traced("gather", out)(
                data, indices, axis, batch_dims=batch_dims, out_of_range=out_of_range,
                negative=negative, fill_value=fill_value)
    return _sheaf.run_gather("gather", data, indices, out, axis=axis, batch_dims=batch_dims,
                             out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                             threads=threads)


@overload
def gather_elements(data: Numbers, indices: Any, axis: int = ..., *, broadcast: bool = ...,
                    out_of_range: GatherRule = ..., negative: Negative = ...,
                    fill_value: Any = ..., threads: int = ..., out: None = ...,
                    dtype: None = ..., packed: bool = ...) -> NDArray[Any]: ...
@overload
def gather_elements(data: Encoded, indices: Any, axis: int = ..., *, broadcast: bool = ...,
                    out_of_range: GatherRule = ..., negative: Negative = ...,
                    fill_value: Any = ..., threads: int = ..., out: Any = ...,
                    dtype: Any = ..., packed: bool = ...) -> Any: ...
@overload
def gather_elements(data: Array, indices: Any, axis: int = ..., *, broadcast: bool = ...,
                    out_of_range: GatherRule = ..., negative: Negative = ...,
                    fill_value: Any = ..., threads: int = ..., out: Array | None = ...,
                    dtype: None = ..., packed: bool = ...) -> Array: ...
def gather_elements(data: Any, indices: Any, axis: int = 0, *, broadcast: bool = False,
                    out_of_range: GatherRule = "fail", negative: Negative = "from_end",
                    fill_value: Any = 0, threads: int = 0, out: Any = None, dtype: Any = None,
                    packed: bool = False) -> Any:
    """One element of data for each index.

        output[i, j, k] = data[indices[i, j, k], j, k]    (axis 0)

    Off the axis, indices may be smaller than data; with broadcast=True dimensions of size 1
    stretch. Other keywords as in gather.
    """
    if (dtype is not None or packed) and type(data) is not Encoded:
        refuse_plain("gather_elements", dtype, packed)
    if not all_numpy(data, indices, out):
        if is_table(data):
            return data.gather_elements(indices, axis=axis, broadcast=broadcast,
                                        out_of_range=out_of_range, negative=negative,
                                        fill_value=fill_value, threads=threads, out=out)
        if type(data) is Encoded:
            if packed:
                refuse_packed_elements("gather_elements")
            return decoded("gather_elements", data, indices, out, dtype, axis=axis,
                           broadcast=broadcast, out_of_range=out_of_range, negative=negative,
                           fill_value=fill_value, threads=threads)
        if is_torch(data) or is_torch(out):
            return torch_calls().gather("gather_elements", data, indices, out, (axis, broadcast),
                                        (out_of_range, negative, fill_value), threads)
        if is_traced(data) or is_traced(indices):
            return traced("gather_elements", out)(
                data, indices, axis, broadcast=broadcast, out_of_range=out_of_range,
                negative=negative, fill_value=fill_value)
    return _sheaf.run_gather("gather_elements", data, indices, out, axis=axis, broadcast=broadcast,
                             out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                             threads=threads)


@overload
def gather_nd(data: Numbers, indices: Any, *, batch_dims: int = ...,
              out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
              threads: int = ..., out: None = ..., dtype: None = ...,
              packed: bool = ...) -> NDArray[Any]: ...
@overload
def gather_nd(data: Encoded, indices: Any, *, batch_dims: int = ...,
              out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
              threads: int = ..., out: Any = ..., dtype: Any = ..., packed: bool = ...) -> Any: ...
@overload
def gather_nd(data: Array, indices: Any, *, batch_dims: int = ...,
              out_of_range: GatherRule = ..., negative: Negative = ..., fill_value: Any = ...,
              threads: int = ..., out: Array | None = ..., dtype: None = ...,
              packed: bool = ...) -> Array: ...
def gather_nd(data: Any, indices: Any, *, batch_dims: int = 0,
              out_of_range: GatherRule = "fail", negative: Negative = "from_end",
              fill_value: Any = 0, threads: int = 0, out: Any = None, dtype: Any = None,
              packed: bool = False) -> Any:
    """An element or a slice of data for each index tuple, in the last dimension of indices.

        output[b, g, s] = data[b, indices[b, g, 0], indices[b, g, 1], ..., s]

    Keywords as in gather.
    """
    if (dtype is not None or packed) and type(data) is not Encoded:
        refuse_plain("gather_nd", dtype, packed)
    if not all_numpy(data, indices, out):
        if is_table(data):
            return data.gather_nd(indices, batch_dims=batch_dims, out_of_range=out_of_range,
                                  negative=negative, fill_value=fill_value, threads=threads,
                                  out=out)
        if type(data) is Encoded:
            if packed:
                return packed_gather_nd(
                    lambda array, at, batch: gather_nd(
                        array, at, batch_dims=batch, out_of_range=out_of_range, negative=negative,
                        threads=threads),
                    data, indices, batch_dims, dtype, out, out_of_range, negative)
            return decoded("gather_nd", data, indices, out, dtype, batch_dims=batch_dims,
                           out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                           threads=threads)
        if is_torch(data) or is_torch(out):
            return torch_calls().gather("gather_nd", data, indices, out, (batch_dims,),
                                        (out_of_range, negative, fill_value), threads)
        if is_traced(data) or is_traced(indices):
            return traced("gather_nd", out)(
                data, indices, batch_dims=batch_dims, out_of_range=out_of_range, negative=negative,
                fill_value=fill_value)
    return _sheaf.run_gather("gather_nd", data, indices, out, batch_dims=batch_dims,
                             out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                             threads=threads)


@overload
def scatter(data: Numbers, indices: Any, updates: Any, axis: int = ..., *, batch_dims: int = ...,
            reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
            accumulate: Accumulate = ...,
            out_of_range: ScatterRule = ..., negative: Negative = ..., threads: int = ...,
            out: None = ...) -> NDArray[Any]: ...
@overload
def scatter(data: Array, indices: Any, updates: Any, axis: int = ..., *, batch_dims: int = ...,
            reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
            accumulate: Accumulate = ...,
            out_of_range: ScatterRule = ..., negative: Negative = ..., threads: int = ...,
            out: Array | None = ...) -> Array: ...
def scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0,
            reduction: Reduction = "none", include_self: bool = True, relaxed: bool = False,
            accumulate: Accumulate = None, out_of_range: ScatterRule = "fail",
            negative: Negative = "from_end", threads: int = 0, out: Any = None) -> Any:
    """data with whole slices written or reduced into it along one axis.

        output[pre, indices[q], post] (reduction)= updates[pre, q, post]

    Updates are broadcast to the shape that indices ask for, and cast to data's dtype within the
    same kind. Updates to one element are reduced in their row-major order: the result does not
    depend on the number of threads. relaxed=True allows another order where that is faster.
    accumulate="f32" reduces narrow floats (f16, bf16, f8) in f32, in the same order, and rounds
    once; int4 and uint4 are then reduced as integers of 32 bits, of which the low bits stay. With
    include_self=False the old value takes no part in the reduction. out_of_range="skip" leaves an
    update out. With out=data the scatter is done in place.
    """
    if not all_numpy(data, indices, out, updates):
        if is_torch(data) or is_torch(updates) or is_torch(out):
            return torch_calls().scatter("scatter", data, indices, updates, out, (axis, batch_dims),
                                         (reduction, include_self, out_of_range, negative), relaxed,
                                         threads, accumulate)
        if is_traced(data) or is_traced(indices) or is_traced(updates):
            return traced("scatter", out)(
                data, indices, updates, axis, batch_dims=batch_dims, reduction=reduction,
                include_self=include_self, out_of_range=out_of_range, negative=negative,
                accumulate=accumulate)
    if accumulate == "f32" and is_small_integer(data):
        return small_integers(scatter, data, indices, updates, axis, batch_dims=batch_dims,
                              reduction=reduction, include_self=include_self,
                              out_of_range=out_of_range, negative=negative, threads=threads,
                              out=out)
    return _sheaf.run_scatter("scatter", data, indices, updates, out, axis=axis,
                              batch_dims=batch_dims, reduction=reduction, include_self=include_self,
                              relaxed=relaxed, accumulate=accumulate or "",
                              out_of_range=out_of_range, negative=negative, threads=threads)


@overload
def scatter_elements(data: Numbers, indices: Any, updates: Any, axis: int = ..., *,
                     reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
                     accumulate: Accumulate = ...,
                     out_of_range: ScatterRule = ..., negative: Negative = ...,
                     threads: int = ..., out: None = ...) -> NDArray[Any]: ...
@overload
def scatter_elements(data: Array, indices: Any, updates: Any, axis: int = ..., *,
                     reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
                     accumulate: Accumulate = ...,
                     out_of_range: ScatterRule = ..., negative: Negative = ...,
                     threads: int = ..., out: Array | None = ...) -> Array: ...
def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *,
                     reduction: Reduction = "none", include_self: bool = True,
                     relaxed: bool = False, accumulate: Accumulate = None,
                     out_of_range: ScatterRule = "fail", negative: Negative = "from_end",
                     threads: int = 0, out: Any = None) -> Any:
    """data with one update written or reduced into it for each index.

        output[indices[i, j, k], j, k] (reduction)= updates[i, j, k]    (axis 0)

    Off the axis, indices and updates may be smaller than data. Keywords as in scatter.
    """
    if not all_numpy(data, indices, out, updates):
        if is_torch(data) or is_torch(updates) or is_torch(out):
            return torch_calls().scatter("scatter_elements", data, indices, updates, out, (axis,),
                                         (reduction, include_self, out_of_range, negative), relaxed,
                                         threads, accumulate)
        if is_traced(data) or is_traced(indices) or is_traced(updates):
            return traced("scatter_elements", out)(
                data, indices, updates, axis, reduction=reduction, include_self=include_self,
                out_of_range=out_of_range, negative=negative, accumulate=accumulate)
    if accumulate == "f32" and is_small_integer(data):
        return small_integers(scatter_elements, data, indices, updates, axis, reduction=reduction,
                              include_self=include_self, out_of_range=out_of_range,
                              negative=negative, threads=threads, out=out)
    return _sheaf.run_scatter("scatter_elements", data, indices, updates, out, axis=axis,
                              reduction=reduction, include_self=include_self, relaxed=relaxed,
                              accumulate=accumulate or "", out_of_range=out_of_range,
                              negative=negative, threads=threads)


@overload
def scatter_nd(data: Numbers, indices: Any, updates: Any, *, batch_dims: int = ...,
               reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
               accumulate: Accumulate = ...,
               out_of_range: ScatterRule = ..., negative: Negative = ..., threads: int = ...,
               out: None = ...) -> NDArray[Any]: ...
@overload
def scatter_nd(data: Array, indices: Any, updates: Any, *, batch_dims: int = ...,
               reduction: Reduction = ..., include_self: bool = ..., relaxed: bool = ...,
               accumulate: Accumulate = ...,
               out_of_range: ScatterRule = ..., negative: Negative = ..., threads: int = ...,
               out: Array | None = ...) -> Array: ...
def scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0,
               reduction: Reduction = "none", include_self: bool = True, relaxed: bool = False,
               accumulate: Accumulate = None, out_of_range: ScatterRule = "fail",
               negative: Negative = "from_end", threads: int = 0, out: Any = None) -> Any:
    """data with an element or a slice written or reduced into it for each index tuple.

        output[b, indices[b, g, 0], indices[b, g, 1], ..., s] (reduction)= updates[b, g, s]

    Keywords as in scatter.
    """
    if not all_numpy(data, indices, out, updates):
        if is_torch(data) or is_torch(updates) or is_torch(out):
            return torch_calls().scatter("scatter_nd", data, indices, updates, out, (batch_dims,),
                                         (reduction, include_self, out_of_range, negative), relaxed,
                                         threads, accumulate)
        if is_traced(data) or is_traced(indices) or is_traced(updates):
            return traced("scatter_nd", out)(
                data, indices, updates, batch_dims=batch_dims, reduction=reduction,
                include_self=include_self, out_of_range=out_of_range, negative=negative,
                accumulate=accumulate)
    if accumulate == "f32" and is_small_integer(data):
        return small_integers(scatter_nd, data, indices, updates, batch_dims=batch_dims,
                              reduction=reduction, include_self=include_self,
                              out_of_range=out_of_range, negative=negative, threads=threads,
                              out=out)
    return _sheaf.run_scatter("scatter_nd", data, indices, updates, out, batch_dims=batch_dims,
                              reduction=reduction, include_self=include_self, relaxed=relaxed,
                              accumulate=accumulate or "", out_of_range=out_of_range,
                              negative=negative, threads=threads)


def plan_gather(data: Any, indices: Any, axis: int = 0, *, batch_dims: int = 0,
                out_of_range: GatherRule = "fail", negative: Negative = "from_end",
                fill_value: Any = 0, out: Any = None) -> _sheaf.Plan:
    """gather, decided but not run. Takes arrays or Specs; only shapes, strides and dtypes count."""
    return _sheaf.plan_gather("gather", data, indices, out, axis=axis, batch_dims=batch_dims,
                              out_of_range=out_of_range, negative=negative, fill_value=fill_value)


def plan_gather_elements(data: Any, indices: Any, axis: int = 0, *, broadcast: bool = False,
                         out_of_range: GatherRule = "fail", negative: Negative = "from_end",
                         fill_value: Any = 0, out: Any = None) -> _sheaf.Plan:
    """gather_elements, decided but not run. As plan_gather."""
    return _sheaf.plan_gather("gather_elements", data, indices, out, axis=axis, broadcast=broadcast,
                              out_of_range=out_of_range, negative=negative, fill_value=fill_value)


def plan_gather_nd(data: Any, indices: Any, *, batch_dims: int = 0,
                   out_of_range: GatherRule = "fail", negative: Negative = "from_end",
                   fill_value: Any = 0, out: Any = None) -> _sheaf.Plan:
    """gather_nd, decided but not run. As plan_gather."""
    return _sheaf.plan_gather("gather_nd", data, indices, out, batch_dims=batch_dims,
                              out_of_range=out_of_range, negative=negative, fill_value=fill_value)


def plan_scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0,
                 reduction: Reduction = "none", include_self: bool = True, relaxed: bool = False,
                 accumulate: Accumulate = None, out_of_range: ScatterRule = "fail",
                 negative: Negative = "from_end", out: Any = None) -> _sheaf.Plan:
    """scatter, decided but not run. As plan_gather; updates have the full shape and data's dtype."""
    return _sheaf.plan_scatter("scatter", data, indices, updates, out, axis=axis,
                               batch_dims=batch_dims, reduction=reduction,
                               include_self=include_self, relaxed=relaxed,
                               accumulate=accumulate or "", out_of_range=out_of_range,
                               negative=negative)


def plan_scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *,
                          reduction: Reduction = "none", include_self: bool = True,
                          relaxed: bool = False, accumulate: Accumulate = None,
                          out_of_range: ScatterRule = "fail", negative: Negative = "from_end",
                          out: Any = None) -> _sheaf.Plan:
    """scatter_elements, decided but not run. As plan_scatter."""
    return _sheaf.plan_scatter("scatter_elements", data, indices, updates, out, axis=axis,
                               reduction=reduction, include_self=include_self, relaxed=relaxed,
                               accumulate=accumulate or "", out_of_range=out_of_range,
                               negative=negative)


def plan_scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0,
                    reduction: Reduction = "none", include_self: bool = True,
                    relaxed: bool = False, accumulate: Accumulate = None,
                    out_of_range: ScatterRule = "fail", negative: Negative = "from_end",
                    out: Any = None) -> _sheaf.Plan:
    """scatter_nd, decided but not run. As plan_scatter."""
    return _sheaf.plan_scatter("scatter_nd", data, indices, updates, out, batch_dims=batch_dims,
                               reduction=reduction, include_self=include_self, relaxed=relaxed,
                               accumulate=accumulate or "", out_of_range=out_of_range,
                               negative=negative)


def plan_again(*parts: Any) -> _sheaf.Plan:
    """What pickle calls."""
    return _sheaf.plan_again(*parts)
