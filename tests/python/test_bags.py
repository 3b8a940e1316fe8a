# SPDX-License-Identifier: MIT
"""sheaf.bag, sheaf.segment_reduce and sheaf.plan_bag on arrays of NumPy and of other libraries."""

import json
import pickle
import threading

import bag_oracle
import numpy
import pytest

import sheaf

POOLS = ("sum", "mean", "max", "min", "mul", "sqrtn")


@pytest.fixture
def table(rng):
    return rng.standard_normal((20, 6)).astype("float32")


def same(got, expected):
    assert got.dtype == expected.dtype and got.shape == expected.shape
    numpy.testing.assert_array_equal(got, expected)


def some_offsets(rng, entries, bags, last=False):
    cuts = numpy.sort(rng.integers(0, entries + 1, bags - 1 + last))
    return numpy.concatenate([[0], cuts]).astype("int64")


# ---- Refusals


def refused(error, text, *arguments, **keywords):
    with pytest.raises(error) as caught:
        sheaf.bag(*arguments, **keywords)
    assert str(caught.value) == text


def test_offsets_that_do_not_fit(table):
    indices = numpy.array([1, 2, 3])
    for offsets, rule in (([1, 2], "offsets[0] = 1, but the first bag begins at 0"),
                          ([0, 4], "offsets[1] = 4, but no bag begins behind the last entry"),
                          ([0, 2, 1], "offsets[2] = 1, but bags begin in order"),
                          ([-1, 2], "offsets[0] = -1, but the first bag begins at 0")):
        with pytest.raises(sheaf.ArgumentError) as caught:
            sheaf.bag(table, indices, numpy.array(offsets))
        assert rule in str(caught.value)


def test_lengths_and_ids_that_do_not_fit(table):
    indices = numpy.array([1, 2, 3])
    for keywords, rule in (({"lengths": [1, 1]}, "the lengths add up to 2"),
                           ({"lengths": [-1, 4]}, "lengths[0] = -1"),
                           ({"lengths": [2**62, 2**62]}, "lengths[0] = 4611686018427387904"),
                           ({"ids": [0, 2, 1], "bags": 3}, "ids[2] = 1, but ids ascend"),
                           ({"ids": [0, 1, 3], "bags": 3}, "ids[2] = 3, but ids are numbers"),
                           ({"ids": [0, 1], "bags": 2}, "there are 2 ids for 3 entries")):
        with pytest.raises(sheaf.ArgumentError) as caught:
            sheaf.bag(table, indices, **keywords)
        assert rule in str(caught.value)


def test_words_that_are_not_known(table):
    indices = numpy.array([[1, 2]])
    refused(sheaf.ArgumentError,
            'unknown pool\n  pool="median"\n'
            '  try: "sum", "mean", "max", "min", "mul" or "sqrtn"', table, indices, pool="median")
    refused(sheaf.ArgumentError,
            'unknown out_of_range\n  out_of_range="ignore"\n'
            '  try: "fail", "clamp", "fill", "wrap", "trust" or "skip"',
            table, indices, out_of_range="ignore")
    refused(sheaf.ArgumentError,
            'unknown accumulate\n  accumulate="f64"\n'
            '  try: "f32", or None for the type of the output', table, indices, accumulate="f64")


def test_segments_that_contradict(table):
    indices = numpy.array([1, 2])
    refused(sheaf.ArgumentError,
            "bag: two kinds of segments\n  offsets and lengths are given\n"
            "  try: one of offsets, lengths and ids", table, indices, [0, 1], lengths=[1, 1])
    refused(sheaf.ArgumentError,
            "bag: bags without ids\n  bags=2, but the other segments say how many\n"
            "  try: ids, or no bags", table, indices, [0, 1], bags=2)
    refused(sheaf.ArgumentError,
            "bag: last_offset without offsets\n  it says that offsets have one more entry\n"
            "  try: offsets, or last_offset=False", table, indices, lengths=[1, 1],
            last_offset=True)
    with pytest.raises(sheaf.ArgumentError, match="without segments each row of a matrix"):
        sheaf.bag(table, indices)
    with pytest.raises(sheaf.ArgumentError, match="segment_reduce: no segments"):
        sheaf.segment_reduce(table)


def test_wrong_types(table):
    with pytest.raises(sheaf.IndexDTypeError):
        sheaf.bag(table, numpy.array([[1.0, 2.0]]))
    with pytest.raises(sheaf.DTypeError, match="segments are no list of integers"):
        sheaf.bag(table, numpy.array([1, 2]), numpy.array([0.0, 1.0]))
    with pytest.raises(sheaf.DTypeError, match="weights do not fit the type"):
        sheaf.bag(table, numpy.array([[1, 2]]), weights=numpy.ones((1, 2)))  # f64
    with pytest.raises(sheaf.DTypeError, match="pool does not fit the type"):
        sheaf.bag(table.astype("complex64"), numpy.array([[1, 2]]), pool="max")
    with pytest.raises(sheaf.DTypeError, match="dates and times"):
        sheaf.bag(numpy.zeros((3, 2), "datetime64[s]"), numpy.array([[1, 2]]))
    with pytest.raises(sheaf.DTypeError, match="types differ"):
        sheaf.bag(table, numpy.array([[1, 2]]), dtype="float16")
    with pytest.raises(sheaf.ArgumentError, match="bag: data is a scalar"):
        sheaf.bag(numpy.float32(3), numpy.array([[0]]))


def test_bad_indices_leave_out_untouched(table):
    out = numpy.full((2, 6), 7, "float32")
    with pytest.raises(sheaf.IndexError) as caught:
        sheaf.bag(table, numpy.array([1, 20, 3, -21]), [0, 2], out=out)
    assert caught.value.position == (1,) and caught.value.bad_count == 2
    assert (out == 7).all()
    with pytest.raises(sheaf.ArgumentError):
        sheaf.bag(table, numpy.array([1, 2, 3]), [0, 9], out=out)
    assert (out == 7).all()


def test_outs_that_do_not_fit(table):
    indices = numpy.array([[1, 2], [3, 4]])
    with pytest.raises(sheaf.ArgumentError, match="output is f32\\[3, 6\\]"):
        sheaf.bag(table, indices, out=numpy.empty((3, 6), "float32"))
    read_only = numpy.empty((2, 6), "float32")
    read_only.flags.writeable = False
    with pytest.raises(sheaf.ArgumentError, match="bag: out is read-only"):
        sheaf.bag(table, indices, out=read_only)
    with pytest.raises(sheaf.ArgumentError, match="overlap"):
        sheaf.bag(table, indices, out=table[:2])
    with pytest.raises(sheaf.DTypeError, match="out is no array"):
        sheaf.bag(table, indices, out=[[0] * 6] * 2)


def test_padding_out_of_range(table):
    with pytest.raises(sheaf.ArgumentError, match="padding_index = 20, but data has 20 entries"):
        sheaf.bag(table, numpy.array([[1]]), padding_index=20)


class Resizing:
    """An index array whose __array__ gives another argument other memory."""

    def __init__(self, victim, shape=(1, 2)):
        self.victim, self.shape = victim, shape

    def __array__(self, dtype=None, copy=None):
        self.victim.resize((2, 2), refcheck=False)
        return numpy.zeros(self.shape, dtype or "int64")


def test_an_argument_that_changes_another():
    table = numpy.ones((50, 40), "float32")
    with pytest.raises(sheaf.ArgumentError, match="data changed during the call"):
        sheaf.bag(table, Resizing(table))
    indices = numpy.zeros((50, 40), "int64")
    with pytest.raises(sheaf.ArgumentError, match="indices changed during the call"):
        sheaf.bag(numpy.ones((5, 4), "float32"), indices, weights=Resizing(indices, (50, 40)))


def test_indices_that_change_meanwhile(rng):
    """Another thread writes bad ones all the time: errors or rows, never memory of others."""
    table = numpy.ones((100, 64), "float32")
    indices = numpy.zeros((400, 50), "int64")
    stop = threading.Event()

    def change():
        while not stop.is_set():
            indices[:] = 10**12
            indices[:] = 5

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            try:
                result = sheaf.bag(table, indices, threads=2)
                assert ((result >= 0) & (result <= 50)).all()
            except sheaf.IndexError:
                pass
    finally:
        stop.set()
        thread.join()


# ---- Values


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("weighted", [False, True])
def test_pools(table, rng, pool, weighted):
    indices = rng.integers(-20, 20, 50)
    offsets = some_offsets(rng, 50, 9)
    weights = rng.standard_normal(50).astype("float32") if weighted else None
    expected = bag_oracle.bag(table, indices, offsets, pool=pool, weights=weights)
    same(sheaf.bag(table, indices, offsets, pool=pool, weights=weights), expected)
    for threads in (1, 2):
        same(sheaf.bag(table, indices, offsets, pool=pool, weights=weights, threads=threads),
             expected)


def test_segment_forms(table, rng):
    indices = rng.integers(0, 20, 30)
    offsets = some_offsets(rng, 30, 7)
    expected = bag_oracle.bag(table, indices, offsets)
    lengths = numpy.diff(numpy.append(offsets, 30))
    ids = numpy.repeat(numpy.arange(7), lengths)
    same(sheaf.bag(table, indices, offsets), expected)
    same(sheaf.bag(table, indices, numpy.append(offsets, 30), last_offset=True), expected)
    same(sheaf.bag(table, indices, lengths=lengths.astype("uint16")), expected)
    same(sheaf.bag(table, indices, ids=ids, bags=7), expected)
    same(sheaf.bag(table, indices.tolist(), offsets.tolist()), expected)
    last = ids[-1] + 1
    same(sheaf.bag(table, indices, ids=ids), expected[:last])
    same(sheaf.segment_reduce(table[indices], offsets), expected)
    same(sheaf.segment_reduce(table[indices], ids=ids, bags=7), expected)


def test_entries_behind_the_last_offset(table):
    same(sheaf.bag(table, numpy.array([1, 2, 3]), [0, 2], last_offset=True), table[1:2] + table[2])


@pytest.mark.parametrize("rule", ["clamp", "fill", "skip", "wrap"])
@pytest.mark.parametrize("negative", ["from_end", "out_of_range"])
def test_index_rules(table, rng, rule, negative):
    indices = rng.integers(-60, 60, (11, 5))
    keywords = {"out_of_range": rule, "negative": negative, "fill_value": 3, "padding_index": -2,
                "empty_value": -1, "pool": "mean"}
    same(sheaf.bag(table, indices, **keywords), bag_oracle.bag(table, indices, **keywords))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_types(rng, dtype):
    table = (rng.random((9, 4)) * 10).astype(dtype)
    indices = rng.integers(0, 9, (6, 4), dtype="int32")
    for pool in ("sum", "mean", "max"):
        same(sheaf.bag(table, indices, pool=pool), bag_oracle.bag(table, indices, pool=pool))


def test_narrow_floats(rng):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    table = rng.standard_normal((9, 4)).astype(ml_dtypes.bfloat16)
    indices = rng.integers(0, 9, (6, 4))
    as_f32 = sheaf.bag(table.astype("float32"), indices)
    same(sheaf.bag(table, indices, dtype="float32"), as_f32)
    same(sheaf.bag(table, indices, dtype=numpy.float32), as_f32)
    same(sheaf.bag(table, indices), as_f32.astype(ml_dtypes.bfloat16))
    stepwise = table[indices[:, 0]]
    for k in range(1, 4):
        stepwise = stepwise + table[indices[:, k]]
    same(sheaf.bag(table, indices, accumulate=None), stepwise)


def test_layouts(rng):
    indices = rng.integers(0, 10, (4, 6))
    wide = rng.standard_normal((20, 12)).astype("float32")
    for table in (wide[::2, ::2], wide[::-2, ::-1], wide.T[:10], wide[:10, :1], wide[:10, 3]):
        same(sheaf.bag(table, indices), bag_oracle.bag(table, indices))
    table = wide[:10]
    for some in (indices[::2], indices[:, ::-1], indices.T, indices[:, :0], indices[:0]):
        same(sheaf.bag(table, some), bag_oracle.bag(table, some))
    out = numpy.zeros((8, 24), "float32")
    part = out[::2, ::2]
    assert sheaf.bag(table, indices, out=part) is part
    same(part, bag_oracle.bag(table, indices))
    assert (out[1::2] == 0).all() and (out[:, 1::2] == 0).all()
    record = numpy.zeros((4, 12), [("a", "u1"), ("x", "<f4")])
    sheaf.bag(table, indices, out=record["x"])
    same(record["x"].copy(), bag_oracle.bag(table, indices))
    read_only = table.copy()
    read_only.flags.writeable = False
    same(sheaf.bag(read_only, indices), bag_oracle.bag(table, indices))
    cube = rng.standard_normal((10, 3, 4)).astype("float32")
    same(sheaf.bag(cube, indices), bag_oracle.bag(cube, indices))


def test_nothing(table):
    nobody = sheaf.bag(table, numpy.zeros(0, "int64"), [0, 0, 0], empty_value=2.5)
    same(nobody, numpy.full((3, 6), 2.5, "float32"))
    assert sheaf.bag(table, [], []).shape == (0, 6)
    assert sheaf.bag(table[:0], numpy.zeros((2, 0), "int64")).shape == (2, 6)


def test_random_bags(rng):
    for _ in range(150):
        extent, width = int(rng.integers(1, 30)), int(rng.integers(0, 40))
        entries, bags = int(rng.integers(0, 60)), int(rng.integers(1, 20))
        table = rng.standard_normal((extent, width)).astype(rng.choice(["f4", "f8", "f2"]))
        indices = rng.integers(-2 * extent, 2 * extent, entries)
        keywords = {"pool": str(rng.choice(POOLS)), "negative": "from_end",
                    "out_of_range": str(rng.choice(["clamp", "skip", "wrap"]))}
        if rng.integers(2):
            keywords["padding_index"] = int(rng.integers(0, extent))
        if rng.integers(2):
            kind = "f8" if table.dtype == "f8" else "f4"
            keywords["weights"] = rng.standard_normal(entries).astype(kind)
        offsets = some_offsets(rng, entries, bags)
        same(sheaf.bag(table, indices, offsets, **keywords),
             bag_oracle.bag(table, indices, offsets, **keywords))


# ---- Plans


def test_a_plan(table):
    indices, offsets = numpy.array([3, 1, 2]), numpy.array([0, 2])
    plan = sheaf.plan_bag(table, indices, offsets)
    assert str(plan) == (
        "bag sum in f32, rows of 6 f32, i64 indices, negative from_end, out of range fail\n"
        "  for s in 0..2\n"
        "    for p in offsets[s]..offsets[s + 1]\n"
        "      i = indices[p] in 0..20\n"
        "      row = data[i]\n"
        "    output + s*24 <- sum of rows\n")
    assert repr(plan) == "<sheaf.BagPlan sum: f32[20, 6], i64[3], i64[2] -> f32[2, 6]>"
    assert json.loads(plan.json())["pool"] == "sum"
    assert plan.shape == (2, 6) and plan.dtype == "f32" and plan.bags == 2
    assert plan.segments == sheaf.Spec("i64", [2]) and plan.weights is None
    expected = bag_oracle.bag(table, indices, offsets)
    same(plan.run(table, indices, offsets), expected)
    out = numpy.empty((2, 6), "float32")
    assert plan.run(table, indices, offsets, None, out) is out
    same(out, expected)
    again = pickle.loads(pickle.dumps(plan))
    assert str(again) == str(plan) and again.json() == plan.json()
    from_specs = sheaf.plan_bag(sheaf.Spec("f32", [20, 6]), sheaf.Spec("i64", [3]),
                                sheaf.Spec("i64", [2]))
    assert from_specs.json() == plan.json()


def test_a_plan_for_other_arrays(table):
    indices, offsets = numpy.array([3, 1, 2]), numpy.array([0, 2])
    plan = sheaf.plan_bag(table, indices, offsets)
    with pytest.raises(sheaf.ArgumentError) as caught:
        plan.run(table[:9], indices, offsets)
    assert str(caught.value) == ("bag: data differs from the plan's\n"
                                 "  got f32[9, 6], planned for f32[20, 6]\n"
                                 "  try: a plan for these arrays")
    with pytest.raises(sheaf.ArgumentError, match="segments differs from the plan's\n  got none"):
        plan.run(table, indices)
    with pytest.raises(sheaf.ArgumentError, match="indices differs"):
        plan.run(table, indices.astype("int32"), offsets)


def test_an_explanation(table):
    explanation = sheaf.explain("bag", table, [3, 1, 2, 99], [0, 2, 2], weights=[1, 2, 3, 4],
                                padding_index=1, out_of_range="skip")
    lines = str(explanation).splitlines()
    assert lines[-3:] == ["output[0] <- sum of data[3] * weights[0]",
                          "output[1] <- empty_value",
                          "output[2] <- sum of data[2] * weights[2]"]
    assert any(line.startswith("kernel ") for line in lines)
    assert explanation.svg.startswith("<svg") and ">(99)</text>" in explanation.svg
    plan = sheaf.plan_bag(table, numpy.array([[1, 2], [2, 3]]), pool="max")
    text = str(sheaf.explain(plan, numpy.array([[1, 2], [2, 3]])))
    assert text.endswith("output[0] <- max of data[1], data[2]\n"
                         "output[1] <- max of data[2], data[3]\n")
    with pytest.raises(sheaf.IndexError):
        sheaf.explain("bag", table, [[20]])


# ---- Other libraries


def test_jax_arrays_at_once(table, rng, jax_on_cpu):
    indices = rng.integers(0, 20, (5, 3)).astype("int32")
    result = sheaf.bag(jax_on_cpu.numpy.asarray(table), jax_on_cpu.numpy.asarray(indices),
                       pool="mean")
    assert isinstance(result, jax_on_cpu.Array)
    same(numpy.asarray(result), bag_oracle.bag(table, indices, pool="mean"))
    half = sheaf.bag(jax_on_cpu.numpy.asarray(table.astype("float16")), indices, dtype="bfloat16")
    assert half.dtype == jax_on_cpu.numpy.bfloat16


def test_strict_arrays(table, rng):
    strict = pytest.importorskip("array_api_strict")
    indices = rng.integers(0, 20, (5, 3))
    result = sheaf.bag(strict.asarray(table), strict.asarray(indices))
    assert type(result) is type(strict.asarray(table))
    same(numpy.asarray(result), bag_oracle.bag(table, indices))
