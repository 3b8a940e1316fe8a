# SPDX-License-Identifier: MIT
"""Tables whose rows come to a Vulkan device: SwiftShader where it is installed, else a GPU, or none."""

import signal

import numpy as np
import pytest
import sheaf
import test_vulkan  # names the device

here = test_vulkan.here
array = sheaf.vulkan.array
ROWS = np.random.default_rng(34).standard_normal((60, 8)).astype(np.float32)
IDS = np.array([[3, -1, 7], [7, 0, 59]])


@here
def test_host_rows():
    table = sheaf.Table(ROWS)
    got = table.gather(array(IDS))
    assert isinstance(got, sheaf.vulkan.Array) and got.dtype == np.float32
    np.testing.assert_array_equal(got.numpy(), ROWS[IDS])
    stats = table.stats()
    assert stats["way"] == "ring" and stats["bytes_to_device"] > 0
    assert 'by the way "ring"' in table.explain(array(IDS))
    out = array(np.zeros((2, 3, 8), np.float32))
    assert sheaf.gather(table, array(IDS), out=out) is out
    np.testing.assert_array_equal(out.numpy(), ROWS[IDS])


@here
def test_a_bad_index_leaves_out_as_it_was():
    out = array(np.full((2, 8), 9, np.float32))
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 60"):
        sheaf.Table(ROWS).gather(array([0, 60]), out=out)
    np.testing.assert_array_equal(out.numpy(), 9)


@here
def test_cached_rows_and_writes():
    rows = ROWS.copy()
    table = sheaf.Table(rows, cache_bytes=1 << 16)
    for _ in range(4):
        np.testing.assert_array_equal(table.gather(array(IDS)).numpy(), rows[IDS])
    assert table.stats()["cache_hits"] > 0
    table.scatter(array([3]), array(np.ones((1, 8), np.float32)), reduction="add")
    np.testing.assert_array_equal(rows[3], ROWS[3] + 1)
    np.testing.assert_array_equal(table.gather(array(IDS)).numpy(), rows[IDS])


@here
def test_a_scatter_drops_only_what_it_wrote():
    rows = ROWS.copy()
    table = sheaf.Table(rows, cache_bytes=1 << 16)
    again = sheaf.Table(table, cache_bytes=1 << 16)
    at = array(np.arange(20))
    for _ in range(3):
        table.gather(at)
        again.gather(at)
    hits = table.stats()["cache_hits"], again.stats()["cache_hits"]
    table.scatter(array([3, 4]), array(np.zeros((1, 8), np.float32)), reduction="none")
    assert not rows[3:5].any()
    for each, before in zip((table, again), hits):
        np.testing.assert_array_equal(each.gather(at).numpy(), rows[:20])
        assert each.stats()["cache_hits"] == before + 18
    assert table.stats()["bytes_to_host"] > 0
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 60"):
        table.scatter(array([0, 60]), array(np.ones((2, 8), np.float32)))
    table.scatter(array([5]), np.ones((1, 8)))              # from two places, by the host
    assert (rows[5] == 1).all()
    np.testing.assert_array_equal(table.gather(at).numpy(), rows[:20])


@here
def test_prefetched_rows_are_hits():
    table = sheaf.Table(ROWS, cache_bytes=1 << 16)
    table.prefetch(array([3, -1, 7, 60]))                   # the last is left out
    assert table.stats()["rows_prefetched"] == 3
    np.testing.assert_array_equal(table.gather(array([-1, 7, 3])).numpy(), ROWS[[-1, 7, 3]])
    assert (table.stats()["cache_hits"], table.stats()["cache_misses"]) == (3, 0)


@here
def test_scatters_into_a_device_and_into_a_file(tmp_path):
    there = array(ROWS)
    table = sheaf.Table(there)
    table.scatter(array([3]), array(np.zeros((1, 8), np.float32)))
    assert table.stats()["way"] == "device"
    table.scatter([4], np.zeros((1, 8), np.float32))
    assert table.stats()["way"] == "upload"
    expected = ROWS.copy()
    expected[3:5] = 0
    np.testing.assert_array_equal(there.numpy(), expected)
    with pytest.raises(sheaf.IndexError):
        table.scatter(array([60]), array(np.ones((1, 8), np.float32)))
    np.testing.assert_array_equal(there.numpy(), expected)
    np.save(tmp_path / "t.npy", ROWS)
    table = sheaf.Table(tmp_path / "t.npy", cache_bytes=1 << 16)
    table.scatter(array([3, 4]), array(np.zeros((2, 8), np.float32)))
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), expected)
    np.testing.assert_array_equal(table.gather(array([2, 3])).numpy(), expected[2:4])


@here
def test_files_and_encoded_rows(tmp_path):
    np.save(tmp_path / "t.npy", ROWS)
    table = sheaf.Table(tmp_path / "t.npy", piece_bytes=100)
    np.testing.assert_array_equal(table.gather(array(IDS)).numpy(), ROWS[IDS])
    assert table.stats()["way"] == "file" and table.stats()["pieces"] > 1
    stored = np.random.default_rng(1).integers(0, 256, (20, 16)).astype(np.uint8)
    stored[:, 8:] = np.ones((20, 2), np.float32).view(np.uint8)
    encoded = sheaf.encoded_rows("row_u8_f32", stored)
    got = sheaf.Table(encoded).gather(array([3, 1]))
    np.testing.assert_array_equal(got.numpy(), sheaf.gather(encoded, [3, 1]))
    bags = sheaf.Table(ROWS).bag(array(IDS % 60))
    np.testing.assert_array_equal(bags.numpy(), sheaf.bag(ROWS, IDS % 60))


@here
def test_an_interrupted_gather_leaves_the_stream_usable():
    table = sheaf.Table(ROWS, piece_bytes=64, cache_bytes=1 << 10)
    ids = array(np.zeros(1 << 16, np.int64))

    def raise_it(*_):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, raise_it)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(TimeoutError):
            for _ in range(100):
                table.gather(ids)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal(table.gather(array(IDS)).numpy(), ROWS[IDS])


@here
def test_tables_on_the_device():
    table = sheaf.Table(array(ROWS))
    assert table.place == "vulkan:0"
    np.testing.assert_array_equal(table.gather(array(IDS)).numpy(), ROWS[IDS])
    assert table.stats()["way"] == "device"
    got = table.gather(IDS)
    assert isinstance(got, np.ndarray)
    np.testing.assert_array_equal(got, ROWS[IDS])
    assert table.stats()["way"] == "download"


@here
def test_arrays_in_two_places_are_refused():
    with pytest.raises(sheaf.ArgumentError) as refused:
        sheaf.Table(ROWS).gather(array(IDS), out=np.zeros((2, 3, 8), np.float32))
    assert str(refused.value) == (
        "gather: arrays on different devices\n"
        "  indices is on vulkan:0, out is on the CPU\n"
        "  try: out moved to vulkan:0; nothing is copied between devices in silence")
