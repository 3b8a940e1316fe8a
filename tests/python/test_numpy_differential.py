# SPDX-License-Identifier: MIT
"""take, take_along_axis and the gathers against NumPy: all dtypes, strides, ranks and modes."""

import numpy
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import sheaf
from strategies import dtypes, index_arrays, index_dtypes, laid_out, same_bits, shapes

MODES = ["raise", "wrap", "clip"]


def outcome(function, *arguments, **keywords):
    """The result, or the class of NumPy's error."""
    try:
        return function(*arguments, **keywords)
    except (IndexError, ValueError) as error:
        return IndexError if isinstance(error, IndexError) else ValueError


@given(st.data())
def test_take(data):
    shape = data.draw(shapes())
    x = data.draw(laid_out(shape, data.draw(dtypes)))
    axis = data.draw(st.none() | st.integers(-x.ndim, max(x.ndim - 1, 0)))
    extent = x.size if axis is None else x.shape[axis] if x.ndim else 1
    indices = data.draw(
        index_arrays(data.draw(shapes(max_rank=3)), extent, data.draw(index_dtypes),
                     overshoot=data.draw(st.sampled_from([0, 0, 3]))))
    mode = data.draw(st.sampled_from(MODES))
    # With nothing to take from, NumPy looks at no index; Sheaf does (test_errors.py).
    assume(x.size > 0)
    # NumPy 1 takes no uint64.
    expected = outcome(numpy.take, x, indices.astype("i8"), axis=axis, mode=mode)
    got = outcome(sheaf.take, x, indices, axis=axis, mode=mode)
    if expected is IndexError:
        assert got is IndexError
    else:
        assert type(got) is type(expected)
        assert same_bits(got, expected)


@given(st.data())
def test_take_into_out(data):
    x = data.draw(laid_out(data.draw(shapes(min_rank=1)), data.draw(dtypes)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assume(x.shape[axis] > 0)
    indices = data.draw(index_arrays(data.draw(shapes(max_rank=2)), x.shape[axis],
                                     numpy.dtype("i8")))
    expected = numpy.take(x, indices, axis=axis)
    out = data.draw(laid_out(expected.shape, x.dtype))
    assume(not any(s == 0 and n > 1 for s, n in zip(out.strides, out.shape)))
    out = out if out.flags.writeable else out.copy(order="K")
    assert sheaf.take(x, indices, axis=axis, out=out) is out
    assert same_bits(out, expected)


@given(st.data())
def test_take_along_axis(data):
    shape = data.draw(shapes(min_rank=1, max_rank=5))
    x = data.draw(laid_out(shape, data.draw(dtypes)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    assume(x.shape[axis] > 0)
    index_shape = list(shape)
    index_shape[axis] = data.draw(st.integers(0, 4))
    for d in range(x.ndim):  # some dimensions of the indices stretch
        if d != axis % x.ndim and data.draw(st.integers(0, 3)) == 0:
            index_shape[d] = 1
    indices = data.draw(index_arrays(tuple(index_shape), x.shape[axis], data.draw(index_dtypes)))
    assert same_bits(sheaf.take_along_axis(x, indices, axis=axis),
                     numpy.take_along_axis(x, indices, axis=axis))


@given(st.data())
def test_take_along_axis_stretches_x(data):
    x = data.draw(laid_out((1, 3), data.draw(dtypes)))
    indices = data.draw(index_arrays((4, 2), 3, data.draw(index_dtypes)))
    assert same_bits(sheaf.take_along_axis(x, indices), numpy.take_along_axis(x, indices, axis=-1))


@given(st.data())
def test_take_along_axis_of_flat_x(data):
    x = data.draw(laid_out(data.draw(shapes(max_rank=3)), data.draw(dtypes)))
    assume(x.size > 0)
    indices = data.draw(index_arrays((data.draw(st.integers(0, 5)),), x.size, numpy.dtype("i8")))
    assert same_bits(sheaf.take_along_axis(x, indices, axis=None),
                     numpy.take_along_axis(x, indices, axis=None))


@given(st.data())
def test_gather_nd(data):
    x = data.draw(laid_out(data.draw(shapes(min_rank=1, max_rank=4)), data.draw(dtypes)))
    assume(x.size > 0)
    tuple_size = data.draw(st.integers(1, x.ndim))
    grid = data.draw(shapes(max_rank=2))
    components = [data.draw(index_arrays(grid, extent, numpy.dtype("i4")))
                  for extent in x.shape[:tuple_size]]
    indices = numpy.stack(components, axis=-1)
    assert same_bits(sheaf.gather_nd(x, indices), x[(*components, ...)])


@given(st.data())
def test_gather_with_batch_dims(data):
    batch, rows = data.draw(st.integers(0, 3)), data.draw(st.integers(1, 4))
    x = data.draw(laid_out((batch, rows, 2), data.draw(dtypes)))
    indices = data.draw(index_arrays((batch, 3), rows, numpy.dtype("i8")))
    expected = numpy.array([x[b][indices[b]] for b in range(batch)], dtype=x.dtype)
    got = sheaf.gather(x, indices, axis=1, batch_dims=1)
    assert same_bits(got, expected.reshape(batch, 3, 2))


@given(st.data())
@pytest.mark.parametrize("rule", ["clamp", "wrap", "fill"])
@pytest.mark.parametrize("negative", ["from_end", "out_of_range"])
def test_index_rules(rule, negative, data):
    extent = data.draw(st.integers(1, 5))
    x = numpy.arange(10, 10 + extent)
    indices = data.draw(index_arrays((8,), extent, data.draw(index_dtypes), overshoot=7))
    got = sheaf.gather(x, indices, out_of_range=rule, negative=negative, fill_value=-1)

    def by_hand(index):
        if negative == "from_end" and -extent <= index < 0:
            index += extent
        if 0 <= index < extent:
            return x[index]
        if rule == "clamp":
            return x[0] if index < 0 else x[-1]
        return x[index % extent] if rule == "wrap" else -1

    assert got.tolist() == [by_hand(int(index)) for index in indices]
