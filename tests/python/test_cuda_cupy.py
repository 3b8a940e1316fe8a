# SPDX-License-Identifier: MIT
"""CuPy's arrays on a GPU, alone and together with PyTorch's."""

import numpy
import pytest

import sheaf
from gpu_cases import (DTYPES, GATHER_RULES, GATHERS, REDUCTIONS, SCATTER_RULES, SCATTERS,
                       arrays_for, bad_index_text, random_numbers, same_bits)

cupy = pytest.importorskip("cupy", reason="needs a CUDA device and CuPy")
if not (cupy.cuda.is_available() and sheaf.cuda.is_available()):
    pytest.skip("needs a CUDA device and CuPy", allow_module_level=True)

DTYPES = [dtype for dtype in DTYPES if dtype != "bfloat16"]


@pytest.mark.parametrize("problem", GATHERS, ids=str)
@pytest.mark.parametrize("rule", GATHER_RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_gathers(problem, rule, rng):
    function = getattr(sheaf, problem.name)
    for number, dtype in enumerate(DTYPES):
        arrays = arrays_for(rng, problem, rule, dtype, ["int64", "uint32"][number % 2])
        expected = function(*arrays, **problem.options, **rule)
        on_gpu = [cupy.asarray(array) for array in arrays]
        got = function(*on_gpu, **problem.options, **rule)
        assert isinstance(got, cupy.ndarray) and same_bits(got.get(), expected)
        sparse = cupy.repeat(on_gpu[0], 2, axis=0)[::2]  # a stride of two rows
        assert same_bits(function(sparse, on_gpu[1], **problem.options, **rule).get(), expected)


@pytest.mark.parametrize("problem", SCATTERS, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatters(problem, reduction, rng):
    function = getattr(sheaf, problem.name)
    for rule in SCATTER_RULES:
        options = {"reduction": reduction, **problem.options, **rule}
        arrays = arrays_for(rng, problem, rule, "float64", "int64", random_numbers)
        on_gpu = [cupy.asarray(array) for array in arrays]
        expected = function(*arrays, **options)
        assert same_bits(function(*on_gpu, **options).get(), expected)
        assert function(*on_gpu, out=on_gpu[0], **options) is on_gpu[0]
        assert same_bits(on_gpu[0].get(), expected)


def test_out_and_overlap():
    x, indices = cupy.arange(12.0), cupy.asarray([3, 1, 2])
    out = cupy.zeros(3)
    assert sheaf.gather(x, indices, out=out) is out and out.tolist() == [3, 1, 2]
    plan = sheaf.plan_gather(x, indices, out_of_range="clamp")
    assert plan.run(x + 1, indices, out=out) is out and out.tolist() == [4, 2, 3]
    with pytest.raises(sheaf.ArgumentError, match="output overlaps an input"):
        sheaf.gather(x, indices, out=x[1:4])
    assert sheaf.take(x, indices, out=x[1:4]).tolist() == [3, 1, 2]  # by a detour, as in NumPy
    square = cupy.zeros((3, 4)).T
    sheaf.put_along_axis(square, cupy.asarray([0, 5]), cupy.asarray([1.0, 2.0]), None)
    assert square.ravel().tolist()[:6] == [1, 0, 0, 0, 0, 2]
    assert sheaf.take(square, cupy.asarray([5])).tolist() == [2]


def test_refusals():
    x, bad = numpy.zeros((5, 3)), numpy.array([0, 9])
    there = (cupy.asarray(x), cupy.asarray(bad))
    assert bad_index_text(sheaf.gather, *there) == bad_index_text(sheaf.gather, x, bad)
    with pytest.raises(sheaf.IndexError):
        with sheaf.cuda.deferred_errors():
            sheaf.gather(*there)
    with pytest.raises(sheaf.ArgumentError, match="arrays on different devices"):
        sheaf.gather(there[0], bad)


def test_the_current_stream_is_used():
    x, indices = cupy.zeros((1 << 16, 16)), cupy.arange(1 << 16)[::-1].copy()
    heavy = cupy.ones((3000, 3000))
    cupy.cuda.Device().synchronize()
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for step in range(1, 6):
            for _ in range(5):
                heavy @ heavy  # so that the next line is late
            x.fill(step)
            total = sheaf.gather(x, indices, out_of_range="clamp").sum()
        stream.synchronize()
        assert float(total) == 5.0 * (1 << 20)


def test_together_with_torch():
    torch = pytest.importorskip("torch", reason="needs PyTorch beside CuPy")
    x, indices = torch.arange(12.0, device="cuda").reshape(4, 3), cupy.asarray([3, 0])
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        got = sheaf.gather(x, indices)
        out = cupy.zeros((2, 3), "f4")
        sheaf.gather(x, indices, out_of_range="clamp", out=out)
    assert isinstance(got, torch.Tensor)
    assert got.tolist() == out.tolist() == [[9, 10, 11], [0, 1, 2]]
