# SPDX-License-Identifier: MIT
"""Bags in plain NumPy, row by row: what sheaf.bag is held against, bit for bit."""

import numpy

JOIN = {
    "sum": numpy.add, "mean": numpy.add, "sqrtn": numpy.add, "mul": numpy.multiply,
    # Of equal rows the first stays, and so does a NaN.
    "max": lambda a, b: numpy.where((b > a) | (numpy.isnan(b) & ~numpy.isnan(a)), b, a),
    "min": lambda a, b: numpy.where((b < a) | (numpy.isnan(b) & ~numpy.isnan(a)), b, a),
}


def segments_of(entries, indices, offsets=None, lengths=None, ids=None, bags=None,
                last_offset=False):
    """The entries of each bag."""
    if offsets is not None:
        ends = list(offsets[1:]) + ([] if last_offset else [entries])
        return [range(int(a), int(b)) for a, b in zip(offsets, ends)]
    if lengths is not None:
        ends = numpy.cumsum(lengths)
        return [range(int(end - n), int(end)) for end, n in zip(ends, lengths)]
    if ids is not None:
        count = (int(ids[-1]) + 1 if len(ids) else 0) if bags is None else bags
        return [[p for p in range(entries) if ids[p] == s] for s in range(count)]
    width = indices.shape[1]
    return [range(s * width, (s + 1) * width) for s in range(indices.shape[0])]


def row_of(index, extent, out_of_range, negative):
    """The row that an index names; None: there is none."""
    if out_of_range == "wrap":
        return index % extent
    if negative == "from_end" and index < 0:
        index += extent
    if out_of_range == "clamp":
        return min(max(index, 0), extent - 1)
    return index if 0 <= index < extent else None


def bag(data, indices=None, offsets=None, *, lengths=None, ids=None, bags=None, weights=None,
        pool="sum", last_offset=False, padding_index=None, empty_value=0, dtype=None,
        out_of_range="fail", negative="from_end", fill_value=0, accumulate="f32"):
    extent = data.shape[0]
    out_type = numpy.dtype(dtype or data.dtype)
    narrow = data.dtype.itemsize < 4 and data.dtype.kind == "f"
    computed = numpy.dtype("float32") if narrow and accumulate else out_type
    flat = numpy.arange(extent) if indices is None else numpy.ravel(indices)
    parts = segments_of(flat.size, indices, offsets, lengths, ids, bags, last_offset)
    output = numpy.full((len(parts), *data.shape[1:]), empty_value, out_type)
    padding = None if padding_index is None else padding_index % extent
    for s, entries in enumerate(parts):
        joined, count = None, 0
        for p in entries:
            at = row_of(int(flat[p]), extent, out_of_range, negative)
            if at is None and out_of_range == "fail":
                raise IndexError(p)
            if (at is None and out_of_range == "skip") or (at is not None and at == padding):
                continue
            row = (numpy.full(data.shape[1:], fill_value, computed) if at is None
                   else data[at].astype(computed))
            if weights is not None:
                row = row * numpy.ravel(weights)[p].astype(computed)
            joined = row if joined is None else JOIN[pool](joined, row)
            count += 1
        if count:
            output[s] = divided(joined, pool, count, computed).astype(out_type)
    return output


def divided(joined, pool, count, computed):
    if pool == "mean":
        if computed.kind in "iu":
            return joined // count
        return (joined.astype("float64") / count).astype(computed)
    if pool == "sqrtn":
        return (joined.astype("float64") / numpy.sqrt(float(count))).astype(computed)
    return joined
