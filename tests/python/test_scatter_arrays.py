# SPDX-License-Identifier: MIT
"""Scatters: what goes in, what comes out, what is refused, and that a refusal changes nothing."""

import array
import gc
import sys

import array_api_strict as xp
import ml_dtypes
import numpy
import pytest

import sheaf

X = numpy.arange(15, dtype="f4").reshape(3, 5)
ROW = numpy.ones((1, 5), "f4")


def text_of(error_class, function, *arguments, **keywords):
    with pytest.raises(error_class) as caught:
        function(*arguments, **keywords)
    assert type(caught.value) is error_class
    return str(caught.value)


def test_lists_and_numbers_take_the_dtype_of_data():
    assert sheaf.scatter([0, 0, 0], [1], [5]).tolist() == [0, 5, 0]
    got = sheaf.scatter(X, [0], [[1, 2, 3, 4, 5]])
    assert got.dtype == X.dtype and got[0].tolist() == [1, 2, 3, 4, 5]
    assert sheaf.scatter(numpy.zeros(2, "u1"), 1, 7).tolist() == [0, 7]
    assert sheaf.scatter(numpy.zeros(2, "c8"), [1], [True], reduction="add").tolist() == [0, 1]
    assert sheaf.scatter(numpy.zeros(2, ml_dtypes.bfloat16), [1], [1.5])[1] == 1.5
    dates = numpy.array(["2020-01-01", "2020-01-02"], "datetime64[D]")
    assert sheaf.scatter(dates, [0], ["2021-05-06"])[0] == numpy.datetime64("2021-05-06")
    assert sheaf.scatter(X, [], numpy.zeros((0, 5), "f4")).tolist() == X.tolist()
    assert sheaf.scatter(numpy.zeros(2, int), [], []).tolist() == [0, 0]
    for data, updates in ((numpy.zeros(2, int), [1.5]), (numpy.zeros(2, "u1"), [300]),
                          (numpy.zeros(2, bool), [2]), (numpy.zeros(2), [1j]),
                          (numpy.zeros(2), ["1"])):
        assert "types differ" in text_of(sheaf.DTypeError, sheaf.scatter, data, [0], updates)


def test_arrays_of_every_kind():
    assert sheaf.scatter(b"hello", [0], b"j").tobytes() == b"jello"
    word = bytearray(b"hello")
    assert sheaf.scatter(word, [0, 4], array.array("B", b"jy"), out=word) is word
    assert word == b"jelly"
    x = xp.zeros((2, 3), dtype=xp.float32)
    got = sheaf.scatter_nd(x, xp.asarray([[1, 2], [1, 2]]), xp.ones(2, dtype=xp.float32),
                           reduction="add")
    assert type(got) is type(x) and got[1, 2] == 2
    assert sheaf.scatter(x, [0], xp.ones((1, 3), dtype=xp.float32), out=x) is x
    assert xp.all(x[0, :] == 1)


def test_records_and_packed_fields():
    x = numpy.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    assert sheaf.scatter(x, [0], x[1:]).tolist() == [(3, 4.5), (3, 4.5)]
    packed = numpy.zeros(4, numpy.dtype([("a", "u1"), ("b", "f8")]))  # 9 bytes per step
    sheaf.scatter(packed["b"], [3, 3], numpy.array([1.0, 2.0]), reduction="add", out=packed["b"])
    sheaf.put_along_axis(packed["b"], [1], 4, 0)
    sheaf.put_along_axis(packed["b"].reshape(2, 2), [1], 5, None)
    assert packed["b"].tolist() == [0, 5, 0, 3] and not packed["a"].any()
    assert sheaf.scatter(numpy.zeros(4), [0, 1, 2, 3], packed["b"]).tolist() == [0, 5, 0, 3]


def test_strides_of_the_output():
    base = numpy.zeros((4, 6), "i8")
    for view in (base[::2], base[:, ::-1], base.T, base[1:3, 2:4]):
        base[...] = 0
        rows, columns = view.shape
        updates = numpy.broadcast_to(numpy.arange(columns), (3, columns))
        sheaf.scatter(view, [0, -1, 0], updates, reduction="add", out=view)
        assert base.sum() == 3 * numpy.arange(columns).sum()
        assert view[0].tolist() == [2 * c for c in range(columns)]
    stacked = numpy.broadcast_to(numpy.zeros(5, "f4"), (3, 5))
    assert sheaf.scatter(stacked, [1], ROW).sum() == 5  # as an input
    stacked.flags.writeable = True
    text = text_of(sheaf.ArgumentError, sheaf.scatter, stacked, [1], ROW, out=stacked)
    assert text.startswith("scatter: output overlaps itself")


def test_empty_and_scalar():
    assert sheaf.scatter(numpy.zeros((3, 0)), [1], numpy.zeros((1, 0))).shape == (3, 0)
    assert sheaf.scatter_elements(X, numpy.zeros((0, 5), int), numpy.zeros((0, 5), "f4")).tolist() == (
        X.tolist())
    scalar = numpy.float32(3)
    got = sheaf.scatter_nd(scalar, numpy.zeros((2, 0), int), numpy.ones(2, "f4"), reduction="add")
    assert got.shape == () and got == 5
    assert text_of(sheaf.IndexError, sheaf.scatter, numpy.zeros((0, 2)), [0],
                   numpy.zeros((1, 2))).startswith("scatter: index into an empty axis")


def test_a_bad_index_changes_nothing():
    x = X.copy()
    with pytest.raises(sheaf.IndexError) as caught:
        sheaf.scatter(x, [0, 9, -6], numpy.ones((3, 5), "f4"), reduction="add", out=x)
    assert str(caught.value).splitlines()[:3] == [
        "scatter: index out of range",
        "  indices[1] = 9, but axis 0 of data has 3 entries (allowed -3..2); "
        "2 of 3 indices are out of range",
        "  data f32[3, 5]   indices i64[3]   updates f32[3, 5]   axis 0   reduction add   "
        "output f32[3, 5]",
    ]
    assert caught.value.position == (1,) and caught.value.bad_count == 2
    with pytest.raises(sheaf.IndexError):
        sheaf.put_along_axis(x, [[0], [1], [5]], 7, 1)
    with pytest.raises(sheaf.IndexError):
        sheaf.put_along_axis(x[:, ::2], [0, 9], 7, None)
    out = numpy.full_like(X, 7)
    with pytest.raises(sheaf.IndexError):
        sheaf.scatter_nd(X, [[0, 0], [0, 5]], [1, 1], out=out)
    assert (x == X).all() and (out == 7).all()


def test_references_are_given_back():
    gc.collect()  # what earlier tests left may hold the shared dtype
    x, i, u = numpy.zeros(4), numpy.array([1, 2]), numpy.ones(2)
    objects = (x, i, u, x.dtype)
    before = [sys.getrefcount(o) for o in objects]
    plan = sheaf.plan_scatter(x, i, u)
    for _ in range(50):
        sheaf.scatter(x, i, u, out=x)
        sheaf.scatter(x[::2], [0], [1])
        sheaf.put_along_axis(x, i, u, 0)
        sheaf.put_along_axis(x.reshape(2, 2).T, i, 5, None)
        plan.run(x, i, u)
        plan.vjp().run(x, i)
        for bad in (lambda: sheaf.scatter(x, [9], [1], out=x), lambda: sheaf.scatter(x, i, 1j)):
            with pytest.raises(sheaf.Error):
                bad()
    del plan
    sys.exc_info()
    assert [sys.getrefcount(o) for o in objects] == before


def test_shapes_and_axes():
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], numpy.ones((2, 5), "f4")).startswith(
        "scatter: updates have the wrong shape\n  updates is [2, 5], but this call takes [1, 5]")
    assert "axis = 2" in text_of(sheaf.AxisError, sheaf.scatter, X, [0], ROW, 2)
    assert "axis = -3" in text_of(sheaf.AxisError, sheaf.scatter_elements, X, [[0]], ROW, axis=-3)
    assert "axis = 2" in text_of(sheaf.AxisError, sheaf.put_along_axis, X.copy(), [[0]], 1, 2)
    assert "ranks differ" in text_of(sheaf.ArgumentError, sheaf.put_along_axis, X.copy(), [0], 1, 0)
    assert "updates have the wrong shape" in text_of(
        sheaf.ArgumentError, sheaf.put_along_axis, X.copy(), [[0]], [1, 2], 1)
    assert "too long" in text_of(sheaf.ArgumentError, sheaf.scatter_nd, X, [[0, 0, 0]], ROW[0, :1])
    with pytest.raises(TypeError):
        sheaf.scatter(X, [0], ROW, 0, 0)  # options but the axis are keywords


def test_dtypes():
    assert text_of(sheaf.DTypeError, sheaf.scatter, X, [0], ROW.astype("c8")).startswith(
        "scatter: types differ\n  updates is c64, but data is f32")
    assert text_of(sheaf.DTypeError, sheaf.scatter, X, [0], ROW, out=numpy.empty((3, 5))).startswith(
        "scatter: types differ\n  output is f64, but data is f32")
    assert text_of(sheaf.IndexDTypeError, sheaf.scatter, X, [0.5], ROW).startswith(
        "scatter: indices are not integers")
    days, seconds = numpy.zeros(1, "datetime64[D]"), numpy.zeros(1, "datetime64[s]")
    assert text_of(sheaf.DTypeError, sheaf.scatter, days, [0], seconds).startswith(
        "scatter: types differ\n  updates is datetime64[s], but data is datetime64[D]")
    assert "out is int64, but data is datetime64[D]" in text_of(
        sheaf.DTypeError, sheaf.scatter, days, [0], days, out=numpy.zeros(1, "i8"))
    assert "on dates and times" in text_of(sheaf.DTypeError, sheaf.scatter, days, [0], days,
                                           reduction="max")
    for dtype, reduction in (("V7", "add"), ("c8", "max"), ("?", "mean"), ("g", "mul")):
        x = numpy.zeros(3, dtype)
        assert "reduction does not fit the type" in text_of(
            sheaf.DTypeError, sheaf.scatter, x, [0], x[:1], reduction=reduction)
    masked = numpy.ma.array([1, 2], mask=[True, False])
    assert "the mask of updates would be lost" in text_of(
        sheaf.DTypeError, sheaf.scatter, numpy.zeros(2, int), [0, 1], masked)


def test_out():
    read_only = X.copy()
    read_only.flags.writeable = False
    for call in (lambda: sheaf.scatter(X, [0], ROW, out=read_only),
                 lambda: sheaf.put_along_axis(read_only, [[0]], 1, 1)):
        assert "out is read-only" in text_of(sheaf.ArgumentError, call)
    assert "no array" in text_of(sheaf.DTypeError, sheaf.put_along_axis, [1, 2], [0], 1, 0)
    assert "wrong shape" in text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW, out=X[:2].copy())
    x = X.copy()
    for arguments in ((x, [0], x[1:2]), (X, [0], x[:1]), (x[::-1], [0], ROW)):
        assert text_of(sheaf.ArgumentError, sheaf.scatter, *arguments, out=x).startswith(
            "scatter: output overlaps an input")
    assert (x == X).all()


def test_options():
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW, reduction="avg").startswith(
        'unknown reduction\n  reduction="avg"\n  try: "none", "add"')
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW, out_of_range="fill").startswith(
        'out_of_range="fill" is a rule for gathers')
    assert '"skip", "wrap"' in text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW,
                                       out_of_range="clip")
    assert "unknown negative" in text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW,
                                         negative="no")
    assert "threads=-1" in text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], ROW, threads=-1)


@pytest.mark.parametrize("updates", [7, 7.0, [7], numpy.float64(7), numpy.full(5, 7, "i2"),
                                     numpy.full((1, 5), 7, "f8"), numpy.full((2, 1), 7, "f2")])
def test_updates_are_broadcast_and_cast_within_their_kind(updates):
    expected = X.copy()
    expected[[2, 0]] = 7
    assert sheaf.scatter(X, [2, 0], updates).tolist() == expected.tolist()
    assert sheaf.scatter_nd(X, [[2], [0]], updates).tolist() == expected.tolist()


def test_updates_that_do_not_fit_are_refused_in_their_own_shape():
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [2, 0], numpy.ones(3, "f4")).startswith(
        "scatter: updates have")


@pytest.mark.parametrize("alias, name", [("sum", "add"), ("prod", "mul"), ("multiply", "mul"),
                                         ("amin", "min"), ("amax", "max")])
def test_reductions_go_by_the_names_of_others_too(alias, name):
    for call in (sheaf.scatter, sheaf.plan_scatter):
        ours, theirs = (call(X, [2, 2], X[:2], reduction=r) for r in (alias, name))
        assert str(ours) == str(theirs)
