# SPDX-License-Identifier: MIT
"""The neighbours of gathers, beside NumPy and PyTorch."""

import numpy as np
import pytest

import sheaf

rng = np.random.default_rng(9)
X = rng.integers(-9, 9, (3, 4, 5))


def same(got, expected):
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def test_copies_are_numpys():
    same(sheaf.tile(X, (2, 1, 3)), np.tile(X, (2, 1, 3)))
    same(sheaf.concat([X, X[:, :2]], axis=-2), np.concatenate([X, X[:, :2]], axis=1))
    for got, expected in zip(sheaf.split(X, [1, 3], axis=1), np.split(X, [1], axis=1)):
        same(got, expected)
    width = [(1, 2), (0, 3), (2, 0)]
    for mode in "constant", "edge", "reflect", "symmetric", "wrap":
        same(sheaf.pad(X, width, mode), np.pad(X, width, mode))
    same(sheaf.pad(X.T, width, value=7), np.pad(X.T, width, constant_values=7))


def test_moves_by_value():
    same(sheaf.cast(X / 2, np.int8), (X / 2).astype(np.int8))
    same(sheaf.cast(np.array([np.nan, 1e9, -1e9]), np.int16), np.array([0, 32767, -32768], np.int16))
    same(sheaf.nonzero(X), np.argwhere(X))
    same(sheaf.one_hot([1, -1, 7], 3), np.array([[0., 1, 0], [0, 0, 1], [0, 0, 0]]))
    same(sheaf.one_hot([[1], [0]], 2, axis=0, off_on=np.array([3, 4], np.int8)),
         np.array([[[3], [4]], [[4], [3]]], np.int8))
    values, places = sheaf.top_k(X, 2, axis=1)
    same(places, np.argsort(-X, axis=1, kind="stable")[:, :2])
    same(values, np.take_along_axis(X, places, 1))
    same(sheaf.top_k(X, 3, largest=False)[0], np.sort(X, axis=-1)[..., :3])
    same(sheaf.reverse_subsequences(np.arange(6).reshape(2, 3), [[2], [9]], 1),
         np.array([[1, 0, 2], [5, 4, 3]]))


def test_torch_gives_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(sheaf.tile(x, (1, 2)), x.tile(1, 2))
    assert torch.equal(sheaf.cast(x, torch.int16), x.to(torch.int16))
    values, places = sheaf.top_k(x, 2)
    assert torch.equal(values, torch.topk(x, 2).values)
    assert torch.equal(places, torch.topk(x, 2).indices)


@pytest.mark.parametrize("call", [
    lambda: sheaf.tile(X, (2, 0, 1)),
    lambda: sheaf.tile(X, (2, 2)),
    lambda: sheaf.concat([X, X[:, :2]], axis=0),
    lambda: sheaf.concat([]),
    lambda: sheaf.split(X, [1, 1], axis=1),
    lambda: sheaf.split(X, [1, 1], axis=3),
    lambda: sheaf.pad(X, [(1, 1)]),
    lambda: sheaf.pad(X, [(1, 1)] * 3, "mirror"),
    lambda: sheaf.top_k(X, 9, axis=0),
    lambda: sheaf.one_hot([1.5], 2),
    lambda: sheaf.cast(X, np.complex64),
])
def test_refusals(call):
    with pytest.raises(sheaf.Error, match="try: "):
        call()


def test_bytes_keep_their_meaning():
    days, seconds = (np.array(["2020-01-01"], f"M8[{unit}]") for unit in "Ds")
    with pytest.raises(sheaf.Error, match="dates are not numbers"):
        sheaf.cast(days, seconds.dtype)
    with pytest.raises(sheaf.Error, match="dtypes differ"):
        sheaf.concat([days, seconds])
    same(sheaf.concat([days, days]), np.concatenate([days, days]))
    with pytest.raises(sheaf.Error, match="values do not fit"):
        sheaf.one_hot([0], 3, off_on=np.empty((0, 2)))
