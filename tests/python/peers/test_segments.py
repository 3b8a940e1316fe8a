# SPDX-License-Identifier: MIT
"""The functions with torch_scatter's names, against loops over the segments."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

import sheaf.torch as ours  # noqa: E402

INDEX = torch.tensor([3, 0, 3, 1, 0, 3])  # nothing in segment 2
SRC = torch.tensor([[4., -1], [2, 5], [4, 0], [-3, 2], [7, 2], [1, 6]], dtype=torch.float64)
REDUCE = {"scatter_sum": (torch.sum, 0), "scatter_mean": (torch.mean, 0),
          "scatter_mul": (torch.prod, 1)}


def by_segment(reduce, start, size, src=SRC):
    rows = [src[INDEX == k] for k in range(size)]
    return torch.stack([reduce(part, 0) if len(part) else torch.full((2,), float(start),
                                                                     dtype=src.dtype)
                        for part in rows])


@pytest.mark.parametrize("name", REDUCE)
@pytest.mark.parametrize("size", [None, 4, 6])
def test_reductions(name, size):
    reduce, start = REDUCE[name]
    function = getattr(ours, name)
    expected = by_segment(reduce, start, size or 4)
    torch.testing.assert_close(function(SRC, INDEX, dim=0, dim_size=size), expected)
    full = INDEX[:, None].expand_as(SRC)
    torch.testing.assert_close(function(SRC, full, dim=0, dim_size=size), expected)
    torch.testing.assert_close(function(SRC.T, INDEX, dim=-1, dim_size=size), expected.T)
    src = SRC.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: function(s, INDEX, 0, dim_size=size), src,
                                    check_forward_ad=True, fast_mode=True)


def test_onto_an_out():
    out = torch.ones(4, 2, dtype=torch.float64)
    torch.testing.assert_close(ours.scatter_sum(SRC, INDEX, 0, out),
                               1 + by_segment(torch.sum, 0, 4))
    result, place = ours.scatter_min(SRC, INDEX, 0, out)
    torch.testing.assert_close(result, torch.minimum(out, by_segment(
        lambda part, dim: part.amin(dim), float("inf"), 4)))
    assert place[1].tolist() == [3, 6]  # 6: no entry is as small as `out`


@pytest.mark.parametrize("name", ["scatter_min", "scatter_max"])
def test_extrema_and_their_places(name):
    function, pick = getattr(ours, name), getattr(torch, name[-3:])
    result, place = function(SRC, INDEX, 0, dim_size=5)
    for k in range(5):
        rows = (INDEX == k).nonzero().flatten()
        if not len(rows):
            assert place[k].tolist() == [6, 6] and result[k].tolist() == [0, 0]
            continue
        for column in range(2):
            best = pick(SRC[rows, column])
            assert result[k, column] == best
            first = next(int(row) for row in rows if SRC[row, column] == best)
            assert place[k, column] == first
    src = (SRC + torch.arange(12.0).reshape(6, 2) / 100).requires_grad_()  # no ties
    assert torch.autograd.gradcheck(lambda s: function(s, INDEX, 0, dim_size=5)[0], src,
                                    fast_mode=True)


@pytest.mark.parametrize("dim", [0, -2])
def test_softmax(dim):
    expected = torch.empty_like(SRC)
    for k in INDEX.unique():
        expected[INDEX == k] = SRC[INDEX == k].softmax(0)
    torch.testing.assert_close(ours.scatter_softmax(SRC, INDEX, dim), expected)
    torch.testing.assert_close(ours.scatter_log_softmax(SRC, INDEX, dim), expected.log())
    src = SRC.clone().requires_grad_()
    for function in (ours.scatter_softmax, ours.scatter_log_softmax):
        assert torch.autograd.gradcheck(lambda s: function(s, INDEX, dim), src, fast_mode=True)
