# SPDX-License-Identifier: MIT
"""Ctrl-C ends a long call soon, and the next call works."""

import os
import signal
import threading

import numpy as np
import pytest

import sheaf

COUNT = 1 << 25  # indices: seconds of work for the plain loops


@pytest.fixture(autouse=True)
def listens():
    """A shell starts its background jobs with SIGINT ignored; then Python does not listen for it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def slow(monkeypatch):
    """The reference backend, so that a call of moderate size lasts long on every machine."""
    monkeypatch.setenv("SHEAF_KERNEL", "reference")


def interrupted(call):
    """Runs `call`, with Ctrl-C a moment after its start; it must not run to its end."""
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            for _ in range(50):  # however fast the machine, one of them is under way
                call()
    finally:
        timer.cancel()
        timer.join()


def test_ends_a_gather(slow):
    data = np.arange(1000, dtype=np.float32)
    indices = np.zeros(COUNT, dtype=np.int64)
    out = np.full(COUNT, -1, dtype=np.float32)
    interrupted(lambda: sheaf.gather(data, indices, out=out))
    assert set(np.unique(out)) <= {-1.0, 0.0}  # each element is old or new
    assert sheaf.gather(data, [3, 1]).tolist() == [3, 1]


def test_ends_a_scatter(slow):
    data = np.zeros(1000, dtype=np.float32)
    indices = np.zeros(COUNT, dtype=np.int64)
    updates = np.ones(COUNT, dtype=np.float32)
    interrupted(lambda: sheaf.scatter(data, indices, updates, reduction="add"))
    assert data.tolist() == [0] * 1000
    assert sheaf.scatter(data, [2], np.ones(1, np.float32))[2] == 1


def test_stops_before_the_first_write_while_indices_are_checked(slow):
    data = np.arange(10, dtype=np.int64)
    indices = np.zeros(COUNT, dtype=np.int64)
    indices[-1] = 10  # bad, and met last
    out = np.full(COUNT, -1, dtype=np.int64)
    def refused_or_interrupted():
        with pytest.raises(sheaf.IndexError):
            sheaf.gather(data, indices, out=out)

    interrupted(refused_or_interrupted)
    assert (out == -1).all()


def test_ends_calls_on_tables(slow, tmp_path):
    data = np.arange(1000, dtype=np.float32)
    np.save(tmp_path / "t.npy", data)
    indices, updates = np.zeros(COUNT, dtype=np.int64), np.ones(COUNT, dtype=np.float32)
    table, in_file = sheaf.Table(data), sheaf.Table(tmp_path / "t.npy")
    for each in (table, in_file):
        interrupted(lambda: each.gather(indices))
        assert each.gather([3, 1]).tolist() == [3, 1]
    interrupted(lambda: table.scatter(indices, updates, reduction="add"))
    assert data[0] % 1 == 0 and data[1:].tolist() == list(range(1, 1000))  # some of its way
    table.scatter([2], np.float32([7]))
    assert table.gather([2]).tolist() == [7]


def test_ends_a_move():
    data = np.zeros(COUNT, dtype=np.int32)
    interrupted(lambda: sheaf.cast(data, np.float64))


def test_a_handler_that_returns_ends_nothing(slow):
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03, 0.03)
        result = sheaf.gather(np.arange(4), np.full(1 << 22, 3))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert (result == 3).all()


class Timeout(Exception):
    pass


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("kind", [Timeout, RuntimeError, ValueError])
def test_what_a_handler_raises_arrives(slow, library, kind):
    def raise_it(*_):
        raise kind("from the handler")

    data, indices, out = np.arange(4), np.full(1 << 24, 3), np.zeros(1 << 24, np.int64)
    if library == "torch":
        torch = pytest.importorskip("torch")
        pytest.importorskip("sheaf.torch")  # which must not be interrupted half-way
        data, indices, out = map(torch.from_numpy, (data, indices, out))
    before = signal.signal(signal.SIGALRM, raise_it)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.03)
        with pytest.raises(kind, match="^from the handler$"):
            for _ in range(50):
                # Into out: what a handler raises while PyTorch makes a result is taken for PyTorch's error.
                sheaf.gather(data, indices, out=out)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_other_threads_are_left_alone(slow):
    """Ctrl-C is the main thread's: a call of another thread goes on to its end."""
    results = []
    indices = np.full(1 << 22, 3)
    worker = threading.Thread(target=lambda: results.append(sheaf.gather(np.arange(4), indices)))
    worker.start()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        worker.join()
    worker.join()
    assert (results[0] == 3).all()
