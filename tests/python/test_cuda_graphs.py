# SPDX-License-Identifier: MIT
"""Calls that do not wait: CUDA graphs, deferred errors, and the operators of sheaf.torch on a GPU."""

import pytest

import sheaf

torch = pytest.importorskip("torch", reason="needs a CUDA device and PyTorch")
if not (torch.cuda.is_available() and sheaf.cuda.is_available()):
    pytest.skip("needs a CUDA device and PyTorch", allow_module_level=True)

import sheaf.torch  # noqa: E402

ops = torch.ops.sheaf

GPU = "cuda"


@pytest.fixture(autouse=True)
def nothing_is_left_behind():
    yield
    sheaf.cuda.forget_captured()
    sheaf.cuda.check()


def captured(step):
    """The graph of step(), and what it returned. The first call warms up, as PyTorch wants it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph, result


def test_a_graph_is_replayed_on_new_values():
    x, indices = torch.zeros(50, 4, device=GPU), torch.zeros(9, dtype=torch.int64, device=GPU)

    def step():
        rows = sheaf.gather(x, indices, out_of_range="clamp")
        sums = sheaf.scatter(x, indices, rows * 2, reduction="add", out_of_range="skip")
        return rows, sums, ops.gather(sums, indices, out_of_range="wrap")

    graph, results = captured(step)
    for seed in range(3):
        torch.manual_seed(seed)
        x.copy_(torch.randn(50, 4))
        indices.copy_(torch.randint(0, 70, (9,)))
        graph.replay()
        for got, expected in zip(results, step()):
            assert torch.equal(got, expected)


@pytest.mark.parametrize("reduction", [None, "none", "add"])
def test_a_bad_index_in_a_graph_is_told_by_check(reduction):
    x, indices = torch.randn(5, 3, device=GPU), torch.zeros(4, dtype=torch.int64, device=GPU)
    updates = torch.randn(4, 3, device=GPU)

    def step():
        if reduction is None:
            return ops.gather(x, indices)
        return sheaf.scatter(x, indices, updates, reduction=reduction)

    graph, result = captured(step)
    sheaf.cuda.check()  # there was no replay yet: nothing to tell
    graph.replay()
    sheaf.cuda.check()
    before = result.clone()
    indices.copy_(torch.tensor([0, 7, 1, -9]))
    graph.replay()
    with pytest.raises(sheaf.IndexError, match="indices\\[1\\] = 7, but axis 0 of data has 5"):
        sheaf.cuda.check()
    assert torch.equal(result, before)  # untouched
    sheaf.cuda.check()  # it is told once
    graph.replay()
    with pytest.raises(sheaf.IndexError, match="2 of 4 indices are out of range"):
        sheaf.cuda.check()
    indices.zero_()
    graph.replay()
    sheaf.cuda.check()


def test_deferred_errors():
    x, good = torch.randn(5, 3, device=GPU), torch.tensor([4, 0], device=GPU)
    first, second = torch.tensor([0, 5], device=GPU), torch.tensor([8, 8], device=GPU)
    with sheaf.cuda.deferred_errors():
        assert torch.equal(sheaf.gather(x, good), x[good])
    out = torch.full((2, 3), 7.0, device=GPU)
    with pytest.raises(sheaf.IndexError, match="indices\\[1\\] = 5") as caught:
        with sheaf.cuda.deferred_errors():
            sheaf.gather(x, good)
            sheaf.gather(x, first, out=out)
            with torch.cuda.stream(torch.cuda.Stream()):
                sheaf.gather(x, second, out=out)
    assert (caught.value.position, caught.value.bad_count) == ((1,), 1)
    assert (out == 7).all()
    sheaf.cuda.check()  # each is told once
    with pytest.raises(KeyError):  # an error of one's own goes first
        with sheaf.cuda.deferred_errors():
            sheaf.gather(x, first)
            raise KeyError
    with pytest.raises(sheaf.IndexError, match="indices\\[1\\] = 5"):
        sheaf.cuda.check()
    with pytest.raises(sheaf.IndexError):
        sheaf.gather(x, first)  # calls wait again


CASES = [
    (ops.gather, (4, 3), [3, -1, 0, 3], None, {}),
    (ops.gather, (2, 4, 3), [[0, 3], [2, 2]], None, {"axis": 1, "batch_dims": 1}),
    (ops.gather, (4, 3), [7, 1], None, {"out_of_range": "fill", "fill_value": 5.0}),
    (ops.gather_elements, (3, 4), [[0, 3], [1, 1]], None, {"axis": -1}),
    (ops.gather_elements, (3, 4), [[0], [1]], None, {"axis": 0, "broadcast": True}),
    (ops.gather_nd, (3, 4, 2), [[0, 3], [2, -1], [0, 3]], None, {}),
    (ops.scatter, (4, 3), [3, 3, 0], (3, 3), {}),
    (ops.scatter, (4, 3), [3, 7, 3], (3, 3), {"reduction": "add", "out_of_range": "skip"}),
    (ops.scatter, (4, 3), [3, 3, 0], (3, 3), {"reduction": "add", "include_self": False}),
    (ops.scatter_elements, (3, 4), [[0, 3], [1, 1]], (2, 2), {"axis": 1, "reduction": "add"}),
    (ops.scatter_nd, (3, 4, 2), [[0, 3], [2, -1], [0, 3]], (3, 2), {}),
]


def gradients(operator, device, x, indices, updates, options):
    inputs = [tensor.to(device).requires_grad_() for tensor in (x, updates) if tensor is not None]
    result = operator(inputs[0], indices.to(device), *inputs[1:], **options)
    weight = torch.arange(result.numel(), dtype=x.dtype, device=device).reshape(result.shape)
    return [result.detach(), *torch.autograd.grad((result * weight).sum(), inputs)]


@pytest.mark.parametrize("operator, shape, indices, updates_shape, options", CASES)
def test_operators_and_their_gradients(operator, shape, indices, updates_shape, options):
    torch.manual_seed(1)
    x, indices = torch.randn(shape, dtype=torch.float64), torch.tensor(indices)
    updates = None if updates_shape is None else torch.randn(updates_shape, dtype=torch.float64)
    here, there = (gradients(operator, device, x, indices, updates, options)
                   for device in ("cpu", GPU))
    for expected, got in zip(here, there):
        assert got.device.type == GPU and torch.equal(got.cpu(), expected)


def test_compiled_and_captured_training_steps():
    def loss(weights, indices):
        return (ops.gather(weights * 2, indices, out_of_range="clamp") ** 2).sum()

    weights = torch.randn(20, 8, device=GPU, requires_grad=True)
    indices = torch.randint(0, 30, (40,), device=GPU)
    (expected,) = torch.autograd.grad(loss(weights, indices), weights)
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    (got,) = torch.autograd.grad(compiled(weights, indices), weights)
    assert torch.equal(got, expected)
    graph, (gradient,) = captured(lambda: torch.autograd.grad(loss(weights, indices), weights))
    indices.copy_(torch.randint(0, 30, (40,)))
    graph.replay()
    (expected,) = torch.autograd.grad(loss(weights, indices), weights)
    assert torch.equal(gradient, expected)


def test_bad_indices_in_operators():
    x, indices = torch.zeros(3, device=GPU, requires_grad=True), torch.tensor([3], device=GPU)
    with pytest.raises(IndexError, match="gather: index out of range"):
        torch.ops.sheaf.gather(x, indices)
