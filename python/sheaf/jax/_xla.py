# SPDX-License-Identifier: MIT
"""XLA's general gather and scatter with JAX's dimension numbers, on arrays with values."""

from __future__ import annotations

from typing import Any, Sequence

import numpy

from .. import _sheaf
from .._errors import ArgumentError, refusal

_GATHER_MODES = {"CLIP": "clamp", "FILL_OR_DROP": "fill", "PROMISE_IN_BOUNDS": "trust",
                 "ONE_HOT": "fill"}
_SCATTER_MODES = {"CLIP": "clamp", "FILL_OR_DROP": "skip", "PROMISE_IN_BOUNDS": "trust",
                  "ONE_HOT": "skip"}
_NAMES = {"clip": "CLIP", "fill": "FILL_OR_DROP", "drop": "FILL_OR_DROP",
          "promise_in_bounds": "PROMISE_IN_BOUNDS"}


def _rule(call: str, mode: Any, modes: dict[str, str], default: str) -> str:
    """`mode` is lax.GatherScatterMode or its name."""
    if mode is None:
        return modes[default]
    name = mode if isinstance(mode, str) else mode.name
    name = _NAMES.get(name, name)
    if name not in modes:
        raise ArgumentError(refusal(
            f"{call}: unknown mode",
            f"mode = {mode!r}",
            "\"clip\", \"fill\" or \"promise_in_bounds\""))
    return modes[name]


def _fill_value(dtype: Any) -> Any:
    """What lax fills with: NaN, the smallest signed or the largest unsigned integer."""
    dtype = numpy.dtype(dtype)
    if dtype.kind == "i":
        return int(numpy.iinfo(dtype).min)
    if dtype.kind == "u":
        return int(numpy.iinfo(dtype).max)
    return True if dtype.kind == "b" else float("nan")


def xla_gather(operand: Any, start_indices: Any, dimension_numbers: Any,
               slice_sizes: Sequence[int], *, mode: Any = None, fill_value: Any = None,
               threads: int = 0) -> Any:
    """lax.gather. mode and fill_value have lax's defaults: indices out of range are filled."""
    rule = _rule("xla_gather", mode, _GATHER_MODES, "FILL_OR_DROP")
    if fill_value is None:
        fill_value = _fill_value(operand.dtype)
    numbers = dimension_numbers
    return _sheaf.run_xla_gather(
        operand, start_indices, list(numbers.offset_dims), list(numbers.collapsed_slice_dims),
        list(getattr(numbers, "operand_batching_dims", ())),
        list(getattr(numbers, "start_indices_batching_dims", ())), list(numbers.start_index_map),
        numpy.ndim(start_indices) - 1, list(slice_sizes), rule, fill_value, threads)


def xla_scatter(operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, *,
                reduction: str = "none", mode: Any = None, threads: int = 0) -> Any:
    """lax.scatter, scatter_add, scatter_mul, scatter_min and scatter_max, by `reduction`."""
    rule = _rule("xla_scatter", mode, _SCATTER_MODES, "FILL_OR_DROP")
    numbers = dimension_numbers
    return _sheaf.run_xla_scatter(
        operand, scatter_indices, updates, list(numbers.update_window_dims),
        list(numbers.inserted_window_dims), list(getattr(numbers, "operand_batching_dims", ())),
        list(getattr(numbers, "scatter_indices_batching_dims", ())),
        list(numbers.scatter_dims_to_operand_dims), numpy.ndim(scatter_indices) - 1, reduction,
        rule, threads)
