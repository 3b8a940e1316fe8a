# SPDX-License-Identifier: MIT
"""The raw gradients of bags, beside NumPy and PyTorch."""

import numpy as np
import pytest

import sheaf
from sheaf import _sheaf

TABLE, BAGS, ENTRIES, COLUMNS = 12, 7, 60, 5


class Case:
    def __init__(self, rng, dtype=np.float32):
        self.data = rng.normal(size=(TABLE, COLUMNS)).astype(dtype)
        self.indices = rng.integers(0, TABLE, ENTRIES)
        self.offsets = np.concatenate([[0], np.sort(rng.integers(0, ENTRIES + 1, BAGS - 1))])
        self.bag_of = np.searchsorted(self.offsets, np.arange(ENTRIES), side="right") - 1
        self.weights = rng.normal(size=ENTRIES).astype(dtype)
        self.gradient = rng.normal(size=(BAGS, COLUMNS)).astype(dtype)
        self.count = np.bincount(self.bag_of, minlength=BAGS)

    def dense(self, factors):
        """By plain loops, one rounding at a time."""
        table = np.zeros_like(self.data)
        for entry, row in enumerate(self.indices):
            table[row] += self.gradient[self.bag_of[entry]] * factors[entry]
        return table


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("pool", ["sum", "mean", "sqrtn"])
def test_tables_and_rows(rng, pool, weighted, dtype):
    case = Case(rng, dtype)
    weights = case.weights if weighted else None
    divisor = {"sum": np.ones(BAGS), "mean": case.count, "sqrtn": np.sqrt(case.count)}[pool]
    factors = (case.weights if weighted else np.ones(ENTRIES, dtype)) / divisor[case.bag_of]
    expected = case.dense(factors.astype(dtype))
    arguments = (case.gradient, None, case.indices, case.offsets, weights)
    dense = _sheaf.bag_gradient_dense(*arguments, None, extent=TABLE, pool=pool)
    np.testing.assert_array_equal(dense, expected)
    rows, values = _sheaf.bag_gradient_rows(*arguments, extent=TABLE, pool=pool)
    np.testing.assert_array_equal(rows, np.unique(case.indices))
    np.testing.assert_array_equal(values, expected[rows])
    before = rng.normal(size=case.data.shape).astype(dtype)
    out = before.copy()
    assert _sheaf.bag_gradient_dense(*arguments, out, extent=TABLE, pool=pool) is out
    np.testing.assert_array_equal(out, np.where(np.isin(np.arange(TABLE), rows)[:, None],
                                                before + expected, before))


def test_largest_and_weights(rng):
    case = Case(rng)
    expected = np.zeros_like(case.data)
    for bag in range(BAGS):
        entries = np.flatnonzero(case.bag_of == bag)
        if len(entries):
            best = case.indices[entries][case.data[case.indices[entries]].argmax(0)]
            expected[best, np.arange(COLUMNS)] += case.gradient[bag]
    got = _sheaf.bag_gradient_dense(case.gradient, case.data, case.indices, case.offsets, None,
                                    None, pool="max")
    np.testing.assert_array_equal(got, expected)
    got = _sheaf.bag_gradient_weights(case.gradient, case.data, case.indices, case.offsets,
                                      case.weights)
    products = case.gradient[case.bag_of] * case.data[case.indices]
    np.testing.assert_array_equal(got, np.add.accumulate(products, axis=1)[:, -1])


def test_every_form_of_segments(rng):
    case = Case(rng)
    expected = case.dense(np.ones(ENTRIES, np.float32))
    for segments, keywords in [
            (np.append(case.offsets, ENTRIES), {"last_offset": True}),
            (case.count, {"form": "lengths"}),
            (case.bag_of, {"form": "ids", "bags": BAGS})]:
        got = _sheaf.bag_gradient_dense(case.gradient, None, case.indices, segments, None, None,
                                        extent=TABLE, **keywords)
        np.testing.assert_array_equal(got, expected)
    matrix = case.indices[:56].reshape(BAGS, 8)
    got = _sheaf.bag_gradient_rows(case.gradient, None, matrix, None, None, extent=TABLE,
                                   padding_index=3)
    np.testing.assert_array_equal(got[0], np.setdiff1d(matrix, [3]))


@pytest.mark.parametrize("change, error, text", [
    ({"pool": "median"}, sheaf.ArgumentError, "unknown pool"),
    ({"pool": "mul"}, sheaf.ArgumentError, "no gradient of this pool"),
    ({"out_of_range": "explode"}, sheaf.ArgumentError, "unknown out_of_range"),
    ({"accumulate": "f64"}, sheaf.ArgumentError, "unknown accumulate"),
    ({"extent": -1}, sheaf.ArgumentError, "how many rows has the table"),
    ({"extent": 2}, sheaf.IndexError, "index out of range"),
    ({"form": "lengths"}, sheaf.ArgumentError, "segments do not fit"),
])
def test_refusals(rng, change, error, text):
    case = Case(rng)
    with pytest.raises(error, match=text):
        _sheaf.bag_gradient_rows(case.gradient, None, case.indices, case.offsets, None,
                                 **{"extent": TABLE, **change})


# PyTorch's sort keeps the order of equal indices up to 16 of them; then its steps are these.
@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("pool", ["sum", "mean"])
def test_bits_of_torch(pool, name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    random = torch.Generator().manual_seed(5)
    for _ in range(20):
        table = torch.randn(6, 9, generator=random, dtype=torch.float64).to(dtype).requires_grad_()
        indices = torch.randint(0, 6, (16,), generator=random)
        offsets = torch.tensor([0, 3, 3, 9])
        gradient = torch.randn(4, 9, generator=random, dtype=torch.float64).to(dtype)
        torch.nn.functional.embedding_bag(indices, table, offsets, mode=pool,
                                          sparse=True).backward(gradient)
        rows, values = _sheaf.bag_gradient_rows(gradient, None, indices, offsets, None, extent=6,
                                                pool=pool, accumulate="")
        expected = table.grad.coalesce()
        assert torch.equal(rows, expected.indices()[0])
        assert torch.equal(values, expected.values())
