# SPDX-License-Identifier: MIT
"""Mixtures of experts beside NumPy."""

import numpy as np
import pytest

import sheaf


def routed(tokens, experts, number, capacity):
    """Expert by expert, each looking at all choices in order."""
    inverse = np.full(experts.shape, -1)
    rows, offsets = [], [0]
    for expert in range(number):
        places = np.argwhere(experts == expert)[:capacity]
        for token, choice in places:
            inverse[token, choice] = len(rows)
            rows.append(tokens[token])
        offsets.append(len(rows))
    return np.array(rows, tokens.dtype).reshape(-1, *tokens.shape[1:]), inverse, np.array(offsets)


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize("capacity", [None, 0, 3])
@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (40, 3)])
def test_permute_is_the_plain_loop(rng, shape, capacity, index_type):
    tokens = rng.normal(size=(shape[0], 5)).astype(np.float32)
    experts = rng.integers(0, 6, shape).astype(index_type)
    got = sheaf.moe.permute(tokens, experts, 8, capacity)
    for array, expected in zip(got, routed(tokens, experts, 8, capacity)):
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected)
    assert got.offsets[-1] == len(got.rows)


def test_experts_are_counted_where_nobody_says_how_many():
    rows, _, offsets = sheaf.moe.permute(np.arange(3.0), [[2], [0], [2]])
    assert rows.tolist() == [1, 0, 2]
    assert offsets.tolist() == [0, 1, 1, 3]


def test_tokens_of_any_rank_and_type_are_moved(rng):
    tokens = rng.integers(0, 99, (4, 2, 3)).astype(np.int8)
    rows, inverse, _ = sheaf.moe.permute(tokens, np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    np.testing.assert_array_equal(rows[inverse[:, 0]], tokens)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_unpermute_sums_in_the_order_of_choices(rng, dtype, weighted):
    tokens = rng.normal(size=(30, 7)).astype(dtype)
    experts = rng.integers(0, 4, (30, 3))
    weights = rng.normal(size=(30, 3)).astype(np.float32) if weighted else None
    rows, inverse, _ = sheaf.moe.permute(tokens, experts, 4, capacity=20)
    wide = np.float64 if dtype == np.float64 else np.float32
    expected = np.zeros((30, 7), wide)
    for choice in range(3):
        kept = inverse[:, choice] >= 0
        part = rows[inverse[kept, choice]].astype(wide)
        if weighted:
            part = part * weights[kept, choice, None].astype(wide)
        expected[kept] += part
    got = sheaf.moe.unpermute(rows, inverse, weights)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, expected.astype(dtype))


def test_the_documented_program():
    # [example moe-python]
    tokens = np.array([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    experts = np.array([[2, 0], [2, 1], [0, 2]])  # each token goes to two of four experts
    rows, inverse, offsets = sheaf.moe.permute(tokens, experts, num_experts=4)
    for expert in range(4):
        rows[offsets[expert]:offsets[expert + 1]] *= expert  # what an expert does
    output = sheaf.moe.unpermute(rows, inverse)
    # [/example]
    np.testing.assert_array_equal(output, tokens * experts.sum(1, keepdims=True))


def test_a_bad_expert_is_named():
    with pytest.raises(sheaf.IndexError) as error:
        sheaf.moe.permute(np.zeros((2, 1)), [[0], [4]], num_experts=4)
    assert str(error.value).startswith(
        "moe.permute: expert out of range\n  experts[1, 0] = 4, but there are 4 experts")
    with pytest.raises(sheaf.IndexError, match=r"experts\[0, 0\] = -1"):
        sheaf.moe.permute(np.zeros((1, 1)), [[-1]])


@pytest.mark.parametrize("call, text", [
    (lambda: sheaf.moe.permute(np.zeros((3, 1)), [[0], [1]]), "there are 3 tokens"),
    (lambda: sheaf.moe.permute(np.zeros(2), [0, 1]), "no matrix of integers"),
    (lambda: sheaf.moe.permute(np.zeros(2), [[0], [1]], capacity=-1), "capacity is negative"),
    (lambda: sheaf.moe.permute(np.zeros(2), [[0], [1]], num_experts=-1), "num_experts is negative"),
    (lambda: sheaf.moe.unpermute(np.zeros((2, 1)), [0, 1]), "indices has 1 dimension"),
    (lambda: sheaf.moe.unpermute(np.zeros((2, 1)), [[0, 1]], np.zeros((2, 1), np.float32)),
     "weights have the wrong shape"),
])
def test_refusals(call, text):
    with pytest.raises(sheaf.ArgumentError, match=text):
        call()


def test_torch_has_gradients():
    torch = pytest.importorskip("torch")
    tokens = torch.randn(6, 4, requires_grad=True)
    weights = torch.rand(6, 2, requires_grad=True)
    rows, inverse, _ = sheaf.moe.permute(tokens, torch.randint(0, 3, (6, 2)), 3)
    sheaf.moe.unpermute(rows * 2, inverse, weights).sum().backward()
    assert torch.allclose(tokens.grad, 2 * weights.sum(1, keepdim=True).expand(6, 4))
    assert torch.allclose(weights.grad, 2 * tokens.sum(1, keepdim=True).expand(6, 2))


def test_torch_gives_torch():
    torch = pytest.importorskip("torch")
    tokens = torch.randn(6, 4, dtype=torch.bfloat16)
    experts = torch.randint(0, 3, (6, 2))
    rows, inverse, offsets = sheaf.moe.permute(tokens, experts, 3)
    assert torch.equal(rows[inverse[:, 1]], tokens)
    assert offsets.tolist() == [0, *experts.flatten().bincount(minlength=3).cumsum(0).tolist()]
    weights = torch.softmax(torch.randn(6, 2), 1)
    expected = (rows.float()[inverse] * weights[..., None]).sum(1).bfloat16()
    assert torch.allclose(sheaf.moe.unpermute(rows, inverse, weights), expected)
