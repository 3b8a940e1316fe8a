# SPDX-License-Identifier: MIT
"""Bags of PyTorch tensors: sheaf.bag, sheaf.torch.embedding_bag, embedding and EmbeddingBag."""

import itertools

import bag_oracle
import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

import sheaf  # noqa: E402
import sheaf.torch as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
functional = torch.nn.functional


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def some_bags(entries=40, bags=9, rows=20):
    indices = torch.randint(0, rows, (entries,))
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64),
                         torch.randint(0, entries + 1, (bags - 1,)).sort().values])
    return indices, offsets


# ---- sheaf.bag


def test_tensors_give_tensors():
    table, (indices, offsets) = torch.randn(20, 6), some_bags()
    result = sheaf.bag(table, indices, offsets, pool="sqrtn")
    assert isinstance(result, torch.Tensor)
    numpy.testing.assert_array_equal(
        result.numpy(),
        bag_oracle.bag(table.numpy(), indices.numpy(), offsets.numpy(), pool="sqrtn"))
    out = torch.empty(9, 6)
    assert sheaf.bag(table, indices, offsets, pool="sqrtn", out=out) is out
    assert torch.equal(out, result)
    assert torch.equal(sheaf.bag(table, indices.tolist(), offsets.tolist(), pool="sqrtn"), result)
    half = sheaf.bag(table.half(), indices, offsets, dtype=torch.float32)
    assert half.dtype == torch.float32
    assert torch.equal(half, sheaf.bag(table.half().float(), indices, offsets))


def test_out_and_gradients_do_not_go_together():
    table = torch.randn(20, 6, requires_grad=True)
    with pytest.raises(sheaf.ArgumentError, match="out does not go with gradients"):
        sheaf.bag(table, torch.zeros(2, 2, dtype=torch.int64), out=torch.empty(2, 6))


def test_refusals_are_those_of_arrays():
    table, (indices, offsets) = torch.randn(20, 6), some_bags()
    with pytest.raises(sheaf.IndexError):
        sheaf.bag(table, indices + 20, offsets)
    with pytest.raises(sheaf.ArgumentError, match="segments do not fit"):
        sheaf.bag(table, indices, offsets + 1)
    with pytest.raises(sheaf.IndexDTypeError):
        sheaf.bag(table, indices.float(), offsets)
    with pytest.raises(RuntimeError, match="tensors on different devices: cpu, meta"):
        sheaf.bag(table, torch.zeros(2, 2, dtype=torch.int64, device="meta"))


CASES = [{"pool": pool, **more} for pool in ("sum", "mean", "sqrtn", "max", "min", "mul")
         for more in ({}, {"padding_index": 3}, {"out_of_range": "skip"},
                      {"out_of_range": "fill", "fill_value": 0.5}, {"out_of_range": "clamp"},
                      {"out_of_range": "wrap"})]


@pytest.mark.parametrize("case", CASES, ids=lambda case: " ".join(map(str, case.values())))
@pytest.mark.parametrize("weighted", [False, True])
def test_gradients(case, weighted):
    reach = 6 if case.get("out_of_range", "fail") == "fail" else 9
    indices = torch.randint(-reach, reach, (11,))
    offsets = torch.tensor([0, 4, 4, 9])
    table = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(11, dtype=torch.float64, requires_grad=True) if weighted else None
    inputs = (table,) if weights is None else (table, weights)

    def call(table, weights=None):
        return sheaf.bag(table, indices, offsets, weights=weights, **case)

    assert torch.autograd.gradcheck(call, inputs, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, inputs, check_fwd_over_rev=True, fast_mode=True)


@pytest.mark.parametrize("form", ["offsets", "last", "lengths", "ids", "matrix", "in order"])
def test_gradients_of_all_segments(form):
    table = torch.randn(8, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(8, dtype=torch.float64, requires_grad=True)
    indices = torch.randint(0, 8, (8,))
    keywords = {"offsets": {"offsets": torch.tensor([0, 3, 3])},
                "last": {"offsets": torch.tensor([0, 3, 6]), "last_offset": True},
                "lengths": {"lengths": torch.tensor([3, 0, 5])},
                "ids": {"ids": torch.tensor([0, 0, 0, 2, 2, 2, 2, 4]), "bags": 6},
                "matrix": {}, "in order": {"offsets": torch.tensor([0, 3, 3])}}[form]
    if form == "matrix":
        indices, shape = indices.reshape(2, 4), (2, 4)
    else:
        indices, shape = None if form == "in order" else indices, (8,)

    def call(table, weights):
        return sheaf.bag(table, indices, weights=weights.reshape(shape), pool="mean", **keywords)

    assert torch.autograd.gradcheck(call, (table, weights), check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(call, (table, weights), fast_mode=True)


def test_the_first_maximum_has_the_gradient():
    table = torch.tensor([[1.0], [2.0], [2.0], [0.0]], requires_grad=True)
    sheaf.bag(table, torch.tensor([[0, 2, 1], [3, 3, 3]]), pool="max").sum().backward()
    assert table.grad.flatten().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("pool", ["sum", "max"])
def test_vmap(pool):
    tables = torch.randn(3, 10, 4)
    indices, offsets = some_bags(12, 4, 10)
    many = torch.randint(0, 10, (3, 5, 2))
    weights = torch.randn(3, 12)

    def same(got, one, count=3):
        assert torch.equal(got, torch.stack([one(i) for i in range(count)]))

    same(torch.vmap(lambda t: sheaf.bag(t, indices, offsets, pool=pool))(tables),
         lambda i: sheaf.bag(tables[i], indices, offsets, pool=pool))
    same(torch.vmap(lambda t: sheaf.bag(t, indices, offsets, pool=pool), in_dims=2)(
        tables.movedim(0, 2)), lambda i: sheaf.bag(tables[i], indices, offsets, pool=pool))
    same(torch.vmap(lambda m: sheaf.bag(tables[0], m, pool=pool))(many),
         lambda i: sheaf.bag(tables[0], many[i], pool=pool))
    same(torch.vmap(lambda t, w: sheaf.bag(t, indices, offsets, weights=w, pool=pool))(
        tables, weights),
        lambda i: sheaf.bag(tables[i], indices, offsets, weights=weights[i], pool=pool))


def test_transforms():
    indices, offsets = some_bags(12, 4, 10)
    table = torch.randn(10, 4, dtype=torch.float64)
    for pool in ("mean", "max"):
        def call(t):
            return sheaf.bag(t, indices, offsets, pool=pool)
        torch.testing.assert_close(torch.func.jacfwd(call)(table), torch.func.jacrev(call)(table))


def test_compile():
    indices, offsets = some_bags()
    table = torch.randn(20, 6, requires_grad=True)
    weights = torch.randn(40, requires_grad=True)

    def call(table, indices, offsets, weights):
        return sheaf.bag(table * 1, indices, offsets, weights=weights, pool="mean") * 2

    torch._dynamo.reset()
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    expected, got = call(table, indices, offsets, weights), compiled(table, indices, offsets, weights)
    assert torch.equal(got, expected)
    for a, b in zip(torch.autograd.grad(got.sum(), (table, weights)),
                    torch.autograd.grad(expected.sum(), (table, weights))):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("pool", ["sum", "max"])
def test_opcheck(pool):
    indices, offsets = some_bags(12, 4, 10)
    table = torch.randn(10, 4, requires_grad=True)
    weights = torch.randn(12, requires_grad=True) if pool == "sum" else None
    torch.library.opcheck(torch.ops.sheaf.bag.default, (table, indices, offsets, weights, pool))
    torch.library.opcheck(torch.ops.sheaf._bag_gradient.default,
                          (torch.randn(4, 4, requires_grad=True), table.detach(), indices, offsets,
                           None, 10, pool))


# ---- PyTorch's names


def both(input, weight, *arguments, **keywords):
    mine = ours.embedding_bag(input, weight, *arguments, **keywords)
    theirs = functional.embedding_bag(input, weight, *arguments, **keywords)
    assert mine.shape == theirs.shape and mine.dtype == theirs.dtype
    torch.testing.assert_close(mine, theirs)
    return mine, theirs


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embedding_bag(mode):
    weight, (input, offsets) = torch.randn(20, 6), some_bags()
    both(input, weight, offsets, mode=mode)
    both(input, weight, offsets, mode=mode, padding_idx=3)
    both(input, weight, offsets, mode=mode, padding_idx=-3)
    both(input.reshape(8, 5), weight, mode=mode)
    both(input.int(), weight, offsets.int(), mode=mode)
    both(input, weight, torch.cat([offsets, torch.tensor([40])]), mode=mode,
         include_last_offset=True)
    both(input.reshape(8, 5), weight.double(), mode=mode)


def test_embedding_bag_of_narrow_floats():
    weight, (input, offsets) = torch.randn(20, 6), some_bags()
    for dtype in (torch.float16, torch.bfloat16):
        both(input, weight.to(dtype), offsets, mode="sum")


def test_per_sample_weights():
    weight, (input, offsets) = torch.randn(20, 6, requires_grad=True), some_bags()
    samples = torch.randn(40, requires_grad=True)
    mine, theirs = both(input, weight, offsets, mode="sum", per_sample_weights=samples)
    gradient = torch.randn_like(mine)
    for a, b in zip(torch.autograd.grad(mine, (weight, samples), gradient),
                    torch.autograd.grad(theirs, (weight, samples), gradient)):
        torch.testing.assert_close(a, b)


def divides_by_frequency():
    """Row 1 is read three times, row 2 once."""
    weight = torch.zeros(3, 1, requires_grad=True)
    functional.embedding_bag(torch.tensor([1, 2, 1, 1]), weight, torch.tensor([0, 2]), mode="sum",
                             scale_grad_by_freq=True).sum().backward()
    return weight.grad.flatten().tolist() == [0, 1, 1]


@pytest.mark.parametrize("mode, keywords", [
    ("sum", {}), ("mean", {}), ("max", {}), ("sum", {"padding_idx": 2}),
    ("mean", {"padding_idx": 2}), ("max", {"padding_idx": 2}),
    ("sum", {"scale_grad_by_freq": True}), ("mean", {"scale_grad_by_freq": True})])
def test_gradients_are_pytorchs(mode, keywords):
    if keywords == {"scale_grad_by_freq": True} and not divides_by_frequency():
        pytest.skip("this PyTorch divides by the frequencies of other rows (2.6)")
    weight, (input, offsets) = torch.randn(20, 6, requires_grad=True), some_bags()
    mine, theirs = both(input, weight, offsets, mode=mode, **keywords)
    gradient = torch.randn_like(mine)
    torch.testing.assert_close(torch.autograd.grad(mine, weight, gradient)[0],
                               torch.autograd.grad(theirs, weight, gradient)[0])


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_sparse_gradients(mode):
    weight, (input, offsets) = torch.randn(20, 6, requires_grad=True), some_bags()
    mine, theirs = both(input, weight, offsets, mode=mode, sparse=True, padding_idx=2)
    gradient = torch.randn_like(mine)
    got, = torch.autograd.grad(mine, weight, gradient)
    expected, = torch.autograd.grad(theirs, weight, gradient)
    assert got.is_sparse and got.is_coalesced()
    assert torch.equal(got.indices()[0], input[input != 2].unique())
    torch.testing.assert_close(got.to_dense(), expected.to_dense())
    bag = ours.EmbeddingBag(20, 6, mode=mode, sparse=True)
    optimizer = torch.optim.SparseAdam(bag.parameters())
    bag(input, offsets).sum().backward()
    optimizer.step()


def test_sparse_gradients_of_samples():
    weight, (input, offsets) = torch.randn(20, 6, requires_grad=True), some_bags()
    samples = torch.randn(40, requires_grad=True)
    mine, theirs = both(input, weight, offsets, mode="sum", sparse=True,
                        per_sample_weights=samples)
    gradient = torch.randn_like(mine)
    got, of_samples = torch.autograd.grad(mine, (weight, samples), gradient)
    expected, theirs_of_samples = torch.autograd.grad(theirs, (weight, samples), gradient)
    torch.testing.assert_close(got.to_dense(), expected.to_dense())
    torch.testing.assert_close(of_samples, theirs_of_samples)


def test_max_norm_changes_the_table():
    weight, (input, offsets) = torch.randn(20, 6), some_bags()
    mine, theirs = weight.clone(), weight.clone()
    torch.testing.assert_close(ours.embedding_bag(input, mine, offsets, max_norm=1.0),
                               functional.embedding_bag(input, theirs, offsets, max_norm=1.0))
    assert torch.equal(mine, theirs) and not torch.equal(mine, weight)


@pytest.mark.parametrize("bad", [
    {"mode": "median"}, {"mode": "max", "sparse": True}, {"mode": "max", "scale_grad_by_freq": True},
    {"offsets": None}, {"offsets": torch.zeros(1, 1, dtype=torch.int64)}, {"padding_idx": 20},
    {"mode": "sum", "per_sample_weights": torch.ones(3)},
    {"mode": "mean", "per_sample_weights": torch.ones(40)}, {"offsets": torch.tensor([1, 2])}],
    ids=lambda bad: " ".join(bad))
def test_what_pytorch_refuses_is_refused(bad):
    weight, (input, offsets) = torch.randn(20, 6), some_bags()
    arguments = {"offsets": offsets, **bad}
    with pytest.raises(Exception) as theirs:
        functional.embedding_bag(input, weight, **arguments)
    with pytest.raises(sheaf.Error) as mine:
        ours.embedding_bag(input, weight, **arguments)
    kinds = (ValueError, RuntimeError, NotImplementedError, AssertionError)
    assert isinstance(theirs.value, kinds)


def test_the_module(tmp_path):
    torch.manual_seed(1)
    theirs = torch.nn.EmbeddingBag(20, 6, mode="sum", padding_idx=4)
    mine = ours.EmbeddingBag(20, 6, mode="sum", padding_idx=4)
    mine.load_state_dict(theirs.state_dict())
    input, offsets = some_bags()
    torch.testing.assert_close(mine(input, offsets), theirs(input, offsets))
    assert repr(mine) == repr(theirs)
    frozen = ours.EmbeddingBag.from_pretrained(torch.randn(20, 6), mode="max")
    assert isinstance(frozen, ours.EmbeddingBag) and not frozen.weight.requires_grad
    assert frozen(input, offsets).shape == (9, 6)


# ---- embedding


def test_sparse_embedding():
    weight = torch.randn(20, 6, requires_grad=True)
    input = torch.randint(0, 20, (3, 5))
    for keywords in ({"sparse": True}, {"sparse": True, "padding_idx": 4},
                     {"scale_grad_by_freq": True}):
        mine = ours.embedding(input, weight, **keywords)
        theirs = functional.embedding(input, weight, **keywords)
        assert torch.equal(mine, theirs)
        gradient = torch.randn_like(mine)
        got, = torch.autograd.grad(mine, weight, gradient)
        expected, = torch.autograd.grad(theirs, weight, gradient)
        assert got.is_sparse == expected.is_sparse
        torch.testing.assert_close(got.to_dense() if got.is_sparse else got,
                                   expected.to_dense() if got.is_sparse else expected)


def prepacked(name, weight):
    try:
        return getattr(torch.ops.quantized, name)(weight)
    except RuntimeError as error:
        pytest.skip(f"this PyTorch has no {name}: {error}")


@pytest.mark.parametrize("prepack, encoding, unpack", [
    ("embedding_bag_byte_prepack", "row_u8_f32", "embedding_bag_byte_unpack"),
    ("embedding_bag_4bit_prepack", "row_u4_f16", "embedding_bag_4bit_unpack"),
    ("embedding_bag_2bit_prepack", "row_u2_f16", "embedding_bag_2bit_unpack")])
def test_quantised_tables(prepack, encoding, unpack):
    packed = prepacked(prepack, torch.randn(20, 16))
    decoded = prepacked(unpack, packed)
    input, offsets = some_bags()
    rows = ours.embedding(input, packed, encoding=encoding)
    torch.testing.assert_close(rows, decoded[input])
    table = sheaf.encoded_rows(encoding, packed)
    assert torch.equal(ours.embedding(input, table), rows)
    half = ours.embedding(input, table, dtype=torch.bfloat16)
    assert half.dtype == torch.bfloat16 and torch.equal(half, rows.bfloat16())
    for mode in ("sum", "mean", "max"):
        torch.testing.assert_close(
            ours.embedding_bag(input, packed, offsets, mode=mode, encoding=encoding),
            functional.embedding_bag(input, decoded, offsets, mode=mode))
    samples = torch.randn(40)
    assert torch.equal(
        ours.embedding_bag(input, table, offsets, mode="sum", per_sample_weights=samples),
        sheaf.bag(rows, torch.arange(40), offsets, weights=samples))


def test_quantised_tables_compile():
    packed = prepacked("embedding_bag_byte_prepack", torch.randn(20, 16))
    input, offsets = some_bags()

    def call(packed, input, offsets):
        rows = ours.embedding(input, packed, encoding="row_u8_f32")
        return rows.sum(), ours.embedding_bag(input, packed, offsets, encoding="row_u8_f32")

    torch._dynamo.reset()
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    for a, b in zip(compiled(packed, input, offsets), call(packed, input, offsets)):
        assert torch.equal(a, b)


def test_quantised_tables_are_not_trained():
    table = sheaf.encoded_rows("row_u8_f32", torch.zeros(4, 12, dtype=torch.uint8))
    input = torch.zeros(1, 2, dtype=torch.int64)
    for keywords in ({"sparse": True}, {"max_norm": 1.0}, {"scale_grad_by_freq": True}):
        with pytest.raises(sheaf.UnsupportedError, match="weight is encoded"):
            ours.embedding_bag(input, table, **keywords)
        with pytest.raises(sheaf.UnsupportedError, match="weight is encoded"):
            ours.embedding(input, table, **keywords)
    with pytest.raises(sheaf.UnsupportedError, match="gradients of weights"):
        sheaf.bag(table, input, weights=torch.ones(1, 2, requires_grad=True))
    with pytest.raises(sheaf.ArgumentError, match="embedding: dtype with a plain table"):
        ours.embedding(input, torch.ones(3, 3), dtype=torch.float16)


def test_sums_are_in_order():
    """Where PyTorch adds up in another order, bits may differ; ours are those of a loop."""
    weight = torch.randn(50, 33) * 10.0 ** torch.randint(-4, 4, (50, 1))
    input = torch.randint(0, 50, (7, 64))
    expected = weight[input[:, 0]]
    for k in range(1, 64):
        expected = expected + weight[input[:, k]]
    assert torch.equal(ours.embedding_bag(input, weight, mode="sum"), expected)
    for threads, width in itertools.product((1, 2), (1, 33)):
        got = sheaf.bag(weight[:, :width].contiguous(), input, threads=threads)
        assert torch.equal(got, expected[:, :width])
