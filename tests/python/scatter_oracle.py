# SPDX-License-Identifier: MIT
"""Scatters by NumPy: ufunc.at is the serial loop, one update after the other."""

import ml_dtypes
import numpy

REDUCTIONS = ["none", "add", "sub", "mul", "min", "max", "mean"]
INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = [numpy.dtype(ml_dtypes.bfloat16), "f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]
NUMBERS = [numpy.dtype(name) for name in ["?", *INTEGERS, *FLOATS, *COMPLEX]]

_UFUNCS = {"add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "min": numpy.minimum,
           "max": numpy.maximum, "mean": numpy.add}
_TRUTH = {"add": numpy.logical_or, "sub": numpy.logical_xor, "mul": numpy.logical_and,
          "min": numpy.logical_and, "max": numpy.logical_or}


def is_float(dtype):
    return dtype.kind == "f" or dtype == ml_dtypes.bfloat16


def defined(dtype, reduction):
    """Does the type know the reduction?"""
    if reduction in ("min", "max"):
        return dtype.kind != "c"
    return reduction != "mean" or dtype.kind != "b"


def values(rng, shape, dtype, reduction="add"):
    """Numbers whose sums are rounded, and whose products are not."""
    if dtype.kind in "?b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = numpy.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    if reduction == "mul":
        numbers = rng.choice([0.5, -0.5, 1, -1, 2, -2], shape)
        return (numbers * (1j if dtype.kind == "c" else 1)).astype(dtype)
    numbers = rng.standard_normal(shape) * 4
    if dtype.kind == "c":
        numbers = numbers + 1j * rng.standard_normal(shape)
    return numpy.asarray(numbers).astype(dtype)


def places(op, rank, indices, updates_shape, axis=0, batch_dims=0):
    """For each element of the updates, its coordinates in data."""
    grid = list(numpy.indices(updates_shape))
    if op == "scatter_elements":
        grid[axis] = indices
        return tuple(grid)
    if op == "scatter":
        axis %= rank
        own = indices.ndim - batch_dims
        at = indices[(*grid[:batch_dims], *grid[axis:axis + own])]
        return (*grid[:axis], at, *grid[axis + own:])
    groups = indices.ndim - 1
    at = [indices[(*grid[:groups], c)] for c in range(indices.shape[-1])]
    return (*grid[:batch_dims], *at, *grid[groups:])


def neutral(dtype, reduction):
    if reduction in ("min", "max"):
        largest = reduction == "min"
        if dtype.kind == "b":
            return largest
        if dtype.kind in "iu":
            info = numpy.iinfo(dtype)
            return info.max if largest else info.min
        return numpy.inf if largest else -numpy.inf
    if reduction == "mul":
        return 1
    if dtype.kind in "biu" or reduction == "sub":
        return 0
    return complex(-0.0, -0.0) if dtype.kind == "c" else -0.0


def divided(total, count):
    if total.dtype.kind in "iu":
        return total // count.astype(total.dtype if total.dtype.itemsize == 8 else "i8")
    if total.dtype.kind == "c":  # part by part: a complex division rounds more often
        return total.real.astype("f8") / count + 1j * (total.imag.astype("f8") / count)
    return total.astype("f8") / count


def scattered(data, where, updates, reduction="none", include_self=True):
    """`where`: coordinates of each update, as places() gives them."""
    output = numpy.array(data)  # a contiguous copy
    # NumPy follows the strides: in arrays like these, they are in row-major order.
    where = tuple(numpy.array(numpy.broadcast_to(at, updates.shape), order="C") for at in where)
    updates = numpy.array(updates, order="C")
    if reduction == "none":
        for element in numpy.ndindex(updates.shape):
            output[tuple(at[element] for at in where)] = updates[element]
        return output
    if not include_self:
        output[where] = numpy.asarray(neutral(data.dtype, reduction)).astype(data.dtype)
    ufunc = (_TRUTH if data.dtype.kind == "b" else _UFUNCS)[reduction]
    with numpy.errstate(all="ignore"):
        ufunc.at(output, where, updates)
        if reduction == "mean":
            count = numpy.zeros(data.shape, "i8")
            numpy.add.at(count, where, 1)
            touched = count > 0
            means = divided(output[touched], count[touched] + include_self)
            output[touched] = means.astype(data.dtype)
    return output
