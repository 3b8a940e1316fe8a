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


needs_ffi = pytest.mark.skipif(not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")


def compiled(name, **options):
    import sheaf.jax
    return jax.jit(lambda *arrays: getattr(sheaf.jax, name)(*arrays, **options))


@needs_ffi
@pytest.mark.parametrize("problem", GATHERS, ids=str)
@pytest.mark.parametrize("rule", GATHER_RULES, ids=lambda rule: "-".join(map(str, rule.values())))
def test_compiled_gathers(problem, rule, rng):
    options = {**problem.options, **rule}
    for dtype in ("bool", "int8", "bfloat16", "float32", "complex64"):
        arrays = arrays_for(rng, problem, rule, dtype, "int32")
        got = compiled(problem.name, **options)(*map(put, arrays))
        assert got.devices() == {GPU}
        assert same_bits(got, getattr(sheaf, problem.name)(*arrays, **options))


@needs_ffi
@pytest.mark.parametrize("problem", SCATTERS, ids=str)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_compiled_scatters(problem, reduction, rng):
    for rule, include_self in zip(SCATTER_RULES, (True, False, True, False, True)):
        options = {"reduction": reduction, "include_self": include_self, **problem.options, **rule}
        for dtype in ("float32", "int32", "bfloat16"):
            arrays = arrays_for(rng, problem, rule, dtype, "int32", random_numbers)
            got = compiled(problem.name, **options)(*map(put, arrays))
            assert same_bits(got, getattr(sheaf, problem.name)(*arrays, **options))


LARGE = [  # each needs a workspace of a kind of its own
    ("gather_elements", (4096, 1024), (4096, 1024), None, {"axis": 0}),
    ("scatter", (1 << 16, 32), (1 << 18,), (1 << 18, 32), {"reduction": "add"}),
    ("scatter", (1 << 16, 3), (1 << 17,), (1 << 17, 3), {}),
    ("scatter", (100, 64), (1 << 16,), (1 << 16, 64), {"reduction": "mean"}),
    ("scatter_elements", (2048, 512), (2048, 512), (2048, 512), {"reduction": "mul"}),
    ("scatter_elements", (512, 2048), (512, 2048), (512, 2048), {"axis": 1, "reduction": "max"}),
]


@needs_ffi
@pytest.mark.parametrize("name, data, indices, updates, options", LARGE)
def test_compiled_calls_with_large_workspaces(name, data, indices, updates, options, rng):
    arrays = [rng.random(data, dtype="f4"),
              rng.integers(0, data[options.get("axis", 0)], indices).astype("i4")]
    if updates is not None:
        arrays.append(rng.random(updates, dtype="f4"))
    expected = getattr(sheaf, name)(*arrays, **options)
    run, on_gpu = compiled(name, **options), [put(array) for array in arrays]
    for _ in range(3):
        assert same_bits(run(*on_gpu), expected)


@needs_ffi
@pytest.mark.parametrize("problem", GATHERS[:-2], ids=str)
def test_compiled_gradients_of_gathers(problem, rng):
    rule = {"out_of_range": "clamp"}
    x, i = arrays_for(rng, problem, rule, "float32", "int32", random_numbers)
    options = {**problem.options, **rule}
    back = jax.jit(lambda x, i, g: jax.vjp(lambda x: compiled(problem.name, **options)(x, i), x)[1](
        g)[0])
    cotangent = rng.random(compiled(problem.name, **options)(put(x), put(i)).shape, dtype="f4")
    got = back(put(x), put(i), put(cotangent))
    with jax.default_device(jax.devices("cpu")[0]):
        expected = back(x, i, cotangent)
    if problem.options.get("broadcast"):  # columns are added up by XLA
        numpy.testing.assert_allclose(got, expected, rtol=1e-5)
    else:
        assert same_bits(got, expected)


@needs_ffi
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_compiled_gradients_of_scatters(reduction, rng):
    x, u = rng.random((50, 4), dtype="f4") + 1, rng.random((300, 4), dtype="f4") + 1
    i = rng.integers(0, 50, 300).astype("i4")
    run = compiled("scatter", reduction=reduction)
    gradient = jax.jit(jax.grad(lambda x, u, i: jnp.sqrt(run(x, i, u) + 1000).sum(), (0, 1)))
    got = gradient(put(x), put(u), put(i))
    with jax.default_device(jax.devices("cpu")[0]):
        expected = gradient(x, u, i)
    for mine, theirs in zip(got, expected):
        assert mine.devices() == {GPU}
        numpy.testing.assert_allclose(mine, theirs, rtol=1e-4)


@needs_ffi
def test_a_donated_table_is_updated_in_place(rng):
    import sheaf.jax
    run = jax.jit(lambda x, i, u: sheaf.jax.scatter(x, i, u, reduction="add"), donate_argnums=0)
    x, u = rng.random((1 << 12, 64), dtype="f4"), rng.random((9, 64), dtype="f4")
    i = rng.integers(0, 1 << 12, 9).astype("i4")
    table = put(x)
    address = table.unsafe_buffer_pointer()
    table = run(table, put(i), put(u))
    assert table.unsafe_buffer_pointer() == address
    assert same_bits(table, sheaf.scatter(x, i, u, reduction="add"))


@needs_ffi
@pytest.mark.parametrize("smallest", ["1", "1000000"])  # a graph of one call, and none at all
def test_calls_in_command_buffers(smallest, rng):
    import sheaf.jax

    def step(table, i, u):
        for _ in range(4):
            rows = sheaf.jax.gather(table, i, out_of_range="clamp") * 0.5 + u
            table = sheaf.jax.scatter(table, i, rows, reduction="add", out_of_range="clamp")
            table = sheaf.jax.scatter(table, i[:7], rows[:7], out_of_range="skip")
        return table

    def arrays():
        return (rng.random((700, 32), dtype="f4"), rng.integers(-9, 900, 2000).astype("i4"),
                rng.random((2000, 32), dtype="f4"))

    first = arrays()
    options = {"xla_gpu_graph_min_graph_size": smallest}
    program = jax.jit(step).lower(*map(put, first)).compile(compiler_options=options)
    for values in (first, arrays(), first, arrays()):  # a graph is updated for other buffers
        on_gpu = [put(array) for array in values]
        with jax.default_device(jax.devices("cpu")[0]):
            expected = jax.jit(step)(*values)
        for _ in range(3):
            numpy.testing.assert_allclose(program(*on_gpu), expected, rtol=1e-5)


@needs_ffi
def test_symbolic_shapes_on_the_gpu(rng):
    import sheaf.jax
    from jax import export

    def run(x, i):
        rows = sheaf.jax.gather(x, i, out_of_range="clamp")
        return sheaf.jax.scatter(x, i, rows, reduction="add", out_of_range="skip")

    names = ("gather", "scatter", "gather_unsized", "scatter_unsized")
    checks = [export.DisabledSafetyCheck.custom_call(f"sheaf_{name}") for name in names]
    n, b = export.symbolic_shape("n, b")
    exported = export.export(jax.jit(run), platforms=["cuda"], disabled_checks=checks)(
        jax.ShapeDtypeStruct((n, 5), jnp.float32), jax.ShapeDtypeStruct((b,), jnp.int32))
    for rows, count in ((9, 30), (3000, 20000), (5, 1)):
        x = rng.random((rows, 5), dtype="f4")
        i = rng.integers(-rows, rows, count).astype("i4")
        expected = sheaf.scatter(x, i, sheaf.gather(x, i), reduction="add")
        assert same_bits(exported.call(put(x), put(i)), expected)


@needs_ffi
def test_bad_indices_in_a_compiled_program(rng):
    import sheaf.jax
    x, bad = rng.random((5, 3), dtype="f4"), numpy.array([0, 9, -6], "i4")
    rows, verdict = jax.jit(lambda x, i: sheaf.jax.gather(x, i, check=True))(put(x), put(bad))
    assert verdict.tolist() == [2, 1] and not rows[1:].any()
    table = compiled("scatter")(put(x), put(bad), put(numpy.ones((3, 3), "f4")))
    assert same_bits(table, sheaf.scatter(x, bad, numpy.ones((3, 3), "f4"), out_of_range="skip"))
