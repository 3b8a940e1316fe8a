# SPDX-License-Identifier: MIT
"""What goes in without a copy, and what comes out."""

import array
import gc
import sys
import threading

import ml_dtypes
import numpy
import pytest

import sheaf


def test_lists_and_numbers():
    result = sheaf.take([1, 2, 3], 2)
    assert result == 3
    assert sheaf.take([1, 2, 3], []).dtype == numpy.asarray([1]).dtype
    assert sheaf.take([1, 2, 3], ()).shape == (0,)
    assert sheaf.gather([[1, 2], [3, 4]], (1,)).tolist() == [[3, 4]]


def test_buffer_protocol():
    assert sheaf.take(b"hello", [4, 0]).tobytes() == b"oh"
    assert sheaf.take(memoryview(array.array("d", [1, 2, 3])), [2]).tolist() == [3.0]
    assert sheaf.take([10, 20, 30], array.array("h", [2, 0])).tolist() == [30, 10]
    out = bytearray(2)
    assert sheaf.take(b"hello", [4, 0], out=out) is out
    assert out == b"oh"
    with pytest.raises(sheaf.ArgumentError, match="read-only"):
        sheaf.take(b"hello", [4, 0], out=bytes(2))


def test_memory_maps(tmp_path):
    path = tmp_path / "table.bin"
    numpy.arange(100, dtype="i4").tofile(path)
    table = numpy.memmap(path, dtype="i4", mode="r", shape=(10, 10))
    result = sheaf.take(table, [7, 1], axis=0)
    assert type(result) is numpy.ndarray
    assert result[:, 0].tolist() == [70, 10]
    writable = numpy.memmap(path, dtype="i4", mode="r+", shape=(10, 10))
    assert sheaf.take(result, [1], axis=0, out=writable[3:4])[0, 0] == 10
    writable.flush()
    assert numpy.fromfile(path, "i4")[30] == 10


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz"])
def test_small_floats(dtype):
    dtype = numpy.dtype(getattr(ml_dtypes, dtype))
    x = numpy.arange(256).astype("u1" if dtype.itemsize == 1 else "u2").view(dtype)
    result = sheaf.take(x, [255, 0, 129])
    assert result.dtype == dtype
    assert result.view(f"u{dtype.itemsize}").tolist() == [255, 0, 129]


def test_fill_of_small_floats():
    x = numpy.zeros(1, ml_dtypes.bfloat16)
    for value in (1.5, numpy.float32(1.5), ml_dtypes.bfloat16(1.5)):
        assert sheaf.gather(x, [5], out_of_range="fill", fill_value=value)[0] == 1.5


def test_elements_that_are_not_aligned():
    packed = numpy.zeros(5, numpy.dtype([("a", "u1"), ("b", "f8"), ("c", "i4")]))
    packed["b"] = range(5)
    packed["c"] = [4, 3, 2, 1, 0]
    # 13 bytes from one to the next: not a whole number of elements.
    assert sheaf.take(packed["b"], packed["c"]).tolist() == [4, 3, 2, 1, 0]
    out = numpy.zeros(5, packed.dtype)
    assert sheaf.take(packed["b"], packed["c"], out=out["b"]).tolist() == [4, 3, 2, 1, 0]
    assert sheaf.gather(packed["b"], packed["c"], out=out["b"]).tolist() == [4, 3, 2, 1, 0]
    assert (out["a"] == 0).all() and (out["c"] == 0).all()
    raw = numpy.zeros(8 * 4 + 1, "u1")[1:].view("f8")
    raw[:] = [1, 2, 3, 4]
    assert sheaf.take(raw, [3, 0]).tolist() == [4, 1]


def test_records_come_back_as_records():
    x = numpy.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    result = sheaf.take(x, [1, 1, 0])
    assert result.dtype == x.dtype
    assert result["b"].tolist() == [4.5, 4.5, 2.5]


def test_out_may_overlap_x_in_take():
    x = numpy.arange(6)
    assert sheaf.take(x, [5, 4, 3, 2, 1, 0], out=x) is x
    assert x.tolist() == [5, 4, 3, 2, 1, 0]
    i = numpy.array([2, 0, 1])
    assert sheaf.take(numpy.array([7, 8, 9]), i, out=i).tolist() == [9, 7, 8]
    grid = numpy.arange(9).reshape(3, 3)
    sheaf.take(grid, [2, 1, 0], axis=0, out=grid.T)
    assert grid.tolist() == [[6, 3, 0], [7, 4, 1], [8, 5, 2]]
    # A bad index leaves it as it was.
    with pytest.raises(sheaf.IndexError):
        sheaf.take(x, [0, 1, 2, 3, 4, 6], out=x)
    assert x.tolist() == [5, 4, 3, 2, 1, 0]


def test_numpy_scalars_and_subclasses():
    class Mine(numpy.ndarray):
        pass

    assert type(sheaf.take(numpy.arange(3).view(Mine), [1])) is numpy.ndarray
    assert sheaf.take(numpy.arange(3), numpy.int8(2)) == 2


def test_references_are_given_back():
    gc.collect()  # what earlier tests left may hold the shared dtype
    x, i, out = numpy.arange(6.0), numpy.array([1, 2]), numpy.empty(2)
    objects = (x, i, out, x.dtype)
    before = [sys.getrefcount(o) for o in objects]
    for _ in range(50):
        sheaf.take(x, i, out=out)
        sheaf.take(x, i)
        sheaf.gather(x[::2], [0])
        sheaf.take(x.reshape(2, 3).T, i)
        with pytest.raises(sheaf.IndexError):
            sheaf.take(x, [99], out=out[:1])
        with pytest.raises(sheaf.DTypeError):
            sheaf.take(x, i, out=i)
    caught = None  # noqa: F841  pytest keeps the last exception alive until here
    sys.exc_info()
    assert [sys.getrefcount(o) for o in objects] == before


def test_the_gil_is_released_while_a_plan_runs():
    x = numpy.zeros((2000, 5000), "u1")
    i = numpy.zeros(60_000, "i8")
    out = numpy.empty((60_000, 5000), "u1")  # 300 MB: takes a while
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(1)
            done.wait(0.001)

    thread = threading.Thread(target=tick)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(100)  # nobody is made to hand the GIL over
    try:
        thread.start()
        before = len(ticks)
        sheaf.take(x, i, axis=0, out=out, threads=1)
        during = len(ticks) - before
    finally:
        done.set()
        sys.setswitchinterval(interval)
        thread.join()
    assert during > 3
