# SPDX-License-Identifier: MIT
"""Refusals: their classes, their texts, and that the output stays as it was."""

import builtins

import numpy
import pytest

import sheaf

X = numpy.arange(15, dtype="f4").reshape(3, 5)


def text_of(error_class, function, *arguments, **keywords):
    with pytest.raises(error_class) as caught:
        function(*arguments, **keywords)
    assert type(caught.value) is error_class
    return str(caught.value)


def test_classes_are_what_numpy_users_catch():
    assert issubclass(sheaf.IndexError, builtins.IndexError)
    assert issubclass(sheaf.ArgumentError, ValueError)
    assert issubclass(sheaf.AxisError, numpy.exceptions.AxisError)
    assert issubclass(sheaf.DTypeError, TypeError)
    assert issubclass(sheaf.IndexDTypeError, (TypeError, builtins.IndexError))
    assert issubclass(sheaf.BufferError, builtins.BufferError)
    assert issubclass(sheaf.UnsupportedError, NotImplementedError)
    assert issubclass(sheaf.OutOfMemoryError, MemoryError)
    assert issubclass(sheaf.DeviceError, RuntimeError)
    for name in sheaf.__all__:
        if name.endswith("Error"):
            assert issubclass(getattr(sheaf, name), sheaf.Error)
            assert getattr(sheaf, name).__module__ == "sheaf"


def test_bad_index():
    out = numpy.full((3, 3), 7, "f4")
    with pytest.raises(sheaf.IndexError) as caught:
        sheaf.take(X, numpy.array([0, 9, -6]), axis=1, out=out)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        "take: index out of range",
        "  indices[1] = 9, but axis 1 of data has 5 entries (allowed -5..4); "
        "2 of 3 indices are out of range",
        "  data f32[3, 5]   indices i64[3]   axis 1   output f32[3, 3]",
    ]
    assert lines[3] == '  try: mode="clip" or "wrap"'
    assert caught.value.position == (1,)
    assert caught.value.bad_count == 2
    assert (out == 7).all()


def test_every_index_is_checked_even_if_nothing_is_moved():
    # NumPy returns an empty array here.
    with pytest.raises(sheaf.IndexError):
        sheaf.take(numpy.zeros((0, 3)), [5], axis=1)


def test_empty_axis():
    text = text_of(sheaf.IndexError, sheaf.take, numpy.zeros((2, 0)), [0], axis=1, mode="clip")
    assert text.startswith("take: index into an empty axis\n  axis 1 of data has no entries")


def test_axis():
    for function in (sheaf.take, sheaf.take_along_axis, sheaf.gather, sheaf.gather_elements):
        text = text_of(sheaf.AxisError, function, X, [[0]], axis=2)
        assert "axis out of range\n  axis = 2, but data has 2 dimensions (allowed -2..1)" in text
    with pytest.raises(TypeError):
        sheaf.take(X, [0], axis=0.0)


def test_indices_must_be_integers():
    for bad in (numpy.array([1.0]), [1.5], [True], numpy.array([False]), ["a"]):
        text = text_of(sheaf.IndexDTypeError, sheaf.take, X, bad, axis=0)
        assert text.startswith("take: indices are not integers\n  indices is ")


def test_numbers_that_no_index_type_holds():
    assert "references" in text_of(sheaf.DTypeError, sheaf.take, X, [2**70], axis=0)


def test_out():
    text = text_of(sheaf.ArgumentError, sheaf.take, X, [0], axis=0, out=numpy.empty((2, 5), "f4"))
    assert text.startswith("take: output has the wrong shape\n  output is [2, 5], but this call "
                           "makes [1, 5]")
    text = text_of(sheaf.DTypeError, sheaf.take, X, [0], axis=0, out=numpy.empty((1, 5), "f8"))
    assert text.startswith("take: types differ\n  output is f64, but data is f32")
    read_only = numpy.empty((1, 5), "f4")
    read_only.flags.writeable = False
    text = text_of(sheaf.ArgumentError, sheaf.take, X, [0], axis=0, out=read_only)
    assert text.startswith("take: out is read-only\n  this ndarray does not let its memory")
    text = text_of(sheaf.DTypeError, sheaf.take, X, [0], axis=0, out=[0.0] * 5)
    assert text.startswith("take: out is no array\n  it is <class 'list'>")
    stacked = numpy.broadcast_to(numpy.empty(5, "f4"), (2, 5))
    stacked.flags.writeable = True
    text = text_of(sheaf.ArgumentError, sheaf.take, X, [0, 1], axis=0, out=stacked)
    assert text.startswith("take: output overlaps itself")


def test_gather_refuses_an_out_that_overlaps_data():
    x = numpy.arange(6)
    text = text_of(sheaf.ArgumentError, sheaf.gather, x, [1, 0], out=x[:2])
    assert text.startswith("gather: output overlaps an input")
    assert x.tolist() == list(range(6))


def test_dtypes_that_are_not_plain_bytes():
    for bad in (numpy.array([{}]), numpy.array([(1, None)], [("a", "i4"), ("b", "O")])):
        text = text_of(sheaf.DTypeError, sheaf.take, bad, [0])
        assert text.splitlines()[1] == "  data holds references, not plain bytes"
    if hasattr(numpy.dtypes, "StringDType"):
        strings = numpy.array(["a"], numpy.dtypes.StringDType())
        assert text_of(sheaf.DTypeError, sheaf.take, strings, [0]).startswith(
            "take: unsupported dtype StringDType()")


def test_dtypes_that_have_no_number():
    """Dtypes of NumPy's new interface. One of its own test modules has such a dtype."""
    core = getattr(numpy, "_core", None)  # numpy.core before version 2
    scaled = getattr(getattr(core, "_multiarray_umath", None), "_get_sfloat_dtype", None)
    if scaled is None:
        pytest.skip("this NumPy has no such dtype")
    x = numpy.array([1.0, 2.0]).view(scaled()(1.0))
    assert text_of(sheaf.DTypeError, sheaf.take, x, [0]).startswith(
        "take: unsupported dtype _ScaledFloatTestDType")


def test_masked_arrays():
    masked = numpy.ma.array([1, 2], mask=[True, False])
    assert text_of(sheaf.DTypeError, sheaf.take, masked, [0]) == (
        "take: masked array\n  the mask of data would be lost\n"
        "  try: two calls, for x.data and for x.mask")


def test_more_than_32_dimensions():
    if numpy.lib.NumpyVersion(numpy.__version__) >= "2.0.0":  # before, 32 was NumPy's limit too
        with pytest.raises(sheaf.ArgumentError, match="at most 32"):
            sheaf.take(numpy.zeros((1,) * 33), [0])
    with pytest.raises(sheaf.ArgumentError, match="too many dimensions"):
        sheaf.take(numpy.zeros((1,) * 32), [[0]], axis=0)


def test_options():
    assert text_of(sheaf.ArgumentError, sheaf.take, X, [0], mode="warp").startswith(
        'unknown mode\n  mode="warp"')
    assert text_of(sheaf.ArgumentError, sheaf.gather, X, [0], out_of_range="clip").startswith(
        'unknown out_of_range\n  out_of_range="clip"')
    assert "a rule for scatters" in text_of(
        sheaf.ArgumentError, sheaf.gather, X, [0], out_of_range="skip")
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], X[:1], out_of_range="fill") == (
        'out_of_range="fill" is a rule for gathers\n'
        "  an update that goes nowhere leaves no element to fill\n"
        '  try: out_of_range="skip"')
    assert text_of(sheaf.ArgumentError, sheaf.scatter, X, [0], X[:1], accumulate="f64") == (
        'unknown accumulate\n  accumulate="f64"\n  try: "f32", or None for the type of data')
    assert text_of(sheaf.ArgumentError, sheaf.gather, X, [0], negative="no").startswith(
        'unknown negative\n  negative="no"')
    assert text_of(sheaf.ArgumentError, sheaf.gather, X, [0], threads=-1).startswith(
        "negative number of threads\n  threads=-1")
    assert "batch_dims" in text_of(sheaf.ArgumentError, sheaf.gather_nd, X, [[0]], batch_dims=5)
    with pytest.raises(TypeError):
        sheaf.gather(X, [0], 1, 0)  # all other options are keywords


def test_fill_values():
    def fill(x, value):
        return sheaf.gather(x, [9], out_of_range="fill", fill_value=value)

    assert text_of(sheaf.ArgumentError, fill, numpy.zeros(1, "u1"), 256)
    assert text_of(sheaf.ArgumentError, fill, numpy.zeros(1, "u1"), -1)
    assert text_of(sheaf.ArgumentError, fill, numpy.zeros(1, "i4"), 0.5)
    assert "too large" in text_of(sheaf.ArgumentError, fill, numpy.zeros(1), 2**70)
    assert "is no number" in text_of(sheaf.DTypeError, fill, numpy.zeros(1), "x")
    assert fill(numpy.zeros(1, "u8"), 2**64 - 1)[0] == 2**64 - 1
    assert fill(numpy.zeros(1, "i8"), numpy.int16(-3))[0] == -3
    assert numpy.isnan(fill(numpy.zeros(1, "f2"), float("nan"))[0])
    assert fill(numpy.zeros(1, "c8"), 1 + 2j)[0] == 1 + 2j
    dates = numpy.array(["2020-01-01"], "datetime64[D]")
    assert fill(dates, numpy.datetime64("2021-05-06"))[0] == numpy.datetime64("2021-05-06")
    assert numpy.isnat(fill(dates, "NaT")[0])


def test_shapes():
    assert text_of(sheaf.ArgumentError, sheaf.gather_elements, X, [0]).startswith(
        "gather_elements: ranks differ\n  indices has 1 dimension, but data has 2")
    assert text_of(sheaf.ArgumentError, sheaf.take_along_axis, X, [[[0]]]).startswith(
        "take_along_axis: ranks differ")
    assert text_of(sheaf.ArgumentError, sheaf.take_along_axis, X, [[0]], axis=None).startswith(
        "take_along_axis: indices do not have a single dimension")
    assert text_of(sheaf.ArgumentError, sheaf.gather_nd, X, [[0, 0, 0]]).startswith(
        "gather_nd: index tuples too long")
