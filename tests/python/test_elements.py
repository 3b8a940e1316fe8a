# SPDX-License-Identifier: MIT
"""Elements that are moved as plain bytes: of another byte order, of more than 64 bytes, long double.
Where something would compute with them, they are refused with the reason."""

import numpy as np
import pytest

import sheaf

SWAPPED = np.dtype("f8").newbyteorder("S")
RECORD = np.dtype([("name", "S90"), ("at", "i4", 3)])


def table(dtype, shape=(4, 3)):
    if dtype == RECORD:
        x = np.zeros(shape, RECORD)
        x["name"] = np.arange(x.size).reshape(shape).astype("S90")
        x["at"] = np.arange(3 * x.size).reshape(*shape, 3)
        return x
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)


DTYPES = [SWAPPED, np.dtype("i2").newbyteorder("S"), RECORD, np.dtype("S100"), np.dtype("U30"),
          np.dtype(np.longdouble), np.dtype(np.clongdouble)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("layout", ["plain", "fortran", "strided"])
def test_gathers(dtype, layout):
    x = table(dtype)
    x = {"plain": x, "fortran": np.asfortranarray(x), "strided": table(dtype, (8, 6))[::2, ::-2]}[
        layout]
    for axis in (0, 1, -1, None):
        ours = sheaf.take(x, [[2, 0], [-1, 1]], axis=axis)
        assert ours.dtype == dtype
        np.testing.assert_array_equal(ours, np.take(x, [[2, 0], [-1, 1]], axis=axis))
    np.testing.assert_array_equal(sheaf.take(x, 2, axis=0), x[2])
    np.testing.assert_array_equal(sheaf.gather(x, [2, 0], axis=-2), x[[2, 0]])
    places = np.array([[2, 0, 1], [0, 1, 1]])
    np.testing.assert_array_equal(sheaf.gather_elements(x, places, axis=0),
                                  np.take_along_axis(x, places, 0))
    np.testing.assert_array_equal(sheaf.take_along_axis(x, places[:, :1].T, -1),
                                  np.take_along_axis(x, places[:, :1].T, -1))
    np.testing.assert_array_equal(sheaf.gather_nd(x, [[2, 0], [-1, 1]]), x[[2, -1], [0, 1]])
    np.testing.assert_array_equal(sheaf.gather_nd(x, [[2], [0]]), x[[2, 0]])
    out = np.empty((2, 3), dtype)
    assert sheaf.take(x, [1, 1], axis=0, out=out) is out
    np.testing.assert_array_equal(out, x[[1, 1]])
    filled = sheaf.gather(x, [9, 1], out_of_range="fill")
    assert filled[0].tobytes() == bytes(filled[0].nbytes)
    np.testing.assert_array_equal(filled[1], x[1])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_scatters(dtype):
    x, updates = table(dtype), table(dtype, (2, 3))[:, ::-1]
    expected = x.copy()
    expected[[3, 0]] = updates
    np.testing.assert_array_equal(sheaf.scatter(x, [3, 0], updates), expected)
    np.testing.assert_array_equal(sheaf.scatter_nd(x, [[3], [0]], updates), expected)
    out = x.copy()
    sheaf.scatter(out, [3, 0], updates, out=out)
    np.testing.assert_array_equal(out, expected)
    places = np.array([[2, 0, 1], [0, 1, 3]])
    ours, theirs = x.copy(), x.copy()
    sheaf.put_along_axis(ours, places, updates, 0)
    np.put_along_axis(theirs, places, updates, 0)
    np.testing.assert_array_equal(ours, theirs)
    ours, theirs = np.asfortranarray(x.copy()), x.copy()
    sheaf.put_along_axis(ours, [7, 2], updates[0, :2], None)
    np.put_along_axis(theirs, np.array([7, 2]), updates[0, :2], None)
    np.testing.assert_array_equal(ours, theirs)


def test_byte_orders_meet():
    native = np.arange(4.0)
    swapped = native.astype(SWAPPED)
    swapped_indices = np.array([3, 0], np.dtype("i4").newbyteorder("S"))
    np.testing.assert_array_equal(sheaf.take(native, swapped_indices), [3, 0])
    assert sheaf.scatter(swapped, [1], native[:1] + 9).tolist() == [0, 9, 2, 3]
    assert sheaf.scatter(native, [1], swapped[:1]).tolist() == [0, 0, 2, 3]
    assert sheaf.scatter(swapped, [1], np.array([7], np.dtype("i8").newbyteorder("S"))).tolist() \
        == [0, 7, 2, 3]


@pytest.mark.parametrize("dtype, why", [
    (SWAPPED, "numbers in the byte order of another machine\n  try: x.astype(x.dtype.newbyteorder"),
    (np.dtype(np.longdouble), "long double, whose format differs between machines"),
    (np.dtype("m8[s]"), "dates and times"),
    (np.dtype("S100"), "elements of 100 bytes"),
], ids=str)
def test_what_would_compute_is_refused(dtype, why):
    x = np.zeros(3, dtype)
    with pytest.raises(sheaf.DTypeError) as caught:
        sheaf.scatter(x, [0], x[:1], reduction="add")
    assert f"reduction = add on {why}" in str(caught.value)
    assert not x.view("u1").any()


def test_large_elements_keep_to_their_dimensions():
    x = table(RECORD)
    for call in (lambda: sheaf.gather(x, [0], axis=2), lambda: sheaf.gather(x, [0], axis=-3)):
        with pytest.raises(sheaf.AxisError, match="but data has 2 dimensions"):
            call()
    with pytest.raises(sheaf.ArgumentError, match="tuples are too long"):
        sheaf.gather_nd(x, [[0, 0, 0]])
    with pytest.raises(sheaf.DTypeError, match="can only be filled with 0, not 7"):
        sheaf.gather(x, [9], out_of_range="fill", fill_value=7)
    with pytest.raises(sheaf.DTypeError, match="types differ"):
        sheaf.gather(x, [0], out=np.zeros((1, 3, RECORD.itemsize), np.uint8))
    with pytest.raises(sheaf.DTypeError):
        sheaf.scatter(x, [0], np.zeros((1, 3, RECORD.itemsize), np.uint8))
    with pytest.raises(sheaf.IndexError):
        sheaf.gather(x, [4])
    with pytest.raises(sheaf.ArgumentError, match="plan: elements are too large"):
        sheaf.plan_gather(x, [0])
    with pytest.raises(sheaf.DTypeError, match="holds references"):
        sheaf.gather(np.array([None, 1]), [0])


def test_a_plan_of_bytes_does_not_take_large_elements_for_rows():
    plan = sheaf.plan_gather(np.zeros((5, 100), "u1"), np.zeros(200, "i8"), axis=1)
    with pytest.raises(sheaf.Error, match="elements are too large"):
        plan.run(np.zeros(5, "V100"), np.zeros(200, "i8"))
