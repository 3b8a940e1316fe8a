# SPDX-License-Identifier: MIT
"""The gradient of a bag's table as a primitive: on a CPU a plan of its own, which holds no rows in
between; elsewhere gathers and scatters.

It is linear in the gradient of the output and in the weights; the other two derivatives of the same
sum are the bag itself and the gradient of the weights.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir
from jax.sharding import PartitionSpec as _Spec

from . import _bag_composed as composed
from ._bag_call import BagCall, attributes_of, bag_call, one_by_one, only_first
from ._call import register_handlers
from ._lowering import GPU
from ._primitives import vary_alike

ad: Any = _ad  # which has no types
PartitionSpec: Any = _Spec
_ffi_lowering: Any = jax.ffi.ffi_lowering
gradient_p: Any = Primitive("sheaf_bag_gradient")
_struct: Any = jax.ShapeDtypeStruct
_TYPES = ("float32", "float64", "float16", "bfloat16")


def table_gradient(call: BagCall, parts: dict[str, Any], table: Any, cotangent: Any) -> Any:
    """`table` has the shape and type of data."""
    if cotangent.dtype.name not in _TYPES:
        return composed.data_cotangent(call, parts, table, cotangent)
    names = tuple(name for name in ("indices", "segments", "weights") if parts[name] is not None)
    gradient = call._replace(tensors=("gradient", *names))
    result = _gradient_call(gradient, table.shape[0], cotangent, *(parts[name] for name in names))
    return result.astype(table.dtype)


def _gradient_call(call: BagCall, extent: int, *arrays: Any) -> Any:
    return gradient_p.bind(*vary_alike(*arrays), call=call, extent=extent)


def _shape(gradient: Any, *arrays: Any, call: BagCall, extent: int) -> Any:
    shape = (extent, *gradient.shape[1:])
    sharding = gradient.sharding.update(spec=PartitionSpec(*(None for _ in shape)))
    return gradient.update(shape=shape, weak_type=False, sharding=sharding)


def _composed(*arrays: Any, call: BagCall, extent: int) -> Any:
    gradient = arrays[0]
    like = _struct((extent, *gradient.shape[1:]), gradient.dtype)
    return composed.data_cotangent(call, call.named(arrays), like, gradient)


def _lower_on_cpu(ctx: Any, *operands: Any, call: BagCall, extent: int) -> Any:
    register_handlers()
    return _ffi_lowering("sheaf_bag_gradient")(ctx, *operands, **attributes_of(call))


def _lower_on_gpu(ctx: Any, *operands: Any, call: BagCall, extent: int) -> Any:
    run = functools.partial(_composed, call=call, extent=extent)
    return mlir.lower_fun(run, multiple_results=False)(ctx, *operands)


def _jvp(primals: Any, tangents: Any, *, call: BagCall, extent: int) -> Any:
    output = _gradient_call(call, extent, *primals)
    total = None
    for i, (name, tangent) in enumerate(zip(call.tensors, tangents)):
        if name in ("gradient", "weights") and type(tangent) is not ad.Zero:
            moved = [tangent if j == i else primal for j, primal in enumerate(primals)]
            part = _gradient_call(call, extent, *moved)
            total = part if total is None else total + part
    return output, ad.Zero.from_primal_value(output) if total is None else total


def _transpose(cotangent: Any, *arrays: Any, call: BagCall, extent: int) -> Any:
    """The cotangent has the shape of the table."""
    results: list[Any] = [None] * len(arrays)
    bag = call.linear()._replace(tensors=("data", *call.tensors[1:]))
    for i, (name, array) in enumerate(zip(call.tensors, arrays)):
        if not ad.is_undefined_primal(array):
            continue
        if type(cotangent) is ad.Zero:
            results[i] = ad.Zero(array.aval)
        elif name == "gradient":
            results[i] = bag_call(bag, cotangent, *arrays[1:]).astype(array.aval.dtype)
        else:
            parts = bag.named((cotangent, *arrays[1:]))
            results[i] = composed.weights_cotangent(bag, parts, array.aval, arrays[0])
    return results


def _batching(arrays: Any, dims: Any, *, call: BagCall, extent: int) -> Any:
    if only_first(dims):
        moved = jnp.moveaxis(arrays[0], dims[0], 1)
        return _gradient_call(call, extent, moved, *arrays[1:]), 1
    return one_by_one(functools.partial(_gradient_call, call, extent), arrays, dims)


@functools.lru_cache(maxsize=1024)
def _compiled(call: BagCall, extent: int) -> Any:
    return jax.jit(functools.partial(gradient_p.bind, call=call, extent=extent))


def _run_at_once(*arrays: Any, call: BagCall, extent: int) -> Any:
    with jax.disable_jit(False):  # or the compiled call ends up here again
        return _compiled(call, extent)(*arrays)


gradient_p.def_impl(_run_at_once)
gradient_p.def_abstract_eval(_shape)
mlir.register_lowering(gradient_p, _lower_on_cpu, platform="cpu")
mlir.register_lowering(gradient_p, _lower_on_gpu, platform=GPU)
ad.primitive_jvps[gradient_p] = _jvp
ad.primitive_transposes[gradient_p] = _transpose
batching.primitive_batchers[gradient_p] = _batching
