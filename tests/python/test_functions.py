# SPDX-License-Identifier: MIT
"""The functions as Python objects: signatures, pickling, names of arguments, threads, the command."""

import inspect
import os
import pickle
import subprocess
import sys

import numpy
import pytest

import sheaf

X = numpy.arange(12, dtype="f4").reshape(4, 3)


def test_signatures():
    for name in ("gather", "scatter_nd", "take", "put_along_axis", "plan_gather"):
        assert inspect.signature(getattr(sheaf, name)).parameters
    assert list(inspect.signature(sheaf.gather).parameters)[:3] == ["data", "indices", "axis"]
    assert sheaf.gather(X, [1], 1).tolist() == sheaf.gather(X, [1], axis=1).tolist()
    assert sheaf.gather_elements(X, [[1]], 1).tolist() == [[1]]


def test_numpys_own_names_of_arguments():
    assert sheaf.take(a=X, indices=[1], axis=0).tolist() == X[[1]].tolist()
    assert sheaf.take_along_axis(arr=X, indices=[[1]], axis=1).tolist() == X[:, 1:2].tolist()
    with pytest.raises(TypeError, match="twice"):
        sheaf.take(X, [0], a=X)
    with pytest.raises(TypeError, match="x= or a="):
        sheaf.take(indices=[0])


def test_functions_and_errors_pickle():
    for name in sheaf.__all__:
        thing = getattr(sheaf, name)
        if callable(thing):
            assert pickle.loads(pickle.dumps(thing)) is thing


PLANS = [
    lambda: sheaf.plan_gather(X, [2, 0], axis=1),
    lambda: sheaf.plan_gather(X, sheaf.Spec("i32", [2, 2], [1, 2]), out_of_range="fill", fill_value=2.5),
    lambda: sheaf.plan_gather_elements(X, [[1, 2]], axis=1, broadcast=True, negative="out_of_range"),
    lambda: sheaf.plan_gather_nd(X, [[0, 1]], out_of_range="clamp"),
    lambda: sheaf.plan_scatter(X, [1, 1], X[:2], reduction="mean", include_self=False, relaxed=True),
    lambda: sheaf.plan_scatter_nd(X, [[1], [1]], X[:2], out_of_range="skip"),
    lambda: sheaf.plan_gather(X, [2, 0]).vjp(),
]


@pytest.mark.parametrize("make", PLANS)
def test_plans_pickle(make):
    plan = make()
    again = pickle.loads(pickle.dumps(plan))
    assert again == plan and str(again) == str(plan) and hash(again) == hash(plan)
    assert again.json() == plan.json()


def test_equal_plans_and_specs_hash_equal():
    by_gather = sheaf.plan_gather(sheaf.Spec("i32", [4, 3]), sheaf.Spec("i64", [2]))
    by_gather_nd = sheaf.plan_gather_nd(sheaf.Spec("f32", [4, 3]), sheaf.Spec("i64", [2, 1]))
    assert by_gather == by_gather_nd and len({by_gather, by_gather_nd}) == 1
    assert hash(sheaf.Spec("f32", [2, 3])) == hash(sheaf.Spec(numpy.float32, (2, 3)))
    assert len({hash(make()) for make in PLANS}) > 4


def test_threads():
    assert sheaf.get_num_threads() == 0
    try:
        sheaf.set_num_threads(3)
        assert sheaf.get_num_threads() == 3
        with sheaf.num_threads(1):
            assert sheaf.get_num_threads() == 1
            with sheaf.num_threads(0):
                assert sheaf.get_num_threads() == 0
            assert sheaf.gather(X, [1]).tolist() == X[[1]].tolist()
        assert sheaf.get_num_threads() == 3
    finally:
        sheaf.set_num_threads(0)
    for call in (lambda: sheaf.set_num_threads(-1), lambda: sheaf.num_threads(-1).__enter__()):
        with pytest.raises(sheaf.ArgumentError, match="negative number of threads"):
            call()


@pytest.mark.parametrize("value, threads, warned", [("2", 2, False), ("", 0, False),
                                                    ("two", 0, True)])
def test_threads_by_the_environment(value, threads, warned):
    program = "import sheaf; print(sheaf.get_num_threads())"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                         env={**os.environ, "SHEAF_NUM_THREADS": value})
    assert run.stdout == f"{threads}\n"
    assert ("SHEAF_NUM_THREADS='two'" in run.stderr) == warned


def test_bincount_and_add_at():
    rng = numpy.random.default_rng(0)
    x, weights = rng.integers(0, 9, 50), rng.normal(size=50)
    assert sheaf.bincount(x).tolist() == numpy.bincount(x).tolist()
    assert sheaf.bincount(x, minlength=20).shape == (20,)
    assert sheaf.bincount(x, weights).tobytes() == numpy.bincount(x, weights).tobytes()
    assert sheaf.bincount([]).shape == (0,)
    for bad in (lambda: sheaf.bincount([-1]), lambda: sheaf.bincount([[1]]),
                lambda: sheaf.bincount([1], [1.0, 2.0]), lambda: sheaf.bincount([1], None, -1)):
        with pytest.raises(sheaf.Error):
            bad()
    for indices in ([1, 1], ([1, 1], [0, 0]), (slice(None), [1, 1]), X > 4, numpy.array([0, 3])):
        ours, theirs = X.copy(), X.copy()
        sheaf.add_at(ours, indices, 2)
        numpy.add.at(theirs, indices, 2)
        assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("count", [0, 50, 5000])  # the compiled part counts few numbers itself
@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">i4"])
def test_bincount_of_every_type(dtype, count):
    rng = numpy.random.default_rng(0)
    x = rng.integers(0, 2 if dtype == "?" else 100, count).astype(dtype)
    weights = rng.normal(size=count)
    as_int = x.astype("i8")
    for strided in (x, x[::3], x[::-2]):
        expected = numpy.bincount(strided.astype("i8"), minlength=7)
        got = sheaf.bincount(strided, minlength=7)
        assert got.dtype == expected.dtype and got.tolist() == expected.tolist()
    assert sheaf.bincount(x, weights).tobytes() == numpy.bincount(as_int, weights).tobytes()
    assert sheaf.bincount(x, weights.astype("f4")).tobytes() == numpy.bincount(
        as_int, weights.astype("f4")).tobytes()
    assert sheaf.bincount(x.tolist()).tolist() == numpy.bincount(as_int).tolist()
    far = numpy.array([1 << 17, 3], "i8")
    assert sheaf.bincount(far).tolist() == numpy.bincount(far).tolist()
    for bad in (-numpy.ones(3, "i8"), numpy.ones(3)):
        with pytest.raises((ValueError, TypeError)):
            sheaf.bincount(bad)


def test_show_config_and_doctor(capsys):
    sheaf.show_config()
    assert "backends" in capsys.readouterr().out
    run = subprocess.run([sys.executable, "-m", "sheaf", "doctor"], capture_output=True, text=True)
    assert run.returncode == 0
    assert "reference  works" in run.stdout


def test_put_along_axis_stretches_arr_as_numpy_does():
    for shape, where in (((3, 4, 1), (1, 2, 5)), ((1, 4, 2), (6, 2, 1))):
        indices = numpy.arange(numpy.prod(where)).reshape(where) % 4
        values = numpy.arange(1.0, 3).reshape(1, 2, 1)
        ours, theirs = numpy.zeros(shape), numpy.zeros(shape)
        sheaf.put_along_axis(ours, indices, values, 1)
        numpy.put_along_axis(theirs, indices, values, 1)
        assert ours.tolist() == theirs.tolist()
