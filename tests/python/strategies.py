# SPDX-License-Identifier: MIT
"""What hypothesis draws: arrays of every dtype and layout, and indices into them."""

import ml_dtypes
import numpy
from hypothesis import strategies as st

NUMBERS = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
OTHERS = [
    numpy.dtype("g"),  # long double
    numpy.dtype("G"),
    numpy.dtype("datetime64[ms]"),
    numpy.dtype("timedelta64[s]"),
    numpy.dtype("S3"),
    numpy.dtype("U5"),
    numpy.dtype("V7"),
    numpy.dtype([("a", "u1"), ("b", "f8"), ("c", "i2", (2,))]),
    numpy.dtype(ml_dtypes.bfloat16),
    numpy.dtype(ml_dtypes.float8_e4m3fn),
    numpy.dtype(ml_dtypes.float8_e5m2),
    numpy.dtype(ml_dtypes.float8_e8m0fnu),
    numpy.dtype(ml_dtypes.int4),
]
DTYPES = [numpy.dtype(name) for name in NUMBERS] + OTHERS
INDEX_DTYPES = [numpy.dtype(name) for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]

dtypes = st.sampled_from(DTYPES)
index_dtypes = st.sampled_from(INDEX_DTYPES)
seeds = st.integers(0, 2**32 - 1)


def random_bits(rng, shape, dtype):
    """Every bit pattern is a value that a gather has to keep; bools are 0 or 1."""
    count = int(numpy.prod(shape, dtype=numpy.int64))
    if dtype == numpy.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.char in "gG":
        return rng.random(shape).astype(dtype)
    raw = rng.integers(0, 256, count * dtype.itemsize, dtype=numpy.uint8)
    if dtype.kind == "U":  # code points have an upper limit
        raw = rng.integers(32, 127, count * dtype.itemsize // 4, dtype=numpy.uint32)
    if dtype == numpy.dtype(ml_dtypes.int4):
        raw = rng.integers(0, 8, count, dtype=numpy.uint8)
    return numpy.frombuffer(raw.tobytes(), dtype=dtype, count=count).reshape(shape).copy()


@st.composite
def shapes(draw, min_rank=0, max_rank=6, max_side=4):
    rank = draw(st.integers(min_rank, max_rank))
    return tuple(draw(st.integers(0, max_side)) for _ in range(rank))


@st.composite
def laid_out(draw, shape, dtype):
    """An array of the shape with drawn strides: transposed, stepped, reversed, broadcast,
    read-only."""
    rng = numpy.random.default_rng(draw(seeds))
    order = draw(st.permutations(range(len(shape))))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -2])) for _ in shape]
    large = tuple(shape[d] * abs(steps[d]) for d in order)
    array = random_bits(rng, large, dtype).transpose(numpy.argsort(order))
    array = array[(*[slice(None, None, step) for step in steps], ...)]
    repeated = draw(st.integers(0, 5))
    if repeated < len(shape) and shape[repeated] > 1:
        array = numpy.broadcast_to(array.take([0], axis=repeated), shape)
    if draw(st.booleans()):
        array.flags.writeable = False
    assert array.shape == shape
    return array


@st.composite
def index_arrays(draw, shape, extent, dtype, overshoot=0):
    """Indices in [-extent - overshoot, extent + overshoot), as far as the dtype goes."""
    info = numpy.iinfo(dtype)
    low = max(-extent - overshoot, info.min)
    high = min(extent - 1 + overshoot, info.max)
    rng = numpy.random.default_rng(draw(seeds))
    values = rng.integers(low, max(low, high) + 1, shape) if extent + overshoot else numpy.zeros(shape)
    values = numpy.asarray(values).astype(dtype)
    return values[::-1] if values.ndim and draw(st.booleans()) else values


def same_bits(a, b):
    a, b = numpy.asarray(a), numpy.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    # A long double has bytes that are not part of the number; NumPy does not always copy them.
    return (a == b).all() if a.dtype.char in "gG" else a.tobytes() == b.tobytes()
