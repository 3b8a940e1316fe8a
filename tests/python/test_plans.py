# SPDX-License-Identifier: MIT
"""Plans and explanations."""

import json
import threading

import numpy
import pytest

import sheaf

X = numpy.arange(12, dtype="f4").reshape(4, 3)
I = numpy.array([2, 0])


def test_a_plan_tells_what_it_does():
    plan = sheaf.plan_gather(X, I, axis=0)
    assert repr(plan) == "<sheaf.Plan gather: f32[4, 3], i64[2] -> f32[2, 3]>"
    assert str(plan).splitlines()[1] == "  for p0 in 0..2"
    assert json.loads(plan.json())["op"] == "gather"
    assert plan.shape == (2, 3)
    assert plan.dtype == "f32"
    assert plan.data == sheaf.Spec("f32", (4, 3))
    assert plan.indices.shape == (2,)
    assert plan.output.strides == (3, 1)
    assert plan != 1 and plan.data != 1


def test_different_calls_may_be_one_plan():
    by_gather = sheaf.plan_gather(sheaf.Spec("i4" if False else "i32", [4, 3]), I)
    by_gather_nd = sheaf.plan_gather_nd(sheaf.Spec(numpy.float32, [4, 3]), I[:, None])
    assert by_gather == by_gather_nd


def test_run():
    plan = sheaf.plan_gather(X, I)
    assert plan.run(X, I).tolist() == X[I].tolist()
    out = numpy.empty((2, 3), "f4")
    assert plan.run(X + 1, I, out) is out
    assert out.tolist() == (X + 1)[I].tolist()
    assert plan.run(X, [1, 1], threads=2).tolist() == X[[1, 1]].tolist()


def test_run_refuses_other_tensors():
    plan = sheaf.plan_gather(X, I)
    for data, indices, out, text in [
        (X[:2], I, None, "data differs from the plan's\n  got f32\\[2, 3\\], planned for f32\\[4"),
        (X.T.copy().T, I, None, "data differs"),
        (X.astype("f8"), I, None, "data differs"),
        (X, I.astype("i4"), None, "indices differs"),
        (X, I, numpy.empty((3, 2), "f4").T, "output differs"),
        (X, I, numpy.empty((2, 3), "f8"), "output differs"),
    ]:
        with pytest.raises(sheaf.ArgumentError, match=text):
            plan.run(data, indices, out)
    with pytest.raises(sheaf.ArgumentError, match="overlaps"):
        plan.run(X, I, X[:2])
    packed = numpy.zeros((2, 3), numpy.dtype([("a", "u1"), ("b", "f4")]))
    with pytest.raises(sheaf.ArgumentError, match="strides that are not whole elements"):
        plan.run(X, I, packed["b"])
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.plan_gather(X, I, out=packed["b"])
    assert str(caught.value) == ("plan: out has strides that are not whole elements\n"
                                 "  a plan counts strides in elements\n"
                                 "  try: a contiguous out, then copy it")


def test_a_scatter_of_a_plan_does_not_mix_units():
    days, seconds = (numpy.array(["2020-01-01"], f"M8[{unit}]") for unit in "Ds")
    plan = sheaf.plan_scatter(days, [0], days)
    assert plan.run(days, [0], days).tolist() == days.tolist()
    with pytest.raises(sheaf.DTypeError) as caught:
        plan.run(days, [0], seconds)
    assert str(caught.value) == ("scatter: types differ\n"
                                 "  updates is datetime64[s], but data is datetime64[D]\n"
                                 "  try: updates of that type; nothing is converted")


def test_a_plan_for_an_out_with_strides():
    out = numpy.zeros((3, 2), "f4").T
    plan = sheaf.plan_gather(X, I, out=out)
    plan.run(X, I, out)
    assert out.tolist() == X[I].tolist()
    with pytest.raises(sheaf.ArgumentError, match="output differs"):
        plan.run(X, I)


def test_dimensions_of_one_entry_have_any_strides():
    column = numpy.arange(12, dtype="f4").reshape(4, 3)[:1]
    strange = numpy.lib.stride_tricks.as_strided(column, (1, 3), (9999 * 4, 4))
    plan = sheaf.plan_gather(column, [0])
    assert plan.run(strange, [0]).tolist() == [[0, 1, 2]]


def test_spec():
    assert str(sheaf.Spec("bfloat16", [2, 3])) == "bf16[2, 3]"
    assert repr(sheaf.Spec("opaque24", ())) == "<sheaf.Spec opaque24[]>"
    assert str(sheaf.Spec("u8", [2], [-4])) == "u8[2] strides [-4]"
    with pytest.raises(sheaf.ArgumentError):
        sheaf.Spec("f33", [2])
    with pytest.raises(sheaf.DTypeError):
        sheaf.Spec(object, [2])
    with pytest.raises(sheaf.ArgumentError, match="strides do not match sizes"):
        sheaf.plan_gather(sheaf.Spec("u8", [2, 2], [1]), [0])


def test_many_threads_run_one_plan():
    data = numpy.arange(300_000, dtype="i4").reshape(1000, 300)
    plan = sheaf.plan_gather(data, sheaf.Spec("i64", [64]))
    failures = []

    def work(seed):
        rng = numpy.random.default_rng(seed)
        for _ in range(200):
            indices = rng.integers(0, 1000, 64)
            if not (plan.run(data, indices) == data[indices]).all():
                failures.append(seed)
            # And the cache of plans behind the one-shot calls, which is each thread's own.
            rows = rng.integers(1, 70)
            if not (sheaf.take(data, indices[:rows], axis=0) == data[indices[:rows]]).all():
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_explain():
    x = numpy.arange(6).reshape(3, 2)
    explanation = sheaf.explain("gather", x, [2, 0], axis=0)
    assert explanation.map.tolist() == [[4, 5], [0, 1]]
    assert explanation.index_map.tolist() == [[0, 0], [1, 1]]
    assert explanation.kernels[-1][0] == "reference.loops"
    assert "output[0, 1] <- data[2, 1] by indices[0]\n" in str(explanation)
    assert repr(explanation).startswith("<sheaf.Explanation of <sheaf.Plan gather")
    same = sheaf.explain(sheaf.plan_gather(x, [2, 0]), [2, 0])
    assert same.map.tolist() == explanation.map.tolist()


def test_explain_fill_and_limits():
    explanation = sheaf.explain("gather", numpy.arange(3), [0, 7], out_of_range="fill")
    assert explanation.map.tolist() == [0, -1]
    assert "output[1] <- fill_value by indices[1]\n" in str(explanation)
    large = sheaf.explain("gather", numpy.zeros((50, 50)), range(50))
    assert "... and 2476 more" in str(large)
    assert ">more</text>" in large.svg  # "… 38 more rows, 34 more columns"


def test_explain_refuses():
    with pytest.raises(sheaf.IndexError):
        sheaf.explain("gather", X, [9])
    with pytest.raises(sheaf.ArgumentError, match="unknown operator"):
        sheaf.explain("sort", X, I)
    with pytest.raises(TypeError, match="takes two arrays"):
        sheaf.explain("gather", X)
    with pytest.raises(TypeError, match="data, indices, updates.* takes three arrays, got 2"):
        sheaf.explain("scatter", X, I)
    plan = sheaf.plan_gather(X, I)
    with pytest.raises(TypeError, match="nothing else"):
        sheaf.explain(plan, X, I)
    with pytest.raises(sheaf.ArgumentError, match="explain: data differ from the plan's\n  got f64"):
        _ = sheaf.explain(plan, I, data=X.astype("f8")).svg
    with pytest.raises(sheaf.ArgumentError, match="explain: indices differ from the plan's"):
        sheaf.explain(plan, [0])
