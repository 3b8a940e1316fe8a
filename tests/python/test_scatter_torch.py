# SPDX-License-Identifier: MIT
"""PyTorch's own scatters as oracle, and the scatters of sheaf.torch."""

import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import sheaf  # noqa: E402
import sheaf.torch  # noqa: E402

ops = torch.ops.sheaf

# Whole numbers: the order in which PyTorch adds them up does not matter.
DTYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
          torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]
TORCH_NAMES = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax", "mean": "mean"}


def whole(rng, shape, dtype, low=-3, high=4):
    return torch.from_numpy(numpy.asarray(rng.integers(low, high, shape))).to(dtype)


@st.composite
def elements_problem(draw, dtype, unique=False):
    rng = numpy.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    axis = draw(st.integers(-len(shape), len(shape) - 1))
    smaller = [draw(st.integers(0, n)) for n in shape]
    if unique:
        order = numpy.argsort(rng.random(shape), axis=axis)
        indices = order[tuple(slice(n) for n in smaller)]
    else:
        smaller[axis] = draw(st.integers(0, 6))
        indices = rng.integers(0, shape[axis], smaller)
    x, updates = whole(rng, shape, dtype), whole(rng, indices.shape, dtype)
    if draw(st.booleans()):
        x = x.transpose(0, -1).contiguous().transpose(0, -1)
    return x, torch.from_numpy(numpy.ascontiguousarray(indices)), updates, axis


@given(st.data())
def test_scatter_and_scatter_add(data):
    dtype = data.draw(st.sampled_from(DTYPES))
    x, indices, updates, axis = data.draw(elements_problem(dtype))
    got = sheaf.scatter_elements(x, indices, updates, axis, reduction="add")
    assert type(got) is torch.Tensor and got.dtype == dtype
    assert torch.equal(got, torch.scatter_add(x, axis, indices, updates))
    x, indices, updates, axis = data.draw(elements_problem(dtype, unique=True))
    assert torch.equal(sheaf.scatter_elements(x, indices, updates, axis),
                       torch.scatter(x, axis, indices, updates))


@given(st.data())
def test_scatter_reduce(data):
    reduction = data.draw(st.sampled_from(list(TORCH_NAMES)))
    real = [dtype for dtype in DTYPES if not dtype.is_complex]
    # PyTorch rounds the mean of integers towards zero after a division of floats.
    dtype = data.draw(st.sampled_from(
        [d for d in real if d.is_floating_point] if reduction == "mean" else real))
    x, indices, updates, axis = data.draw(elements_problem(dtype))
    include_self = data.draw(st.booleans())
    got = sheaf.scatter_elements(x, indices, updates, axis, reduction=reduction,
                                 include_self=include_self)
    expected = torch.scatter_reduce(x, axis, indices, updates, TORCH_NAMES[reduction],
                                    include_self=include_self)
    assert torch.equal(got, expected)


def test_integer_means_are_rounded_down():
    got = sheaf.scatter(torch.tensor([-3]), torch.tensor([0]), torch.tensor([0]), reduction="mean")
    assert got.tolist() == [-2]


@given(st.data())
def test_index_add_and_index_copy(data):
    rng = numpy.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    dtype = data.draw(st.sampled_from(DTYPES))
    shape = tuple(data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    count = data.draw(st.integers(0, 7))
    x = whole(rng, shape, dtype)
    indices = torch.from_numpy(rng.integers(0, shape[axis], count))
    slices = list(shape)
    slices[axis] = count
    updates = whole(rng, slices, dtype)
    assert torch.equal(sheaf.scatter(x, indices, updates, axis, reduction="add"),
                       torch.index_add(x, axis, indices, updates))
    order = torch.from_numpy(rng.permutation(shape[axis]))
    updates = whole(rng, shape, dtype)
    assert torch.equal(sheaf.scatter(x, order, updates, axis),
                       torch.index_copy(x, axis, order, updates))


def test_bool():
    x = torch.tensor([True, False, False])
    updates = torch.tensor([True, True])
    got = sheaf.scatter(x, torch.tensor([1, 1]), updates, reduction="add")
    assert got.dtype == torch.bool and got.tolist() == [True, True, False]
    got = sheaf.scatter(x, torch.tensor([0, 2]), updates, reduction="sub")
    assert got.tolist() == [False, False, True]


def test_in_place():
    x = torch.zeros(3, 4)
    view = x.t()[::2]
    assert sheaf.scatter(view, [1, 1], torch.ones(2, 3), reduction="add", out=view) is view
    assert x[:, 2].tolist() == [2, 2, 2] and x.sum() == 6
    sheaf.put_along_axis(x, torch.tensor([[0], [3], [0]]), torch.full((3, 1), 7.0), 1)
    assert x[:, 0].tolist() == [7, 0, 7] and x[1, 3] == 7
    for dtype in (torch.bfloat16, torch.int8):
        some = torch.zeros(3, dtype=dtype)
        sheaf.scatter(some, [0, 2], [1, 2], out=some)
        assert some.tolist() == [1, 0, 2]
    with pytest.raises(sheaf.DTypeError, match="updates is f32, but data is i32"):
        sheaf.scatter(x.int(), [0], torch.zeros(1, 4))


def test_gradients_are_not_lost_in_silence():
    updates = torch.ones(1, requires_grad=True)
    with pytest.raises(sheaf.BufferError, match="the gradient would be lost"):
        sheaf.scatter(numpy.zeros(3, "f4"), [0], updates)
    for out in (torch.zeros(3), torch.zeros(3, requires_grad=True)):
        with pytest.raises(sheaf.ArgumentError, match="out does not go with gradients"):
            sheaf.scatter(torch.zeros(3), [0], updates, out=out)
    (grad,) = torch.autograd.grad(sheaf.scatter(torch.zeros(3), [0], updates * 2).sum(), updates)
    assert grad.tolist() == [2.0]


def test_in_place_scatters_bump_the_version():
    x, weight = torch.ones(3), torch.ones(3, requires_grad=True)
    for write in (lambda: sheaf.scatter(x, [0], [1.0], out=x),
                  lambda: sheaf.put_along_axis(x, [0], 2.0, 0),
                  lambda: sheaf.take(x, [0, 1, 2], out=x)):
        before, product = x._version, (weight * x).sum()
        write()
        assert x._version > before
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            product.backward()


CASES = [
    (ops.scatter, (4, 3), [3, -1, 0], (3, 3), {}),
    (ops.scatter, (4, 3), [3, 3, 0], (3, 3), {"reduction": "add"}),
    (ops.scatter, (4, 3), [3, 3, 0], (3, 3), {"reduction": "add", "include_self": False}),
    (ops.scatter, (2, 4, 3), [[0, 3], [2, 2]], (2, 2, 3), {"axis": 1, "batch_dims": 1}),
    (ops.scatter, (4, 3), [7, 1, 1], (3, 3), {"out_of_range": "skip"}),
    (ops.scatter, (4, 3), [7, 0], (2, 3), {"out_of_range": "skip", "reduction": "add"}),
    (ops.scatter, (4, 3), [7, -9], (2, 3), {"out_of_range": "clamp"}),
    (ops.scatter_elements, (3, 4), [[0, 3], [1, 1]], (2, 2), {"axis": -1}),
    (ops.scatter_elements, (3, 4), [[0, 3], [1, 1]], (2, 2), {"axis": 1, "reduction": "add"}),
    (ops.scatter_nd, (3, 4, 2), [[0, 3], [2, -1], [0, 3]], (3, 2), {}),
    (ops.scatter_nd, (2, 3, 2), [[[1]], [[2]]], (2, 1, 2), {"batch_dims": 1, "reduction": "add"}),
]


@pytest.mark.parametrize("operator, shape, indices, updates_shape, options", CASES)
def test_operators(operator, shape, indices, updates_shape, options):
    indices = torch.tensor(indices)
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    updates = torch.randn(updates_shape, dtype=torch.float64, requires_grad=True)
    plain = getattr(sheaf, operator.__name__)(x.detach(), indices, updates.detach(), **options)
    assert torch.equal(operator(x, indices, updates, **options), plain)

    def call(x, updates):
        return operator(x, indices, updates, **options)

    torch.autograd.gradcheck(call, (x, updates))
    torch.autograd.gradgradcheck(call, (x, updates))
    result = torch.library.opcheck(operator, (x, indices, updates), options)
    assert set(result.values()) == {"SUCCESS"}


def test_gradients_are_those_of_index_add_and_index_copy():
    x = torch.randn(5, 3, requires_grad=True)
    updates = torch.randn(2, 3, requires_grad=True)
    indices, weight = torch.tensor([1, 4]), torch.randn(5, 3)
    for reduction, theirs in (("add", torch.index_add), ("none", torch.index_copy)):
        ours = ops.scatter(x, indices, updates, reduction=reduction)
        expected = torch.autograd.grad((theirs(x, 0, indices, updates) * weight).sum(),
                                       (x, updates))
        got = torch.autograd.grad((ours * weight).sum(), (x, updates))
        assert all(torch.equal(a, b) for a, b in zip(got, expected))


def test_data_that_was_stretched_gets_the_sum():
    x = torch.randn(1, 4, dtype=torch.float64, requires_grad=True)
    for indices in (torch.tensor([[0, 3], [1, 1], [2, 0]]), torch.tensor([[2]])):
        options = {"axis": 1, "broadcast": True}
        torch.autograd.gradcheck(lambda t: ops.gather_elements(t, indices, **options), (x,))
        torch.autograd.gradgradcheck(lambda t: ops.gather_elements(t, indices, **options), (x,))


@pytest.mark.parametrize("reduction", ["none", "add"])
def test_compile_traces_without_a_break(reduction):
    def step(x, indices, updates):
        return (ops.scatter(x * 2, indices, updates + 1, reduction=reduction) ** 2).sum()

    compiled = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (3, 5):
        x = torch.randn(rows, 3, requires_grad=True)
        updates = torch.randn(3, 3, requires_grad=True)
        indices = torch.tensor([0, rows - 1, 0])
        assert torch.equal(compiled(x, indices, updates), step(x, indices, updates))
        ours = torch.autograd.grad(compiled(x, indices, updates), (x, updates))
        theirs = torch.autograd.grad(step(x, indices, updates), (x, updates))
        assert all(torch.equal(a, b) for a, b in zip(ours, theirs))
