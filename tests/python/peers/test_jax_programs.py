# SPDX-License-Identifier: MIT
"""Sheaf inside programs that JAX compiles, and XLA's general forms against lax."""

import os
import subprocess
import sys
import textwrap

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.test_util import check_grads  # noqa: E402

import sheaf  # noqa: E402
import sheaf.jax as ours  # noqa: E402

needs_ffi = pytest.mark.skipif(not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")
X = numpy.random.default_rng(0).normal(size=(5, 4, 3)).astype("f4")

GATHERS = [
    (ours.gather, (5, 4, 3), [[2, 0], [-1, 2]], {"axis": 1}),
    (ours.gather, (5, 4, 3), [[3]] * 5, {"axis": 1, "batch_dims": 1}),
    (ours.gather, (5, 3), [7, -9], {"out_of_range": "clamp"}),
    (ours.gather, (5, 3), [7, 1], {"out_of_range": "fill"}),
    (ours.gather_elements, (5, 3), [[0, 4, 1], [1, 1, 1]], {}),
    (ours.gather_elements, (5, 1), [[0, 4, 1], [1, 1, 1]], {"broadcast": True}),
    (ours.gather_nd, (5, 4, 3), [[0, 3], [4, -1], [0, 3]], {}),
    (ours.gather_nd, (2, 4, 3), [[[3]], [[1]]], {"batch_dims": 1}),
]
SCATTERS = [
    (ours.scatter, (5, 3), [3, 3, 0], (3, 3), {}),
    (ours.scatter, (2, 5, 3), [[3, 0], [1, 1]], (2, 2, 3), {"axis": 1, "batch_dims": 1}),
    (ours.scatter_elements, (5, 3), [[0, 4, 1], [0, 1, 1]], (2, 3), {}),
    (ours.scatter_nd, (5, 4, 3), [[0, 3], [4, -1], [0, 3]], (3, 3), {}),
    (ours.scatter, (5, 3), [3, 9, 3], (3, 3), {"out_of_range": "skip"}),
]
REDUCTIONS = ["none", "add", "sub", "mul", "min", "max", "mean"]


def array(shape, seed=0):
    return jnp.asarray(numpy.random.default_rng(seed).normal(size=shape).astype("f4"))


@needs_ffi
@pytest.mark.parametrize("call, shape, indices, options", GATHERS)
def test_gathers(call, shape, indices, options):
    x, i = array(shape), jnp.asarray(indices)
    eager = getattr(sheaf, call.__name__)(x, i, **options)
    assert numpy.array_equal(jax.jit(lambda x, i: call(x, i, **options))(x, i), eager)
    check_grads(lambda x: call(x, i, **options), (x,), order=2, eps=1e-1, atol=1e-2, rtol=1e-2)
    xs = array((3, *shape), 1)
    batched = jax.vmap(lambda x: call(x, i, **options))(xs)
    assert numpy.array_equal(batched, jnp.stack([call(x, i, **options) for x in xs]))
    both = jnp.stack([i, i])
    batched = jax.vmap(lambda i: call(x, i, **options))(both)
    assert numpy.array_equal(batched, jnp.stack([eager, eager]))
    gradient = jax.grad(lambda x: (call(x, i, **options) ** 2).sum())
    assert numpy.allclose(jax.jit(jax.vmap(gradient))(xs), jnp.stack([gradient(x) for x in xs]))


@needs_ffi
@pytest.mark.parametrize("case, reduction", [
    (SCATTERS[0], reduction) for reduction in REDUCTIONS] + [
    (case, reduction) for case in SCATTERS[1:] for reduction in ("none", "add")])
def test_scatters(case, reduction):
    call, shape, indices, updates, options = case
    x, i, u = array(shape), jnp.asarray(indices), array(updates, 2)
    for include_self in (True, False):
        keywords = {**options, "reduction": reduction, "include_self": include_self}
        eager = getattr(sheaf, call.__name__)(x, i, u, **keywords)
        run = jax.jit(lambda x, u: call(x, i, u, **keywords))
        assert numpy.array_equal(run(x, u), eager)
        check_grads(run, (x, u), order=1, eps=1e-3, atol=5e-2, rtol=5e-2)
        xs = array((3, *shape), 3)
        batched = jax.vmap(lambda x: run(x, u))(xs)
        assert numpy.array_equal(batched, jnp.stack([run(x, u) for x in xs]))


@needs_ffi
def test_second_order_of_a_product_with_a_zero():
    x, u, i = jnp.array([2.0, 3.0]), jnp.array([5.0, 0.0, 7.0]), jnp.array([0, 0, 1])

    def product(x, u):
        return ours.scatter(x, i, u, reduction="mul").sum()

    def expected(x, u):
        return x[0] * u[0] * u[1] + x[1] * u[2]

    for transform in (jax.hessian, lambda f, argnums: jax.jacrev(jax.jacrev(f, argnums), argnums)):
        got, wanted = (jax.jit(transform(f, (0, 1)))(x, u) for f in (product, expected))
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
            assert numpy.allclose(a, b, atol=1e-5)


@needs_ffi
def test_bad_indices():
    x = array((5, 3))
    with pytest.raises(Exception, match="index out of range"):
        jax.block_until_ready(jax.jit(ours.gather)(x, jnp.array([0, 9])))
    rows, verdict = jax.jit(lambda x, i: ours.gather(x, i, check=True))(x, jnp.array([0, 9, -6]))
    assert verdict.tolist() == [2, 1]
    assert numpy.array_equal(rows[0], x[0]) and not rows[1:].any()
    _, verdict = ours.gather_nd(x, jnp.array([[0, 2], [-5, -3]]), check=True)
    assert verdict.tolist() == [0, -1]
    with pytest.raises(sheaf.AxisError):  # shapes are checked when the program is traced
        jax.jit(lambda x: ours.gather(x, jnp.array([0]), axis=7))(x)


@needs_ffi
def test_checkify():
    from jax.experimental import checkify

    call = checkify.checkify(jax.jit(lambda x, i: ours.gather(x, i, check="checkify")))
    error, _ = call(array((5, 3)), jnp.array([0, 9]))
    assert "1 indices out of range" in error.get()
    error, _ = call(array((5, 3)), jnp.array([0, 4]))
    assert error.get() is None


@needs_ffi
def test_shard_map():
    program = textwrap.dedent("""
        import jax, jax.numpy as jnp, numpy, sheaf.jax
        from jax.sharding import Mesh, PartitionSpec as P
        mesh = Mesh(numpy.array(jax.devices()), ("rows",))
        x, i = jnp.arange(12.0).reshape(4, 3), jnp.array([2, 0, 1, 1])
        run = jax.shard_map(lambda i: sheaf.jax.gather(x, i), mesh=mesh, in_specs=P("rows"),
                            out_specs=P("rows"), check_vma=False)
        assert len(jax.devices()) == 2 and numpy.array_equal(jax.jit(run)(i), x[i])
    """)
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "JAX_PLATFORMS": "cpu"}
    subprocess.run([sys.executable, "-c", program], check=True, env={**os.environ, **flags})


def random_gather(rng):
    """An operand, indices, dimension numbers and slice sizes that fit."""
    rank = int(rng.integers(1, 5))
    shape = rng.integers(1, 5, rank)
    batching = int(rng.integers(0, 2)) if rank > 1 else 0
    indexed = sorted(rng.choice(numpy.arange(batching, rank), rng.integers(1, rank - batching + 1),
                                replace=False).tolist())
    collapsed = [d for d in range(batching, rank) if rng.random() < 0.5]
    sizes = [1 if d in collapsed or d < batching else int(rng.integers(0, shape[d] + 1))
             for d in range(rank)]
    grid = rng.integers(1, 4, int(rng.integers(0, 3))).tolist()
    indices_shape = [int(shape[0])] * batching + grid + [len(indexed)]
    window = [d for d in range(rank) if d not in collapsed and d >= batching]
    out_rank = batching + len(grid) + len(window)
    offset = sorted(rng.choice(out_rank, len(window), replace=False).tolist())
    rng.shuffle(indexed)
    numbers = dict(collapsed_slice_dims=tuple(collapsed), start_index_map=tuple(indexed),
                   operand_batching_dims=tuple(range(batching)),
                   start_indices_batching_dims=tuple(range(batching)))
    operand = jnp.asarray(rng.integers(0, 100, shape).astype("f4"))
    indices = jnp.asarray(rng.integers(-2, 6, indices_shape).astype("i4"))
    return operand, indices, numbers, tuple(offset), tuple(sizes)


MODES = ["clip", "fill", "promise_in_bounds"]


@pytest.mark.parametrize("seed", range(60))
def test_xla_gather(seed):
    rng = numpy.random.default_rng(seed)
    operand, indices, numbers, offset, sizes = random_gather(rng)
    dimension = lax.GatherDimensionNumbers(offset_dims=offset, **numbers)
    mode = MODES[seed % 3]
    if mode == "promise_in_bounds":
        indices = jnp.zeros_like(indices)
    expected = lax.gather(operand, indices, dimension, sizes, mode=mode)
    got = ours.xla_gather(operand, indices, dimension, sizes, mode=mode)
    assert numpy.array_equal(got, expected, equal_nan=True)


SCATTER_CALLS = {"none": lax.scatter, "add": lax.scatter_add, "mul": lax.scatter_mul,
                 "min": lax.scatter_min, "max": lax.scatter_max}


@pytest.mark.parametrize("seed", range(60))
def test_xla_scatter(seed):
    rng = numpy.random.default_rng(seed)
    operand, indices, numbers, offset, sizes = random_gather(rng)
    gathered = lax.gather(operand, indices, lax.GatherDimensionNumbers(
        offset_dims=offset, **numbers), sizes, mode="clip")
    updates = jnp.asarray(rng.integers(0, 9, gathered.shape).astype("f4"))
    dimension = lax.ScatterDimensionNumbers(
        update_window_dims=offset, inserted_window_dims=numbers["collapsed_slice_dims"],
        scatter_dims_to_operand_dims=numbers["start_index_map"],
        operand_batching_dims=numbers["operand_batching_dims"],
        scatter_indices_batching_dims=numbers["start_indices_batching_dims"])
    reduction = list(SCATTER_CALLS)[seed % 5]
    mode = MODES[seed % 2]
    expected = SCATTER_CALLS[reduction](operand, indices, updates, dimension, mode=mode)
    got = ours.xla_scatter(operand, indices, updates, dimension, reduction=reduction, mode=mode)
    assert numpy.array_equal(got, expected)
