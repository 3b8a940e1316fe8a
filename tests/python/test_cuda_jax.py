# SPDX-License-Identifier: MIT
"""JAX's arrays on a GPU."""

import os

import numpy
import pytest

import sheaf
from gpu_cases import (GATHER_RULES, GATHERS, REDUCTIONS, SCATTER_RULES, SCATTERS, arrays_for,
                       bad_index_text, random_numbers, same_bits)

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # there are others on the GPU
jax = pytest.importorskip("jax", reason="needs a CUDA device and JAX")
if jax.default_backend() != "gpu" or not sheaf.cuda.is_available():
    pytest.skip("needs a CUDA device and JAX", allow_module_level=True)

import jax.numpy as jnp  # noqa: E402

GPU = jax.devices("gpu")[0]
DTYPES = ["bool", "int8", "uint8", "int16", "int32", "float16", "bfloat16", "float32", "complex64"]


def put(array):
    return jax.device_put(array, GPU)


@pytest.mark.parametrize("problem", GATHERS, ids=str)
@pytest.mark.parametrize("rule", GATHER_RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_gathers(problem, rule, rng):
    function = getattr(sheaf, problem.name)
    for dtype in DTYPES:
        arrays = arrays_for(rng, problem, rule, dtype, "int32")
        got = function(*map(put, arrays), **problem.options, **rule)
        assert isinstance(got, jax.Array) and got.devices() == {GPU}
        assert same_bits(got, function(*arrays, **problem.options, **rule))


@pytest.mark.parametrize("problem", SCATTERS, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_scatters(problem, reduction, rng):
    function = getattr(sheaf, problem.name)
    for rule in SCATTER_RULES:
        options = {"reduction": reduction, **problem.options, **rule}
        arrays = arrays_for(rng, problem, rule, "float32", "int32", random_numbers)
        assert same_bits(function(*map(put, arrays), **options), function(*arrays, **options))


def test_plans_and_the_functions_of_numpy(rng):
    x, each = rng.random((6, 7), dtype="f4"), numpy.array([[0], [3], [1], [1], [6], [2]], "i4")
    rows = numpy.array([5, 0, -1], "i4")
    plan = sheaf.plan_gather(put(x), put(rows))
    assert same_bits(plan.run(put(x), put(rows)), x[rows])
    back = plan.vjp().run(None, put(rows), put(x[:3]))
    assert isinstance(back, jax.Array) and same_bits(back[5], x[0] + x[2])
    assert same_bits(sheaf.take(put(x).T, put(rows)), sheaf.take(x.T, rows))
    assert same_bits(sheaf.take_along_axis(put(x), put(each), axis=1),
                     sheaf.take_along_axis(x, each, axis=1))


def test_results_are_used_and_inputs_dropped_at_once(rng):
    # JAX reuses memory as soon as an array is gone, and computes on streams of its own.
    double = jax.jit(lambda x: x * 2)
    x = rng.random((4096, 64), dtype="f4")
    rows = rng.integers(0, 4096, 4096).astype("i4")
    for step in range(20):
        got = double(sheaf.gather(double(put(x) + step), put(rows), out_of_range="clamp"))
        assert same_bits(got, (x + step)[rows] * 4)


def test_refusals(rng):
    x, bad = rng.random((5, 3), dtype="f4"), numpy.array([0, 9], "i4")
    assert bad_index_text(sheaf.gather, put(x), put(bad)) == bad_index_text(sheaf.gather, x, bad)
    with sheaf.cuda.deferred_errors():  # a call that waits anyway tells at once
        bad_index_text(sheaf.gather, put(x), put(bad))
    with pytest.raises(sheaf.ArgumentError, match="out is read-only"):
        sheaf.gather(put(x), put(bad), out=jnp.zeros((2, 3)))
    with pytest.raises(sheaf.ArgumentError, match="indices is on the CPU"):
        sheaf.gather(put(x), [0, 1])
