# SPDX-License-Identifier: MIT
"""One gather or scatter of a compiled program: its options, the shape of its result, and its plan."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import numpy

from .. import _sheaf
from .._errors import ArgumentError, DTypeError, UnsupportedError, refusal

_SCATTER_OF = {"gather": "scatter", "gather_elements": "scatter_elements",
               "gather_nd": "scatter_nd"}
_GATHER_OF = {scatter: gather for gather, scatter in _SCATTER_OF.items()}


class Fill(NamedTuple):
    """A fill value. Floats are in hexadecimal, so that equal means equal in all bits, and -0.0 and
    NaN find the program that was compiled for them."""
    integer: int | None = 0  # None: it is a float or a complex number
    real: str = float(0).hex()
    imaginary: str | None = None  # None: it is no complex number

    @property
    def number(self) -> Any:
        if self.integer is not None:
            return self.integer
        real = float.fromhex(self.real)
        return real if self.imaginary is None else complex(real, float.fromhex(self.imaginary))

    def attributes(self) -> dict[str, Any]:
        """The handler reads those that fit the dtype. Of a uint64 fill_integer has the bits."""
        whole = self.integer
        if whole is None:
            real = float.fromhex(self.real)
            whole = int(real) if real.is_integer() else 0
        return {"fill_integer": numpy.int64((whole + 2**63) % 2**64 - 2**63),
                "fill_real": numpy.float64(float.fromhex(self.real)),
                "fill_imaginary": numpy.float64(float.fromhex(self.imaginary or "0"))}


def fill_of(op: str, value: Any) -> Fill:
    if isinstance(value, jax.core.Tracer):
        raise ArgumentError(refusal(f"{op}: fill_value is traced",
                                    "it is part of the compiled program, so its value must be known",
                                    "a number, or a static argument of jax.jit"))
    number = value.item() if hasattr(value, "item") else value
    if isinstance(number, int):
        return Fill(int(number), float(min(max(number, -2**64), 2**64)).hex())
    if isinstance(number, complex):
        return Fill(None, number.real.hex(), number.imag.hex())
    try:
        return Fill(None, float(number).hex())
    except (TypeError, ValueError):
        raise DTypeError(refusal("fill_value is no number", f"it is {type(value)}",
                                 "an int, float or complex")) from None


class Call(NamedTuple):
    """The options of a call."""
    op: str
    axis: int
    batch_dims: int
    out_of_range: str
    negative: str
    broadcast: bool = False  # of gather_elements
    fill: Fill = Fill()  # of a gather
    reduction: str = "none"  # of a scatter, as the next one
    include_self: bool = True

    @property
    def scatters(self) -> bool:
        return self.op in _GATHER_OF

    def inverse_gather(self, out_of_range: str) -> Call:
        """The gather that visits the elements of this scatter."""
        return Call(_GATHER_OF[self.op], self.axis, self.batch_dims, out_of_range, self.negative)

    def inverse_scatter(self) -> Call:
        """The scatter that adds up what this gather took."""
        rule = "skip" if self.out_of_range == "fill" else self.out_of_range
        return Call(_SCATTER_OF[self.op], self.axis, self.batch_dims, rule, self.negative,
                    reduction="add")

    def gentle(self) -> Call:
        """Bad indices are filled or skipped where they would fail: what runs on a GPU, too, where
        nothing waits to report them."""
        rule = "skip" if self.scatters else "fill"
        return self._replace(out_of_range=rule) if self.out_of_range == "fail" else self


def is_static(*arrays: Any) -> bool:
    """Whether all sizes are numbers; those of jax.export may be symbols."""
    return all(isinstance(size, int) for array in arrays for size in array.shape)


def _spec(array: Any) -> _sheaf.Spec:
    return _sheaf.Spec(str(array.dtype), array.shape)


def plan_of(call: Call, arrays: Any) -> _sheaf.Plan:
    """Refuses what does not fit."""
    data, indices, *updates = (_spec(array) for array in arrays)
    shared: dict[str, Any] = {"axis": call.axis, "batch_dims": call.batch_dims,
                              "out_of_range": call.out_of_range, "negative": call.negative}
    if call.scatters:
        return _sheaf.plan_scatter(call.op, data, indices, updates[0], None,
                                   reduction=call.reduction, include_self=call.include_self,
                                   **shared)
    return _sheaf.plan_gather(call.op, data, indices, None, broadcast=call.broadcast,
                              fill_value=call.fill.number, **shared)


def output_shape(call: Call, data: Any, indices: Any) -> tuple[Any, ...]:
    """Of a gather. Symbolic sizes are compared when the program runs."""
    if is_static(data, indices):
        return tuple(plan_of(call, (data, indices)).shape)
    return grid_shape(call, data, indices)


def grid_shape(call: Call, data: Any, indices: Any) -> tuple[Any, ...]:
    """The same, of sizes that fit."""
    if call.op == "gather_elements":
        if not call.broadcast:
            return tuple(indices.shape)
        return tuple(j if d == call.axis or i == 1 else i
                     for d, (i, j) in enumerate(zip(data.shape, indices.shape)))
    if call.op == "gather_nd":
        return (*indices.shape[:-1], *data.shape[call.batch_dims + indices.shape[-1]:])
    return (*data.shape[:call.axis], *indices.shape[call.batch_dims:],
            *data.shape[call.axis + 1:])


def attributes_of(call: Call) -> dict[str, Any]:
    """What the handlers read."""
    shared = {"op": call.op, "axis": numpy.int64(call.axis),
              "batch_dims": numpy.int64(call.batch_dims),
              "out_of_range": call.out_of_range, "negative": call.negative}
    if call.scatters:
        return {**shared, "reduction": call.reduction,
                "include_self": numpy.int64(call.include_self)}
    return {**shared, "broadcast": numpy.int64(call.broadcast), **call.fill.attributes()}


@functools.cache
def register_handlers() -> None:
    if not _sheaf.has_jax_ffi():
        raise UnsupportedError(refusal(
            "sheaf.jax: not built",
            "the package was built where jaxlib, which brings the headers, is not installed",
            "pip install --no-build-isolation . where it is"))
    for name, handler in _sheaf.jax_handlers().items():
        target, _, platform = name.partition(".")
        jax.ffi.register_ffi_target(f"sheaf_{target}", handler, platform=platform)
