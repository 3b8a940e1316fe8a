# SPDX-License-Identifier: MIT
"""The calls that NumPy's documentation of take and take_along_axis walks through."""

import numpy

import sheaf


def test_take_of_a_list():
    a = [4, 3, 5, 7, 6, 8]
    assert sheaf.take(a, [0, 1, 4]).tolist() == [4, 3, 6]
    assert sheaf.take(numpy.array(a), [0, 1, 4]).tolist() == [4, 3, 6]


def test_indices_give_the_result_their_shape():
    a = [4, 3, 5, 7, 6, 8]
    assert sheaf.take(a, [[0, 1], [2, 3]]).tolist() == [[4, 3], [5, 7]]


def test_take_along_axis_sorts_by_argsort():
    a = numpy.array([[10, 30, 20], [60, 40, 50]])
    for axis in (0, 1, -1):
        order = numpy.argsort(a, axis=axis)
        assert (sheaf.take_along_axis(a, order, axis=axis) == numpy.sort(a, axis=axis)).all()


def test_take_along_axis_picks_extremes_with_keepdims():
    a = numpy.array([[10, 30, 20], [60, 40, 50]])
    smallest = numpy.argmin(a, axis=1, keepdims=True)
    largest = numpy.argmax(a, axis=1, keepdims=True)
    assert sheaf.take_along_axis(a, largest, axis=1).tolist() == [[30], [60]]
    both = numpy.concatenate([smallest, largest], axis=1)
    assert sheaf.take_along_axis(a, both, axis=1).tolist() == [[10, 30], [40, 60]]


def test_positional_arguments_stand_as_in_numpy():
    x = numpy.arange(12).reshape(3, 4)
    out = numpy.empty((3, 2), x.dtype)
    assert sheaf.take(x, [9, -9], 1, out, "clip") is out
    assert out.tolist() == [[3, 0], [7, 4], [11, 8]]
    assert sheaf.take_along_axis(x, x % 3, 0).tolist() == numpy.take_along_axis(x, x % 3, 0).tolist()


def test_one_number_gives_a_scalar():
    x = numpy.arange(3.0)
    assert type(sheaf.take(x, 1)) is numpy.float64
    assert type(sheaf.take(numpy.float32(7), 0, axis=0)) is numpy.float32
    assert sheaf.gather(x, 1).shape == ()  # Sheaf's own functions always give arrays
