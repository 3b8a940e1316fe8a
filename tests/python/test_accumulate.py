# SPDX-License-Identifier: MIT
"""accumulate="f32": reduced wide, in order, and rounded once; for every library and type."""

import numpy as np
import pytest

import sheaf
from torch_dlpack import needs_dlpack_of

ml_dtypes = pytest.importorskip("ml_dtypes")
NARROW = [np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]
rng = np.random.default_rng(3)
CELLS, UPDATES = 5, 600
INDICES = rng.integers(0, CELLS, UPDATES)
VALUES = rng.integers(0, 64, UPDATES) / 512


def wide_sums(data, updates, include_self=True):
    """The plain loop in float32."""
    sums = data.astype(np.float32) if include_self else np.full(CELLS, -0.0, np.float32)
    for index, value in zip(INDICES, updates.astype(np.float32)):
        sums[index] += value
    return sums


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("include_self", [True, False])
def test_numpy(dtype, include_self):
    data, updates = np.arange(CELLS).astype(dtype), VALUES.astype(dtype)
    expected = wide_sums(data, updates, include_self).astype(dtype)
    for threads in (1, 2):
        result = sheaf.scatter(data, INDICES, updates, reduction="add", accumulate="f32",
                               include_self=include_self, threads=threads)
        assert result.dtype == dtype
        np.testing.assert_array_equal(result.view("u1"), expected.view("u1"))
    plan = sheaf.plan_scatter(data, INDICES, updates, reduction="add", accumulate="f32",
                              include_self=include_self)
    np.testing.assert_array_equal(plan.run(data, INDICES, updates).view("u1"), expected.view("u1"))


def test_it_matters_and_plans_know_it():
    data, updates = np.zeros(CELLS, np.float16), VALUES.astype(np.float16)
    each = sheaf.scatter(data, INDICES, updates * 100, reduction="add")
    once = sheaf.scatter(data, INDICES, updates * 100, reduction="add", accumulate="f32")
    assert (each != once).any()
    narrow = sheaf.plan_scatter(data, INDICES, updates, reduction="add")
    wide = sheaf.plan_scatter(data, INDICES, updates, reduction="add", accumulate="f32")
    assert narrow != wide and '"accumulate": "f32"' in wide.json()
    import pickle
    assert pickle.loads(pickle.dumps(wide)) == wide


def test_in_place_elements_and_tuples():
    data = np.ones((CELLS, 2), np.float16)
    out = data.copy()
    places = np.stack([INDICES, INDICES % 2], axis=1)
    values = VALUES.astype(np.float16)
    assert sheaf.scatter_nd(out, places, values, reduction="add", accumulate="f32",
                            out=out) is out
    wide = data.astype(np.float32)
    np.add.at(wide, tuple(places.T), values.astype(np.float32))
    np.testing.assert_array_equal(out, wide.astype(np.float16))
    result = sheaf.scatter_elements(data, INDICES[:, None], values[:, None], reduction="add",
                                    accumulate="f32")
    wide = data.astype(np.float32)
    np.add.at(wide[:, 0], INDICES, values.astype(np.float32))
    np.testing.assert_array_equal(result, wide.astype(np.float16))


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
@pytest.mark.parametrize("reduction", ["add", "mul", "max", "sub"])
def test_integers_below_a_byte(name, reduction):
    dtype = np.dtype(getattr(ml_dtypes, name))
    data = np.array([1, 0, 1, 1, 0]).astype(dtype)
    updates = rng.integers(0, 2, UPDATES).astype(dtype)
    with pytest.raises(sheaf.DTypeError, match='try: accumulate="f32"'):
        sheaf.scatter(data, INDICES, updates, reduction=reduction)
    result = sheaf.scatter(data, INDICES, updates, reduction=reduction, accumulate="f32")
    wide = data.astype(np.int64)
    ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "sub": np.subtract}[reduction]
    ufunc.at(wide, INDICES, updates.astype(np.int64))
    bits = int(name[-1])
    low = wide % 2**bits
    expected = np.where(low >= 2**(bits - 1), low - 2**bits, low) if name[0] == "i" else low
    assert result.dtype == dtype
    np.testing.assert_array_equal(result.astype(np.int64), expected)


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_torch(name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    needs_dlpack_of(dtype)
    data, updates = torch.arange(CELLS).to(dtype), torch.tensor(VALUES).to(dtype)
    result = sheaf.scatter(data, torch.tensor(INDICES), updates, reduction="add", accumulate="f32")
    wide = data.float().numpy()
    for index, value in zip(INDICES, updates.float().numpy()):
        wide[index] += value
    assert torch.equal(result.view(torch.uint8), torch.tensor(wide).to(dtype).view(torch.uint8))
    out = data.clone()
    version = out._version
    sheaf.scatter(out, torch.tensor(INDICES), updates, reduction="add", accumulate="f32", out=out)
    assert out._version > version
    assert torch.equal(out.view(torch.uint8), result.view(torch.uint8))


# Every pair of float8 patterns, NaN of either sign among them, one as data and one as update.
@pytest.mark.parametrize("reduction", ["add", "sub", "mul", "min", "max", "mean"])
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_torch_has_the_bits_of_numpy(name, reduction):
    torch = pytest.importorskip("torch")
    needs_dlpack_of(getattr(torch, name))
    patterns = np.arange(256, dtype=np.uint8)
    bits = [np.repeat(patterns, 256), np.tile(patterns, 256)]
    arrays = [part.view(getattr(ml_dtypes, name)) for part in bits]
    tensors = [torch.from_numpy(part).view(getattr(torch, name)) for part in bits]
    indices = np.arange(bits[0].size)
    for options in ({}, {"include_self": False}, {"accumulate": "f32"}):
        expected = sheaf.scatter(arrays[0], indices, arrays[1], reduction=reduction, **options)
        result = sheaf.scatter(tensors[0], torch.from_numpy(indices), tensors[1],
                               reduction=reduction, **options)
        np.testing.assert_array_equal(result.view(torch.uint8).numpy(), expected.view(np.uint8))
    recorded = sheaf.scatter(tensors[0].clone().requires_grad_(), torch.from_numpy(indices),
                             tensors[1], reduction=reduction, accumulate="f32").detach()
    np.testing.assert_array_equal(recorded.view(torch.uint8).numpy(), expected.view(np.uint8))


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz",
                                  "float8_e5m2fnuz", "float8_e8m0fnu"])
def test_torch_moves_every_pattern(name):
    torch = pytest.importorskip("torch")
    import sheaf.torch
    if not hasattr(torch, name):
        pytest.skip(f"this PyTorch has no {name}")
    needs_dlpack_of(getattr(torch, name))
    bits = torch.arange(256, dtype=torch.uint8)
    data, order = bits.view(getattr(torch, name)), torch.randperm(256)
    moved = [sheaf.gather(data, order), torch.ops.sheaf.gather(data, order),
             sheaf.torch.index_select(data, 0, order), sheaf.torch.gather(data, 0, order),
             sheaf.torch.take_along_dim(data, order, 0)]
    for result in moved:
        assert torch.equal(result.view(torch.uint8), bits[order])
    back = [sheaf.scatter(data, order, moved[0]), sheaf.torch.scatter(data, 0, order, moved[0]),
            sheaf.torch.index_copy(data, 0, order, moved[0]),
            sheaf.torch.index_put(data, (order,), moved[0])]
    for result in back:
        assert torch.equal(result.view(torch.uint8), bits)


def test_torch_gradients():
    torch = pytest.importorskip("torch")
    data = torch.zeros(CELLS, dtype=torch.bfloat16, requires_grad=True)
    updates = torch.tensor(VALUES, dtype=torch.bfloat16, requires_grad=True)
    result = sheaf.scatter(data, torch.tensor(INDICES), updates, reduction="mean",
                           accumulate="f32")
    result.sum().backward()
    counts = np.bincount(INDICES, minlength=CELLS) + 1
    expected = torch.tensor(1 / counts[INDICES]).to(torch.bfloat16)
    assert torch.allclose(updates.grad, expected)
    assert data.grad.dtype == torch.bfloat16


def test_jax():
    jax = pytest.importorskip("jax")
    pytest.importorskip("sheaf.jax")
    import sheaf.jax
    data = jax.numpy.zeros(CELLS, "bfloat16")
    updates = jax.numpy.asarray(VALUES, "bfloat16")

    @jax.jit
    def run(data, updates):
        return sheaf.jax.scatter(data, INDICES, updates, reduction="add", accumulate="f32",
                                 check=True)

    result, verdict = run(data, updates)
    expected = wide_sums(np.asarray(data), np.asarray(updates)).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(np.asarray(result), expected)
    assert verdict.tolist() == [0, -1]
    np.testing.assert_array_equal(  # arrays of JAX in the plain function
        np.asarray(sheaf.scatter(data, INDICES, updates, reduction="add", accumulate="f32")),
        expected)
    for call in (sheaf.scatter, sheaf.jax.scatter):
        with pytest.raises(sheaf.ArgumentError, match="nothing to accumulate in f32"):
            call(jax.numpy.zeros(CELLS, "int32"), INDICES, jax.numpy.ones(UPDATES, "int32"),
                 reduction="add", accumulate="f32")


def test_refusals():
    with pytest.raises(sheaf.ArgumentError) as caught:
        sheaf.scatter(np.zeros(3), [0], [1.0], reduction="add", accumulate="f32")
    assert str(caught.value) == (
        "scatter: nothing to accumulate in f32\n"
        "  data is f64, but f16, bf16, f8e4m3 and f8e5m2 are rounded from f32\n"
        "  data f64[3]   indices i64[1]   updates f64[1]   axis 0   reduction add   "
        "accumulate_f32 1\n  try: leave accumulate out")
    with pytest.raises(sheaf.ArgumentError, match='try: "f32", or None'):
        sheaf.scatter(np.zeros(3), [0], [1.0], reduction="add", accumulate="f64")
    data = np.zeros(3, np.float16)
    with pytest.raises(sheaf.IndexError, match=r"indices\[1\] = 9, but axis 0 of data has 3"):
        sheaf.scatter(data, [0, 9], np.ones(2, np.float16), reduction="add", accumulate="f32",
                      out=data)
    assert not data.any()
