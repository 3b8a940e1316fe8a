# SPDX-License-Identifier: MIT
"""The functions with torch_scatter's names, against loops over the segments."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

import sheaf.torch as ours  # noqa: E402
import sheaf.torch_scatter as scatter  # noqa: E402

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


def test_out_records_gradients():
    src = SRC.clone().requires_grad_()
    for name, expected in (("scatter_sum", 1.0), ("scatter_mean", 1 / 3)):
        out = torch.zeros(4, 2, dtype=torch.float64)
        assert getattr(ours, name)(src, INDEX, 0, out) is out
        (grad,) = torch.autograd.grad(out[3].sum(), src)
        assert torch.equal(grad, expected * (INDEX == 3).double()[:, None].expand(6, 2))
    out = torch.zeros(4, 2, dtype=torch.float64)
    ours.scatter_max(src, INDEX, 0, out)
    (grad,) = torch.autograd.grad(out.sum(), src)
    assert grad.tolist() == [[1, 0], [0, 1], [0, 0], [0, 1], [1, 0], [0, 1]], "out beats -3"


def test_of_equals_the_first_has_the_gradient():
    src = torch.tensor([2.0, 5.0, 5.0, 2.0], requires_grad=True)
    index = torch.tensor([0, 0, 0, 1])
    for function, expected in ((ours.scatter_max, [0, 1, 0, 1]), (ours.scatter_min, [1, 0, 0, 1])):
        (grad,) = torch.autograd.grad(function(src, index)[0].sum(), src)
        assert grad.tolist() == expected


def test_standard_deviation():
    for unbiased in (True, False):
        expected = by_segment(lambda part, dim: part.std(dim, unbiased=unbiased)
                              if len(part) > 1 or not unbiased else part[0] * 0, 0, 4)
        for src, index, dim in ((SRC, INDEX, 0), (SRC.T, INDEX, -1),
                                (SRC, INDEX[:, None].expand_as(SRC), 0)):
            got = ours.scatter_std(src, index, dim, unbiased=unbiased)
            torch.testing.assert_close(got if dim == 0 else got.T, expected, rtol=1e-5, atol=1e-5)


def test_logsumexp():
    src = torch.cat([SRC, torch.tensor([[float("-inf"), 1000.0]], dtype=torch.float64)])
    index = torch.cat([INDEX, torch.tensor([4])])
    expected = torch.stack([src[index == k].logsumexp(0) for k in range(5)])
    torch.testing.assert_close(ours.scatter_logsumexp(src, index, 0), expected)
    out = torch.full((5, 2), 2.0, dtype=torch.float64)
    with_out = torch.stack([torch.cat([src[index == k], out[:1]]).logsumexp(0) for k in range(5)])
    assert ours.scatter_logsumexp(src, index, 0, out) is out
    torch.testing.assert_close(out, with_out)
    src = SRC.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda s: ours.scatter_logsumexp(s, INDEX, 0, dim_size=4)[[0, 1, 3]],
                                    src, fast_mode=True)
    shifted = ours.scatter_log_softmax(torch.zeros(1), torch.tensor([0]), eps=1.0)
    torch.testing.assert_close(shifted, -torch.log(torch.tensor([2.0])))


SORTED = torch.tensor([0, 0, 1, 3, 3, 3])
BEGINS = torch.tensor([0, 2, 3, 3, 6])


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segments_by_number_and_by_beginning(reduce):
    scattered = scatter.scatter(SRC, SORTED, 0, reduce=reduce)
    for got in (scatter.segment_coo(SRC, SORTED, reduce=reduce),
                scatter.segment_csr(SRC, BEGINS, reduce=reduce),
                scatter.segment_csr(SRC.T, BEGINS.expand(2, 5), reduce=reduce).T,
                scatter.segment_coo(SRC.T, SORTED.expand(2, 6), reduce=reduce).T):
        torch.testing.assert_close(got, scattered)
    src = (SRC + torch.arange(12.0).reshape(6, 2) / 100).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: scatter.segment_csr(s, BEGINS, reduce=reduce), src,
                                    fast_mode=True)
    assert torch.autograd.gradcheck(lambda s: scatter.segment_coo(s, SORTED, reduce=reduce), src,
                                    fast_mode=True)
    out = torch.full((4, 2), 7.0, dtype=torch.float64)
    assert scatter.segment_csr(SRC, BEGINS, out, reduce) is out
    torch.testing.assert_close(out, scattered)


def test_entries_in_no_segment_are_left_out():
    begins = torch.tensor([1, 3, 5])
    expected = torch.stack([SRC[1:3].sum(0), SRC[3:5].sum(0)])
    torch.testing.assert_close(scatter.segment_csr(SRC, begins), expected)
    result, place = scatter.segment_min_csr(SRC, begins)
    assert place.tolist() == [[1, 2], [3, 3]] and torch.equal(result[0], torch.tensor([2.0, 0.0]))


def test_gathers_turn_segments_round():
    values = torch.tensor([[1.0, 2], [3, 4], [5, 6], [7, 8]], requires_grad=True)
    out = torch.empty(6, 2)
    for call, by in ((scatter.gather_coo, SORTED), (scatter.gather_csr, BEGINS)):
        got = call(values, by)
        assert torch.equal(got, values[SORTED])
        (grad,) = torch.autograd.grad(got.sum(), values)
        assert grad[:, 0].tolist() == [2, 1, 0, 3]
        assert call(values.detach(), by, out) is out and torch.equal(out, got)
        batched = values.detach().T[None].expand(3, 2, 4)
        assert torch.equal(call(batched, by.expand(3, 2, -1)), batched[:, :, SORTED])


def test_the_module_stands_in_for_torch_scatter():
    """Its own tests call the functions by these names and arguments."""
    names = {"scatter", "scatter_sum", "scatter_add", "scatter_mul", "scatter_mean", "scatter_min",
             "scatter_max", "segment_csr", "segment_sum_csr", "segment_add_csr",
             "segment_mean_csr", "segment_min_csr", "segment_max_csr", "gather_csr", "segment_coo",
             "segment_sum_coo", "segment_add_coo", "segment_mean_coo", "segment_min_coo",
             "segment_max_coo", "gather_coo", "scatter_std", "scatter_logsumexp",
             "scatter_softmax", "scatter_log_softmax"}
    assert names == set(scatter.__all__)
    got = scatter.scatter(SRC, INDEX, dim=0, dim_size=5, reduce="max")
    torch.testing.assert_close(got, ours.scatter_max(SRC, INDEX, 0, dim_size=5)[0])
    with pytest.raises(ValueError, match="unknown reduce"):
        scatter.scatter(SRC, INDEX, 0, reduce="median")


def test_onto_an_out():
    out = torch.ones(4, 2, dtype=torch.float64)
    for name, expected in (("scatter_sum", 1 + by_segment(torch.sum, 0, 4)),
                           ("scatter_mul", by_segment(torch.prod, 1, 4)),
                           ("scatter_mean", (1 + by_segment(torch.sum, 0, 4)) / torch.tensor(
                               [[2], [1], [1], [3]]))):
        written = out.clone()
        assert getattr(ours, name)(SRC, INDEX, 0, written) is written
        torch.testing.assert_close(written, expected)
    written = out.clone()
    result, place = ours.scatter_min(SRC, INDEX, 0, written)
    torch.testing.assert_close(written, torch.minimum(out, by_segment(
        lambda part, dim: part.amin(dim), float("inf"), 4)))
    assert result is written
    assert place[1].tolist() == [3, 6]  # 6: no entry is smaller than `out`
    assert place[3].tolist() == [6, 0], "an entry that equals `out` does not take its place"


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
