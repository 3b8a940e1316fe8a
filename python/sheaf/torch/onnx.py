# SPDX-License-Identifier: MIT
"""The operators in terms of ONNX's, for torch.onnx.export:

    torch.onnx.export(model, arguments, "model.onnx", dynamo=True,
                      custom_translation_table=sheaf.torch.onnx.translation_table())

An exported program has ONNX's rule for indices: those out of range are an error. What ONNX has no
operator for is refused when the program is exported.
"""

from __future__ import annotations

import importlib
from typing import Any

import torch

from .._errors import UnsupportedError, refusal

_REDUCTIONS = {"none": "none", "add": "add", "sum": "add", "mul": "mul", "prod": "mul",
               "multiply": "mul", "min": "min", "amin": "min", "max": "max", "amax": "max"}
_FLOAT = 1  # onnx.TensorProto.FLOAT


def _refuse(op: str, what: str) -> UnsupportedError:
    return UnsupportedError(refusal(f"{op}: no ONNX operator for this", what,
                                    "options that ONNX has, or torch.export"))


def _check_rule(op: str, out_of_range: str) -> None:
    if out_of_range not in ("fail", "trust"):
        raise _refuse(op, f"out_of_range = {out_of_range!r}")


def _reduction(op: str, name: str, include_self: bool) -> str:
    if name not in _REDUCTIONS or not (include_self or name == "none"):
        raise _refuse(op, f"reduction = {name!r}, include_self = {include_self}")
    return _REDUCTIONS[name]


def _accumulated(ops: Any, scatter: Any, data: Any, updates: Any, reduction: str,
                 accumulate: str) -> Any:
    """The scatter, of narrow floats in f32 where that was asked for."""
    narrow = str(data.dtype).rpartition(".")[2] in ("FLOAT16", "BFLOAT16")
    if not accumulate or reduction == "none" or not narrow:
        return scatter(data, updates)
    wide = scatter(ops.Cast(data, to=_FLOAT), ops.Cast(updates, to=_FLOAT))
    return ops.CastLike(wide, data)


def translation_table() -> dict[Any, Any]:
    """For custom_translation_table. Needs onnxscript, as torch.onnx.export does."""
    ops = importlib.import_module("onnxscript").opset18

    def gather(data: Any, indices: Any, axis: int = 0, batch_dims: int = 0,
               out_of_range: str = "fail", negative: str = "from_end", fill_value: Any = 0,
               threads: int = 0) -> Any:
        _check_rule("gather", out_of_range)
        if batch_dims != 0:
            raise _refuse("gather", f"batch_dims = {batch_dims}")
        return ops.Gather(data, indices, axis=axis)

    def gather_elements(data: Any, indices: Any, axis: int = 0, broadcast: bool = False,
                        out_of_range: str = "fail", negative: str = "from_end",
                        fill_value: Any = 0, threads: int = 0) -> Any:
        _check_rule("gather_elements", out_of_range)
        if broadcast:
            raise _refuse("gather_elements", "broadcast = True")
        return ops.GatherElements(data, indices, axis=axis)

    def gather_nd(data: Any, indices: Any, batch_dims: int = 0, out_of_range: str = "fail",
                  negative: str = "from_end", fill_value: Any = 0, threads: int = 0) -> Any:
        _check_rule("gather_nd", out_of_range)
        return ops.GatherND(data, indices, batch_dims=batch_dims)

    def scatter(data: Any, indices: Any, updates: Any, axis: int = 0, batch_dims: int = 0,
                reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
                negative: str = "from_end", accumulate: str = "", relaxed: bool = False,
                threads: int = 0) -> Any:
        _check_rule("scatter", out_of_range)
        name = _reduction("scatter", reduction, include_self)
        if batch_dims != 0:
            raise _refuse("scatter", f"batch_dims = {batch_dims}")
        rank, grid = len(data.shape), len(indices.shape)
        axis = axis % rank
        # ONNX scatters to the first dimension: the axis, and the indices in updates, go there.
        order = [axis, *(d for d in range(rank) if d != axis)]
        ahead = [*range(axis, axis + grid), *range(axis), *range(axis + grid, rank + grid - 1)]
        tuples = ops.Unsqueeze(indices, ops.Constant(value_ints=[-1]))

        def slices(data: Any, updates: Any) -> Any:
            if axis == 0:
                return ops.ScatterND(data, tuples, updates, reduction=name)
            moved = ops.ScatterND(ops.Transpose(data, perm=order), tuples,
                                  ops.Transpose(updates, perm=ahead), reduction=name)
            return ops.Transpose(moved, perm=[order.index(d) for d in range(rank)])

        return _accumulated(ops, slices, data, updates, name, accumulate)

    def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0,
                         reduction: str = "none", include_self: bool = True,
                         out_of_range: str = "fail", negative: str = "from_end",
                         accumulate: str = "", relaxed: bool = False, threads: int = 0) -> Any:
        _check_rule("scatter_elements", out_of_range)
        name = _reduction("scatter_elements", reduction, include_self)
        return _accumulated(
            ops, lambda d, u: ops.ScatterElements(d, indices, u, axis=axis, reduction=name), data,
            updates, name, accumulate)

    def scatter_nd(data: Any, indices: Any, updates: Any, batch_dims: int = 0,
                   reduction: str = "none", include_self: bool = True, out_of_range: str = "fail",
                   negative: str = "from_end", accumulate: str = "", relaxed: bool = False,
                   threads: int = 0) -> Any:
        _check_rule("scatter_nd", out_of_range)
        name = _reduction("scatter_nd", reduction, include_self)
        if batch_dims != 0:
            raise _refuse("scatter_nd", f"batch_dims = {batch_dims}")
        return _accumulated(ops, lambda d, u: ops.ScatterND(d, indices, u, reduction=name), data,
                            updates, name, accumulate)

    translated = (gather, gather_elements, gather_nd, scatter, scatter_elements, scatter_nd)
    return {getattr(torch.ops.sheaf, call.__name__).default: call for call in translated}
