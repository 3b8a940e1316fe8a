# SPDX-License-Identifier: MIT
"""array-api-strict as a client: only what the array API standard promises."""

import array_api_strict as xp
import pytest

import sheaf


def test_take_by_the_standard():
    x = xp.reshape(xp.arange(12, dtype=xp.float32), (3, 4))
    indices = xp.asarray([2, 0, 2])
    for axis in (0, 1, -1):
        got = sheaf.take(x, indices, axis=axis)
        expected = xp.take(x, indices, axis=axis)
        assert type(got) is type(x)
        assert got.dtype == x.dtype
        assert got.shape == expected.shape
        assert xp.all(got == expected)


def test_take_along_axis_by_the_standard():
    x = xp.reshape(xp.arange(12), (3, 4))
    indices = xp.asarray([[0, 3], [1, 2], [-1, 0]])
    got = sheaf.take_along_axis(x, indices, axis=1)
    assert type(got) is type(x)
    assert xp.all(got == xp.take_along_axis(x, indices, axis=1))
    assert xp.all(sheaf.take_along_axis(x, indices) == got)  # the default axis is the last


@pytest.mark.parametrize("name", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16",
                                  "uint32", "uint64", "float32", "float64", "complex64",
                                  "complex128"])
def test_every_dtype_of_the_standard(name):
    dtype = getattr(xp, name)
    x = xp.astype(xp.asarray([0, 1, 1, 0]), dtype)
    got = sheaf.take(x, xp.asarray([1, 3], dtype=xp.int16), axis=0)
    assert got.dtype == dtype
    assert xp.all(got == xp.asarray([1, 0], dtype=dtype))


def test_results_are_arrays_of_the_namespace():
    x = xp.reshape(xp.arange(6), (2, 3))
    for got in (sheaf.gather(x, [1]), sheaf.gather_elements(x, xp.asarray([[1, 0, 1]])),
                sheaf.gather_nd(x, xp.asarray([[1, 2]])), sheaf.take(x, 1, axis=0),
                sheaf.take(x, 5), sheaf.plan_gather(x, [0]).run(x, [0])):
        assert type(got) is type(x)
        assert got.__array_namespace__() is x.__array_namespace__()
    assert sheaf.take(x, xp.asarray([0, 5])).shape == (2,)  # without an axis: flat


def test_views_of_the_namespace():
    x = xp.permute_dims(xp.reshape(xp.arange(24), (2, 3, 4)), (2, 0, 1))[::-2, :, :]
    indices = xp.asarray([1, 0])
    assert xp.all(sheaf.take(x, indices, axis=1) == xp.take(x, indices, axis=1))
    assert xp.all(sheaf.take(x, indices) == xp.take(xp.reshape(x, (-1,)), indices))
    out = xp.zeros((2, 2, 3), dtype=x.dtype)
    assert sheaf.take(x, indices, axis=0, out=out) is out
    assert xp.all(out == xp.take(x, indices, axis=0))
    assert xp.all(sheaf.take(out, indices, axis=0, out=out) == xp.take(x, xp.asarray([0, 1]), axis=0))
