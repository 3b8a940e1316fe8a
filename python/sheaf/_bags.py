# SPDX-License-Identifier: MIT
"""Bags: rows of a table, pooled on the way.

    rows[p]   = decode(data[indices[p]]) * weights[p]
    output[s] = pool of rows[p] for p in segment s, in order

Tensors of PyTorch go through its dispatcher (sheaf.torch), what JAX traces becomes a call of its
program (sheaf.jax), and all other arrays go straight to the compiled part.
"""

from __future__ import annotations

from typing import Any

from . import _sheaf
from ._bag_segments import Segments, segments_of
from ._dispatch import is_table, is_torch, is_traced, torch_bags, traced
from ._encoded import Encoded, dtype_name
from ._options import Accumulate, BagRule, Negative, Pool


def _is_torch_call(*arrays: Any) -> bool:
    return any(map(is_torch, arrays))


def _run(call: str, data: Any, indices: Any, segments: Segments, weights: Any, out: Any,
         **options: Any) -> Any:
    encoded = type(data) is Encoded
    stored = data.stored if encoded else data
    options = {"form": segments.form, "bags": segments.bags, **options}
    if _is_torch_call(stored, weights, out):
        return torch_bags().bag(call, data, indices, segments.array, weights, out, **options)
    if any(map(is_traced, (stored, indices, segments.array, weights))):
        del options["threads"]
        return traced("bag", out)(data, indices, segments=segments.array, weights=weights,
                                  **options)
    return _sheaf.run_bag(call, data, indices, segments.array, weights, out, **options)


def bag(data: Any, indices: Any = None, offsets: Any = None, *, lengths: Any = None,
        ids: Any = None, bags: int | None = None, weights: Any = None, pool: Pool = "sum",
        last_offset: bool = False, padding_index: int | None = None, empty_value: Any = 0,
        accumulate: Accumulate = "f32", dtype: Any = None, out_of_range: BagRule = "fail",
        negative: Negative = "from_end", fill_value: Any = 0, threads: int = 0,
        out: Any = None) -> Any:
    """Rows of data, pooled in bags.

        output[s] = pool of data[indices[p]] * weights[p] for p in bag s, in order

    Which entries a bag has is said by one of: offsets, where each bag begins (with last_offset=True
    also where the last one ends); lengths; ids, the number of each entry's bag, ascending, of which
    there are `bags` (one more than the last id unless told). Without any, indices is a matrix and
    each of its rows a bag. Without indices, rows are pooled as they lie.

    pool is "sum", "mean", "max", "min", "mul" or "sqrtn" (the sum over the square root of the
    count). Entries that name padding_index are left out, and so are those out of range under
    out_of_range="skip"; the other rules are a gather's. A bag without rows is empty_value.

    data may be a sheaf.Encoded, whose rows are decoded. Those and floats narrower than f32 are
    multiplied and added up in f32 and rounded once, to dtype; accumulate=None does it in the type
    of the output. The bits are those of a gather, a conversion, a product and a scatter.

    data may also be a sheaf.Table: the result is then where indices are.
    """
    if is_table(data):
        return data.bag(indices, offsets, lengths=lengths, ids=ids, bags=bags, weights=weights,
                        pool=pool, last_offset=last_offset, padding_index=padding_index,
                        empty_value=empty_value, accumulate=accumulate, dtype=dtype,
                        out_of_range=out_of_range, negative=negative, fill_value=fill_value,
                        threads=threads, out=out)
    segments = segments_of("bag", offsets, lengths, ids, bags, last_offset)
    return _run("bag", data, indices, segments, weights, out, pool=pool, last_offset=last_offset,
                padding_index=padding_index, empty_value=empty_value, accumulate=accumulate or "",
                dtype=dtype_name(dtype), out_of_range=out_of_range, negative=negative,
                fill_value=fill_value, threads=threads)


def segment_reduce(data: Any, offsets: Any = None, *, lengths: Any = None, ids: Any = None,
                   bags: int | None = None, weights: Any = None, pool: Pool = "sum",
                   last_offset: bool = False, empty_value: Any = 0,
                   accumulate: Accumulate = "f32", dtype: Any = None, threads: int = 0,
                   out: Any = None) -> Any:
    """Rows of data that lie in order, pooled in segments: bag() without indices."""
    segments = segments_of("segment_reduce", offsets, lengths, ids, bags, last_offset)
    return _run("segment_reduce", data, None, segments, weights, out, pool=pool,
                last_offset=last_offset, empty_value=empty_value, accumulate=accumulate or "",
                dtype=dtype_name(dtype), threads=threads)


def plan_bag(data: Any, indices: Any = None, offsets: Any = None, *, lengths: Any = None,
             ids: Any = None, bags: int | None = None, weights: Any = None, pool: Pool = "sum",
             last_offset: bool = False, padding_index: int | None = None, empty_value: Any = 0,
             accumulate: Accumulate = "f32", dtype: Any = None, out_of_range: BagRule = "fail",
             negative: Negative = "from_end", fill_value: Any = 0,
             out: Any = None) -> _sheaf.BagPlan:
    """bag(), decided but not run. Arrays may be sheaf.Spec, or sheaf.Encoded made of those."""
    segments = segments_of("bag", offsets, lengths, ids, bags, last_offset)
    return _sheaf.plan_bag("bag", data, indices, segments.array, weights, out,
                           form=segments.form, bags=segments.bags, pool=pool,
                           last_offset=last_offset, padding_index=padding_index,
                           empty_value=empty_value, accumulate=accumulate or "",
                           dtype=dtype_name(dtype), out_of_range=out_of_range, negative=negative,
                           fill_value=fill_value)


def plan_again(call: str, table: Any, indices: Any, segments: Any, weights: Any, output: Any,
               options: dict[str, Any]) -> _sheaf.BagPlan:
    """What pickle calls."""
    if isinstance(table, tuple):
        encoding, stored, scales, zeros, shape, block, axis, usual_zero = table
        table = Encoded(encoding, stored, scales, zeros, shape=shape, block=block, axis=axis,
                        usual_zero=usual_zero)
    return _sheaf.plan_bag(call, table, indices, segments, weights, output, **options)
