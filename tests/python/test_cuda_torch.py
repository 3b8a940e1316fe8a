# SPDX-License-Identifier: MIT
"""PyTorch's tensors on a GPU: the same bits as on the CPU, the same refusals, no wait unasked."""


import numpy
import pytest

import sheaf
from gpu_cases import (DTYPES, GATHER_RULES, GATHERS, REDUCTIONS, SCATTER_RULES, SCATTERS,
                       arrays_for, bad_index_text, random_numbers)

torch = pytest.importorskip("torch", reason="needs a CUDA device and PyTorch")
if not (torch.cuda.is_available() and sheaf.cuda.is_available()):
    pytest.skip("needs a CUDA device and PyTorch", allow_module_level=True)

GPU = "cuda"


def host(array):
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("i2")).view(torch.bfloat16)
    return torch.from_numpy(array)


def both(arrays):
    """The arrays as tensors on the CPU and on the GPU."""
    on_host = [host(array) for array in arrays]
    return on_host, [tensor.to(GPU) for tensor in on_host]


def same(got, expected):
    assert got.device.type == GPU and expected.device.type == "cpu"
    got = got.cpu().contiguous()
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    return got.numel() == 0 or torch.equal(got.reshape(-1).view(torch.uint8),
                                           expected.contiguous().reshape(-1).view(torch.uint8))


VIEWS = {
    "contiguous": lambda t: t,
    "transposed": lambda t: t.transpose(0, -1).contiguous().transpose(0, -1) if t.dim() else t,
    "stepped": lambda t: torch.stack([t, t], -1)[..., 1],
    "offset": lambda t: torch.cat([t, t])[t.shape[0]:] if t.dim() else t,
}


@pytest.mark.parametrize("problem", GATHERS, ids=str)
@pytest.mark.parametrize("rule", GATHER_RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_gathers(problem, rule, rng):
    function = getattr(sheaf, problem.name)
    for number, dtype in enumerate(DTYPES):
        index_dtype = ["int64", "int32", "uint8", "int16"][number % 4]
        view = list(VIEWS.values())[number // 3]
        on_host, on_gpu = both(arrays_for(rng, problem, rule, dtype, index_dtype))
        expected = function(*on_host, **problem.options, **rule)
        assert same(function(*on_gpu, **problem.options, **rule), expected)
        viewed = [view(tensor) for tensor in on_gpu]
        assert same(function(*viewed, **problem.options, **rule), expected)
        plan = getattr(sheaf, f"plan_{problem.name}")(*viewed, **problem.options, **rule)
        out = torch.empty(plan.shape, dtype=on_host[0].dtype, device=GPU)
        assert plan.run(*viewed, out=out) is out
        assert same(out, expected)
        assert same(plan.run(*viewed), expected)


@pytest.mark.parametrize("problem", SCATTERS, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatters(problem, reduction, rng):
    function = getattr(sheaf, problem.name)
    for number, dtype in enumerate(DTYPES):
        if (dtype.startswith("complex") and reduction in ("min", "max")) or (
                dtype == "bool" and reduction == "mean"):
            continue
        rule = SCATTER_RULES[number % len(SCATTER_RULES)]
        options = {"reduction": reduction, "include_self": number % 3 != 0, **problem.options,
                   **rule}
        view = list(VIEWS.values())[number % 4]
        index_dtype = ["int64", "int32"][number % 2]
        on_host, on_gpu = both(arrays_for(rng, problem, rule, dtype, index_dtype, random_numbers))
        expected = function(*on_host, **options)
        assert same(function(*map(view, on_gpu), **options), expected), (dtype, options)
        data, indices, updates = on_gpu
        assert function(data, indices, updates, out=data, **options) is data  # in place
        assert same(data, expected), (dtype, options)


def test_relaxed(rng):
    problem = SCATTERS[3]
    for dtype, close in [("int64", 0), ("float32", 1e-3)]:
        on_host, on_gpu = both(arrays_for(rng, problem, SCATTER_RULES[0], dtype, "int64",
                                          random_numbers))
        got = sheaf.scatter(*on_gpu, reduction="add", relaxed=True).cpu()
        expected = sheaf.scatter(*on_host, reduction="add")
        assert torch.allclose(got, expected, rtol=0, atol=close)


def test_the_functions_of_numpy(rng):
    x = host(rng.random((6, 7)))
    rows, each = torch.tensor([5, 0, -1]), torch.tensor([[0], [3], [1], [1], [6], [2]])
    for view in VIEWS.values():
        g = view(x.to(GPU))
        for mode in ("raise", "wrap", "clip"):
            assert same(sheaf.take(g, rows.to(GPU), axis=0, mode=mode),
                        sheaf.take(x, rows, axis=0, mode=mode))
        assert same(sheaf.take(g, rows.to(GPU)), sheaf.take(x, rows))  # flat
        assert same(sheaf.take_along_axis(g, each.to(GPU), axis=1),
                    sheaf.take_along_axis(x, each, axis=1))
        for axis, indices, values in [(1, each, torch.ones(6, 1).double()),
                                      (None, rows, torch.ones(3).double())]:
            there, here = view(x.to(GPU)), x.clone()
            sheaf.put_along_axis(there, indices.to(GPU), values.to(GPU), axis)
            sheaf.put_along_axis(here, indices, values, axis)
            assert same(there, here)
    assert sheaf.take(x.to(GPU), torch.tensor(3, device=GPU)).shape == ()


def test_bad_indices(rng):
    x, updates = host(rng.random((5, 3), dtype="f4")), torch.ones(4, 3)
    bad, good = torch.tensor([0, 9, -6, 4]), torch.tensor([0, 1, -5, 4])
    for name, arrays in [("gather", []), ("scatter", [updates])]:
        function, planner = getattr(sheaf, name), getattr(sheaf, f"plan_{name}")
        expected = bad_index_text(function, x, bad, *arrays)
        on_gpu = [tensor.to(GPU) for tensor in arrays]
        out = torch.full((4 if name == "gather" else 5, 3), 7.0, device=GPU)
        assert bad_index_text(function, x.to(GPU), bad.to(GPU), *on_gpu, out=out) == expected
        assert (out == 7).all()  # untouched
        plan = planner(x.to(GPU), good.to(GPU), *on_gpu)
        assert bad_index_text(plan.run, x.to(GPU), bad.to(GPU), *on_gpu, out=out) == (
            bad_index_text(planner(x, good, *arrays).run, x, bad, *arrays))
        assert (out == 7).all()
        function(x.to(GPU), good.to(GPU), *on_gpu, out=out)
        assert not (out == 7).any()
    out = torch.full((4, 3), 7.0, device=GPU)
    text, _, _ = bad_index_text(sheaf.take, x.to(GPU), bad.to(GPU), axis=0, out=out)
    assert text.startswith("take: index out of range\n  indices[1] = 9, but axis 0 of data has 5")


def test_out():
    x, indices = torch.arange(12.0, device=GPU), torch.tensor([3, 1, 2], device=GPU)
    out = torch.zeros(6, device=GPU)[::2]
    assert sheaf.gather(x, indices, out=out) is out and out.tolist() == [3, 1, 2]
    for bad, text in [(torch.zeros(2, device=GPU), "output has the wrong shape"),
                      (torch.zeros(3, dtype=torch.float64, device=GPU), "types differ"),
                      (torch.zeros(1, device=GPU).expand(3), "output overlaps itself"),
                      (x[1:4], "output overlaps an input")]:
        with pytest.raises(sheaf.Error, match=text):
            sheaf.gather(x, indices, out=bad)
    assert sheaf.take(x, indices, out=x[1:4]).tolist() == [3, 1, 2]  # by a detour, as in NumPy
    assert x.tolist()[:5] == [0, 3, 1, 2, 4]
    sheaf.put_along_axis(x, indices, x[:3], 0)
    assert x.tolist()[:5] == [0, 3, 1, 0, 4]
    plan = sheaf.plan_gather(x, indices)
    with pytest.raises(sheaf.ArgumentError, match="output differs from the plan's"):
        plan.run(x, indices, out=out)


def test_devices_must_agree():
    x, indices = torch.zeros(3, 2, device=GPU), torch.tensor([0])
    for other in (indices, [0], 0, numpy.array([0])):
        with pytest.raises(sheaf.ArgumentError) as caught:
            sheaf.take(x, other, axis=0)
        assert str(caught.value) == (
            "take: arrays on different devices\n  data is on cuda:0, indices is on the CPU\n"
            "  try: indices moved to cuda:0; nothing is copied between devices in silence")
    with pytest.raises(sheaf.ArgumentError, match="data is on the CPU, indices is on cuda:0, "
                                                  "updates is on cuda:0"):
        sheaf.scatter(torch.zeros(3, 2), indices.to(GPU), torch.zeros(1, 2, device=GPU))
    with pytest.raises(sheaf.ArgumentError, match="try: out moved to cuda:0"):
        sheaf.gather(x, indices.to(GPU), out=torch.zeros(1, 2))
    with pytest.raises(sheaf.ArgumentError, match="try: updates moved"):
        sheaf.put_along_axis(x, torch.zeros(1, 1, dtype=torch.int64, device=GPU), 9.0, 0)
    with pytest.raises(sheaf.ArgumentError, match="arrays on different devices"):
        sheaf.plan_gather(x, indices).run(x, indices)


def test_gradients_and_conjugates_are_not_lost_in_silence():
    first = torch.tensor([0, 0], device=GPU)
    x = torch.zeros(3, device=GPU, requires_grad=True)
    sheaf.gather(x, first).sum().backward()
    assert x.grad.tolist() == [2, 0, 0]
    conjugate = torch.full((3,), 1j, dtype=torch.complex64, device=GPU).conj()
    assert sheaf.gather(conjugate, first).tolist() == [-1j, -1j]


def test_the_current_stream_is_used():
    x = torch.zeros(1 << 16, 16, device=GPU)
    indices = torch.arange(1 << 16, device=GPU).flip(0)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for step in range(1, 6):
            torch.cuda._sleep(5_000_000)
            x.fill_(step)  # late: whoever does not wait for it reads the step before
            results = [sheaf.gather(x, indices, out_of_range="clamp"), sheaf.gather(x, indices),
                       sheaf.scatter(x, indices, x, out_of_range="skip")]
            sums = [result.sum() for result in results]
    stream.synchronize()
    assert [float(total) for total in sums] == [5.0 * (1 << 20)] * 3


def test_only_fail_waits():
    x, indices = torch.zeros(64, 4, device=GPU), torch.zeros(8, dtype=torch.int64, device=GPU)
    event = torch.cuda.Event()
    sheaf.gather(x, indices, out_of_range="clamp")  # CUDA may wait where a kernel is new to it
    sheaf.gather(x, indices)
    torch.cuda._sleep(200_000_000)
    event.record()
    sheaf.gather(x, indices, out_of_range="clamp")
    with sheaf.cuda.deferred_errors():
        sheaf.gather(x, indices)
        assert not event.query()  # nobody has waited
    assert event.query()


def test_explain():
    x, indices = torch.zeros(3, 2, device=GPU), torch.tensor([2, 0], device=GPU)
    assert sheaf.explain("gather", x, indices).map.tolist() == [[4, 5], [0, 1]]
