# SPDX-License-Identifier: MIT
"""Gathers and scatters as primitives of JAX, with rules for shapes, gradients, jax.vmap and XLA.

A gather is linear in data; a scatter is linearised by two coefficients, as in sheaf.torch:

    tangent of output = A * tangent of data + scatter-add of (C * tangent of updates)
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching
from jax.sharding import PartitionSpec as _Spec

from ._call import Call, Fill, output_shape, is_static, plan_of
from ._gradients import coefficients
from ._lowering import register_lowerings

ad: Any = _ad  # which has no types
_lax: Any = lax
PartitionSpec: Any = _Spec
gather_p: Any = Primitive("sheaf_gather")
scatter_p: Any = Primitive("sheaf_scatter")


def _varying(array: Any) -> frozenset[Any]:
    """The axes of shard_map along which the devices hold different values."""
    aval: Any = jax.typeof(array)
    axes = getattr(aval, "manual_axis_type", None)  # JAX 0.10 and later; before that, vma
    return frozenset(getattr(aval, "vma", ()) if axes is None else axes.varying)


def vary_alike(*arrays: Any) -> Any:
    """All with the axes of all: what shard_map wants of the operands of one primitive, so that it
    adds up the gradients of an array that every device has."""
    every = frozenset().union(*map(_varying, arrays))
    if not every:
        return arrays
    cast = (functools.partial(_lax.pcast, to="varying") if hasattr(lax, "pcast") else _lax.pvary)
    missing = [tuple(axis for axis in every if axis not in _varying(array)) for array in arrays]
    return [cast(array, axes) if axes else array for array, axes in zip(arrays, missing)]


def gather_call(call: Call, data: Any, indices: Any) -> Any:
    data, indices = vary_alike(data, indices)
    return gather_p.bind(data, indices, call=call)


def scatter_call(call: Call, data: Any, indices: Any, updates: Any) -> Any:
    data, indices, updates = vary_alike(data, indices, updates)
    return scatter_p.bind(data, indices, updates, call=call)


def _gather_shape(data: Any, indices: Any, *, call: Call) -> Any:
    shape = output_shape(call, data, indices)
    sharding = data.sharding.update(spec=PartitionSpec(*(None for _ in shape)))
    return data.update(shape=shape, weak_type=False, sharding=sharding)


def _scatter_shape(data: Any, indices: Any, updates: Any, *, call: Call) -> Any:
    if is_static(data, indices, updates):
        plan_of(call, (data, indices, updates))
    return data.update(weak_type=False)


def _gather_jvp(primals: Any, tangents: Any, *, call: Call) -> Any:
    data, indices = primals
    output = gather_call(call, data, indices)
    if type(tangents[0]) is ad.Zero:
        return output, ad.Zero.from_primal_value(output)
    return output, gather_call(call._replace(fill=Fill()), tangents[0], indices)


def _add_up(call: Call, data: Any, indices: Any, updates: Any) -> Any:
    """What the gather `call` took, added up where it came from: an array like data, divided among
    devices as data is."""
    sizes = list(data.shape)
    stretched: tuple[int, ...] = ()
    if call.op == "gather_elements" and call.broadcast:
        stretched = tuple(d for d in range(len(sizes))
                          if d != call.axis and sizes[d] == 1 and updates.shape[d] != 1)
        for d in stretched:
            sizes[d] = updates.shape[d]
        indices = jnp.broadcast_to(indices, updates.shape)
    zeros = (jnp.zeros(sizes, updates.dtype) if stretched
             else ad.instantiate_zeros(ad.Zero(data)))
    result = scatter_call(call.inverse_scatter(), zeros, indices, updates)
    return result.sum(stretched, keepdims=True) if stretched else result


def _gather_transpose(cotangent: Any, data: Any, indices: Any, *, call: Call) -> Any:
    if type(cotangent) is ad.Zero:
        return ad.Zero(data.aval), None
    return _add_up(call, data.aval, indices, cotangent), None


def _scatter_jvp(primals: Any, tangents: Any, *, call: Call) -> Any:
    data, indices, updates = primals
    output = scatter_call(call, data, indices, updates)
    if type(tangents[0]) is ad.Zero and type(tangents[2]) is ad.Zero:
        return output, ad.Zero.from_primal_value(output)
    of_data, of_updates = ad.instantiate_zeros(tangents[0]), ad.instantiate_zeros(tangents[2])
    if call.reduction != "add" or not call.include_self:
        a, c = coefficients(call, (data, indices, updates, output), gather_call, scatter_call)
        of_data, of_updates = of_data * a, of_updates * c
    return output, scatter_call(call._replace(reduction="add", include_self=True), of_data,
                                indices, of_updates)


def _scatter_transpose(cotangent: Any, data: Any, indices: Any, updates: Any, *,
                       call: Call) -> Any:
    """Of a sum, which is linear; other reductions get here as sums."""
    zero = type(cotangent) is ad.Zero
    rule = "fill" if call.out_of_range == "skip" else call.out_of_range
    of_data = None if not ad.is_undefined_primal(data) else (
        ad.Zero(data.aval) if zero else cotangent)
    of_updates = None if not ad.is_undefined_primal(updates) else (
        ad.Zero(updates.aval) if zero
        else gather_call(call.inverse_gather(rule), cotangent, indices))
    return of_data, None, of_updates


def _batched(arrays: Any, dims: Any) -> Any:
    """All with the batch dimension first."""
    size = next(array.shape[dim] for array, dim in zip(arrays, dims) if dim is not None)
    return [jnp.broadcast_to(array, (size, *array.shape)) if dim is None
            else jnp.moveaxis(array, dim, 0) for array, dim in zip(arrays, dims)]


def _one_more(call: Call) -> Call:
    return call._replace(axis=call.axis + 1, batch_dims=call.batch_dims + 1)


def _gather_batching(arrays: Any, dims: Any, *, call: Call) -> Any:
    data, indices = arrays
    if call.op == "gather" and call.batch_dims == 0 and dims[1] is None:
        moved = jnp.moveaxis(data, dims[0], 0)
        return gather_call(call._replace(axis=call.axis + 1), moved, indices), 0
    if call.op == "gather" and call.batch_dims == 0 and dims[0] is None:
        return gather_call(call, data, jnp.moveaxis(indices, dims[1], 0)), call.axis
    return gather_call(_one_more(call), *_batched(arrays, dims)), 0


def _scatter_batching(arrays: Any, dims: Any, *, call: Call) -> Any:
    return scatter_call(_one_more(call), *_batched(arrays, dims)), 0


@functools.lru_cache(maxsize=1024)
def _compiled(primitive: Any, call: Call) -> Any:
    return jax.jit(functools.partial(primitive.bind, call=call))


def _run_at_once(primitive: Any, *arrays: Any, call: Call) -> Any:
    with jax.disable_jit(False):  # or the compiled call ends up here again
        return _compiled(primitive, call)(*arrays)


for _primitive, _shape, _jvp, _transpose, _batching in (
        (gather_p, _gather_shape, _gather_jvp, _gather_transpose, _gather_batching),
        (scatter_p, _scatter_shape, _scatter_jvp, _scatter_transpose, _scatter_batching)):
    _primitive.def_impl(functools.partial(_run_at_once, _primitive))
    _primitive.def_abstract_eval(_shape)
    register_lowerings(_primitive)
    ad.primitive_jvps[_primitive] = _jvp
    ad.primitive_transposes[_primitive] = _transpose
    batching.primitive_batchers[_primitive] = _batching
