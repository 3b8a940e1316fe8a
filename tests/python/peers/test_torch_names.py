# SPDX-License-Identifier: MIT
"""The functions of sheaf.torch beside PyTorch's of the same names, where PyTorch's database of samples
does not look: sums of narrow floats, what is refused, forms in place, torch.compile."""

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
from torch import func  # noqa: E402

import sheaf  # noqa: E402
import sheaf.torch as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

# ---- Sums of narrow floats: 1000 times 1.01, which lost half of its value in steps of bfloat16

COUNT = 1000
INDEX = torch.zeros(COUNT, dtype=torch.int64)
NARROW = [torch.bfloat16, torch.float16]


def many(dtype):
    return torch.full((COUNT,), 1.01, dtype=dtype)


def wide_sum(dtype):
    return many(dtype).float().sum().to(dtype)


SUMS = {
    "index_add": lambda z, u: ours.index_add(z, 0, INDEX, u),
    "scatter_add": lambda z, u: ours.scatter_add(z, 0, INDEX, u),
    "scatter_reduce": lambda z, u: ours.scatter_reduce(z, 0, INDEX, u, "sum"),
    "index_put": lambda z, u: ours.index_put(z, (INDEX,), u, accumulate=True),
    "put": lambda z, u: ours.put(z, INDEX, u, accumulate=True),
    "scatter_sum": lambda z, u: ours.scatter_sum(u, INDEX),
    "index_add_": lambda z, u: ours.index_add_(z.clone(), 0, INDEX, u),
    "index_add, out=": lambda z, u: ours.index_add(z, 0, INDEX, u, out=torch.empty_like(z)),
}
MEANS = {
    "scatter_reduce": lambda z, u: ours.scatter_reduce(z, 0, INDEX, u, "mean", include_self=False),
    "index_reduce": lambda z, u: ours.index_reduce(z, 0, INDEX, u, "mean", include_self=False),
    "scatter_mean": lambda z, u: ours.scatter_mean(u, INDEX),
}
GATHERS = {
    "index_select": lambda w: ours.index_select(w, 0, INDEX),
    "gather": lambda w: ours.gather(w, 0, INDEX),
    "take": lambda w: ours.take(w, INDEX),
    "embedding": lambda w: ours.embedding(INDEX, w[:, None])[:, 0],
    "sheaf.gather": lambda w: sheaf.gather(w, INDEX),
    "sheaf.gather_nd": lambda w: sheaf.gather_nd(w, INDEX[:, None]),
}


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", SUMS)
def test_sums_are_accumulated_in_f32(name, dtype):
    zeros, updates = torch.zeros(1, dtype=dtype), many(dtype)
    assert SUMS[name](zeros, updates).item() == wide_sum(dtype)
    if not name.endswith(("_", "=")):
        recorded = SUMS[name](zeros, updates.requires_grad_())
        assert recorded.item() == wide_sum(dtype)
        (grad,) = torch.autograd.grad(recorded, updates)
        assert torch.equal(grad, torch.ones_like(updates))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", MEANS)
def test_means_are_accumulated_in_f32(name, dtype):
    updates = many(dtype).requires_grad_()
    result = MEANS[name](torch.zeros(1, dtype=dtype), updates)
    assert result.item() == updates[0].item()
    (grad,) = torch.autograd.grad(result, updates)
    assert torch.equal(grad, torch.full_like(updates, 1 / COUNT))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", GATHERS)
def test_gradients_are_accumulated_in_f32(name, dtype):
    weight = torch.zeros(1, dtype=dtype, requires_grad=True)
    (grad,) = torch.autograd.grad(GATHERS[name](weight), weight, many(dtype))
    assert grad.item() == wide_sum(dtype)
    batched = func.vmap(lambda g: torch.autograd.grad(GATHERS[name](weight), weight, g)[0])(
        torch.stack([many(dtype), -many(dtype)])) if name != "embedding" else None
    assert batched is None or batched.flatten().tolist() == [wide_sum(dtype), -wide_sum(dtype)]

    def loss(w):
        return (GATHERS[name](w) * many(dtype)).sum()

    torch._dynamo.reset()
    compiled = torch.compile(func.grad(loss), backend="aot_eager", fullgraph=True)
    assert compiled(weight.detach()).item() == wide_sum(dtype)


def test_operators_accumulate_where_it_makes_a_difference():
    add = (0, 0, "add", True, "fail", "from_end")
    for dtype in (torch.int64, torch.float64, torch.bfloat16):
        zeros, ones = torch.zeros(2, dtype=dtype), torch.ones(COUNT, dtype=dtype)
        got = torch.ops.sheaf.scatter(zeros, INDEX, ones, *add, "f32")
        assert got.tolist() == [COUNT, 0]
        torch.library.opcheck(torch.ops.sheaf.scatter.default, (zeros, INDEX, ones, *add, "f32"))
    assert torch.ops.sheaf.scatter(zeros, INDEX, ones, *add).tolist() == [256, 0]
    with pytest.raises(sheaf.ArgumentError, match="unknown accumulate"):
        torch.ops.sheaf.scatter(zeros, INDEX, ones, *add, "f64")


# ---- What is refused

X, IDS = torch.zeros(3, 2), torch.tensor([0, 2])
REFUSED = {
    "index_add": lambda m, s: m.index_add(X, 0, IDS, s),
    "index_copy": lambda m, s: m.index_copy(X, 0, IDS, s),
    "index_reduce": lambda m, s: m.index_reduce(X, 0, IDS, s, "amax"),
}
SOURCES = [torch.tensor([1.0, 2.0]), torch.ones(1, 2), torch.ones(2, 1), torch.ones(2, 2).double(),
           torch.ones(3, 2), torch.ones(1, 2, 2), torch.tensor(1.0)]


@pytest.mark.parametrize("source", SOURCES, ids=lambda s: f"{s.dtype}{list(s.shape)}")
@pytest.mark.parametrize("name", REFUSED)
def test_slices_are_neither_broadcast_nor_cast(name, source):
    with pytest.raises(Exception):
        REFUSED[name](torch, source)
    with pytest.raises(sheaf.Error):
        REFUSED[name](ours, source)


def test_the_text_of_a_refusal():
    with pytest.raises(ours.IndexShapeError) as caught:
        ours.index_add(X, 0, IDS, torch.tensor([1.0, 2.0]))
    assert str(caught.value) == (
        "index_add: source does not fit\n"
        "  source has shape [2], but 2 entries of dimension 0 of input, [3, 2], take [2, 2]\n"
        "  try: a source of shape [2, 2]")
    with pytest.raises(sheaf.DTypeError) as caught:
        ours.index_add(X, 0, IDS, torch.ones(2, 2).double())
    assert str(caught.value) == (
        "index_add: types differ\n"
        "  source is torch.float64, but input is torch.float32\n"
        "  try: source.to(input.dtype)")


NOTHING = torch.zeros(0, dtype=torch.int64)
ODD = {
    "index_select of a number": lambda m: m.index_select(torch.tensor(1.0), 0, IDS),
    "index_select of a number, no index": lambda m: m.index_select(torch.tensor(1.0), 0, NOTHING),
    "gather, empty": lambda m: m.gather(X, 5, NOTHING),
    "gather, empty, negative": lambda m: m.gather(X, -3, NOTHING),
    "scatter, empty": lambda m: m.scatter(X, 5, NOTHING, X),
    "scatter_add, empty": lambda m: m.scatter_add(X, 5, NOTHING, X),
    "scatter_reduce, empty": lambda m: m.scatter_reduce(X, 5, NOTHING, X, "sum"),
    "index_add, empty": lambda m: m.index_add(X, 5, NOTHING, X[:0]),
    "index_copy, empty": lambda m: m.index_copy(X, 5, NOTHING, X[:0]),
    "index_fill, empty": lambda m: m.index_fill(X, 5, NOTHING, 1),
    "take_along_dim": lambda m: m.take_along_dim(X, torch.zeros(3, 1).long(), 7),
}


@pytest.mark.parametrize("name", ODD)
def test_what_pytorch_refuses_of_nothing(name):
    with pytest.raises(Exception) as theirs:
        ODD[name](torch)
    with pytest.raises(type(theirs.value)) as caught:
        ODD[name](ours)
    assert isinstance(caught.value, sheaf.Error)


def test_errors_are_those_of_pytorch_too():
    beyond = torch.tensor([5])
    for call in (lambda: ours.index_select(X, 0, beyond), lambda: ours.embedding(beyond, X),
                 lambda: ours.index_add(X, 0, beyond, X[:1]), lambda: sheaf.gather(X, beyond),
                 lambda: ours.gather(X, 0, beyond[:, None]), lambda: ours.take(X, beyond + 5)):
        for kind in (sheaf.IndexError, IndexError, RuntimeError):
            with pytest.raises(kind):
                call()
    assert all(issubclass(getattr(sheaf, name), RuntimeError) for name in sheaf.__all__
               if name.endswith("Error"))


# ---- Masks


@pytest.mark.parametrize("accumulate", [False, True])
def test_bytes_are_a_mask(accumulate):
    x, mask = torch.arange(6.0).reshape(2, 3), torch.tensor([1, 0], dtype=torch.uint8)
    args = ((mask,), torch.tensor([7.0, 8, 9]), accumulate)
    assert torch.equal(ours.index_put(x, *args), torch.index_put(x, *args))
    wide = torch.tensor([[0, 1, 1], [1, 0, 0]], dtype=torch.uint8)
    args = ((wide,), torch.tensor([7.0, 8, 9]), accumulate)
    assert torch.equal(ours.index_put(x, *args), torch.index_put(x, *args))
    for bad in (torch.tensor([1, 0, 1]).byte(), torch.ones(2, 2).byte()):
        with pytest.raises(IndexError):
            torch.index_put(x, (bad,), torch.tensor(1.0))
        with pytest.raises(ours.IndexShapeError, match="a mask does not fit"):
            ours.index_put(x, (bad,), torch.tensor(1.0))


@pytest.mark.parametrize("places", [(1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)])
def test_index_put_with_whole_dimensions(places):
    x, ids = torch.arange(60.0).reshape(3, 4, 5), torch.tensor([[2, 0, 1], [0, 0, 1]])
    indices = tuple(ids if d in places else None for d in range(3))
    like = torch.ops.aten.index.Tensor(x, list(indices))
    values = torch.arange(1.0, like.numel() + 1).reshape(like.shape)
    expected = torch.ops.aten.index_put.default(x, list(indices), values, True)
    assert torch.equal(ours.index_put(x, indices, values, True), expected)
    mine = x.clone()
    assert ours.index_put_(mine, indices, values, True) is mine
    assert torch.equal(mine, expected)


# ---- In place

V = torch.tensor([[1.0, 2], [3, 4]])
IN_PLACE = {
    "index_add_": (0, IDS, V), "index_copy_": (0, IDS, V), "index_fill_": (0, IDS, 7.0),
    "index_reduce_": (0, IDS, V, "amax"), "scatter_": (0, IDS[:, None], V),
    "scatter_add_": (0, IDS[:, None], V), "scatter_reduce_": (0, IDS[:, None], V, "mean"),
    "index_put_": ((IDS,), V), "put_": (IDS, torch.tensor([8.0, 9])),
    "masked_scatter_": (torch.tensor([[True, False], [False, False], [True, True]]), V),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    for start in (X.clone(), torch.zeros(2, 3).T, torch.zeros(3, 4)[:, ::2]):
        theirs, mine = start.clone(memory_format=torch.preserve_format), start
        version = mine._version
        assert getattr(ours, name)(mine, *IN_PLACE[name]) is mine
        assert mine._version > version
        getattr(theirs, name)(*IN_PLACE[name])
        assert torch.equal(mine, theirs)

    def change(module, x, *more):
        x = x * 1
        result = getattr(module, name)(x, *more) if module is ours else getattr(x, name)(*more)
        return result * x

    leaf = (X + torch.arange(6.0).reshape(3, 2)).requires_grad_()
    got, expected = change(ours, leaf, *IN_PLACE[name]), change(torch, leaf, *IN_PLACE[name])
    assert torch.equal(got, expected)
    torch.testing.assert_close(torch.autograd.grad(got.sum(), leaf),
                               torch.autograd.grad(expected.sum(), leaf))
    if name == "masked_scatter_":
        return  # its shapes depend on the mask's values
    torch._dynamo.reset()
    compiled = torch.compile(change, backend="aot_eager", fullgraph=True)
    assert torch.equal(compiled(ours, X + 1, *IN_PLACE[name]), change(ours, X + 1, *IN_PLACE[name]))


# ---- Small things


@pytest.mark.parametrize("name", ["gather", "take_along_dim"])
def test_jacobians_of_empty_gathers(name):
    x = torch.randn(3, 2, dtype=torch.float64)
    call = (lambda m: lambda x: m.gather(x, 0, torch.zeros(0, 2).long())) if name == "gather" else (
        lambda m: lambda x: m.take_along_dim(x, torch.zeros(3, 0).long(), 1))
    for transform in (func.jacrev, func.jacfwd, func.vmap):
        got, expected = (transform(call(m))(x[None] if transform is func.vmap else x)
                         for m in (ours, torch))
        assert torch.equal(got, expected) and got.shape == expected.shape


@pytest.mark.parametrize("reduce", ["min", "max"])
def test_scatter_reduce_takes_short_names(reduce):
    index, src = torch.tensor([0, 0, 1]), torch.tensor([3.0, -1, 2])
    assert torch.equal(ours.scatter_reduce(X[:, 0], 0, index, src, reduce),
                       torch.scatter_reduce(X[:, 0], 0, index, src, reduce))


def test_out_is_compiled():
    def step(x, index, out):
        ours.index_select(x, 0, index, out=out)
        ours.scatter_add(x, 0, index[:, None], out, out=x)
        return out * 2

    torch._dynamo.reset()
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    results = []
    for call in (step, compiled):
        x, out = torch.arange(6.0).reshape(3, 2), torch.zeros(2, 2)
        results.append((call(x, IDS, out), x, out))
    assert all(torch.equal(a, b) for a, b in zip(*results))
    assert results[0][2].tolist() == [[0, 1], [4, 5]]


def test_put_along_axis_is_compiled():
    def step(x, index):
        sheaf.put_along_axis(x, index, 9.0, 1)
        return x * 2

    torch._dynamo.reset()
    compiled = torch.compile(step, backend="aot_eager", fullgraph=True)
    x, index = torch.zeros(3, 2), torch.tensor([[0], [1], [0]])
    assert compiled(x, index).tolist() == [[18, 0], [0, 18], [18, 0]]
    assert x.tolist() == [[9, 0], [0, 9], [9, 0]]


def test_add_at_with_masks_and_slices():
    for where in (torch.tensor([True, False, True]), slice(1, None), (slice(None), 1), ...,
                  (torch.tensor([0, 0]), torch.tensor([1, 1])), torch.tensor([0, 0])):
        x, expected = torch.zeros(3, 2), torch.zeros(3, 2).numpy()
        sheaf.add_at(x, where, 1.5)
        as_numpy = tuple(getattr(w, "numpy", lambda w=w: w)() for w in where) if isinstance(
            where, tuple) else getattr(where, "numpy", lambda: where)()
        __import__("numpy").add.at(expected, as_numpy, 1.5)
        assert x.tolist() == expected.tolist()


def test_one_hot_of_a_tensor_is_a_tensor():
    got = sheaf.one_hot(torch.tensor([1, 0]), 3)
    assert isinstance(got, torch.Tensor) and got.tolist() == [[0, 1, 0], [1, 0, 0]]
