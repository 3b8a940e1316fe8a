# SPDX-License-Identifier: MIT
"""PyTorch's own database of samples (OpInfo) against the functions of sheaf.torch with the same
names: values, gradients of both modes and of second order, vmap, torch.compile."""

import warnings

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (scripts/peers)")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    database = pytest.importorskip(
        "torch.testing._internal.common_methods_invocations",
        reason="this PyTorch comes without its test database")

import sheaf  # noqa: E402
import sheaf.torch as ours  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

NAMES = ["index_select", "gather", "take_along_dim", "nn.functional.embedding",
         "nn.functional.embedding_bag", "scatter", "scatter_add", "scatter_reduce", "index_add",
         "index_copy", "index_reduce", "index_put", "index_fill", "take", "put", "masked_select",
         "masked_scatter"]
OPERATORS = [op for op in database.op_db if op.name in NAMES]
#: What PyTorch's samples ask for and sheaf.torch says that it has not.
UNSUPPORTED = (sheaf.UnsupportedError,)


def function_of(op):
    name = op.name.rpartition(".")[2]
    function = getattr(ours, name)
    if name in ("embedding", "embedding_bag"):  # the samples have the weight first
        return lambda weight, indices, **keywords: function(indices, weight, **keywords)
    return function


def name_of(op):
    return op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")


def samples(op, dtype, requires_grad=False):
    torch.manual_seed(0)
    return list(op.sample_inputs("cpu", dtype, requires_grad=requires_grad))


def supported(call, sample):
    try:
        return call(sample.input, *sample.args, **sample.kwargs)
    except UNSUPPORTED:
        return None


def by_pytorch(op, sample):
    """Its index_reduce rounds narrow floats after every step; ours accumulates in f32."""
    if op.name == "index_reduce" and sample.input.dtype == torch.bfloat16:
        dim, index, source = sample.args[:3]
        return op.op(sample.input.float(), dim, index, source.float(), *sample.args[3:],
                     **sample.kwargs).bfloat16()
    return op.op(sample.input, *sample.args, **sample.kwargs)


operators = pytest.mark.parametrize("op", OPERATORS, ids=name_of)


@operators
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.bfloat16,
                                   torch.complex64, torch.bool], ids=str)
def test_values(op, dtype):
    if dtype not in op.supported_dtypes("cpu"):
        pytest.skip("PyTorch has no samples of this type")
    compared = 0
    for sample in samples(op, dtype):
        got = supported(function_of(op), sample)
        if got is None:
            continue
        expected = by_pytorch(op, sample)
        assert got.shape == expected.shape and got.dtype == expected.dtype
        torch.testing.assert_close(got, expected)
        compared += 1
    assert compared


@operators
def test_what_pytorch_refuses_is_refused(op):
    """With an exception of the same class."""
    if op.error_inputs_func is None:
        pytest.skip("PyTorch has no bad samples")
    for bad in op.error_inputs("cpu"):
        sample = bad.sample_input
        if "Expected dtype int64 for index" in bad.error_regex:
            continue  # of PyTorch 2.6: later ones take int32, and so do we
        with pytest.raises(bad.error_type) as caught:
            function_of(op)(sample.input, *sample.args, **sample.kwargs)
        assert isinstance(caught.value, sheaf.Error), bad.error_regex


def differentiable(op):
    return [sample for sample in samples(op, torch.float64, requires_grad=True)]


def call_of(op, sample):
    """A function of the sample's tensors that have gradients, and these."""
    function = function_of(op)
    values = [sample.input, *sample.args]
    places = [i for i, value in enumerate(values)
              if isinstance(value, torch.Tensor) and value.requires_grad]

    def call(*tensors):
        filled = list(values)
        for place, tensor in zip(places, tensors):
            filled[place] = tensor
        return function(filled[0], *filled[1:], **sample.kwargs)

    return call, tuple(values[place] for place in places)


@operators
def test_gradients(op):
    checked = 0
    for sample in differentiable(op):
        call, tensors = call_of(op, sample)
        if not tensors or supported(function_of(op), sample) is None:
            continue
        assert torch.autograd.gradcheck(call, tensors, check_forward_ad=True, fast_mode=True)
        assert torch.autograd.gradgradcheck(call, tensors, check_fwd_over_rev=True, fast_mode=True)
        checked += 1
    assert checked


@operators
def test_gradients_are_pytorchs(op):
    for sample in differentiable(op):
        call, tensors = call_of(op, sample)
        mine = supported(function_of(op), sample)
        if not tensors or mine is None or mine.numel() == 0:
            continue
        theirs = op.op(sample.input, *sample.args, **sample.kwargs)
        weight = torch.randn_like(theirs)
        got = torch.autograd.grad(mine, tensors, weight, allow_unused=True)
        expected = torch.autograd.grad(theirs, tensors, weight, allow_unused=True)
        for a, b in zip(got, expected):
            torch.testing.assert_close(torch.zeros(()) if a is None else a,
                                       torch.zeros(()) if b is None else b)


@operators
def test_transforms(op):
    for sample in differentiable(op):
        call, tensors = call_of(op, sample)
        tensors = tuple(tensor.detach() for tensor in tensors)
        if not tensors or supported(function_of(op), sample) is None:
            continue
        if call(*tensors).numel() == 0:
            continue
        everything = tuple(range(len(tensors)))
        forward = torch.func.jacfwd(call, everything)(*tensors)
        reverse = torch.func.jacrev(call, everything)(*tensors)
        for a, b in zip(forward, reverse):
            torch.testing.assert_close(a, b)
        stacked = tuple(torch.stack([tensor, tensor * 2, tensor - 1]) for tensor in tensors)
        batched = torch.func.vmap(call)(*stacked)
        one_by_one = torch.stack([call(*parts) for parts in zip(*stacked)])
        torch.testing.assert_close(batched, one_by_one)


@operators
def test_compile(op):
    sample = next(sample for sample in differentiable(op)
                  if supported(function_of(op), sample) is not None and sample.input.numel()
                  and call_of(op, sample)[1])
    call, tensors = call_of(op, sample)
    if op.name == "index_put" and any(i.dtype == torch.bool for i in sample.args[0]):
        pytest.skip("the shape depends on the mask's values")
    torch._dynamo.reset()
    compiled = torch.compile(call, backend="aot_eager", fullgraph=True)
    # How many a mask chooses is not known; PyTorch 2.6 has to be asked to compile that.
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        expected, got = call(*tensors), compiled(*tensors)
    assert torch.equal(got, expected)
    weight = torch.randn_like(expected)
    for a, b in zip(torch.autograd.grad(got, tensors, weight),
                    torch.autograd.grad(expected, tensors, weight)):
        torch.testing.assert_close(a, b)


def test_the_database_has_them_all():
    assert {op.name for op in OPERATORS} == set(NAMES)
