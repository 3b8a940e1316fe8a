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


@pytest.mark.parametrize("call, mode", [("copies", "edge"), ("copy", "mirror")])
def test_moves_and_modes_that_there_are_not(call, mode):
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf._sheaf.move(call, [X], [X.copy()], [], 0, mode, True)
    assert str(caught.value) == (f'{call}: unknown move or mode\n  mode = "{mode}"\n'
                                 "  try: edge, reflect, symmetric, wrap or constant")


@pytest.mark.parametrize("call, inputs, outputs, text", [
    ("copy", 0, 1, "0 inputs, but the move has 1"), ("copy", 2, 1, "2 inputs, but the move has 1"),
    ("copy", 1, 0, "0 outputs, but the move has 1"),
    ("top_k", 1, 1, "1 outputs, but the move has 2"),
])
def test_other_numbers_of_arrays(call, inputs, outputs, text):
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf._sheaf.move(call, [X] * inputs, [X.copy()] * outputs, [], 0, "edge", True)
    assert str(caught.value) == (f"{call}: wrong number of arrays\n  {text}\n"
                                 "  try: the functions of sheaf, which pass what a move takes")


def test_outputs_with_strides_that_are_not_whole_elements():
    packed = np.zeros(3, [("a", "u1"), ("b", "f4")])
    with pytest.raises(sheaf.UnsupportedError) as caught:
        sheaf._sheaf.move("copy", [np.ones(3, "f4")], [packed["b"]], [], 0, "edge", True)
    assert str(caught.value) == (
        "copy: not an array of the host\n"
        "  it lies on a GPU, or its strides are not whole elements\n"
        "  try: arrays in the memory of the host")
    assert not packed["b"].any()


def test_bytes_keep_their_meaning():
    days, seconds = (np.array(["2020-01-01"], f"M8[{unit}]") for unit in "Ds")
    with pytest.raises(sheaf.Error, match="dates are not numbers"):
        sheaf.cast(days, seconds.dtype)
    with pytest.raises(sheaf.Error, match="dtypes differ"):
        sheaf.concat([days, seconds])
    same(sheaf.concat([days, days]), np.concatenate([days, days]))
    with pytest.raises(sheaf.Error, match="values do not fit"):
        sheaf.one_hot([0], 3, off_on=np.empty((0, 2)))
