# SPDX-License-Identifier: MIT
"""Bags as a primitive of JAX: shapes, gradients, jax.vmap and XLA; and sheaf.jax.bag.

Sums, means and sqrtn are linear in data and in weights. A maximum passes everything on to the row
that it came from, the first of equal ones.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir
from jax.sharding import PartitionSpec as _Spec

from .. import _sheaf
from .._encoded import Encoded, dtype_name
from .._errors import ArgumentError, UnsupportedError, refusal
from .._options import BagRule, Negative, Pool
from . import _bag_composed as composed
from ._bag_call import (
    TENSORS,
    BagCall,
    Table,
    attributes_of,
    bag_call,
    bag_p,
    check,
    one_by_one,
    only_first,
    plan_of,
)
from ._bag_gradient import table_gradient
from ._call import Call, fill_of, is_static, register_handlers
from ._lowering import GPU, ROOM_TO_ALIGN, gpus
from ._primitives import gather_call

ad: Any = _ad  # which has no types
PartitionSpec: Any = _Spec
_struct: Any = ShapedArray
_ffi_lowering: Any = jax.ffi.ffi_lowering
_LINEAR = ("sum", "mean", "sqrtn")


def _shape(*arrays: Any, call: BagCall) -> Any:
    check(call, arrays)
    data = arrays[0]
    shape = call.output_shape(arrays)
    sharding = data.sharding.update(spec=PartitionSpec(*(None for _ in shape)))
    return data.update(shape=shape, dtype=call.output_dtype(data), weak_type=False,
                       sharding=sharding)


def _with(call: BagCall, arrays: Any, **others: Any) -> list[Any]:
    """The arrays, some replaced."""
    return [others.get(name, array) for name, array in zip(call.tensors, arrays)]


def _jvp(primals: Any, tangents: Any, *, call: BagCall) -> Any:
    output = bag_call(call, *primals)
    parts, moves = call.named(primals), call.named(tangents)
    of_data, of_weights = moves["data"], moves["weights"]
    data_moves = type(of_data) is not ad.Zero
    weights_move = of_weights is not None and type(of_weights) is not ad.Zero
    if not (data_moves or weights_move):
        return output, ad.Zero.from_primal_value(output)
    if call.table.encoding != "plain":
        raise UnsupportedError(refusal(
            "bag: gradients of weights with an encoded table",
            "rows of another type would be decoded for them", "a plain table"))
    if call.pool == "mul":
        return output, _of_product(call, primals, tangents)
    if call.pool in ("max", "min"):
        return output, _of_extremum(call, parts, moves, output)
    tangent = None
    if data_moves:
        tangent = bag_call(call.linear(), *_with(call, primals, data=of_data))
    if weights_move:
        more = bag_call(call._replace(empty=call.linear().empty),
                         *_with(call, primals, weights=of_weights))
        tangent = more if tangent is None else tangent + more
    return output, tangent


def _of_product(call: BagCall, primals: Any, tangents: Any) -> Any:
    moving = [i for i, tangent in enumerate(tangents) if type(tangent) is not ad.Zero]

    def product(*values: Any) -> Any:
        arrays = list(primals)
        for i, value in zip(moving, values):
            arrays[i] = value
        return composed.product_of(call, call.named(arrays))

    _, tangent = jax.jvp(product, tuple(primals[i] for i in moving),
                         tuple(tangents[i] for i in moving))
    return tangent


def _of_extremum(call: BagCall, parts: Any, moves: Any, output: Any) -> Any:
    """What the winner's row moves, times its weight, and what its weight moves."""
    rows, entries = composed.winners(call, parts, output)
    elements = Call("gather_elements", 0, 0, "fill", "out_of_range")
    flat = Call("gather", 0, 0, "fill", "out_of_range")
    tangent = jnp.zeros(output.shape, output.dtype)
    weights = parts["weights"]
    if type(moves["data"]) is not ad.Zero:
        picked = gather_call(elements, moves["data"], rows)
        if weights is not None:
            picked = picked * gather_call(flat, weights.reshape(-1), entries).astype(picked.dtype)
        tangent = tangent + picked.astype(output.dtype)
    if weights is not None and type(moves["weights"]) is not ad.Zero:
        values = gather_call(elements, parts["data"], rows)
        moved = gather_call(flat, moves["weights"].reshape(-1), entries)
        tangent = tangent + (values * moved.astype(values.dtype)).astype(output.dtype)
    return tangent


def _transpose(cotangent: Any, *arrays: Any, call: BagCall) -> Any:
    """Of a sum, which is linear in data or in weights; other pools do not get here."""
    results: list[Any] = [None] * len(arrays)
    parts = call.named(arrays)
    for i, (name, array) in enumerate(zip(call.tensors, arrays)):
        if not ad.is_undefined_primal(array):
            continue
        if type(cotangent) is ad.Zero:
            results[i] = ad.Zero(array.aval)
        elif name == "data":
            results[i] = table_gradient(call, parts, array.aval, cotangent)
        else:
            results[i] = composed.weights_cotangent(call, parts, array.aval, cotangent)
    return results


def _batching(arrays: Any, dims: Any, *, call: BagCall) -> Any:
    """A batch of tables alone becomes part of their rows."""
    if only_first(dims) and call.table.encoding == "plain":
        moved = jnp.moveaxis(arrays[0], dims[0], 1)
        return bag_call(call, moved, *arrays[1:]), 1
    return one_by_one(functools.partial(bag_call, call), arrays, dims)


def _lower_on_cpu(ctx: Any, *operands: Any, call: BagCall) -> Any:
    register_handlers()
    return _ffi_lowering("sheaf_bag")(ctx, *operands, **attributes_of(call))


def _in_order(call: BagCall, arrays: Any) -> Any:
    """Segments that fit, whatever they are: on a GPU nothing waits to report those that do not."""
    parts = call.named(arrays)
    segments = parts["segments"]
    if segments is None:
        return call, arrays
    entries = parts["data"].shape[0] if parts["indices"] is None else parts["indices"].size
    if call.form == "ids":
        fit = jnp.clip(jax.lax.cummax(segments), 0, max(call.bags - 1, 0))
        return call, _with(call, arrays, segments=fit)
    if call.form == "lengths":
        ends = jnp.clip(jnp.cumsum(jnp.maximum(segments, 0)), 0, entries)
        fit = jnp.concatenate([jnp.zeros(1, ends.dtype), ends])
        call = call._replace(form="offsets", last_offset=True)
        return call, _with(call, arrays, segments=fit)
    fit = jnp.clip(jax.lax.cummax(segments), 0, entries)
    return call, _with(call, arrays, segments=fit.at[:1].set(0))


def _lower_on_gpu(ctx: Any, *operands: Any, call: BagCall) -> Any:
    register_handlers()
    if "segments" in call.tensors:
        def run(*arrays: Any) -> Any:
            fitting, fit = _in_order(call, arrays)
            return _ordered_p.bind(*fit, call=fitting)
        return mlir.lower_fun(run, multiple_results=False)(ctx, *operands)
    return _call_on_gpu(ctx, *operands, call=call)


def _call_on_gpu(ctx: Any, *operands: Any, call: BagCall) -> Any:
    if not is_static(*ctx.avals_in, *ctx.avals_out) or not gpus():
        return _ffi_lowering("sheaf_bag_unsized")(ctx, *operands, **attributes_of(call))
    size = _sheaf.jax_bag_workspace(plan_of(call.gentle(), ctx.avals_in), list(gpus()))
    workspace = _struct((size + ROOM_TO_ALIGN,), numpy.dtype(numpy.uint8))
    results = _ffi_lowering("sheaf_bag")(ctx.replace(avals_out=[*ctx.avals_out, workspace]),
                                         *operands, **attributes_of(call))
    return list(results)[:1]


@functools.lru_cache(maxsize=1024)
def _compiled(call: BagCall) -> Any:
    return jax.jit(functools.partial(bag_p.bind, call=call))


def _run_at_once(*arrays: Any, call: BagCall) -> Any:
    with jax.disable_jit(False):  # or the compiled call ends up here again
        return _compiled(call)(*arrays)


#: What a bag becomes on a GPU, when its segments fit.
_ordered_p: Any = Primitive("sheaf_ordered_bag")
_ordered_p.def_abstract_eval(_shape)
mlir.register_lowering(_ordered_p, _call_on_gpu, platform=GPU)

bag_p.def_impl(_run_at_once)
bag_p.def_abstract_eval(_shape)
mlir.register_lowering(bag_p, _lower_on_cpu, platform="cpu")
mlir.register_lowering(bag_p, _lower_on_gpu, platform=GPU)
ad.primitive_jvps[bag_p] = _jvp
ad.primitive_transposes[bag_p] = _transpose
batching.primitive_batchers[bag_p] = _batching


@functools.lru_cache(maxsize=1024)
def _program(call: BagCall) -> Any:
    def run(*arrays: Any) -> Any:
        return bag_call(call, *map(jnp.asarray, arrays))
    return jax.jit(run, inline=True)


def _segments_of(offsets: Any, lengths: Any, ids: Any, segments: Any,
                 form: str) -> tuple[Any, str]:
    given = [(array, word) for array, word in (
        (offsets, "offsets"), (lengths, "lengths"), (ids, "ids"), (segments, form))
        if array is not None]
    if len(given) > 1:
        raise ArgumentError(refusal("bag: two kinds of segments",
                                    f"{' and '.join(word for _, word in given)} are given",
                                    "one of offsets, lengths and ids"))
    return given[0] if given else (None, form)


def _table_of(data: Any) -> tuple[Table, dict[str, Any]]:
    if isinstance(data, Encoded):
        table = Table(data.encoding, tuple(data.shape), data.block, data.axis, data.usual_zero)
        return table, {"data": data.stored, "scales": data.scales, "zeros": data.zeros}
    return Table(), {"data": data}


def bag(data: Any, indices: Any = None, offsets: Any = None, *, lengths: Any = None,
        ids: Any = None, segments: Any = None, form: str = "offsets", bags: int | None = None,
        weights: Any = None, pool: Pool = "sum", last_offset: bool = False,
        padding_index: int | None = None, empty_value: Any = 0, accumulate: Any = "f32",
        dtype: Any = None, out_of_range: BagRule = "fail", negative: Negative = "from_end",
        fill_value: Any = 0) -> Any:
    """sheaf.bag in a compiled program. ids need `bags`, which is part of the program, as are all
    other options. segments and form say the same as offsets, lengths and ids."""
    segments, form = _segments_of(offsets, lengths, ids, segments, form)
    if form == "ids" and segments is not None and (bags is None or bags < 0):
        raise ArgumentError(refusal("bag: the number of bags is not known",
                                    "in a compiled program ids have no values yet",
                                    "bags=, a number"))
    table, arrays = _table_of(data)
    arrays = {**arrays, "indices": indices, "segments": segments, "weights": weights}
    tensors = tuple(name for name in TENSORS if arrays.get(name) is not None)
    call = BagCall(
        tensors, table, pool, form, bool(last_offset), -1 if bags is None else int(bags),
        None if padding_index is None else operator.index(padding_index),
        fill_of("bag", empty_value), bool(accumulate), dtype_name(dtype) or "", out_of_range,
        negative, fill_of("bag", fill_value))
    return _program(call)(*(arrays[name] for name in tensors))

