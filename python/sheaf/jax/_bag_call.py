# SPDX-License-Identifier: MIT
"""One bag of a compiled program: its options, the shape of its result, and its plan."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive

from .. import _sheaf
from .._encoded import Encoded
from ._call import Fill, is_static
from ._primitives import vary_alike

bag_p: Any = Primitive("sheaf_bag")

#: The tensors of a bag, in the order in which a call has them.
TENSORS = ("data", "scales", "zeros", "indices", "segments", "weights")


class Table(NamedTuple):
    """How a table is encoded."""
    encoding: str = "plain"
    shape: tuple[int, ...] = ()  # decoded; of a plain one, that of data
    block: int = 0
    axis: int = -1
    usual_zero: int = 0


class BagCall(NamedTuple):
    """The options of a bag, and which tensors it has."""
    tensors: tuple[str, ...]
    table: Table = Table()
    pool: str = "sum"
    form: str = "offsets"
    last_offset: bool = False
    bags: int = -1
    padding_index: int | None = None
    empty: Fill = Fill()
    accumulate_f32: bool = True
    dtype: str = ""  # of the output; "": that of data
    out_of_range: str = "fail"
    negative: str = "from_end"
    fill: Fill = Fill()

    def named(self, arrays: Any) -> dict[str, Any]:
        """The arrays by name; None for those that the bag does not have."""
        return {**dict.fromkeys(TENSORS), **dict(zip(self.tensors, arrays))}

    def linear(self) -> BagCall:
        """What a tangent of data goes through: what is constant is gone."""
        return self._replace(empty=Fill(), fill=Fill())

    def gentle(self) -> BagCall:
        """Bad indices are left out where they would fail: what runs on a GPU, too, where nothing
        waits to report them."""
        return self._replace(out_of_range="skip") if self.out_of_range == "fail" else self

    def output_dtype(self, data: Any) -> Any:
        if self.dtype:
            return jnp.dtype(self.dtype)
        return numpy.dtype("float32") if self.table.encoding != "plain" else data.dtype

    def output_shape(self, arrays: Any) -> tuple[Any, ...]:
        parts = self.named(arrays)
        row = self.table.shape[1:] if self.table.encoding != "plain" else parts["data"].shape[1:]
        return (self.bag_count(parts), *row)

    def bag_count(self, parts: dict[str, Any]) -> Any:
        if parts["segments"] is None:
            return parts["indices"].shape[0]
        if self.form == "ids":
            return self.bags
        return parts["segments"].shape[0] - (self.form == "offsets" and self.last_offset)


def bag_call(call: BagCall, *arrays: Any) -> Any:
    return bag_p.bind(*vary_alike(*arrays), call=call)


def one_by_one(run: Any, arrays: Any, dims: Any) -> Any:
    """Each of a batch by itself: bags have no dimension to put one in."""
    size = next(array.shape[dim] for array, dim in zip(arrays, dims) if dim is not None)

    def part(array: Any, dim: Any, i: int) -> Any:
        return array if dim is None else jnp.take(array, i, axis=dim)

    return jnp.stack([run(*(part(array, dim, i) for array, dim in zip(arrays, dims)))
                      for i in range(size)]), 0


def only_first(dims: Any) -> bool:
    return dims[0] is not None and all(dim is None for dim in dims[1:])


def plan_of(call: BagCall, arrays: Any) -> _sheaf.BagPlan:
    """Refuses what does not fit."""
    parts = {name: None if array is None else _sheaf.Spec(str(array.dtype), array.shape)
             for name, array in call.named(arrays).items()}
    table: Any = parts["data"]
    if call.table.encoding != "plain":
        shape = call.table.shape
        table = Encoded(call.table.encoding, parts["data"], parts["scales"], parts["zeros"],
                        shape=shape, block=call.table.block, axis=call.table.axis,
                        usual_zero=call.table.usual_zero)
    return _sheaf.plan_bag(
        "bag", table, parts["indices"], parts["segments"], parts["weights"], None, pool=call.pool,
        form=call.form, last_offset=call.last_offset, bags=call.bags,
        padding_index=call.padding_index, empty_value=call.empty.number,
        accumulate="f32" if call.accumulate_f32 else "", dtype=call.dtype or None,
        out_of_range=call.out_of_range, negative=call.negative, fill_value=call.fill.number)


def check(call: BagCall, arrays: Any) -> None:
    if is_static(*arrays):
        plan_of(call, arrays)


def attributes_of(call: BagCall) -> dict[str, Any]:
    """What the handlers read."""
    padding = 0 if call.padding_index is None else call.padding_index
    fills = {**call.fill.attributes(), **{name.replace("fill_", "empty_"): value
                                          for name, value in call.empty.attributes().items()}}
    return {
        "tensors": " ".join(call.tensors), "encoding": call.table.encoding,
        "table_shape": numpy.array(call.table.shape or (0,), numpy.int64),
        "block": numpy.int64(call.table.block), "axis": numpy.int64(call.table.axis),
        "usual_zero": numpy.int64(call.table.usual_zero), "pool": call.pool, "form": call.form,
        "last_offset": numpy.int64(call.last_offset), "bags": numpy.int64(call.bags),
        "has_padding": numpy.int64(call.padding_index is not None),
        "padding_index": numpy.int64(padding),
        "accumulate_f32": numpy.int64(call.accumulate_f32), "out_of_range": call.out_of_range,
        "negative": call.negative, **fills}
