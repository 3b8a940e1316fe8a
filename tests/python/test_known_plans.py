# SPDX-License-Identifier: MIT
"""Plans of recent calls are kept by thread. Whatever differs between two calls, the second must not
run with the plan of the first: results are those of a thread that has no plans yet."""

import itertools
import threading
import typing

import numpy
import pytest

import sheaf
from sheaf import _options

X = numpy.arange(1, 17, dtype="f4").reshape(4, 4)
I = numpy.array([[0, 3], [1, 1]])
U = numpy.array([[[2, -1, 3, 0], [4, 1, -2, 6]], [[1, 5, 7, 2], [9, -3, 2, 8]]], "f4")
OUTSIDE = numpy.array([[0, 9], [-1, -7]])


def gathers():
    for axis, negative, rule in itertools.product(
            (0, 1), ("from_end", "out_of_range"), ("clamp", "wrap", "fill")):
        for fill in (0.0, -0.0, float("nan"), 7) if rule == "fill" else (0,):
            yield sheaf.gather, (X, OUTSIDE), {"axis": axis, "negative": negative,
                                               "out_of_range": rule, "fill_value": fill}
    yield sheaf.gather, (X[:2], I), {"batch_dims": 1, "axis": 1}
    yield sheaf.gather, (X[:2], I), {"axis": 1}
    for broadcast in (False, True):
        yield sheaf.gather_elements, (X, I[:1, :1]), {"broadcast": broadcast}
    yield sheaf.gather_elements, (X.T, I), {}
    yield sheaf.gather_nd, (X, I), {}
    yield sheaf.gather_nd, (X[:2], I[:, :1]), {"batch_dims": 1}
    yield sheaf.gather_nd, (X[:2], I[:, :1] % 2), {}


def scatters():
    for reduction, include_self in itertools.product(
            ("none", "add", "sub", "mul", "min", "max", "mean"), (True, False)):
        yield sheaf.scatter, (X, I, U), {"reduction": reduction, "include_self": include_self}
    for rule, negative in itertools.product(("clamp", "wrap", "skip"), ("from_end", "out_of_range")):
        yield sheaf.scatter, (X, OUTSIDE, U), {"out_of_range": rule, "negative": negative,
                                               "reduction": "add"}
    halves = X.astype("f2"), numpy.zeros(99, "i8"), numpy.full((99, 4), 0.1, "f2")
    for accumulate in (None, "f32"):
        yield sheaf.scatter, halves, {"reduction": "add", "accumulate": accumulate}


def run(call):
    function, arrays, options = call
    return function(*arrays, **options)


def run_in_new_thread(call):
    results = []
    thread = threading.Thread(target=lambda: results.append(run(call)))
    thread.start()
    thread.join()
    return results[0]


def bits(array):
    return array.dtype, array.shape, array.tobytes()


@pytest.mark.parametrize("calls", [gathers, scatters])
def test_calls_that_differ_do_not_share_a_plan(calls):
    expected = [bits(run_in_new_thread(call)) for call in calls()]
    assert len(set(expected)) > len(expected) // 2  # the options make a difference
    for (first, _), (second, wanted) in itertools.permutations(list(zip(calls(), expected)), 2):
        run(first)
        assert bits(run(second)) == wanted, (first[2], second[2])


def test_an_out_is_part_of_the_plan():
    wide = numpy.zeros((2, 2, 8), "f4")
    for out in (None, wide[..., ::2], wide[..., 4:], None):
        got = sheaf.gather(X, I, out=out)
        assert (got == X[I]).all() and (out is None or got is out)


def test_the_words_for_reductions_are_those_of_the_library():
    assert set(typing.get_args(_options.Reduction)) == set(sheaf._sheaf.reductions())
