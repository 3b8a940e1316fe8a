# SPDX-License-Identifier: MIT
"""Problems that every library's arrays on a GPU are tested with; the answer is that of the CPU."""

from dataclasses import dataclass, field

import ml_dtypes
import numpy
import pytest

import sheaf

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
          "float64", "complex64", "complex128"]
GATHER_RULES = [{"out_of_range": rule} for rule in ("fail", "clamp", "wrap", "trust")] + [
    {"out_of_range": "fill", "fill_value": 1}, {"out_of_range": "clamp", "negative": "out_of_range"}]
SCATTER_RULES = [{"out_of_range": rule} for rule in ("fail", "clamp", "skip", "wrap")] + [
    {"out_of_range": "skip", "negative": "out_of_range"}]
REDUCTIONS = ["none", "add", "sub", "mul", "min", "max", "mean"]


@dataclass
class Problem:
    name: str
    data: tuple
    indices: tuple
    extents: list  # of what each component of an index points into
    options: dict = field(default_factory=dict)
    updates: tuple = None

    def __str__(self):
        return f"{self.name}{list(self.data)}{list(self.indices)}"


GATHERS = [
    Problem("gather", (7, 5), (4,), [7]),
    Problem("gather", (3, 40, 5), (2, 9), [40], {"axis": 1}),
    Problem("gather", (6, 300), (70,), [300], {"axis": -1}),
    Problem("gather", (4, 9, 3), (4, 5), [9], {"axis": 1, "batch_dims": 1}),
    Problem("gather", (1000, 64), (257,), [1000]),
    Problem("gather", (9,), (), [9]),
    Problem("gather_elements", (5, 6), (3, 6), [5]),
    Problem("gather_elements", (2, 40, 7), (2, 11, 7), [40], {"axis": 1}),
    Problem("gather_elements", (9, 6), (4, 1), [9], {"broadcast": True}),
    Problem("gather_nd", (5, 6, 3), (8, 2), [5, 6]),
    Problem("gather_nd", (4, 6, 3), (4, 7, 1), [6], {"batch_dims": 1}),
    Problem("gather", (5, 0), (4,), [5]),
    Problem("gather", (5, 3), (0,), [5]),
]
SCATTERS = [
    Problem("scatter", (7, 5), (9,), [7], {}, (9, 5)),
    Problem("scatter", (3, 8, 5), (20,), [8], {"axis": 1}, (3, 20, 5)),
    Problem("scatter", (4, 9, 3), (4, 15), [9], {"axis": 1, "batch_dims": 1}, (4, 15, 3)),
    Problem("scatter", (300,), (4000,), [300], {}, (4000,)),
    Problem("scatter", (9,), (), [9], {}, ()),
    Problem("scatter_elements", (5, 6), (4, 6), [5], {}, (4, 6)),
    Problem("scatter_elements", (5, 16), (5, 50), [16], {"axis": 1}, (5, 50)),
    Problem("scatter_nd", (5, 6, 3), (40, 2), [5, 6], {}, (40, 3)),
    Problem("scatter_nd", (4, 6, 3), (4, 9, 1), [6], {"batch_dims": 1}, (4, 9, 3)),
    Problem("scatter", (5, 3), (0,), [5], {}, (0, 3)),
]


def dtype_named(name):
    return numpy.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def random_bits(rng, shape, name):
    dtype = dtype_named(name)
    if dtype == bool:
        return rng.integers(0, 2, shape).astype(bool)
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1")
    return raw.view(dtype).reshape(shape)


def random_numbers(rng, shape, name):
    dtype = dtype_named(name)
    numbers = rng.normal(size=shape) * 3
    if dtype.kind == "c":
        numbers = numbers + 1j * rng.normal(size=shape)
    if dtype.kind in "bu":
        numbers = numpy.abs(numbers)
    return numpy.asarray(numbers).astype(dtype)


def random_indices(rng, problem, rule, dtype="int64"):
    safe = rule["out_of_range"] in ("fail", "trust")
    signed = numpy.dtype(dtype).kind == "i"
    parts = []
    for extent in problem.extents:
        reach = extent if safe else 2 * extent
        shape = problem.indices if len(problem.extents) == 1 else problem.indices[:-1]
        part = rng.integers(-reach if signed else 0, reach, shape)
        parts.append(numpy.clip(part, *(numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)))
    one = len(parts) == 1
    return numpy.asarray(parts[0] if one else numpy.stack(parts, axis=-1)).astype(dtype)


def arrays_for(rng, problem, rule, dtype="float32", index_dtype="int64", fill=random_bits):
    """data, indices and, for a scatter, updates."""
    arrays = [fill(rng, problem.data, dtype), random_indices(rng, problem, rule, index_dtype)]
    if problem.updates is not None:
        arrays.append(fill(rng, problem.updates, dtype))
    return arrays


def same_bits(got, expected):
    got, expected = numpy.asarray(got), numpy.asarray(expected)
    return (got.dtype == expected.dtype and got.shape == expected.shape
            and got.tobytes() == expected.tobytes())


def bad_index_text(function, *arguments, **keywords):
    """What the CPU says, its position and its count."""
    with pytest.raises(sheaf.IndexError) as caught:
        function(*arguments, **keywords)
    return str(caught.value), caught.value.position, caught.value.bad_count
