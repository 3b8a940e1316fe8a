# SPDX-License-Identifier: MIT
"""sheaf.jax on several devices: shard_map, and programs that XLA divides. The tests need four, which
JAX makes of one CPU if it is asked before it starts: test_on_four_devices runs them so."""

import itertools
import os
import subprocess
import sys

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
import jax.numpy as jnp  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P  # noqa: E402

import sheaf  # noqa: E402
import sheaf.jax as ours  # noqa: E402

pytestmark = pytest.mark.skipif(not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")
FOUR = len(jax.devices()) >= 4
on_four = pytest.mark.skipif(not FOUR, reason="test_on_four_devices runs it")


@pytest.mark.skipif(FOUR, reason="the others run")
@pytest.mark.parametrize("shardy, tests", [("true", "on or not on"), ("false", "divided or tables")])
def test_on_four_devices(shardy, tests):
    settings = {"XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu",
                "JAX_USE_SHARDY_PARTITIONER": shardy}
    result = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k",
                             tests, __file__], env={**os.environ, **settings},
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def mesh_of(*sizes):
    names = ("x", "y")[:len(sizes)]
    return Mesh(numpy.array(jax.devices()[:int(numpy.prod(sizes))]).reshape(sizes), names)


def same_bits(a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


TABLE = numpy.arange(6, dtype="f4")
IDS = numpy.array([0, 0, 1, 1, 2, 3, 4, 5], "i4")


@on_four
def test_gradients_through_shard_map_are_added_up():
    def loss(table, ids):
        return jax.lax.psum(ours.gather(table, ids).sum(), "x")

    run = jax.shard_map(loss, mesh=mesh_of(4), in_specs=(P(), P("x")), out_specs=P())
    for gradient in (jax.grad(run), jax.jit(jax.grad(run))):
        assert gradient(TABLE, IDS).tolist() == [2, 2, 1, 1, 1, 1]


@on_four
@pytest.mark.parametrize("reduction", ["none", "add", "mul", "max", "mean"])
def test_gradients_of_scatters_through_shard_map(reduction):
    def loss(table, updates, ids):
        return jax.lax.psum((ours.scatter(table, ids, updates, reduction=reduction) ** 2).sum(), "x")

    run = jax.shard_map(loss, mesh=mesh_of(4), in_specs=(P(), P("x"), P("x")), out_specs=P())
    updates = jnp.linspace(1, 2, 8)
    got = jax.jit(jax.grad(run, (0, 1)))(TABLE, updates, IDS)

    def alone(table, updates):
        return sum((ours.scatter(table, IDS[k:k + 2], updates[k:k + 2], reduction=reduction) ** 2
                    ).sum() for k in range(0, 8, 2))

    for mine, expected in zip(got, jax.grad(alone, (0, 1))(TABLE, updates)):
        numpy.testing.assert_allclose(mine, expected, rtol=1e-6)


@on_four
def test_a_wrong_out_spec_is_refused():
    run = jax.shard_map(ours.gather, mesh=mesh_of(4), in_specs=(P(), P("x")), out_specs=P())
    with pytest.raises(ValueError, match="out_specs"):
        run(TABLE, IDS)
    unchecked = jax.shard_map(ours.gather, mesh=mesh_of(4), in_specs=(P(), P("x")),
                              out_specs=P("x"), check_vma=False)
    assert same_bits(unchecked(TABLE, IDS), TABLE[IDS])


def compiled(function, *arrays):
    program = jax.jit(function).lower(*arrays).compile()
    text = program.as_text()
    moves = [name for name in ("all-gather", "all-reduce", "all-to-all", "collective-permute")
             if f"{name}(" in text]
    return program(*arrays), moves


def place(mesh, array, spec):
    return jax.device_put(array, NamedSharding(mesh, spec))


@on_four
@pytest.mark.parametrize("table, ids, moves, result", [
    (P(), P("x"), [], P("x")),
    (P(None, "x"), P(), [], P(None, "x")),
    (P("x"), P(), ["all-reduce"], P()),
])
def test_tables_are_not_gathered(table, ids, moves, result):
    mesh = mesh_of(4)
    x = numpy.random.default_rng(0).normal(size=(64, 8)).astype("f4")
    i = numpy.arange(32, dtype="i4") * 5 % 64
    got, moved = compiled(lambda x, i: ours.gather(x, i, out_of_range="clamp"),
                          place(mesh, x, table), place(mesh, i, ids))
    assert same_bits(got, x[i]) and moved == moves
    assert got.sharding.is_equivalent_to(NamedSharding(mesh, result), 2)


@on_four
@pytest.mark.parametrize("table", [P(None, "x"), P("x")])
def test_scattered_tables_stay_divided(table):
    mesh = mesh_of(4)
    x, i = numpy.zeros((64, 8), "f4"), numpy.arange(32, dtype="i4") % 7
    u = numpy.random.default_rng(0).normal(size=(32, 8)).astype("f4")
    got, moved = compiled(
        lambda x, i, u: ours.scatter(x, i, u, reduction="add", out_of_range="skip"),
        place(mesh, x, table), place(mesh, i, P()), place(mesh, u, P()))
    assert same_bits(got, sheaf.scatter(x, i, u, reduction="add")) and moved == []
    assert got.sharding.is_equivalent_to(NamedSharding(mesh, table), 2)


WAYS = int(os.environ.get("SHEAF_TEST_WAYS", 6))
SPECS = {1: [P(), P("x"), P(("x", "y"))], 2: [P(), P("x"), P("y", "x"), P(None, "x")],
         3: [P(), P("y"), P(None, "x", "y"), P("x", None, "y"), P(None, ("y", "x"))]}
GATHERS = [
    (ours.gather, (8, 4, 4), (4,), {"axis": 0}),
    (ours.gather, (4, 8, 4), (4, 8), {"axis": 1, "batch_dims": 1}),
    (ours.gather, (4, 4, 8), (4, 2), {"axis": 2, "batch_dims": 1}),
    (ours.gather_elements, (8, 4), (4, 4), {"axis": 0}),
    (ours.gather_elements, (8, 4), (4, 2), {"axis": 0}),
    (ours.gather_elements, (8, 1), (4, 4), {"axis": 0, "broadcast": True}),
    (ours.gather_nd, (8, 4, 4), (8, 2), {}),
    (ours.gather_nd, (4, 8, 4), (4, 4, 1), {"batch_dims": 1}),
]
RULES = [{"out_of_range": "clamp"}, {"out_of_range": "fill", "fill_value": -0.0},
         {"out_of_range": "wrap", "negative": "out_of_range"}, {"out_of_range": "fail"},
         {"out_of_range": "fill", "negative": "out_of_range", "fill_value": 3}]


def ways(*specs):
    """Some of all combinations, numbered; each takes a compilation."""
    every = list(itertools.product(*specs))
    return list(enumerate(every[1::-(-len(every) // WAYS)]))


def ids_for(rng, shape, options, dtype="i4"):
    low, high = (0, 4) if options["out_of_range"] == "fail" else (-20, 20)
    return rng.integers(low, high, shape).astype(dtype)


@on_four
@pytest.mark.parametrize("call, data, ids, options", GATHERS)
def test_gathers_are_divided_every_way(call, data, ids, options):
    rng, mesh = numpy.random.default_rng(1), mesh_of(2, 2)
    for n, (a, b) in ways(SPECS[len(data)], SPECS[len(ids)]):
        keywords = {**options, **RULES[n % len(RULES)]}
        x = numpy.where(rng.random(data) < 0.2, -0.0, rng.normal(size=data)).astype("f4")
        i = ids_for(rng, ids, keywords)
        try:
            arrays = place(mesh, x, a), place(mesh, i, b)
        except ValueError:  # the sizes cannot be divided so
            continue
        got = jax.jit(lambda x, i: call(x, i, **keywords))(*arrays)
        assert same_bits(got, getattr(sheaf, call.__name__)(x, i, **keywords)), (a, b, keywords)


SCATTERS = [
    (ours.scatter, (8, 4, 4), (4,), (4, 4, 4), {"axis": 0}),
    (ours.scatter, (4, 8, 4), (4, 4), (4, 4, 4), {"axis": 1, "batch_dims": 1}),
    (ours.scatter_elements, (8, 4), (4, 4), (4, 4), {"axis": 0}),
    (ours.scatter_elements, (4, 8), (4, 4), (4, 4), {"axis": 1}),
    (ours.scatter_elements, (8, 4), (4, 2), (4, 2), {"axis": 0}),
    (ours.scatter_nd, (8, 4, 4), (8, 2), (8, 4), {}),
    (ours.scatter_nd, (4, 8, 4), (4, 4, 1), (4, 4, 4), {"batch_dims": 1}),
]


@on_four
@pytest.mark.parametrize("call, data, ids, updates, options", SCATTERS)
def test_scatters_are_divided_every_way(call, data, ids, updates, options):
    rng, mesh = numpy.random.default_rng(2), mesh_of(2, 2)
    rules = [{"out_of_range": "clamp"}, {"out_of_range": "skip"}, {"out_of_range": "wrap"},
             {"out_of_range": "fail"}, {"out_of_range": "skip", "negative": "out_of_range"}]
    reductions = ["none", "add", "mean", "max", "mul", "sub"]
    for n, (a, b, c) in ways(SPECS[len(data)], SPECS[len(ids)], SPECS[len(updates)][:3]):
        keywords = {**options, **rules[n % 5], "reduction": reductions[n % 6],
                    "include_self": n % 4 != 0}
        x, u = rng.normal(size=data).astype("f4"), rng.normal(size=updates).astype("f4")
        i = ids_for(rng, ids, keywords)
        try:
            arrays = place(mesh, x, a), place(mesh, i, b), place(mesh, u, c)
        except ValueError:
            continue
        got = jax.jit(lambda x, i, u: call(x, i, u, **keywords))(*arrays)
        expected = getattr(sheaf, call.__name__)(x, i, u, **keywords)
        assert same_bits(got, expected), (a, b, c, keywords)


@on_four
@pytest.mark.parametrize("dtype, ids", [
    ("bool", "int8"), ("int8", "uint8"), ("uint16", "int16"), ("float16", "uint32"),
    ("bfloat16", "int32"), ("complex64", "uint16"), ("float8_e5m2", "uint32")])
def test_types_of_divided_tables(dtype, ids):
    rng, mesh = numpy.random.default_rng(3), mesh_of(4)
    x = jnp.asarray(rng.normal(size=(16, 3))).astype(dtype)
    i = rng.integers(0, 100, 8).astype(ids)
    if ids == "uint32":
        i[3] = 2**32 - 1
    got = jax.jit(lambda x, i: ours.gather(x, i, out_of_range="fill", fill_value=1))(
        place(mesh, x, P("x")), i)
    assert same_bits(got, sheaf.gather(numpy.asarray(x), i, out_of_range="fill", fill_value=1))


@on_four
def test_a_bad_index_of_a_divided_table_fails():
    x = place(mesh_of(4), numpy.zeros((8, 2), "f4"), P("x"))
    with pytest.raises(Exception, match="index out of range"):
        jax.block_until_ready(jax.jit(ours.gather)(x, jnp.array([0, 9])))


@on_four
def test_gradients_of_divided_tables():
    mesh = mesh_of(4)
    x = numpy.random.default_rng(4).normal(size=(8, 4)).astype("f4")
    i = numpy.array([1, 7, 7, 3], "i4")
    for spec in (P("x"), P(None, "x"), P()):
        gradient = jax.jit(jax.grad(
            lambda x: (ours.gather(x, i, out_of_range="clamp") ** 2).sum()))
        expected = numpy.zeros_like(x)
        numpy.add.at(expected, i, 2 * x[i])
        assert same_bits(gradient(place(mesh, x, spec)), expected)


@on_four
def test_parts_with_a_rest_stay_whole():
    mesh = mesh_of(4)
    x, i = numpy.arange(20, dtype="f4").reshape(10, 2), numpy.array([9, -1, 4, 2, 0, 7], "i4")

    def run(x, i):
        i = jax.lax.with_sharding_constraint(i, NamedSharding(mesh, P("x")))
        return jax.lax.with_sharding_constraint(ours.gather(x, i), NamedSharding(mesh, P()))

    assert same_bits(jax.jit(run)(place(mesh, x, P()), place(mesh, i, P())), x[i])


@on_four
def test_gradients_of_arrays_with_explicit_shardings():
    mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    x, i = numpy.arange(64, dtype="f4").reshape(8, 8), numpy.array([1, 5, 2, 2], "i4")
    expected = numpy.zeros_like(x)
    numpy.add.at(expected, i, 2 * x[i])
    with jax.set_mesh(mesh):
        for spec in (P(), P("x"), P(None, "x")):
            gradient = jax.jit(jax.grad(
                lambda x: (ours.gather(x, i, out_of_range="clamp") ** 2).sum()))
            assert same_bits(gradient(jax.device_put(x, spec)), expected)
