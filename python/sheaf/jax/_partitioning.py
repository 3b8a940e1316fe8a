# SPDX-License-Identifier: MIT
"""How XLA divides a call among devices, without gathering the table on each of them.

Each dimension of each tensor gets a factor; dimensions with the same factor are divided alike, and
every device runs the same call on its part. A factor whose updates would meet in one cell stays
whole, and so does one that indices choose along, unless it is the axis of the call: then every
device deals with the rows that it holds.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
from jax.experimental import custom_partitioning as _partitioning
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as _Spec

from ._call import Call
from ._divided_axis import can_divide, divided

_Shape = tuple[int, ...]
PartitionSpec: Any = _Spec  # which has no types
custom_partitioning: Any = _partitioning.custom_partitioning


def _batch(count: int) -> list[str]:
    return [f"b{d}" for d in range(count)]


def _along_axis(call: Call, data: _Shape, indices: _Shape) -> tuple[list[str], ...]:
    count = call.batch_dims
    table = [f"d{d}" for d in range(len(data))]
    table[:count], table[call.axis] = _batch(count), "axis"
    grid = [f"i{d}" for d in range(count, len(indices))]
    return (table, _batch(count) + grid,
            table[:call.axis] + grid + table[call.axis + 1:])


def _by_tuples(call: Call, data: _Shape, indices: _Shape) -> tuple[list[str], ...]:
    count, chosen = call.batch_dims, indices[-1]
    table = [f"d{d}" for d in range(len(data))]
    table[:count] = _batch(count)
    for d in range(count, count + chosen):
        table[d] = f"whole_{d}"
    grid = [f"i{d}" for d in range(count, len(indices) - 1)]
    return (table, [*_batch(count), *grid, "whole_tuple"],
            _batch(count) + grid + table[count + chosen:])


def _by_elements(call: Call, data: _Shape, indices: _Shape, grid: _Shape) -> tuple[list[str], ...]:
    """Off the axis a dimension of size 1 may be stretched, and data may be larger than what is
    used of it: then all parts would have to start at the same column, so it stays whole."""
    def name(d: int) -> str:
        fits = d == call.axis or data[d] in (1, grid[d])
        return f"g{d}" if fits else f"whole_g{d}"

    result = [name(d) for d in range(len(grid))]
    table = ["axis" if d == call.axis else name(d) if data[d] == grid[d] else f"whole_data{d}"
             for d in range(len(data))]
    chosen = [name(d) if indices[d] == grid[d] else f"whole_indices{d}"
              for d in range(len(indices))]
    return table, chosen, result


def factors_of(call: Call, shapes: tuple[_Shape, ...], divide_axis: bool) -> Any:
    """For data, indices, then updates if there are some, and output. Names that start with "whole"
    are not divided."""
    data, indices, grid = shapes[:3]
    if call.op.endswith("_elements"):
        table, chosen, result = _by_elements(call, data, indices, grid)
    elif call.op.endswith("_nd"):
        table, chosen, result = _by_tuples(call, data, indices)
    else:
        table, chosen, result = _along_axis(call, data, indices)
    if not divide_axis:
        table = ["whole_axis" if name == "axis" else name for name in table]
    if not call.scatters:
        return table, chosen, result
    # Updates of two devices must not meet: only what is part of data, too, is divided.
    chosen, result = ([name if name in table else f"whole_{name}" for name in names]
                      for names in (chosen, result))
    return table, chosen, result, table


def _axes(entry: Any) -> tuple[Any, ...]:
    return () if entry is None else entry if isinstance(entry, tuple) else (entry,)


def _divisions(mesh: Any, factors: Any, tensors: Any) -> dict[str, tuple[Any, ...]]:
    """The axes of the mesh for each factor: those of the largest tensor first. No axis divides two
    factors, and nothing is divided with a rest, which XLA would fill with any numbers."""
    chosen: dict[str, tuple[Any, ...]] = {}
    sized = sorted(zip(factors, tensors), key=lambda pair: -math.prod(pair[1].shape))
    for names, tensor in sized:
        spec = getattr(tensor.sharding, "spec", ())
        for name, size, entry in zip(names, tensor.shape, spec):
            axes = _axes(entry)
            used = {axis for taken in chosen.values() for axis in taken}
            parts = math.prod(mesh.shape[axis] for axis in axes)
            if (axes and name not in chosen and not name.startswith("whole")
                    and not used.intersection(axes) and size % parts == 0):
                chosen[name] = axes
    return chosen


def _sharding(mesh: Any, names: Any, divisions: dict[str, tuple[Any, ...]]) -> NamedSharding:
    return NamedSharding(mesh, PartitionSpec(*(divisions.get(name) for name in names)))


def _rule_text(factors: Any) -> str:
    """In the notation of Shardy, JAX's partitioner."""
    *operands, result = [" ".join(names) for names in factors]
    return f"{', '.join(operands)} -> {result}"


def _on_one_device(local: Any) -> Any:
    """Without the caller's mesh: where its axes are explicit, JAX 0.8 and 0.9.0 state shardings of what
    each device computes, which XLA takes for calls of a function that it does not know."""
    def run(*operands: Any) -> Any:
        with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((), ())):
            return local(*operands)

    return run


@functools.lru_cache(maxsize=1024)
def partitioned(primitive: Any, call: Call, shapes: tuple[_Shape, ...],
                indices_dtype: str) -> Any:
    """The call as a function that XLA divides."""
    factors = factors_of(call, shapes, can_divide(call, shapes[0], indices_dtype))

    def run(*operands: Any) -> Any:
        return primitive.bind(*operands, call=call)

    def infer_sharding(mesh: Any, operands: Any, result: Any) -> Any:
        divisions = _divisions(mesh, factors[:-1], operands)
        return _sharding(mesh, factors[-1], divisions)

    def partition(mesh: Any, operands: Any, result: Any) -> Any:
        divisions = _divisions(mesh, factors, (*operands, result))
        *inputs, output = (_sharding(mesh, names, divisions) for names in factors)
        axes = divisions.get("axis", ())
        local = _on_one_device(divided(primitive, call, mesh, axes)) if axes else run
        return mesh, local, output, tuple(inputs)

    # custom_partitioning wants to know how many operands there are.
    two: Any = lambda data, indices: run(data, indices)  # noqa: E731
    three: Any = lambda data, indices, updates: run(data, indices, updates)  # noqa: E731
    function = custom_partitioning(three if call.scatters else two)
    whole = tuple(sorted({name for names in factors for name in names
                          if name.startswith("whole")}))
    function.def_partition(partition, infer_sharding_from_operands=infer_sharding,
                           sharding_rule=_rule_text(factors), need_replication_factors=whole)
    return function
