# SPDX-License-Identifier: MIT
"""Calls as operations of XLA."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy
from jax.core import ShapedArray
from jax.interpreters import mlir

from .. import _sheaf
from ._call import Call, attributes_of, is_static, plan_of, register_handlers
from ._partitioning import partitioned

_struct: Any = ShapedArray
_ffi_lowering: Any = jax.ffi.ffi_lowering

GPU = _sheaf.gpu_name()  # JAX calls the platform so, too
#: XLA aligns its buffers to less than the 256 bytes that a workspace needs.
ROOM_TO_ALIGN = 256


@functools.cache
def gpus() -> tuple[int, ...]:
    """Their numbers as the driver counts. None where a program is exported for GPUs elsewhere."""
    try:
        devices = jax.local_devices(backend=GPU)
    except RuntimeError:
        return ()
    numbers = (getattr(device, "local_hardware_id", None) for device in devices)
    known = tuple(place if number is None else number for place, number in enumerate(numbers))
    return known if _sheaf.gpu_available() else ()


def _lower_on_cpu(ctx: Any, *operands: Any, call: Call) -> Any:
    name = "sheaf_scatter" if call.scatters else "sheaf_gather"
    lower = _ffi_lowering(name, operand_output_aliases={0: 0} if call.scatters else {})
    return lower(ctx, *operands, **attributes_of(call))


def _lower_on_gpu(ctx: Any, *operands: Any, call: Call) -> Any:
    name = "sheaf_scatter" if call.scatters else "sheaf_gather"
    aliases = {0: 0} if call.scatters else {}
    if not is_static(*ctx.avals_in, *ctx.avals_out) or not gpus():
        lower = _ffi_lowering(f"{name}_unsized", operand_output_aliases=aliases)
        return lower(ctx, *operands, **attributes_of(call))
    size = _sheaf.jax_workspace(plan_of(call.gentle(), ctx.avals_in), gpus())
    workspace = _struct((size + ROOM_TO_ALIGN,), numpy.dtype(numpy.uint8))
    lower = _ffi_lowering(name, operand_output_aliases=aliases)
    results = lower(ctx.replace(avals_out=[*ctx.avals_out, workspace]), *operands,
                    **attributes_of(call))
    return list(results)[:1]


def _is_divided(ctx: Any) -> bool:
    """Whether XLA is to divide the call among devices. In shard_map it is divided already."""
    context = ctx.module_context.axis_context
    manual = getattr(context, "manual_axes", None)
    if manual is not None:
        return set(manual) != set(context.mesh.axis_names)
    return getattr(context, "num_devices", 1) > 1 and context.device_assignment is not None


def _rule(primitive: Any, lower_call: Any, on_gpu: bool) -> Any:
    def lower(ctx: Any, *operands: Any, call: Call) -> Any:
        register_handlers()
        if _is_divided(ctx) and is_static(*ctx.avals_in):
            shapes = tuple(aval.shape for aval in (*ctx.avals_in, *ctx.avals_out))
            function = partitioned(primitive, call.gentle() if on_gpu else call, shapes,
                                   str(ctx.avals_in[1].dtype))
            return mlir.lower_fun(function, multiple_results=False)(ctx, *operands)
        return lower_call(ctx, *operands, call=call)
    return lower


def _ask_for_devices(primitive: Any) -> None:
    """Has JAX say at lowering which devices there are, as it does for custom_partitioning itself.
    There is no public way; without it XLA gathers what is divided, and the result is the same."""
    try:
        from jax._src.dispatch import prim_requires_devices_during_lowering as primitives
        primitives.add(primitive)
    except (ImportError, AttributeError):
        pass


def register_lowerings(primitive: Any) -> None:
    _ask_for_devices(primitive)
    mlir.register_lowering(primitive, _rule(primitive, _lower_on_cpu, False), platform="cpu")
    mlir.register_lowering(primitive, _rule(primitive, _lower_on_gpu, True), platform=GPU)
