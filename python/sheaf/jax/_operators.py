# SPDX-License-Identifier: MIT
"""The functions of sheaf.jax. Each compiles one small program per set of options and runs that, or
becomes part of the program that is being traced."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy

from .. import _sheaf
from .._errors import ArgumentError, DTypeError, refusal
from .._options import Accumulate, GatherRule, Negative, Reduction, ScatterRule
from ._call import Call, fill_of, grid_shape, is_static
from ._primitives import gather_call, scatter_call

_REDUCTIONS = _sheaf.reductions()
_iinfo: Any = jnp.iinfo
_SMALL_INTEGERS = ("int2", "int4", "uint2", "uint4")


def _verdict(call: Call, data: Any, indices: Any) -> Any:
    """How many indices are out of range, and the first."""
    sizes = (data.shape[call.batch_dims:call.batch_dims + indices.shape[-1]]
             if call.op.endswith("_nd") else (data.shape[call.axis],))
    if is_static(data):
        # In the type of the indices, which may be too narrow for a size.
        limits = numpy.iinfo(indices.dtype)
        last = numpy.array([min(size - 1, limits.max) for size in sizes])
        first = numpy.array([max(-size, limits.min) for size in sizes])
        first = first if call.negative == "from_end" else 0 * first
        empty = numpy.array([size == 0 for size in sizes])
        bad = ((indices < first.astype(indices.dtype)) | empty
               | (indices > numpy.maximum(last, limits.min).astype(indices.dtype)))
    else:
        extents = jnp.stack([jnp.asarray(size) for size in sizes])
        bad = (indices >= extents) | (indices < (-extents if call.negative == "from_end" else 0))
    bad = bad.reshape(-1)
    count = bad.sum(dtype=jnp.int32)
    return jnp.stack([count, jnp.where(count > 0, jnp.argmax(bad).astype(jnp.int32), -1)])


def _checked(call: Call, check: Any, data: Any, indices: Any, run: Any) -> Any:
    if not check:
        return run(call)
    verdict = _verdict(call, data, indices)
    if check == "checkify":
        from jax.experimental import checkify
        checkify.check(verdict[0] == 0, f"{call.op}: {{bad}} indices out of range, the first is "
                       "number {first}", bad=verdict[0], first=verdict[1])
        return run(call.gentle())
    return run(call.gentle()), verdict


def _normal(axis: int, rank: int) -> int:
    return axis + rank if -rank <= axis < 0 else axis


def _operand(array: Any) -> Any:
    return array if isinstance(array, (jax.Array, numpy.ndarray)) else jnp.asarray(array)


def _program(run: Any, check: Any) -> Any:
    """checkify finds its checks in the program that calls this one, not in one of its own."""
    return run if check == "checkify" else jax.jit(run, inline=True)


def _check_fill(call: Call, dtype: Any) -> None:
    """For small integers, which the plan sees as larger ones."""
    limits: Any = _iinfo(dtype)
    if not int(limits.min) <= call.fill.number <= int(limits.max):
        raise ArgumentError(refusal(
            f"{call.op}: fill_value does not fit",
            f"fill_value: {call.fill.number} is not a value of type {dtype}",
            f"a value of type {dtype}"))


@functools.lru_cache(maxsize=1024)
def _gather_program(options: Call, check: Any) -> Any:
    def run(data: Any, indices: Any) -> Any:
        data, indices = jnp.asarray(data), jnp.asarray(indices)
        call = options._replace(axis=_normal(options.axis, data.ndim),
                                batch_dims=_normal(options.batch_dims, indices.ndim))
        small = data.dtype.name in _SMALL_INTEGERS  # XLA packs them: not something to point into
        table = data.astype(jnp.int8) if small else data
        if small:
            _check_fill(call, data.dtype)

        def gathered(call: Call) -> Any:
            result = gather_call(call, table, indices)
            return result.astype(data.dtype) if small else result
        return _checked(call, check, table, indices, gathered)
    return _program(run, check)


def _gathered(options: Call, fill_value: Any, check: Any, data: Any, indices: Any) -> Any:
    if options.out_of_range == "fill":
        options = options._replace(fill=fill_of(options.op, fill_value))
    return _gather_program(options, check)(_operand(data), _operand(indices))


def gather(data: Any, indices: Any, axis: int = 0, *, batch_dims: int = 0,
           out_of_range: GatherRule = "fail",
           negative: Negative = "from_end", fill_value: Any = 0,
           check: Any = False) -> Any:
    """sheaf.gather in a compiled program. fill_value is a number that is known when it is traced."""
    options = Call("gather", operator.index(axis), operator.index(batch_dims), out_of_range,
                   negative)
    return _gathered(options, fill_value, check, data, indices)


def gather_elements(data: Any, indices: Any, axis: int = 0, *, broadcast: bool = False,
                    out_of_range: GatherRule = "fail",
                    negative: Negative = "from_end", fill_value: Any = 0,
                    check: Any = False) -> Any:
    """sheaf.gather_elements in a compiled program."""
    options = Call("gather_elements", operator.index(axis), 0, out_of_range, negative,
                   broadcast=bool(broadcast))
    return _gathered(options, fill_value, check, data, indices)


def gather_nd(data: Any, indices: Any, *, batch_dims: int = 0,
              out_of_range: GatherRule = "fail",
              negative: Negative = "from_end", fill_value: Any = 0,
              check: Any = False) -> Any:
    """sheaf.gather_nd in a compiled program."""
    options = Call("gather_nd", 0, operator.index(batch_dims), out_of_range, negative)
    return _gathered(options, fill_value, check, data, indices)


_NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def _wide_type(call: Call, data: Any, accumulate: Any) -> Any:
    """The type to reduce in, if it is another than data's. Refuses what cannot be accumulated."""
    small = data.dtype.name in _SMALL_INTEGERS
    if accumulate not in (None, "f32"):
        raise ArgumentError(refusal("unknown accumulate", f"accumulate={accumulate!r}",
                                    '"f32", or None for the type of data'))
    if small and accumulate is None:
        if call.reduction != "none":
            raise DTypeError(refusal(
                f"{call.op}: reduction does not fit the type",
                f"reduction = {call.reduction} on {data.dtype}, which has no arithmetic of its own",
                'accumulate="f32"'))
        return jnp.int8
    if accumulate is None or data.dtype == "float32":
        return None
    if small:
        return jnp.int32
    if data.dtype not in _NARROW:
        raise ArgumentError(refusal(f"{call.op}: nothing to accumulate in f32",
                                    f"data is {data.dtype}, but narrower floats are rounded from f32",
                                    "leave accumulate out"))
    return jnp.float32


def _narrowed(wide: Any, dtype: Any) -> Any:
    """Floats rounded; of integers the low bits."""
    if dtype.name not in _SMALL_INTEGERS:
        return wide.astype(dtype)
    bits = int(dtype.name[-1])
    low = wide & (2**bits - 1)
    signed = not dtype.name.startswith("u")
    return (low - 2**bits * (low >> (bits - 1)) if signed else low).astype(dtype)


def _kind(dtype: Any) -> int:
    """A number of a lower kind is one of a higher, too."""
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return next((n for n, kind in enumerate(kinds) if jnp.issubdtype(dtype, kind)), len(kinds))


def _fitted(call: Call, data: Any, indices: Any, updates: Any) -> Any:
    """Updates cast within their kind, and broadcast. The plan refuses what does not fit."""
    if _kind(updates.dtype) <= _kind(data.dtype):
        updates = updates.astype(data.dtype)
    try:
        shape = grid_shape(call.inverse_gather("clamp"), data, indices)
        if updates.shape == shape or updates.ndim > len(shape):
            return updates
        return jnp.broadcast_to(updates, shape)
    except (IndexError, TypeError, ValueError):
        return updates


@functools.lru_cache(maxsize=1024)
def _scatter_program(options: Call, check: Any, accumulate: Any) -> Any:
    def run(data: Any, indices: Any, updates: Any) -> Any:
        data, indices, updates = jnp.asarray(data), jnp.asarray(indices), jnp.asarray(updates)
        call = options._replace(axis=_normal(options.axis, data.ndim),
                                batch_dims=_normal(options.batch_dims, indices.ndim))
        fitted = _fitted(call, data, indices, updates)
        wide = _wide_type(call, data, accumulate)

        def scattered(call: Call) -> Any:
            if wide is None or fitted.dtype != data.dtype:
                return scatter_call(call, data, indices, fitted)
            result = scatter_call(call, data.astype(wide), indices, fitted.astype(wide))
            return _narrowed(result, data.dtype)
        return _checked(call, check, data, indices, scattered)
    return _program(run, check)


def _scattered(options: Call, check: Any, accumulate: Any, arrays: Any) -> Any:
    return _scatter_program(options, check, accumulate)(*map(_operand, arrays))


def scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0,
            reduction: Reduction = "none", include_self: bool = True,
            out_of_range: ScatterRule = "fail",
            negative: Negative = "from_end", check: Any = False,
            accumulate: Accumulate = None) -> Any:
    """sheaf.scatter in a compiled program. In place where data is donated, or used no more."""
    options = Call("scatter", operator.index(axis), operator.index(batch_dims), out_of_range,
                   negative, reduction=_REDUCTIONS.get(reduction, reduction),
                   include_self=bool(include_self))
    return _scattered(options, check, accumulate, (data, indices, updates))


def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *,
                     reduction: Reduction = "none", include_self: bool = True,
                     out_of_range: ScatterRule = "fail",
                     negative: Negative = "from_end", check: Any = False,
                     accumulate: Accumulate = None) -> Any:
    """sheaf.scatter_elements in a compiled program."""
    options = Call("scatter_elements", operator.index(axis), 0, out_of_range, negative,
                   reduction=_REDUCTIONS.get(reduction, reduction), include_self=bool(include_self))
    return _scattered(options, check, accumulate, (data, indices, updates))


def scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0,
               reduction: Reduction = "none", include_self: bool = True,
               out_of_range: ScatterRule = "fail",
               negative: Negative = "from_end", check: Any = False,
               accumulate: Accumulate = None) -> Any:
    """sheaf.scatter_nd in a compiled program."""
    options = Call("scatter_nd", 0, operator.index(batch_dims), out_of_range, negative,
                   reduction=_REDUCTIONS.get(reduction, reduction), include_self=bool(include_self))
    return _scattered(options, check, accumulate, (data, indices, updates))
