# SPDX-License-Identifier: MIT
"""The handlers of XLA's FFI, called directly and badly: every call is refused, none crashes."""

import itertools

import numpy
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed (scripts/peers)")
import jax.numpy as jnp  # noqa: E402

import sheaf  # noqa: E402
import sheaf.jax as ours  # noqa: E402

pytestmark = [pytest.mark.usefixtures("jax_on_cpu"), pytest.mark.skipif(
    not sheaf._sheaf.has_jax_ffi(), reason="built without jaxlib")]
X = numpy.arange(12, dtype="f4").reshape(4, 3)
I = numpy.array([2, 0], "i4")
U = numpy.ones((2, 3), "f4")
GATHER = {"op": "gather", "axis": 0, "batch_dims": 0, "broadcast": 0, "out_of_range": "clamp",
          "negative": "from_end", "fill_integer": 0, "fill_real": 0.0, "fill_imaginary": 0.0}
SCATTER = {"op": "scatter", "axis": 0, "batch_dims": 0, "include_self": 1, "out_of_range": "clamp",
           "negative": "from_end", "reduction": "none"}


@pytest.fixture(autouse=True)
def handlers():
    ours.gather(X, I)  # registers them


def typed(value):
    return (numpy.int64(value) if isinstance(value, int) else
            numpy.float64(value) if isinstance(value, float) else value)


def call(target, result, *operands, aliases=None, **attributes):
    results = [jax.ShapeDtypeStruct(*one) for one in result]
    run = jax.ffi.ffi_call(target, results, vmap_method="sequential", input_output_aliases=aliases)
    attributes = {name: typed(value) for name, value in attributes.items()}
    return jax.block_until_ready(jax.jit(lambda *a: run(*a, **attributes))(*operands))


def refused(*arguments, **keywords):
    with pytest.raises(Exception) as error:
        call(*arguments, **keywords)
    return str(error.value)


def gather_refused(**changes):
    return refused("sheaf_gather", [((2, 3), "f4")], X, I, **{**GATHER, **changes})


def scatter_refused(**changes):
    return refused("sheaf_scatter", [((4, 3), "f4")], X, I, U, **{**SCATTER, **changes})


def test_good_calls():
    got, = call("sheaf_gather", [((2, 3), "f4")], X, I, **GATHER)
    assert (got == X[I]).all()
    got, = call("sheaf_scatter", [((4, 3), "f4")], X, I, U, **SCATTER)
    assert (got[I] == 1).all()


@pytest.mark.parametrize("name", GATHER)
def test_missing_attributes_of_a_gather(name):
    attributes = {key: value for key, value in GATHER.items() if key != name}
    rule = {"out_of_range": "fill"} if name.startswith("fill") else {}
    text = refused("sheaf_gather", [((2, 3), "f4")], X, I, **{**attributes, **rule})
    assert f"attribute {name}" in text


@pytest.mark.parametrize("name", SCATTER)
def test_missing_attributes_of_a_scatter(name):
    attributes = {key: value for key, value in SCATTER.items() if key != name}
    text = refused("sheaf_scatter", [((4, 3), "f4")], X, I, U, **attributes)
    assert f"attribute {name}" in text


@pytest.mark.parametrize("name, wrong", [
    ("op", 1), ("axis", "0"), ("axis", 0.0), ("batch_dims", "x"), ("broadcast", "yes"),
    ("out_of_range", 3), ("negative", 0), ("axis", numpy.int32(0)),
    ("op", numpy.arange(3)), ("axis", numpy.arange(3))])
def test_attributes_of_the_wrong_type(name, wrong):
    assert """jax: attribute missing or of another type
  attribute NAME
  try: the functions of sheaf.jax, which pass all of them""".replace("NAME", name) in (
        gather_refused(**{name: wrong}))


@pytest.mark.parametrize("name, value, known", [
    ("op", "scatter", "gather, gather_elements, gather_nd"),
    ("op", "xla_gather", "gather, gather_elements, gather_nd"),
    ("op", "", "gather, gather_elements, gather_nd"),
    ("out_of_range", "skip", "fail, clamp, fill, wrap, trust"),
    ("out_of_range", "Clamp", "fail, clamp, fill, wrap, trust"),
    ("negative", "allowed", "from_end, out_of_range")])
def test_unknown_names_of_a_gather(name, value, known):
    assert f"jax: unknown {name}\n  {name} = \"{value}\"\n  try: {known}" in (
        gather_refused(**{name: value}))


@pytest.mark.parametrize("name, value, known", [
    ("op", "gather", "scatter, scatter_elements, scatter_nd"),
    ("out_of_range", "fill", "fail, clamp, skip, wrap, trust"),
    ("reduction", "sum", "none, add, sub, mul, min, max, mean")])
def test_unknown_names_of_a_scatter(name, value, known):
    assert f"jax: unknown {name}\n  {name} = \"{value}\"\n  try: {known}" in (
        scatter_refused(**{name: value}))


HUGE = [-2**63, -5, 4, 2**31, 2**63 - 1]


@pytest.mark.parametrize("name, value", list(itertools.product(
    ("axis", "batch_dims"), HUGE)))
def test_numbers_that_do_not_fit(name, value):
    assert "gather: " in gather_refused(**{name: value})
    assert "scatter: " in scatter_refused(**{name: value})


@pytest.mark.parametrize("result", [((2, 4), "f4"), ((3, 3), "f4"), ((2, 3), "i4"), ((), "f4"),
                                    ((2, 3, 1), "f4"), ((2, 3), "f2"), ((1 << 20, 3), "f4")])
def test_results_that_do_not_fit(result):
    assert "gather: " in refused("sheaf_gather", [result], X, I, **GATHER)
    assert "scatter: " in refused("sheaf_scatter", [result], X, I, U, **SCATTER)


@pytest.mark.parametrize("operands", [
    (X, X), (X, I.astype(bool)), (X[0, 0], I), (X, numpy.zeros((2, 3, 4), "i4")),
    (numpy.zeros((0, 3), "f4"), I), (numpy.zeros((1,) * 40, "f4"), I)])
def test_operands_that_do_not_fit(operands):
    refused("sheaf_gather", [((2, 3), "f4")], *operands, **GATHER)
    refused("sheaf_scatter", [((4, 3), "f4")], *operands, U, **SCATTER)


@pytest.mark.parametrize("updates", [U[:1], U[0], U.astype("i4"), numpy.ones((0, 3), "f4"),
                                     numpy.ones((1 << 10, 3), "f4")])
def test_updates_that_do_not_fit(updates):
    assert "scatter: " in refused("sheaf_scatter", [((4, 3), "f4")], X, I, updates, **SCATTER)


def test_types_that_nothing_moves():
    x = jnp.asarray(X).astype(jnp.int4)
    text = refused("sheaf_gather", [((2, 3), jnp.int4)], x, I, **GATHER)
    assert "jax: unsupported element type" in text


def test_numbers_of_operands_and_results():
    result = ((2, 3), "f4")
    for operands in ((), (X,), (X, I, U)):
        refused("sheaf_gather", [result], *operands, **GATHER)
    refused("sheaf_gather", [result, result], X, I, **GATHER)
    refused("sheaf_scatter", [((4, 3), "f4")], X, I, **SCATTER)


def test_results_that_share_memory_with_operands():
    square = numpy.arange(16, dtype="f4").reshape(4, 4)
    i, u = numpy.array([3, 0, 1, 1], "i4"), numpy.ones((4, 4), "f4")
    text = refused("sheaf_gather", [((4, 4), "f4")], square, i, aliases={0: 0}, **GATHER)
    assert "overlap" in text
    text = refused("sheaf_scatter", [((4, 4), "f4")], square, i, u, aliases={2: 0}, **SCATTER)
    assert "overlap" in text


def test_a_gpu_target_has_no_handler_here():
    if jax.default_backend() == "cpu":
        refused("sheaf_gather_unsized", [((2, 3), "f4")], X, I, **GATHER)


def test_bad_indices_are_an_error_of_the_program():
    text = refused("sheaf_gather", [((2, 3), "f4")], X, I + 9, **{**GATHER, "out_of_range": "fail"})
    assert "gather: index out of range" in text and "indices[0] = 11" in text


def test_the_workspace_of_a_gpu_is_a_result(monkeypatch):
    """What is lowered for a GPU. Its sizes are made up; that it runs is tested where there is one."""
    from jax import export
    from sheaf.jax import _lowering

    monkeypatch.setattr(_lowering, "gpus", lambda: (0,))
    monkeypatch.setattr(_lowering._sheaf, "jax_workspace", lambda plan, gpus: 1000)
    checks = [export.DisabledSafetyCheck.custom_call(f"sheaf_{name}")
              for name in ("gather", "scatter")]
    text = export.export(jax.jit(lambda x, i, u: (
        ours.gather(x, i), ours.scatter(x, i, u, reduction="add"))), platforms=["cuda"],
        disabled_checks=checks)(X, I, U).mlir_module()
    calls = [line for line in text.splitlines() if "@sheaf_" in line]
    assert len(calls) == 2 and all("tensor<1256xui8>" in line for line in calls)
    assert "output_operand_aliases" not in calls[0]
    assert "#stablehlo.output_operand_alias<output_tuple_indices = [0]" in calls[1]
