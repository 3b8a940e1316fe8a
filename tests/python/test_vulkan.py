# SPDX-License-Identifier: MIT
"""sheaf.vulkan: arrays on a Vulkan device, with the results of NumPy's.

Where SwiftShader runs, a device made of the processor, the tests run on it; else on a GPU, or not at
all. A kernel takes seconds to compile there, so that few are used.
"""

import numpy as np
import pytest
import sheaf
import software_device

software_device.choose()

here = pytest.mark.skipif("not sheaf.vulkan.is_available()", reason="no Vulkan device")

TABLE = np.arange(24, dtype=np.float32).reshape(6, 4)
ROWS = np.array([5, 0, -1, 2])


def test_says_what_there_is():
    assert isinstance(sheaf.vulkan.is_available(), bool)
    assert sheaf.vulkan.description()


@pytest.mark.skipif("sheaf.vulkan.is_available()", reason="there is a Vulkan device")
def test_without_a_device():
    with pytest.raises(sheaf.UnsupportedError, match=r"vulkan\.array: no device\n"):
        sheaf.vulkan.array([1, 2])


@here
def test_there_and_back():
    for values in (TABLE, np.array(7, np.int8), np.empty((0, 3)), TABLE.T[::2],
                   np.array([1 + 2j]), np.array([True, False])):
        there = sheaf.vulkan.array(values)
        assert there.shape == values.shape and there.dtype == values.dtype
        assert (there.ndim, there.size, there.nbytes) == (values.ndim, values.size, values.nbytes)
        back = there.numpy()
        assert back.dtype == values.dtype
        np.testing.assert_array_equal(back, values)


@here
def test_words_about_an_array():
    array = sheaf.vulkan.array(TABLE)
    assert repr(array) == "sheaf.vulkan.Array(float32, [6, 4])"
    assert len(array) == 6
    assert array.__dlpack_device__() == (7, 0)
    with pytest.raises(TypeError, match="x.numpy"):
        np.asarray(array)
    with pytest.raises(TypeError, match="without dimensions"):
        len(sheaf.vulkan.array(3))


@here
def test_gather():
    picked = sheaf.gather(sheaf.vulkan.array(TABLE), sheaf.vulkan.array(ROWS))
    assert isinstance(picked, sheaf.vulkan.Array)
    np.testing.assert_array_equal(picked.numpy(), TABLE[ROWS])


@here
def test_gather_into_out():
    out = sheaf.vulkan.array(np.zeros((4, 4), np.float32))
    assert sheaf.gather(sheaf.vulkan.array(TABLE), sheaf.vulkan.array(ROWS), out=out) is out
    np.testing.assert_array_equal(out.numpy(), TABLE[ROWS])


@here
def test_plans():
    table, rows = sheaf.vulkan.array(TABLE), sheaf.vulkan.array(ROWS)
    plan = sheaf.plan_gather(table, rows)
    np.testing.assert_array_equal(plan.run(table, rows).numpy(), TABLE[ROWS])


@here
def test_scatter():
    updates = np.ones((4, 4), np.float32)
    expected = sheaf.scatter(TABLE, ROWS, updates, reduction="add")
    table, rows, ones = (sheaf.vulkan.array(x) for x in (TABLE, ROWS, updates))
    got = sheaf.scatter(table, rows, ones, reduction="add")
    np.testing.assert_array_equal(got.numpy(), expected)
    np.testing.assert_array_equal(table.numpy(), TABLE)
    assert sheaf.scatter(table, rows, ones, reduction="add", out=table) is table
    np.testing.assert_array_equal(table.numpy(), expected)


@here
def test_a_bad_index_is_told_at_once():
    out = sheaf.vulkan.array(np.full((2, 4), 9, np.float32))
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 6"):
        sheaf.gather(sheaf.vulkan.array(TABLE), sheaf.vulkan.array([0, 6]), out=out)
    np.testing.assert_array_equal(out.numpy(), 9)


@here
def test_numpys_names():
    table = sheaf.vulkan.array(TABLE)
    np.testing.assert_array_equal(sheaf.take(table, sheaf.vulkan.array([3, 1]), 0).numpy(),
                                  TABLE[[3, 1]])
    flat = sheaf.take(table, sheaf.vulkan.array([23, 0]))  # of the flattened array
    np.testing.assert_array_equal(flat.numpy(), [23, 0])


@here
def test_reshaped_arrays_share_memory():
    array = sheaf.vulkan.array(TABLE)
    flat = array.reshape(-1)
    assert flat.shape == (24,)
    flat[...] = np.arange(24, 0, -1)
    np.testing.assert_array_equal(array.numpy(), np.arange(24, 0, -1).reshape(6, 4))
    array[...] = sheaf.vulkan.array(TABLE)
    np.testing.assert_array_equal(flat.numpy(), TABLE.reshape(-1))
    with pytest.raises(ValueError):
        array.reshape(5, 5)
    with pytest.raises(sheaf.ArgumentError, match="only the whole array"):
        array[0] = 1


@here
def test_other_devices_are_refused():
    with pytest.raises(sheaf.ArgumentError) as refused:
        sheaf.gather(sheaf.vulkan.array(TABLE), ROWS)
    assert str(refused.value) == (
        "gather: arrays on different devices\n"
        "  data is on vulkan:0, indices is on the CPU\n"
        "  try: indices moved to vulkan:0; nothing is copied between devices in silence")


@here
def test_types_without_a_name_are_refused():
    for values in (np.array(["2026-11-17"], "datetime64[D]"), np.array([b"abc"]),
                   np.array([(1, 2)], [("a", "i4"), ("b", "i4")])):
        with pytest.raises(sheaf.DTypeError, match="vulkan.array: unsupported dtype"):
            sheaf.vulkan.array(values)


@here
def test_bags():
    indices = ROWS.reshape(2, 2)
    sums = sheaf.bag(sheaf.vulkan.array(TABLE), sheaf.vulkan.array(indices))
    np.testing.assert_array_equal(sums.numpy(), TABLE[indices].sum(axis=1))


@here
def test_takes_over_what_dlpack_exports():
    array = sheaf.vulkan.array(TABLE)
    assert sheaf.vulkan.from_dlpack(array) is array
    np.testing.assert_array_equal(sheaf.vulkan.from_dlpack(array._exported).numpy(), TABLE)
    with pytest.raises(sheaf.ArgumentError, match="not a contiguous array on the Vulkan device"):
        sheaf.vulkan.from_dlpack(TABLE)
