# SPDX-License-Identifier: MIT
"""PyTorch: tensors in and out, PyTorch's own gathers as oracle, and the operators of sheaf.torch."""

import math

import numpy
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")

from hypothesis import assume, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import sheaf  # noqa: E402
import sheaf.torch  # noqa: E402
from torch_dlpack import needs_c_functions, needs_dlpack_of  # noqa: E402

ops = torch.ops.sheaf

DTYPES = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
          torch.uint16, torch.uint32, torch.uint64, torch.float16, torch.bfloat16, torch.float32,
          torch.float64, torch.complex64, torch.complex128, torch.float8_e4m3fn, torch.float8_e5m2]


def tensor(shape, dtype, seed=0):
    count = int(numpy.prod(shape))
    raw = numpy.random.default_rng(seed).integers(0, 2 if dtype == torch.bool else 100,
                                                  count * dtype.itemsize).astype("u1")
    return torch.from_numpy(raw).view(dtype).reshape(shape)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(
        a.contiguous().view(torch.uint8) if a.numel() else a, b.contiguous().view(torch.uint8)
        if b.numel() else b)


# PyTorch's own DLPack calls them bytes: a result would have lost its type, a sum its meaning.
@pytest.mark.parametrize("name", ["uint4", "int4", "uint2", "int2"])
def test_integers_of_a_few_bits_are_refused(name):
    if not hasattr(torch, name):
        pytest.skip(f"this PyTorch has no torch.{name}")
    bytes_ = torch.arange(4, dtype=torch.uint8)
    x = bytes_.view(getattr(torch, name))
    says = rf"torch\.{name} tensors are not supported(?s:.*)x\.view\(torch\.uint8\)"
    for call in (sheaf.gather, ops.gather):
        assert call(bytes_, torch.tensor([3])).tolist() == [3]  # the same call on bytes is known
        with pytest.raises(TypeError, match=says):
            call(x, torch.tensor([3]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_dtype(dtype):
    needs_dlpack_of(dtype)
    x = tensor((4, 6), dtype)
    got = sheaf.take(x, torch.tensor([3, 0]), axis=0)
    assert type(got) is torch.Tensor
    assert same_bits(got, torch.stack([x[3], x[0]]))


@given(st.data())
def test_index_select_and_gather(data):
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    order = data.draw(st.permutations(range(len(shape))))
    x = tensor(tuple(shape[d] for d in order), torch.float32).permute(
        tuple(numpy.argsort(order).tolist()))
    rng = numpy.random.default_rng(data.draw(st.integers(0, 1000)))
    chosen = torch.from_numpy(rng.integers(0, shape[axis], 5))
    assert same_bits(sheaf.gather(x, chosen, axis=axis), torch.index_select(x, axis, chosen))
    smaller = [data.draw(st.integers(0, n)) for n in shape]
    smaller[axis] = 3
    indices = torch.from_numpy(rng.integers(0, shape[axis], smaller))
    assert same_bits(sheaf.gather_elements(x, indices, axis=axis), torch.gather(x, axis, indices))


def test_out_is_written_in_place():
    x, out = torch.arange(6.0).reshape(3, 2), torch.zeros(2, 2)
    assert sheaf.take(x, [2, 0], axis=0, out=out) is out
    assert out.tolist() == [[4, 5], [0, 1]]
    assert sheaf.take(numpy.arange(4, dtype="f4"), [[3, 2], [1, 0]], out=out.T) is not None
    assert out.tolist() == [[3, 1], [2, 0]]


def test_gradients_are_not_lost_in_silence():
    x = torch.ones(3, requires_grad=True)
    plan = sheaf.plan_gather(x, [0])
    with pytest.raises(sheaf.BufferError, match="the gradient would be lost"):
        plan.run(x, [0])
    with torch.no_grad():
        assert plan.run(x, [0]).tolist() == [1.0]


class OwnTensor(torch.Tensor):
    """Read by __dlpack__, as all tensors are before PyTorch 2.10; that refuses gradients."""


def test_tensors_without_c_functions_have_gradients():
    x = torch.arange(6.0).reshape(3, 2).as_subclass(OwnTensor).requires_grad_()
    index, rows = torch.tensor([2, 0, 2]), torch.ones(3, 2)
    calls = [lambda: sheaf.gather(x, index), lambda: sheaf.take(x, index, axis=0),
             lambda: ops.gather(x, index), lambda: sheaf.torch.index_select(x, 0, index),
             lambda: sheaf.scatter(x, index, rows, reduction="add")]
    for call in calls:
        with torch.no_grad():
            want = call()
        got = call()
        assert torch.equal(got, want) and got.requires_grad
        (grad,) = torch.autograd.grad(got.sum(), x)
        assert grad.shape == x.shape


def test_plain_functions_record_gradients():
    table = torch.nn.Parameter(torch.arange(6.0).reshape(3, 2))
    calls = [
        lambda x: sheaf.gather(x, [2, 0, 2]),
        lambda x: sheaf.gather(x, numpy.array([2, 0, 2]).tolist()),
        lambda x: sheaf.take(x, torch.tensor([2, 0, 2]), axis=0),
        lambda x: sheaf.take(x, [[4, 5], [0, 1], [4, 5]]),
        lambda x: sheaf.take_along_axis(x, torch.tensor([[2], [0], [2]]), axis=0),
        lambda x: sheaf.gather_nd(x, [[2], [0], [2]]),
    ]
    for call in calls:
        with torch.no_grad():
            assert not call(table).requires_grad
        (grad,) = torch.autograd.grad(call(table).sum(), table)
        assert grad.tolist() == [[1, 1], [0, 0], [2, 2]]


CASES = [
    (ops.gather, (4, 3), torch.tensor([3, -1, 0, 3]), {}),
    (ops.gather, (2, 4, 3), torch.tensor([[0, 3], [2, 2]]), {"axis": 1, "batch_dims": 1}),
    (ops.gather, (4, 3), torch.tensor([7, 1]), {"out_of_range": "fill", "fill_value": 5.0}),
    (ops.gather, (4, 3), torch.tensor([7, -9]), {"out_of_range": "clamp"}),
    (ops.gather_elements, (3, 4), torch.tensor([[0, 3], [1, 1]]), {"axis": -1}),
    (ops.gather_elements, (3, 4), torch.tensor([[0], [1]]), {"axis": 0, "broadcast": True}),
    (ops.gather_nd, (3, 4, 2), torch.tensor([[0, 3], [2, -1], [0, 3]]), {}),
    (ops.gather_nd, (2, 3, 2), torch.tensor([[[1]], [[2]]]), {"batch_dims": 1}),
]


@pytest.mark.parametrize("operator, shape, indices, options", CASES)
def test_operators(operator, shape, indices, options):
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    plain = getattr(sheaf, operator.__name__)(x.detach(), indices, **options)
    assert torch.equal(operator(x, indices, **options), plain)
    torch.autograd.gradcheck(lambda t: operator(t, indices, **options), (x,))
    torch.autograd.gradgradcheck(lambda t: operator(t, indices, **options), (x,))
    result = torch.library.opcheck(operator, (x, indices), options)
    assert set(result.values()) == {"SUCCESS"}


def test_gradient_is_that_of_index_select():
    x = torch.randn(5, 3, requires_grad=True)
    indices = torch.tensor([1, 1, 4])
    weight = torch.randn(3, 3)
    (ours,) = torch.autograd.grad((ops.gather(x, indices) * weight).sum(), x)
    (theirs,) = torch.autograd.grad((torch.index_select(x, 0, indices) * weight).sum(), x)
    assert torch.equal(ours, theirs)


@settings(max_examples=3)
@given(st.integers(1, 6))
def test_compile_traces_without_a_break(rows):
    assume(rows > 1)

    def step(x, indices):
        return (ops.gather(x * 2, indices) + 1).sum()

    compiled = torch.compile(step, backend="aot_eager", fullgraph=True, dynamic=True)
    x = torch.randn(rows, 3, requires_grad=True)
    indices = torch.tensor([0, rows - 1, 0])
    assert torch.equal(compiled(x, indices), step(x, indices))
    (ours,) = torch.autograd.grad(compiled(x, indices), x)
    (theirs,) = torch.autograd.grad(step(x, indices), x)
    assert torch.equal(ours, theirs)


def test_bad_indices_in_operators():
    with pytest.raises(IndexError, match="gather: index out of range"):
        torch.ops.sheaf.gather(torch.zeros(3), torch.tensor([3]))


def test_complex_numbers_of_half_precision_are_moved():
    x = torch.view_as_complex(torch.arange(6.0).reshape(3, 2).half())
    assert torch.equal(torch.view_as_real(sheaf.gather(x, torch.tensor([2, 0]))),
                       torch.view_as_real(x)[[2, 0]])


def test_names_of_pytorch_have_its_rules_for_out():
    x, index = torch.arange(6.0).reshape(3, 2), torch.tensor([2, 0])
    out = torch.empty(0)
    assert sheaf.torch.index_select(x, 0, index, out=out) is out
    assert torch.equal(out, x[index])
    with pytest.raises(sheaf.ArgumentError, match="out is torch.float64 on cpu"):
        sheaf.torch.index_select(x, 0, index, out=out.double())
    with pytest.raises(sheaf.ArgumentError, match="does not go with gradients"):
        sheaf.torch.index_select(x.requires_grad_(), 0, index, out=out)
    with torch.no_grad():
        assert sheaf.torch.index_select(x, 0, index, out=out) is out
    with pytest.raises(sheaf.ArgumentError, match="what to scatter"):
        sheaf.torch.scatter(x, 0, index[None])


def test_quick_calls_see_what_changes_between_them():
    """The second call of a kind takes another way than the first: strides, modes, bits."""
    x, index = torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0])
    gather = torch.ops.sheaf.gather
    for _ in range(2):
        assert torch.equal(gather(x, index), x[index])
        assert torch.equal(gather(x.T, index), x.T[index])
        assert torch.equal(gather(x, index, 1), x[:, index])
        for fill in (7.5, 8):
            filled = gather(x, index + 1, 0, 0, "fill", "from_end", fill)
            assert torch.equal(filled[0], torch.full((4,), float(fill)))
        assert torch.equal(gather(torch._neg_view(x), index), -x[index])
        turned = x.to(torch.complex64).mul(1j).conj()
        assert torch.equal(gather(turned, index), turned[index])
        assert gather(x[:0], index[:0]).shape == (0, 4)
        assert gather(x.to("meta"), index.to("meta")).is_meta
        with pytest.raises(sheaf.IndexError) as caught:
            gather(x, index + 1)
        assert caught.value.position == (0,)
        with pytest.raises(sheaf.ArgumentError):
            gather(x, index, 0, 0, "bogus")
        with torch.inference_mode():
            assert gather(x, index).is_inference()
        p = x.clone().requires_grad_()
        assert gather(p, index).requires_grad and not gather(p.detach(), index).requires_grad
        with torch.autograd.forward_ad.dual_level():
            dual = torch.autograd.forward_ad.make_dual(x, x + 1)
            tangent = torch.autograd.forward_ad.unpack_dual(gather(dual, index)).tangent
            assert torch.equal(tangent, x[index] + 1)
        y = torch.ops.sheaf.scatter(x, index, x[:2], 0, 0, "add")
        assert torch.equal(y, torch.index_add(x, 0, index, x[:2]))


def test_quick_calls_with_out_see_what_changes_between_them():
    x, index = torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0])
    for _ in range(2):
        out = torch.zeros(2, 4)
        assert sheaf.gather(x, index, out=out) is out and torch.equal(out, x[index])
        assert out._version == 1, "PyTorch must see that out was written"
        wide = torch.zeros(4, 2)
        sheaf.gather(x, index, out=wide.T)
        assert torch.equal(wide.T, x[index]) and wide._version == 1
        total = x.clone()
        assert sheaf.scatter(total, index, x[:2], reduction="add", out=total) is total
        assert torch.equal(total, torch.index_add(x, 0, index, x[:2])) and total._version == 1
        untouched = torch.full((2, 4), 7.0)
        with pytest.raises(sheaf.IndexError) as caught:
            sheaf.gather(x, index + 1, out=untouched)
        assert caught.value.position == (0,)
        assert torch.equal(untouched, torch.full((2, 4), 7.0)) and untouched._version == 0
        with pytest.raises(sheaf.ArgumentError, match="out"):
            sheaf.gather(x, index, out=torch.zeros(3, 4))
        with pytest.raises(sheaf.ArgumentError, match="overlap"):
            sheaf.gather(x, index, out=x[:2])
        with pytest.raises(sheaf.ArgumentError, match="out does not go with gradients"):
            sheaf.gather(x, index, out=torch.zeros(2, 4, requires_grad=True))


def _by_function(x, index, out):
    rows = sheaf.gather(x, index)
    sheaf.gather(x, index, out=out)
    return sheaf.scatter(x, index, rows + out, reduction="add")


def _by_operator(x, index, out):
    rows = torch.ops.sheaf.gather(x, index)
    torch.ops.sheaf.gather_out(x, index, out=out)
    return torch.ops.sheaf.scatter(x, index, rows + out, 0, 0, "add")


@pytest.mark.parametrize("calls", [_by_function, _by_operator])
def test_who_watches_sees_every_call(calls):
    """A quick call is past PyTorch's dispatcher, or part of it, but not while somebody looks."""
    x, index, out = torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0]), torch.zeros(2, 4)
    want = calls(x, index, out)
    traced = torch.jit.trace(calls, (x, index, out), check_trace=False)
    kinds = {node.kind() for node in traced.graph.nodes()}
    assert {"sheaf::gather", "sheaf::gather_out", "sheaf::scatter"} <= kinds
    assert torch.equal(traced(2 * x, index, out), 2 * want)
    with torch.profiler.profile() as profile:
        calls(x, index, out)
    seen = {event.name for event in profile.events()}
    assert {"sheaf::gather", "sheaf::gather_out", "sheaf::scatter"} <= seen

    class Functions(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            seen_by_mode.append(str(function))
            return function(*args, **(kwargs or {}))

    class Operators(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen_by_mode.append(str(function))
            return function(*args, **(kwargs or {}))

    for mode in (Functions, Operators):
        seen_by_mode: list[str] = []
        with mode():
            assert torch.equal(calls(x, index, out), want)
        assert any(name.startswith("sheaf.gather_out") for name in seen_by_mode)
        assert any(name in ("sheaf.scatter", "sheaf.scatter.default") for name in seen_by_mode)


@pytest.mark.parametrize("calls", [_by_function, _by_operator])
def test_negatives_that_are_left_to_be_computed_count(calls):
    x, index = torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0])
    lazy = torch._neg_view(-x)
    assert torch.equal(calls(lazy, index, torch.zeros(2, 4)), calls(x, index, torch.zeros(2, 4)))


def test_an_out_that_a_gradient_needs_is_noticed():
    weight = torch.ones(2, 4, requires_grad=True)
    saved = torch.ones(2, 4)
    loss = (weight * saved).sum()
    sheaf.gather(torch.arange(12.0).reshape(3, 4), torch.tensor([2, 0]), out=saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("word", [True, 0, 1.5, None])
@pytest.mark.parametrize("name", ["out_of_range", "negative"])
def test_rules_that_are_no_words_are_refused(name, word):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        sheaf.gather(torch.zeros(4), torch.tensor([0]), **{name: word})


def test_fill_values_keep_their_sign_and_size():
    x, beyond = torch.ones(2), torch.tensor([5])
    signs = [math.copysign(1, sheaf.gather(x, beyond, out_of_range="fill", fill_value=fill).item())
             for fill in (0.0, -0.0, 0.0)]
    assert signs == [1, -1, 1]
    large = (1 << 64) - 2
    filled = sheaf.gather(x.to(torch.uint64), beyond, out_of_range="fill", fill_value=large)
    assert filled.tolist() == [large]


def test_take_refuses_in_its_own_words():
    needs_c_functions()
    x = torch.zeros(3, 2)
    with pytest.raises(sheaf.IndexError, match="^take: index out of range"):
        sheaf.take(x, torch.tensor([9]), axis=0)
    with pytest.raises(sheaf.IndexError, match="^take_along_axis: index out of range"):
        sheaf.take_along_axis(x, torch.tensor([[9, 9]]), axis=0)
