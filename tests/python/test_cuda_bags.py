# SPDX-License-Identifier: MIT
"""Bags of PyTorch's tensors on a GPU: the bits of the CPU, the same refusals."""

import pytest

import sheaf

torch = pytest.importorskip("torch", reason="needs a CUDA device and PyTorch")
if not (torch.cuda.is_available() and sheaf.cuda.is_available()):
    pytest.skip("needs a CUDA device and PyTorch", allow_module_level=True)

GPU = "cuda"


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def some_bags(entries=200, bags=30, rows=50):
    indices = torch.randint(0, rows, (entries,))
    offsets = torch.cat([torch.zeros(1, dtype=torch.int64),
                         torch.randint(0, entries + 1, (bags - 1,)).sort().values])
    return indices, offsets


@pytest.mark.parametrize("pool", ["sum", "mean", "max", "min", "mul", "sqrtn"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_the_bits_of_the_cpu(pool, dtype):
    table, (indices, offsets) = torch.randn(50, 24).to(dtype), some_bags()
    weights = torch.randn(200)
    for keywords in ({}, {"padding_index": 3}, {"weights": weights}):
        moved = {name: value.to(GPU) if isinstance(value, torch.Tensor) else value
                 for name, value in keywords.items()}
        expected = sheaf.bag(table, indices, offsets, pool=pool, **keywords)
        got = sheaf.bag(table.to(GPU), indices.to(GPU), offsets.to(GPU), pool=pool, **moved)
        assert got.device.type == GPU and torch.equal(got.cpu(), expected)


def test_refusals():
    table, (indices, offsets) = torch.randn(50, 8, device=GPU), some_bags()
    out = torch.full((30, 8), 7.0, device=GPU)
    with pytest.raises(sheaf.IndexError):
        sheaf.bag(table, (indices + 50).to(GPU), offsets.to(GPU), out=out)
    with pytest.raises(sheaf.ArgumentError, match="segments do not fit"):
        sheaf.bag(table, indices.to(GPU), (offsets + 1).to(GPU), out=out)
    assert (out == 7).all()
    with pytest.raises(sheaf.ArgumentError, match="arrays on different devices"):
        sheaf.bag(table.detach(), indices.numpy(), offsets.to(GPU))


def test_errors_that_are_put_off():
    table, (indices, offsets) = torch.randn(50, 8, device=GPU), some_bags()
    with pytest.raises(sheaf.ArgumentError, match="segments do not fit"):
        with sheaf.cuda.deferred_errors():
            sheaf.bag(table, indices.to(GPU), (offsets + 1).to(GPU))


@pytest.mark.parametrize("pool", ["sum", "mean", "sqrtn", "max", "min"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
def test_gradients_have_the_bits_of_the_cpu(pool, dtype):
    indices, offsets = some_bags()
    weighted = pool in ("sum", "mean", "sqrtn")
    for options in ({}, {"padding_index": 3}, {"negative": "out_of_range"}):
        inputs = [torch.randn(50, 8).to(dtype)] + [torch.randn(200).to(dtype)] * weighted
        of_output = torch.randn(30, 8).to(dtype)
        gradients = []
        for device in ("cpu", GPU):
            moved = [tensor.to(device).requires_grad_() for tensor in inputs]
            pooled = sheaf.bag(moved[0], indices.to(device), offsets.to(device), pool=pool,
                               weights=moved[1] if weighted else None, **options)
            gradients.append(torch.autograd.grad(pooled, moved, of_output.to(device)))
        for expected, got in zip(*gradients):
            assert got.device.type == GPU and torch.equal(got.cpu(), expected)


def test_gradients_of_second_order():
    indices, offsets = some_bags(20, 4, 6)
    table = torch.randn(6, 3, dtype=torch.float64, device=GPU, requires_grad=True)
    weights = torch.randn(20, dtype=torch.float64, device=GPU, requires_grad=True)
    def call(table, weights):
        return sheaf.bag(table, indices.to(GPU), offsets.to(GPU), weights=weights, pool="mean")
    assert torch.autograd.gradcheck(call, (table, weights))
    assert torch.autograd.gradgradcheck(call, (table, weights))


def test_gradients_of_rows_with_gaps():
    indices, offsets = some_bags()
    of_output = torch.randn(30, 4, 6)
    gradients = []
    for device in ("cpu", GPU):
        table = torch.ones(50, 6, 4, device=device, requires_grad=True)
        pooled = sheaf.bag(table, indices.to(device), offsets.to(device))
        gradients.append(torch.autograd.grad(pooled, table, of_output.to(device).transpose(1, 2)))
    assert torch.equal(gradients[1][0].cpu(), gradients[0][0])


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_sparse_gradients(mode):
    from sheaf.torch import embedding_bag
    indices, offsets = some_bags()
    table, of_output = torch.randn(50, 8), torch.randn(30, 8)
    gradients = []
    for device in ("cpu", GPU):
        weight = table.to(device).requires_grad_()
        pooled = embedding_bag(indices.to(device), weight, offsets.to(device), mode=mode,
                               sparse=True)
        gradients += torch.autograd.grad(pooled, weight, of_output.to(device))
    expected, got = gradients
    assert got.is_sparse and got.is_coalesced()
    assert torch.equal(got.indices()[0].cpu(), indices.unique())
    assert torch.equal(got.values().cpu(), expected.values())


def test_gradients_are_added_to_out():
    from sheaf import _sheaf
    indices, offsets = some_bags()
    gradient, out = torch.randn(30, 8), torch.randn(50, 8)
    on_gpu = out.to(GPU)
    arguments = (gradient, None, indices, offsets, None)
    _sheaf.bag_gradient_dense(*arguments, out, extent=50, pool="mean")
    moved = [None if tensor is None else tensor.to(GPU) for tensor in arguments]
    assert _sheaf.bag_gradient_dense(*moved, on_gpu, extent=50, pool="mean") is on_gpu
    assert torch.equal(on_gpu.cpu(), out)


def test_refusals_of_gradients():
    from sheaf import _sheaf
    indices, offsets = some_bags()
    gradient, out = torch.randn(30, 8, device=GPU), torch.full((50, 8), 7.0, device=GPU)
    with pytest.raises(sheaf.IndexError):
        _sheaf.bag_gradient_dense(gradient, None, (indices + 50).to(GPU), offsets.to(GPU), None,
                                  out, extent=50)
    with pytest.raises(sheaf.ArgumentError, match="segments do not fit"):
        _sheaf.bag_gradient_dense(gradient, None, indices.to(GPU), (offsets + 1).to(GPU), None,
                                  out, extent=50)
    with pytest.raises(sheaf.ArgumentError, match="segments do not fit"):
        _sheaf.bag_gradient_rows(gradient, None, indices.to(GPU), (offsets + 1).to(GPU), None,
                                 extent=50)
    assert (out == 7).all()


def test_encoded_tables():
    stored = torch.randint(0, 256, (50, 16), dtype=torch.uint8)
    stored[:, 8:] = torch.randn(50, 2).view(torch.uint8)
    table, (indices, offsets) = sheaf.encoded_rows("row_u8_f32", stored), some_bags()
    on_gpu = sheaf.encoded_rows("row_u8_f32", stored.to(GPU))
    for dtype in (torch.float32, torch.float16):
        assert torch.equal(
            sheaf.bag(on_gpu, indices.to(GPU), offsets.to(GPU), dtype=dtype).cpu(),
            sheaf.bag(table, indices, offsets, dtype=dtype))
        many = indices.reshape(20, 10)
        assert torch.equal(sheaf.gather(on_gpu, many.to(GPU), dtype=dtype).cpu(),
                           sheaf.gather(table, many, dtype=dtype))
        columns = torch.randint(-8, 8, (50, 3))
        assert torch.equal(sheaf.gather(on_gpu, columns[0].to(GPU), axis=1, dtype=dtype).cpu(),
                           sheaf.gather(table, columns[0], axis=1, dtype=dtype))
        assert torch.equal(
            sheaf.gather_elements(on_gpu, columns.to(GPU), axis=1, dtype=dtype).cpu(),
            sheaf.gather_elements(table, columns, axis=1, dtype=dtype))
        assert torch.equal(sheaf.gather_nd(on_gpu, many[:, :1].to(GPU), dtype=dtype).cpu(),
                           sheaf.gather_nd(table, many[:, :1], dtype=dtype))
    for axis in (0, 1):
        with pytest.raises(sheaf.IndexError):
            sheaf.gather(on_gpu, (indices + 50).to(GPU), axis=axis)
    packed = sheaf.gather(on_gpu, indices.to(GPU), packed=True)
    assert torch.equal(packed.stored.cpu(), stored[indices])


@pytest.mark.parametrize("capacity", [None, 7])
@pytest.mark.parametrize("choices", [1, 3])
def test_mixtures_of_experts(capacity, choices):
    for tokens, width in ((1, 8), (300, 7), (5000, 64)):
        table = torch.randn(tokens, width).to(torch.bfloat16)
        experts = torch.randint(0, 12, (tokens, choices))
        expected = sheaf.moe.permute(table, experts, 16, capacity)
        for number in (16, None):
            got = sheaf.moe.permute(table.to(GPU), experts.to(GPU), number, capacity)
            assert torch.equal(got.rows.cpu(), expected.rows)
            assert torch.equal(got.inverse.cpu(), expected.inverse)
            length = len(got.offsets)  # the largest expert ends it where no number is given
            assert torch.equal(got.offsets.cpu(), expected.offsets[:length])
        back = sheaf.moe.unpermute(got.rows, got.inverse)
        assert torch.equal(back.cpu(), sheaf.moe.unpermute(expected.rows, expected.inverse))


def test_mixtures_of_experts_have_gradients_and_refusals():
    tokens = torch.randn(20, 8, device=GPU, requires_grad=True)
    experts = torch.randint(0, 4, (20, 2))
    sheaf.moe.permute(tokens, experts.to(GPU), 4).rows.sum().backward()
    assert torch.equal(tokens.grad.cpu(), torch.full((20, 8), 2.0))
    experts[3, 1] = 4
    with pytest.raises(sheaf.IndexError, match=r"experts\[3, 1\] = 4, but there are 4 experts"):
        sheaf.moe.permute(tokens.detach(), experts.to(GPU), 4)
