# SPDX-License-Identifier: MIT
"""Calls on a table whose rows are divided among devices: each device takes, or writes, those rows
that it holds. The rows of a gather are then added up, bit by bit; those of a scatter stay."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy
from jax import lax

from ._call import Call, Fill

_lax: Any = lax


def can_divide(call: Call, data: Any, indices_dtype: Any) -> bool:
    """A bad index under "fail" is an error of the whole table: there it stays whole."""
    if call.op.endswith("_nd") or call.out_of_range == "fail":
        return False
    return data[call.axis] <= numpy.iinfo(numpy.int32).max or indices_dtype in ("int64", "uint64")


def _resolved(call: Call, indices: Any, size: int) -> Any:
    """Rows of the whole table, by the rule of the call; what has none is negative."""
    if indices.dtype == jnp.uint64:
        rows = jnp.minimum(indices, numpy.uint64(2**63 - 1)).astype(jnp.int64)
    elif indices.dtype == jnp.uint32:
        rows = jnp.minimum(indices, numpy.uint32(2**31 - 1)).astype(jnp.int32)
    else:
        rows = indices if indices.dtype == jnp.int64 else indices.astype(jnp.int32)
    if call.negative == "from_end":
        rows = jnp.where(rows < 0, rows + size, rows)
    if call.out_of_range == "clamp":
        return jnp.clip(rows, 0, size - 1)
    if call.out_of_range == "wrap":
        return jnp.mod(rows, size)
    return jnp.where(rows < size, rows, -1)


def _own(call: Call, data: Any, rows: Any, axes: Any) -> Any:
    """Rows as this device counts them; -1 for those of others."""
    part = data.shape[call.axis]
    first = _lax.axis_index(axes).astype(rows.dtype) * part
    return jnp.where((rows >= first) & (rows < first + part), rows - first, -1)


def _add_bits(array: Any, axes: Any) -> Any:
    """The sum of arrays of which at most one is not all zeros, with the bits of that one: a sum of
    floats would lose -0.0."""
    dtype = array.dtype
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return lax.complex(_add_bits(array.real, axes), _add_bits(array.imag, axes))
    if dtype == jnp.bool_:
        return _lax.psum(array.astype(jnp.uint32), axes).astype(dtype)
    unsigned = jnp.dtype(f"uint{8 * dtype.itemsize}")
    bits = array if dtype == unsigned else lax.bitcast_convert_type(array, unsigned)
    wide = bits if dtype.itemsize >= 4 else bits.astype(jnp.uint32)  # what every network adds
    total = _lax.psum(wide, axes).astype(unsigned)
    return total if dtype == unsigned else lax.bitcast_convert_type(total, dtype)


def _filled(call: Call, result: Any, rows: Any, rank: int) -> Any:
    bad = rows < 0
    if call.op == "gather":
        count = call.batch_dims
        bad = bad.reshape(*bad.shape[:count], *(1,) * (call.axis - count), *bad.shape[count:],
                          *(1,) * (rank - call.axis - 1))
    return jnp.where(bad, jnp.asarray(call.fill.number, result.dtype), result)


def divided(primitive: Any, call: Call, mesh: Any, axes: Any) -> Any:
    """What each device runs on its part of data, divided along the axis of the call by `axes`."""
    parts = math.prod(mesh.shape[axis] for axis in axes)

    def run_scatter(data: Any, indices: Any, updates: Any) -> Any:
        rows = _resolved(call, indices, parts * data.shape[call.axis])
        own = call._replace(out_of_range="skip", negative="out_of_range")
        return primitive.bind(data, _own(call, data, rows, axes), updates, call=own)

    def run_gather(data: Any, indices: Any) -> Any:
        rows = _resolved(call, indices, parts * data.shape[call.axis])
        own = call._replace(out_of_range="fill", negative="out_of_range", fill=Fill())
        taken = primitive.bind(data, _own(call, data, rows, axes), call=own)
        result = _add_bits(taken, axes)
        return result if call.fill == Fill() else _filled(call, result, rows, data.ndim)

    return run_scatter if call.scatters else run_gather
