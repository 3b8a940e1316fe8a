# SPDX-License-Identifier: MIT
"""Sharded gather and scatter over a transport: MPI (sheaf.mpi) or torch.distributed (sheaf.torch).

The protocol is that of sheaf/mpi.h: indices are checked on all ranks before anything moves, distinct
entries go to their owners, rows come back; updates of a scatter are applied in the order of their
rank, then of their position. The compiled library moves the rows; this module routes them.
"""

from __future__ import annotations

from typing import Any, Callable, Protocol

import numpy
from numpy.typing import NDArray

from . import _errors, _functions

Indices = NDArray[numpy.int64]


class Transport(Protocol):
    """What routing needs of a group of processes. All calls are collective."""

    rank: int
    size: int

    def allgather(self, value: Any) -> list[Any]:
        """A small Python object of every rank."""

    def alltoall(self, parts: list[Any], counts: list[int]) -> list[Any]:
        """parts[r] goes to rank r. `counts` are the lengths of what comes, in bytes; all flat."""

    def to_bytes(self, array: Any) -> Any:
        """Its elements, row-major, as a flat array of bytes."""

    def from_bytes(self, data: Any, like: Any, shape: tuple[int, ...]) -> Any:
        """The reverse, with the type of `like`."""

    def zeros(self, like: Any, shape: tuple[int, ...]) -> Any: ...

    def concatenate(self, arrays: list[Any], axis: int) -> Any: ...


def together(transport: Transport, work: Callable[[], Any]) -> Any:
    """Calls work; if it raises on any rank, raises on all what it raised on the lowest."""
    failure, result = None, None
    try:
        result = work()
    except _errors.Error as error:
        failure = (type(error).__name__, str(error), getattr(error, "position", ()),
                   getattr(error, "bad_count", 0))
    except Exception as error:  # never leave the other ranks waiting
        failure = ("Error", f"sharded: failed\n  {type(error).__name__}: {error}", (), 0)
    for rank, other in enumerate(transport.allgather(failure)):
        if other is not None:
            name, text, position, bad_count = other
            lines = text.split("\n")
            if len(lines) > 1:
                lines[1] = f"  on rank {rank}: {lines[1].strip()}"
            raised = getattr(_errors, name)("\n".join(lines))
            if isinstance(raised, _errors.IndexError):
                raised.position, raised.bad_count = position, bad_count
            raise raised
    return result


def refuse(what: str, detail: str, following: str) -> None:
    raise _errors.ArgumentError(_errors.refusal(f"sharded table: {what}", detail, following))


class Sharding:
    """How the entries of one axis lie on the ranks: rank r has [offsets[r], offsets[r + 1])."""

    def __init__(self, transport: Transport, shard: Any, axis: int, dtype: str) -> None:
        self.transport = transport
        shape = tuple(int(size) for size in shard.shape)

        def check_axis() -> int:
            if not -len(shape) <= axis < len(shape):
                refuse("axis out of range", f"axis {axis}, but the shard has {len(shape)} "
                       "dimensions", "an axis of the shard")
            return axis % len(shape)

        self.axis: int = together(transport, check_axis)
        others = transport.allgather((dtype, self.axis, shape[:self.axis], shape[self.axis + 1:]))
        counts = transport.allgather(shape[self.axis])

        def check_same() -> None:
            if others[0] != others[transport.rank]:
                refuse("shards do not fit", f"{others[transport.rank]} here, {others[0]} on rank 0",
                       "one type, and the same sizes off the axis")

        together(transport, check_same)
        self.offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int64)
        self.shape = (*shape[:self.axis], int(self.offsets[-1]), *shape[self.axis + 1:])

    def entries(self, indices: Any, out_of_range: str, negative: _functions.Negative,
                dtype: Any) -> Indices:
        """The entry of every index, flat; -1 where it is filled or skipped. Raises IndexError."""
        given = numpy.asarray(indices)
        count = self.shape[self.axis]
        if given.dtype.kind not in "iu" and given.size > 0:
            raise _errors.IndexDTypeError(_errors.refusal(
                "gather: indices are not integers", f"indices is {given.dtype}",
                "convert indices to int64"))
        flat = given.reshape(-1)
        if flat.dtype == numpy.uint64 and out_of_range == "wrap" and count > 0:
            return (flat % numpy.uint64(count)).astype(numpy.int64)
        if flat.dtype == numpy.uint64:  # beyond every table, and not negative
            flat = numpy.minimum(flat, numpy.uint64(2**63 - 1))
        values: Indices = flat.astype(numpy.int64)
        found = values + numpy.where((values < 0) & (negative == "from_end"), count, 0)
        outside = (found < 0) | (found >= count)
        if not outside.any():
            return found
        if out_of_range in ("fail", "trust") or (count == 0 and out_of_range != "skip"):
            # The text that one process gives: a table of this shape that takes no memory.
            whole = numpy.broadcast_to(numpy.zeros((), dtype), self.shape)
            _functions.gather(whole, given, self.axis, negative=negative)
        if out_of_range == "clamp":
            return numpy.where(outside, numpy.where(values < 0, 0, count - 1), found)
        if out_of_range == "wrap":
            return values % count
        return numpy.where(outside, -1, found)

    def grid_shape(self, indices: Any) -> tuple[int, ...]:
        return (*self.shape[:self.axis], *numpy.shape(indices), *self.shape[self.axis + 1:])

    def rows_shape(self, count: int) -> tuple[int, ...]:
        return (*self.shape[:self.axis], count, *self.shape[self.axis + 1:])

    def exchange(self, parts: list[Any], counts: list[int], row_bytes: int) -> list[Any]:
        flat = [self.transport.to_bytes(part) for part in parts]
        return self.transport.alltoall(flat, [count * row_bytes for count in counts])

    def send_indices(self, parts: list[Indices]) -> list[Indices]:
        counts = [len(part) for part in parts]
        everyone = self.transport.allgather(counts)
        coming = [everyone[rank][self.transport.rank] for rank in range(self.transport.size)]
        flat = self.transport.alltoall([part.view(numpy.uint8) for part in parts],
                                       [8 * count for count in coming])
        return [numpy.asarray(data).view(numpy.int64) for data in flat]


def row_bytes_of(sharding: Sharding, itemsize: int) -> int:
    elements = 1
    for size in sharding.rows_shape(1):
        elements *= size
    return elements * itemsize


def gather(sharding: Sharding, shard: Any, entries: Indices, shape: tuple[int, ...],
           itemsize: int, fill_value: Any = 0) -> Any:
    """The rows of `entries`, which are good on every rank, in an array of this shape."""
    transport = sharding.transport
    wanted, places = numpy.unique(entries, return_inverse=True)
    places = places.reshape(-1).astype(numpy.int64)
    if len(wanted) and wanted[0] < 0:  # filled
        wanted, places = wanted[1:], places - 1
    cuts = numpy.searchsorted(wanted, sharding.offsets)
    parts = [wanted[cuts[r]:cuts[r + 1]] - sharding.offsets[r] for r in range(transport.size)]
    asked = sharding.send_indices(parts)
    rows = [_functions.gather(shard, request, sharding.axis) for request in asked]
    coming = [len(part) for part in parts]
    replies = sharding.exchange(rows, coming, row_bytes_of(sharding, itemsize))
    blocks = [transport.from_bytes(reply, shard, sharding.rows_shape(count))
              for reply, count in zip(replies, coming)]
    # One more row than came: a gather needs an axis with entries, even if all indices are filled.
    spare = transport.zeros(shard, sharding.rows_shape(1))
    received = transport.concatenate([*blocks, spare], sharding.axis)
    output = _functions.gather(received, places, sharding.axis, out_of_range="fill",
                               negative="out_of_range", fill_value=fill_value)
    return output.reshape(shape)


def scatter(sharding: Sharding, shard: Any, entries: Indices, updates: Any, itemsize: int,
            reduction: _functions.Reduction, include_self: bool) -> Any:
    """`shard` with the updates of all ranks applied; entries of -1 are skipped."""
    transport = sharding.transport
    flat = updates.reshape(sharding.rows_shape(len(entries)))
    owners = numpy.searchsorted(sharding.offsets, entries, side="right") - 1
    owners[entries < 0] = -1
    order = [numpy.flatnonzero(owners == rank) for rank in range(transport.size)]
    cells = sharding.send_indices(
        [entries[places] - sharding.offsets[rank] for rank, places in enumerate(order)])
    rows = [_functions.gather(flat, places, sharding.axis) for places in order]
    coming = [len(cell) for cell in cells]
    parts = sharding.exchange(rows, coming, row_bytes_of(sharding, itemsize))
    blocks = [transport.from_bytes(part, shard, sharding.rows_shape(count))
              for part, count in zip(parts, coming)]
    return _functions.scatter(
        shard, numpy.concatenate(cells), transport.concatenate(blocks, sharding.axis),
        sharding.axis, reduction=reduction, include_self=include_self)
