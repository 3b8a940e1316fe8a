# SPDX-License-Identifier: MIT
"""Plans of scatters, gradients of plans, and what explain() says of scatters."""

import json

import numpy
import pytest

import sheaf

X = numpy.arange(12, dtype="f4").reshape(4, 3)
I = numpy.array([2, 0])
U = numpy.array([[1, 2, 3], [4, 5, 6]], "f4")


def test_a_plan_tells_what_it_does():
    plan = sheaf.plan_scatter(X, I, U, reduction="add")
    assert repr(plan) == "<sheaf.Plan scatter: f32[4, 3], i64[2], f32[2, 3] -> f32[4, 3]>"
    assert str(plan).startswith("scatter add f32, 12 bytes per step, i64 indices")
    assert json.loads(plan.json())["op"] == "scatter"
    assert plan.shape == (4, 3)
    assert plan.updates == sheaf.Spec("f32", (2, 3))
    assert sheaf.plan_gather(X, I).updates is None
    assert plan == sheaf.plan_scatter_nd(X, I[:, None], U, reduction="add")
    assert plan != sheaf.plan_scatter(X, I, U)


def test_run():
    expected = X.copy()
    expected[I] += U
    plan = sheaf.plan_scatter(X, sheaf.Spec("i64", [2]), sheaf.Spec("f32", [2, 3]), reduction="add")
    assert plan.run(X, I, U).tolist() == expected.tolist()
    out = numpy.empty_like(X)
    assert plan.run(X, I, U, out) is out
    assert plan.run(X, I, U, out=out, threads=2).tolist() == expected.tolist()
    x = X.copy()
    assert plan.run(x, I, U, x) is x  # in place
    assert x.tolist() == expected.tolist()
    assert plan.run(X, [2, 0], U.tolist()).tolist() == expected.tolist()
    elements = sheaf.plan_scatter_elements(sheaf.Spec("f32", [4, 3]), [[1, 0]], [[7, 8]], 1)
    assert elements.run(X, [[1, 0]], [[7, 8]])[0].tolist() == [8, 7, 2]


def test_relaxed_is_an_option_of_its_own():
    strict = sheaf.plan_scatter(X, I, U, reduction="add")
    assert sheaf.plan_scatter(X, I, U, reduction="add", relaxed=True).run(X, I, U).tolist() == (
        strict.run(X, I, U).tolist())
    for name, indices, updates in [("scatter", I, U), ("scatter_elements", [[1, 0]], [[7, 8]]),
                                   ("scatter_nd", I[:, None], U)]:
        call = getattr(sheaf, name)
        assert call(X, indices, updates, relaxed=True).tolist() == call(X, indices,
                                                                        updates).tolist()


def test_run_refuses():
    plan = sheaf.plan_scatter(X, I, U)
    for arrays, text in [
        ((X[:2], I, U), "data differs from the plan's\n  got f32\\[2, 3\\], planned for f32\\[4"),
        ((X, I.astype("i4"), U), "indices differs"),
        ((X, I, U[:1]), "updates differs"),
        ((X, I, U, X.T.copy().T), "output differs"),
        ((None, I, U), "null pointer\n  data has elements"),
        ((X, I), "updates are missing\n  this is the plan of a scatter"),
        ((X, I, U, U), "output differs"),
    ]:
        with pytest.raises(sheaf.ArgumentError, match=text):
            plan.run(*arrays)
    with pytest.raises(sheaf.ArgumentError, match="one array too many"):
        sheaf.plan_gather(X, I).run(X, I, U, U)
    with pytest.raises(sheaf.IndexError):
        plan.run(X, [0, 4], U)


def test_the_gradient_of_a_gather():
    back = sheaf.plan_gather(X, I).vjp()
    assert repr(back) == "<sheaf.Plan scatter: f32[4, 3], i64[2], f32[2, 3] -> f32[4, 3]>"
    got = back.run(None, [1, 1], U)
    assert type(got) is numpy.ndarray
    assert got.tolist() == [[0, 0, 0], [5, 7, 9], [0, 0, 0], [0, 0, 0]]
    out = numpy.full_like(X, 7)
    assert back.run(None, [0, 3], U, out) is out
    assert out.tolist() == [[1, 2, 3], [0, 0, 0], [0, 0, 0], [4, 5, 6]]
    filled = sheaf.plan_gather(X, I, out_of_range="fill", fill_value=5).vjp()
    assert filled.run(None, [9, 0], U).tolist() == [[4, 5, 6], [0] * 3, [0] * 3, [0] * 3]


def test_the_gradient_of_a_gather_that_broadcasts():
    back = sheaf.plan_gather_elements(X, [[3, 1, 0]], axis=0, broadcast=True).vjp()
    assert back.run(None, [[3, 1, 0]], U[:1])[3].tolist() == [1, 0, 0]
    wide = sheaf.plan_gather_elements(X, [[2], [0], [0], [1]], axis=1, broadcast=True).vjp()
    indices = numpy.broadcast_to([[2], [0], [0], [1]], wide.indices.shape)
    assert wide.run(None, indices, numpy.ones((4, 1), "f4")).sum() == 4
    with pytest.raises(sheaf.ArgumentError, match="vjp|no gradient as one plan"):
        sheaf.plan_gather_elements(X[:1], [[1], [2]], axis=1, broadcast=True).vjp()


def test_the_gradient_of_a_scatter():
    for reduction in ("none", "add"):
        back = sheaf.plan_scatter(X, I, U, reduction=reduction, out_of_range="skip").vjp()
        assert repr(back) == "<sheaf.Plan gather: f32[4, 3], i64[2] -> f32[2, 3]>"
        assert back.run(X, [1, 9]).tolist() == [[3, 4, 5], [0, 0, 0]]
    with pytest.raises(sheaf.ArgumentError, match="no gradient as one plan\n  reduction = mul"):
        sheaf.plan_scatter(X, I, U, reduction="mul").vjp()


def test_explain():
    explanation = sheaf.explain("scatter", X, [2, 9], U, out_of_range="skip")
    assert explanation.map.tolist() == [[6, 7, 8], [-1, -1, -1]]
    assert explanation.index_map.tolist() == [[0, 0, 0], [1, 1, 1]]
    text = str(explanation)
    assert "updates[0, 1] -> output[2, 1] by indices[0]\n" in text
    assert "updates[1, 0] -> nowhere by indices[1]\n" in text
    assert sheaf.explain(sheaf.plan_scatter(X, I, U), I).map.tolist() == [[6, 7, 8], [0, 1, 2]]
    nothing = sheaf.explain("scatter_nd", X, numpy.zeros((1, 0), int), X[None])
    assert nothing.target_of(0) == "output[0, 0]"
    with pytest.raises(sheaf.IndexError):
        sheaf.explain("scatter_elements", X, [[9]], numpy.zeros((1, 1), "f4"))
