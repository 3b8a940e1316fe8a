# SPDX-License-Identifier: MIT
"""The scatters against NumPy's serial loop: all dtypes, reductions, strides and ranks, bit by bit."""

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sheaf
from scatter_oracle import FLOATS, NUMBERS, REDUCTIONS, defined, places, scattered, values
from strategies import dtypes, index_arrays, index_dtypes, laid_out, same_bits, seeds, shapes

numbers = st.sampled_from(NUMBERS)
reductions = st.sampled_from(REDUCTIONS)


@st.composite
def re_laid(draw, array, repeats=True):
    """The same elements in memory with drawn strides; `repeats` allows a stride of 0."""
    order = draw(st.permutations(range(array.ndim)))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in range(array.ndim)]
    large = numpy.zeros([array.shape[d] * abs(steps[d]) for d in order], array.dtype)
    view = large.transpose(numpy.argsort(order))
    view = view[(*[slice(None, None, step) for step in steps], ...)]
    view[...] = array
    repeated = draw(st.integers(0, 6))
    if repeats and repeated < array.ndim and array.shape[repeated] > 1:
        view = numpy.broadcast_to(view.take([0], axis=repeated), array.shape)
    return view


@st.composite
def problems(draw, op, dtype, reduction):
    """data, indices, updates, options and the coordinates of each update."""
    rng = numpy.random.default_rng(draw(seeds))
    shape = draw(shapes(min_rank=1, max_rank=4))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    index_dtype = draw(index_dtypes)
    if op == "scatter_nd":
        size = draw(st.integers(0, len(shape)))
        batch_dims = draw(st.integers(0, len(shape) - size))
        chosen = shape[batch_dims:batch_dims + size]
        assume(0 not in chosen)
        grid = (*shape[:batch_dims], *draw(shapes(max_rank=2)))
        parts = [draw(index_arrays(grid, extent, index_dtype)) for extent in chosen]
        indices = numpy.stack(parts, -1) if parts else numpy.zeros((*grid, 0), index_dtype)
        updates_shape = grid + shape[batch_dims + size:]
        options = {"batch_dims": batch_dims}
    elif op == "scatter":
        assume(shape[axis] > 0)
        batch_dims = draw(st.integers(0, axis % len(shape)))
        own = draw(shapes(max_rank=2))
        indices = draw(index_arrays(shape[:batch_dims] + own, shape[axis], index_dtype))
        updates_shape = shape[:axis % len(shape)] + own + shape[axis % len(shape) + 1:]
        options = {"axis": axis, "batch_dims": batch_dims}
    else:
        assume(shape[axis] > 0)
        updates_shape = [draw(st.integers(0, size)) for size in shape]
        updates_shape[axis] = draw(st.integers(0, 5))
        updates_shape = tuple(updates_shape)
        indices = draw(index_arrays(updates_shape, shape[axis], index_dtype))
        options = {"axis": axis}
    data = draw(re_laid(values(rng, shape, dtype, reduction)))
    updates = draw(re_laid(values(rng, updates_shape, dtype, reduction)))
    where = places(op, len(shape), indices.astype("i8"), updates_shape, **options)
    return data, indices, updates, options, where


@pytest.mark.parametrize("op", ["scatter", "scatter_elements", "scatter_nd"])
@given(st.data())
def test_against_the_serial_loop(op, data):
    dtype, reduction = data.draw(numbers), data.draw(reductions)
    assume(defined(dtype, reduction))
    x, indices, updates, options, where = data.draw(problems(op, dtype, reduction))
    include_self = data.draw(st.booleans())
    expected = scattered(x, where, updates, reduction, include_self)
    options |= {"reduction": reduction, "include_self": include_self}
    function = getattr(sheaf, op)
    before = x.tobytes()
    got = function(x, indices, updates, **options)
    assert type(got) is numpy.ndarray and got.flags.c_contiguous
    assert same_bits(got, expected)
    assert x.tobytes() == before
    out = data.draw(re_laid(x, repeats=False))
    assert function(x, indices, updates, **options, out=out) is out
    assert same_bits(out, expected)
    out[...] = x
    assert function(out, indices, updates, **options, out=out, threads=2) is out
    assert same_bits(out, expected)


@given(st.data())
def test_bits_of_every_dtype_are_kept(data):
    dtype = data.draw(dtypes)
    x = data.draw(laid_out(data.draw(shapes(min_rank=1, max_rank=3)), dtype))
    assume(x.shape[0] > 0)
    indices = data.draw(index_arrays((data.draw(st.integers(0, 5)),), x.shape[0],
                                     data.draw(index_dtypes)))
    updates = data.draw(laid_out((indices.size, *x.shape[1:]), dtype))
    expected = x.copy()
    for place, update in zip(indices, updates):
        expected[place] = update
    assert same_bits(sheaf.scatter(x, indices, updates), expected)


@pytest.mark.parametrize("dtype, reduction", [
    (dtype, reduction) for dtype in NUMBERS for reduction in REDUCTIONS if defined(dtype, reduction)
], ids=str)
def test_all_updates_to_one_cell(rng, dtype, reduction):
    count = 2000 if reduction != "mul" else 8
    x = values(rng, (5, 3), dtype, reduction)
    updates = values(rng, (count, 3), dtype, reduction)
    indices = numpy.full(count, 3)
    where = places("scatter", 2, indices, updates.shape)
    expected = scattered(x, where, updates, reduction)
    for threads in (0, 1, 2, 3):
        got = sheaf.scatter(x, indices, updates, reduction=reduction, threads=threads)
        assert same_bits(got, expected)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("reduction", ["add", "sub", "mul", "min", "max"])
def test_infinities_zeros_and_nans(rng, dtype, reduction):
    dtype = numpy.dtype(dtype)
    special = numpy.array([numpy.nan, -numpy.nan, numpy.inf, -numpy.inf, 0.0, -0.0, 1.5], dtype)
    x, updates = rng.choice(special, 50), rng.choice(special, 80)
    indices = rng.integers(0, 50, 80)
    got = sheaf.scatter(x, indices, updates, reduction=reduction)
    expected = scattered(x, (indices,), updates, reduction)
    numbers = ~numpy.isnan(expected)
    assert (numpy.isnan(got) == ~numbers).all()
    assert (got[numbers] == expected[numbers]).all()
    if reduction not in ("min", "max"):  # of two zeros NumPy takes either
        assert same_bits(got[numbers], expected[numbers])
    untouched = numpy.bincount(indices, minlength=50) == 0
    assert same_bits(got[untouched], x[untouched])  # a NaN that stays keeps its bits
    made = got[~numbers & ~untouched]
    assert same_bits(made, numpy.full_like(made, numpy.nan))  # the others are all the same


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_many_updates(rng, rows, dtype):
    dtype = numpy.dtype(dtype)
    x = values(rng, (rows, 16), dtype)
    updates = values(rng, (30_000, 16), dtype)
    indices = rng.integers(0, rows, 30_000)
    expected = x.copy()
    numpy.add.at(expected, indices, updates)
    for threads in (1, 0, 4):
        assert same_bits(sheaf.scatter(x, indices, updates, reduction="add", threads=threads),
                         expected)
    sheaf.scatter(x, indices, updates, reduction="add", out=x)
    assert same_bits(x, expected)


@given(st.data())
@pytest.mark.parametrize("rule", ["clamp", "wrap", "skip"])
@pytest.mark.parametrize("negative", ["from_end", "out_of_range"])
def test_index_rules(rule, negative, data):
    extent = data.draw(st.integers(1, 5))
    indices = data.draw(index_arrays((8,), extent, data.draw(index_dtypes), overshoot=7))
    got = sheaf.scatter(numpy.zeros(extent, int), indices, 2 ** numpy.arange(8), reduction="add",
                        out_of_range=rule, negative=negative)
    expected = [0] * extent
    for update, index in enumerate(int(index) for index in indices):
        if negative == "from_end" and -extent <= index < 0:
            index += extent
        if not 0 <= index < extent:
            if rule == "skip":
                continue
            index = index % extent if rule == "wrap" else 0 if index < 0 else extent - 1
        expected[index] += 2**update
    assert got.tolist() == expected


def test_skip_on_an_axis_without_entries():
    got = sheaf.scatter(numpy.zeros((0, 2)), [3], numpy.ones((1, 2)), out_of_range="skip")
    assert got.shape == (0, 2)


@given(st.data())
def test_put_along_axis(data):
    shape = data.draw(shapes(min_rank=1, max_rank=4))
    dtype = data.draw(dtypes)
    x = data.draw(laid_out(shape, dtype)).copy()
    x = data.draw(re_laid(x, repeats=False))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assume(x.shape[axis] > 0)
    index_shape = list(shape)
    index_shape[axis] = data.draw(st.integers(0, 4))
    values_shape = list(index_shape)
    for d in range(x.ndim):
        if d != axis % x.ndim and data.draw(st.integers(0, 3)) == 0:
            index_shape[d] = 1
        if data.draw(st.integers(0, 3)) == 0:
            values_shape[d] = 1
    values_shape = values_shape[data.draw(st.integers(0, 1)):]
    assume(values_shape or x.ndim == 1)
    indices = data.draw(index_arrays(tuple(index_shape), x.shape[axis], data.draw(index_dtypes)))
    new = data.draw(laid_out(tuple(values_shape), dtype))
    try:
        numpy.put_along_axis(x.copy(), indices, new, axis)
    except ValueError:  # values that do not fit
        with pytest.raises(ValueError):
            sheaf.put_along_axis(x, indices, new, axis)
        return
    # Not NumPy's result: which of two values for one element it leaves there depends on strides.
    full = list(shape)
    full[axis] = index_shape[axis]
    where = places("scatter_elements", x.ndim, numpy.broadcast_to(indices, full).astype("i8"),
                   full, axis)
    expected = scattered(x, where, numpy.broadcast_to(new, full))
    assert sheaf.put_along_axis(x, indices, new, axis) is None
    assert same_bits(x, expected)


def test_put_along_axis_as_numpy_documents_it():
    a = numpy.array([[10, 30, 20], [60, 40, 50]])
    sheaf.put_along_axis(a, numpy.argmax(a, axis=1, keepdims=True), 99, axis=1)
    assert a.tolist() == [[10, 99, 20], [99, 40, 50]]
    for array in (a, a.T, a[:, ::-1]):
        mine, theirs = array.copy(order="K"), array.copy(order="K")
        sheaf.put_along_axis(mine, [0, 4, 0], [1.5, 2, 3], None)
        theirs.flat[[0, 4, 0]] = [1.5, 2, 3]  # put_along_axis fails here in NumPy 2.4
        assert mine.tolist() == theirs.tolist()
    view = a[:, ::2]
    sheaf.put_along_axis(view, [3, 0], [7, 8], None)
    assert a.tolist() == [[8, 99, 20], [99, 40, 7]]


def test_put_along_axis_of_arrays_that_overlap():
    for values_of in (lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a):
        mine = numpy.array([[0, 2, 1], [2, 2, 0]])
        theirs = mine.copy()
        sheaf.put_along_axis(mine, mine, values_of(mine), 1)
        numpy.put_along_axis(theirs, theirs.copy(), values_of(theirs).copy(), 1)
        assert mine.tolist() == theirs.tolist()
