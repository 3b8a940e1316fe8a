# SPDX-License-Identifier: MIT
"""Gathers and scatters as calls in a compiled program, and their gradients.

A gather is linear in data; a scatter is linearised by two coefficients, as in sheaf.torch:

    tangent of output = A * tangent of data + scatter-add of (C * tangent of updates)
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad as _ad
from jax.interpreters import batching, mlir

from .. import _functions, _sheaf
from .._errors import ArgumentError, UnsupportedError, refusal

ad: Any = _ad  # which has no types
_struct: Any = jax.ShapeDtypeStruct
_ffi_call: Any = jax.ffi.ffi_call

_SCATTER_OF = {"gather": "scatter", "gather_elements": "scatter_elements",
               "gather_nd": "scatter_nd"}
_GATHER_OF = {scatter: gather for gather, scatter in _SCATTER_OF.items()}
_REDUCTIONS = {"sum": "add", "prod": "mul", "multiply": "mul", "amin": "min", "amax": "max"}


class Call(NamedTuple):
    """The options of a call. `flag` is broadcast in a gather, include_self in a scatter."""
    op: str
    axis: int
    batch_dims: int
    flag: bool
    out_of_range: str
    negative: str
    reduction: str = "none"


@functools.cache
def _register() -> None:
    if not _sheaf.has_jax_ffi():
        raise UnsupportedError(refusal(
            "sheaf.jax: not built",
            "the package was built where jaxlib, which brings the headers, is not installed",
            "pip install --no-build-isolation . where it is"))
    for name, handler in _sheaf.jax_handlers().items():
        target, _, platform = name.partition(".")
        jax.ffi.register_ffi_target(f"sheaf_{target}", handler, platform=platform)


def _attributes(call: Call) -> dict[str, Any]:
    return {"op": call.op, "axis": numpy.int64(call.axis),
            "batch_dims": numpy.int64(call.batch_dims), "flag": numpy.int64(call.flag),
            "out_of_range": call.out_of_range, "negative": call.negative}


def _spec(array: Any) -> _sheaf.Spec:
    return _sheaf.Spec(str(array.dtype), array.shape)


def _run_gather(data: Any, indices: Any, *, call: Call) -> Any:
    _register()
    result = _struct(_gather_shape(data, indices, call=call).shape, data.dtype)
    return _ffi_call("sheaf_gather", result)(data, indices, **_attributes(call))


def _run_scatter(data: Any, indices: Any, updates: Any, *, call: Call) -> Any:
    _register()
    result = _struct(data.shape, data.dtype)
    return _ffi_call("sheaf_scatter", result)(
        data, indices, updates, reduction=call.reduction, **_attributes(call))


def _add_up(call: Call, shape: Any, indices: Any, updates: Any) -> Any:
    """What the gather `call` took, added up where it came from."""
    sizes = list(shape)
    stretched: tuple[int, ...] = ()
    if call.op == "gather_elements" and call.flag:
        stretched = tuple(d for d in range(len(sizes))
                          if d != call.axis and sizes[d] == 1 and updates.shape[d] != 1)
        for d in stretched:
            sizes[d] = updates.shape[d]
        indices = jnp.broadcast_to(indices, updates.shape)
    back = Call(_SCATTER_OF[call.op], call.axis, call.batch_dims, True,
                "skip" if call.out_of_range == "fill" else call.out_of_range, call.negative, "add")
    result = _scatter(back, jnp.zeros(sizes, updates.dtype), indices, updates)
    return result.sum(stretched, keepdims=True) if stretched else result


def _gather(call: Call, data: Any, indices: Any) -> Any:
    return gather_p.bind(data, indices, call=call)


def _scatter(call: Call, data: Any, indices: Any, updates: Any) -> Any:
    return scatter_p.bind(data, indices, updates, call=call)


# Each is one primitive of JAX, with rules for its shape, its gradients and jax.vmap.
gather_p: Any = Primitive("sheaf_gather")
scatter_p: Any = Primitive("sheaf_scatter")


def _gather_shape(data: Any, indices: Any, *, call: Call) -> Any:
    plan = _sheaf.plan_gather(call.op, _spec(data), _spec(indices), None, call.axis,
                              call.batch_dims, call.flag, call.out_of_range, call.negative, 0)
    return ShapedArray(plan.shape, data.dtype)


def _scatter_shape(data: Any, indices: Any, updates: Any, *, call: Call) -> Any:
    _sheaf.plan_scatter(call.op, _spec(data), _spec(indices), _spec(updates), None, call.axis,
                        call.batch_dims, call.reduction, call.flag, False, "", call.out_of_range,
                        call.negative)
    return ShapedArray(data.shape, data.dtype)


def _gather_jvp(primals: Any, tangents: Any, *, call: Call) -> Any:
    data, indices = primals
    output = _gather(call, data, indices)
    if type(tangents[0]) is ad.Zero:
        return output, ad.Zero.from_primal_value(output)
    return output, _gather(call, tangents[0], indices)


def _gather_transpose(cotangent: Any, data: Any, indices: Any, *, call: Call) -> Any:
    if type(cotangent) is ad.Zero:
        return ad.Zero(data.aval), None
    return _add_up(call, data.aval.shape, indices, cotangent), None


def _scatter_jvp(primals: Any, tangents: Any, *, call: Call) -> Any:
    data, indices, updates = primals
    output = _scatter(call, data, indices, updates)
    if type(tangents[0]) is ad.Zero and type(tangents[2]) is ad.Zero:
        return output, ad.Zero.from_primal_value(output)
    of_data, of_updates = ad.instantiate_zeros(tangents[0]), ad.instantiate_zeros(tangents[2])
    if call.reduction != "add" or not call.flag:
        a, c = _coefficients(call, data, indices, updates, output)
        of_data, of_updates = of_data * a, of_updates * c
    return output, _scatter(call._replace(reduction="add", flag=True), of_data, indices, of_updates)


def _scatter_transpose(cotangent: Any, data: Any, indices: Any, updates: Any, *,
                       call: Call) -> Any:
    """Of a sum, which is linear; other reductions get here as sums."""
    zero = type(cotangent) is ad.Zero
    of_data = None if not ad.is_undefined_primal(data) else (
        ad.Zero(data.aval) if zero else cotangent)
    of_updates = None if not ad.is_undefined_primal(updates) else (
        ad.Zero(updates.aval) if zero else _take(call, cotangent, indices))
    return of_data, None, of_updates


def _batched(arrays: Any, dims: Any) -> Any:
    """All with the batch dimension first."""
    size = next(array.shape[dim] for array, dim in zip(arrays, dims)
                if dim is not None)
    return [jnp.broadcast_to(array, (size, *array.shape)) if dim is None
            else jnp.moveaxis(array, dim, 0) for array, dim in zip(arrays, dims)]


def _one_more(call: Call) -> Call:
    return call._replace(axis=call.axis + 1, batch_dims=call.batch_dims + 1)


def _gather_batching(arrays: Any, dims: Any, *, call: Call) -> Any:
    data, indices = arrays
    if call.op == "gather" and call.batch_dims == 0 and dims[1] is None:
        moved = jnp.moveaxis(data, dims[0], 0)
        return _gather(call._replace(axis=call.axis + 1), moved, indices), 0
    if call.op == "gather" and call.batch_dims == 0 and dims[0] is None:
        return _gather(call, data, jnp.moveaxis(indices, dims[1], 0)), call.axis
    return _gather(_one_more(call), *_batched(arrays, dims)), 0


def _scatter_batching(arrays: Any, dims: Any, *, call: Call) -> Any:
    return _scatter(_one_more(call), *_batched(arrays, dims)), 0


for _primitive, _run, _shape, _jvp, _transpose, _batching in (
        (gather_p, _run_gather, _gather_shape, _gather_jvp, _gather_transpose, _gather_batching),
        (scatter_p, _run_scatter, _scatter_shape, _scatter_jvp, _scatter_transpose,
         _scatter_batching)):
    _primitive.def_impl(_run)
    _primitive.def_abstract_eval(_shape)
    mlir.register_lowering(_primitive, mlir.lower_fun(_run, multiple_results=False))
    ad.primitive_jvps[_primitive] = _jvp
    ad.primitive_transposes[_primitive] = _transpose
    batching.primitive_batchers[_primitive] = _batching


def _take(call: Call, data: Any, indices: Any) -> Any:
    """What stands where each update goes; 0 for updates that go nowhere."""
    rule = "fill" if call.out_of_range == "skip" else call.out_of_range
    return _gather(Call(_GATHER_OF[call.op], call.axis, call.batch_dims, False, rule,
                        call.negative), data, indices)


def _coefficients(call: Call, data: Any, indices: Any, updates: Any, output: Any) -> Any:
    """A and C."""
    def put(start: Any, values: Any, reduction: str = "none") -> Any:
        return _scatter(call._replace(reduction=reduction, flag=True), start, indices, values)

    ones = jnp.ones_like(data)
    own = ones if call.flag else put(ones, jnp.zeros_like(updates))
    if call.reduction == "none":
        numbers = jnp.arange(updates.size, dtype=jnp.int32).reshape(updates.shape)
        last = put(jnp.full(data.shape, -1, jnp.int32), numbers)
        is_last = (_take(call, last, indices) == numbers).astype(data.dtype)
        return put(ones, jnp.zeros_like(updates)), is_last
    if call.reduction in ("add", "sub"):
        return own, jnp.ones_like(updates) * (1 if call.reduction == "add" else -1)
    if call.reduction == "mean":
        share = 1 / put(own, jnp.ones_like(updates), "add")
        return own * share, _take(call, share, indices)
    if call.reduction == "mul":
        return _of_product(call, put, data, indices, updates, own)
    hits = own * (data == output)
    update_hits = (updates == _take(call, output, indices)).astype(data.dtype)
    share = 1 / jnp.maximum(put(hits, update_hits, "add"), 1)
    return hits * share, update_hits * _take(call, share, indices)


def _of_product(call: Call, put: Any, data: Any, indices: Any, updates: Any, own: Any) -> Any:
    """The product of all other factors: of those that are not 0, times the zero among the others if
    there is one, for the sake of the second derivative."""
    start = jnp.where(own == 1, data, 1)
    zero_start, zero_updates = start == 0, updates == 0
    others = _take(call, put(zero_start.astype(jnp.int32), zero_updates.astype(jnp.int32), "add"),
                   indices) - zero_updates
    own_zero = updates * zero_updates
    other_zero = _take(call, put(start * zero_start, own_zero, "add"), indices) - own_zero
    factor = jnp.where(others == 0, 1, other_zero * (others == 1))
    safe = jnp.where(zero_updates, 1, updates)
    product = _take(call, put(jnp.where(zero_start, 1, start), safe, "mul"), indices) / safe
    return own * put(jnp.ones_like(data), updates, "mul"), product * factor


def _verdict(data: Any, indices: Any, call: Call, extents: Any) -> Any:
    """How many indices are out of range, and the first; `extents` has one for each."""
    low = -extents if call.negative == "from_end" else 0
    bad = ((indices < low) | (indices >= extents)).reshape(-1)
    count = bad.sum(dtype=jnp.int32)
    return jnp.stack([count, jnp.where(count > 0, jnp.argmax(bad).astype(jnp.int32), -1)])


def _extents(call: Call, data: Any, indices: Any) -> Any:
    if call.op.endswith("_nd"):
        return jnp.asarray(data.shape[call.batch_dims:call.batch_dims + indices.shape[-1]])
    return data.shape[call.axis]


def _checked(call: Call, check: Any, data: Any, indices: Any, run: Any) -> Any:
    if not check:
        return run(call)
    verdict = _verdict(data, indices, call, _extents(call, data, indices))
    gentle = "skip" if call.op.startswith("scatter") else "fill"
    if call.out_of_range == "fail":
        call = call._replace(out_of_range=gentle)
    if check == "checkify":
        from jax.experimental import checkify
        checkify.check(verdict[0] == 0, f"{call.op}: {{bad}} indices out of range, the first is "
                       "number {first}", bad=verdict[0], first=verdict[1])
        return run(call)
    return run(call), verdict


def _normal(axis: int, rank: int) -> int:
    return axis + rank if -rank <= axis < 0 else axis


def _gathered(op: str, data: Any, indices: Any, axis: int, batch_dims: int, broadcast: bool,
              rule: Any, check: Any) -> Any:
    data, indices = jnp.asarray(data), jnp.asarray(indices)
    call = Call(op, _normal(axis, data.ndim), _normal(batch_dims, indices.ndim), broadcast,
                rule[0], rule[1])
    return _checked(call, check, data, indices, lambda c: _gather(c, data, indices))


def gather(data: Any, indices: Any, axis: int = 0, *, batch_dims: int = 0,
           out_of_range: _functions.GatherRule = "fail",
           negative: _functions.Negative = "from_end", check: Any = False) -> Any:
    """sheaf.gather in a compiled program; "fill" writes 0."""
    return _gathered("gather", data, indices, axis, batch_dims, False, (out_of_range, negative),
                     check)


def gather_elements(data: Any, indices: Any, axis: int = 0, *, broadcast: bool = False,
                    out_of_range: _functions.GatherRule = "fail",
                    negative: _functions.Negative = "from_end", check: Any = False) -> Any:
    """sheaf.gather_elements in a compiled program."""
    return _gathered("gather_elements", data, indices, axis, 0, broadcast,
                     (out_of_range, negative), check)


def gather_nd(data: Any, indices: Any, *, batch_dims: int = 0,
              out_of_range: _functions.GatherRule = "fail",
              negative: _functions.Negative = "from_end", check: Any = False) -> Any:
    """sheaf.gather_nd in a compiled program."""
    return _gathered("gather_nd", data, indices, 0, batch_dims, False, (out_of_range, negative),
                     check)


_NARROW = ("float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")


def _is_narrow(op: str, data: Any, accumulate: str) -> bool:
    """Whether f32 is wider than data; refuses everything that has no such way to accumulate."""
    if accumulate != "f32":
        raise ArgumentError(refusal("unknown accumulate", f"accumulate={accumulate!r}",
                                    '"f32", or None for the type of data'))
    if data.dtype not in (*_NARROW, "float32"):
        raise ArgumentError(refusal(f"{op}: nothing to accumulate in f32",
                                    f"data is {data.dtype}, but narrower floats are rounded from f32",
                                    "leave accumulate out"))
    return data.dtype in _NARROW


def _scattered(op: str, tensors: Any, axis: int, batch_dims: int, reduction: str,
               include_self: bool, rule: Any, check: Any, accumulate: Any) -> Any:
    data, indices, updates = (jnp.asarray(tensor) for tensor in tensors)
    if accumulate is not None and _is_narrow(op, data, accumulate):
        wide = _scattered(op, (data.astype(jnp.float32), indices, updates.astype(jnp.float32)),
                          axis, batch_dims, reduction, include_self, rule, check, None)
        return (wide[0].astype(data.dtype), wide[1]) if check is True else wide.astype(data.dtype)
    call = Call(op, _normal(axis, data.ndim), _normal(batch_dims, indices.ndim), include_self,
                rule[0], rule[1], _REDUCTIONS.get(reduction, reduction))
    return _checked(call, check, data, indices,
                    lambda c: _scatter(c, data, indices, updates.astype(data.dtype)))


def scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0,
            reduction: _functions.Reduction = "none", include_self: bool = True,
            out_of_range: _functions.ScatterRule = "fail",
            negative: _functions.Negative = "from_end", check: Any = False,
            accumulate: _functions.Accumulate = None) -> Any:
    """sheaf.scatter in a compiled program."""
    return _scattered("scatter", (data, indices, updates), axis, batch_dims, reduction,
                      include_self, (out_of_range, negative), check, accumulate)


def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *,
                     reduction: _functions.Reduction = "none", include_self: bool = True,
                     out_of_range: _functions.ScatterRule = "fail",
                     negative: _functions.Negative = "from_end", check: Any = False,
                     accumulate: _functions.Accumulate = None) -> Any:
    """sheaf.scatter_elements in a compiled program."""
    return _scattered("scatter_elements", (data, indices, updates), axis, 0, reduction,
                      include_self, (out_of_range, negative), check, accumulate)


def scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0,
               reduction: _functions.Reduction = "none", include_self: bool = True,
               out_of_range: _functions.ScatterRule = "fail",
               negative: _functions.Negative = "from_end", check: Any = False,
               accumulate: _functions.Accumulate = None) -> Any:
    """sheaf.scatter_nd in a compiled program."""
    return _scattered("scatter_nd", (data, indices, updates), 0, batch_dims, reduction,
                      include_self, (out_of_range, negative), check, accumulate)
