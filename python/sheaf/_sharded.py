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


def together(transport: Transport, work: Callable[[], Any], same: Any = None) -> Any:
    """Calls work; if it raises on any rank, raises on all what it raised on the lowest. `same` is
    what all ranks must have in common; else that is refused on all."""
    failure, result = None, None
    cause: Exception | None = None
    try:
        result = work()
    except _errors.Error as error:
        cause = error
        failure = (type(error).__name__, str(error), getattr(error, "position", ()),
                   getattr(error, "bad_count", 0))
    except MemoryError as error:
        cause = error
        failure = ("OutOfMemoryError", f"sharded: out of memory\n  {error}", (), 0)
    except Exception as error:  # never leave the other ranks waiting
        cause = error
        failure = ("Error", f"sharded: failed\n  {type(error).__name__}: {error}", (), 0)
    everyone = transport.allgather((failure, repr(same)))
    for rank, (other, _) in enumerate(everyone):
        if other is not None:
            raise _raised_on(rank, other) from (cause if rank == transport.rank else None)
    for rank, (_, options) in enumerate(everyone):
        if options != everyone[0][1]:
            refuse("options differ", f"{options} on rank {rank}, {everyone[0][1]} on rank 0",
                   "the same options on every rank")
    return result


def _raised_on(rank: int, failure: Any) -> Exception:
    name, text, position, bad_count = failure
    lines = text.split("\n")
    if len(lines) > 1:
        lines[1] = f"  on rank {rank}: {lines[1].strip()}"
    raised: Exception = getattr(_errors, name)("\n".join(lines))
    if isinstance(raised, _errors.IndexError):
        raised.position, raised.bad_count = position, bad_count
    return raised


def refuse(what: str, detail: str, following: str) -> None:
    raise _errors.ArgumentError(_errors.refusal(f"sharded table: {what}", detail, following))


#: What the rows of one exchange may take on a rank, by default.
WORKSPACE_BYTES = 1 << 28


class Sharding:
    """How the entries of one axis lie on the ranks: rank r has [offsets[r], offsets[r + 1])."""

    def __init__(self, transport: Transport, shard: Any, axis: int,
                 workspace_bytes: int = WORKSPACE_BYTES) -> None:
        self.transport = transport
        self.workspace_bytes = workspace_bytes

        def describe() -> Any:
            shape = tuple(int(size) for size in shard.shape)
            if not -len(shape) <= axis < len(shape):
                refuse("axis out of range", f"axis {axis}, but the shard has {len(shape)} "
                       "dimensions", "an axis of the shard")
            if workspace_bytes < 1:
                refuse("no workspace", f"workspace_bytes = {workspace_bytes}",
                       "at least the bytes of a few rows")
            return str(shard.dtype), axis % len(shape), shape

        dtype, self.axis, shape = together(transport, describe, workspace_bytes)
        others = transport.allgather((dtype, self.axis, shape[:self.axis], shape[self.axis + 1:]))
        counts = transport.allgather(shape[self.axis])

        def check_same() -> None:
            if others[0] != others[transport.rank]:
                refuse("shards do not fit", f"{others[transport.rank]} here, {others[0]} on rank 0",
                       "one type, and the same sizes off the axis")

        together(transport, check_same)
        self.offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int64)
        self.shape = (*shape[:self.axis], int(self.offsets[-1]), *shape[self.axis + 1:])

    def check_gather(self, shard: Any, out_of_range: Any, negative: Any, fill_value: Any) -> None:
        """Refuses what the operator itself would refuse of these options."""
        _functions.gather(self.transport.zeros(shard, (1,)), numpy.zeros(0, numpy.int64),
                          out_of_range=out_of_range, negative=negative, fill_value=fill_value)

    def check_scatter(self, shard: Any, reduction: Any, include_self: Any, out_of_range: Any,
                      negative: Any) -> None:
        _functions.scatter(self.transport.zeros(shard, (1,)), numpy.zeros(0, numpy.int64),
                           self.transport.zeros(shard, (0,)), reduction=reduction,
                           include_self=include_self, out_of_range=out_of_range, negative=negative)

    def rounds(self, count: int, row_bytes: int) -> tuple[int, list[int]]:
        """How many rows one exchange takes, and how many exchanges every rank needs. A row is in
        memory up to four times: as sent, as received, in one array, and where it goes."""
        rows = max(1, self.workspace_bytes // (4 * row_bytes + 104))
        return rows, [-(-other // rows) for other in self.transport.allgather(count)]

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
            wrapped: Indices = values % count
            return wrapped
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
    rows, rounds = sharding.rounds(len(entries), row_bytes_of(sharding, itemsize))
    if max(rounds) <= 1:
        received, places = fetch(sharding, shard, entries, itemsize)
        return _take(sharding, received, places, fill_value).reshape(shape)
    output = sharding.transport.zeros(shard, sharding.rows_shape(len(entries)))
    for number in range(max(rounds)):
        part = entries[number * rows:(number + 1) * rows]
        received, places = fetch(sharding, shard, part, itemsize)
        if len(part):
            at = (slice(None),) * sharding.axis + (slice(number * rows, number * rows + len(part)),)
            output[at] = _take(sharding, received, places, fill_value)
    return output.reshape(shape)


def _take(sharding: Sharding, received: Any, places: Indices, fill_value: Any) -> Any:
    return _functions.gather(received, places, sharding.axis, out_of_range="fill",
                             negative="out_of_range", fill_value=fill_value)


def fetch(sharding: Sharding, shard: Any, entries: Indices, itemsize: int) -> tuple[Any, Indices]:
    """The distinct rows of `entries` as one array, and the place of each entry in it; -1 for those
    that are filled."""
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
    return transport.concatenate([*blocks, spare], sharding.axis), places


#: Reductions that may be applied in several steps, one after the other.
CHAINED = ("none", "add", "sum", "sub", "mul", "prod", "multiply", "min", "amin", "max", "amax")


def scatter(sharding: Sharding, shard: Any, entries: Indices, updates: Any, itemsize: int,
            reduction: _functions.Reduction, include_self: bool) -> Any:
    """`shard` with the updates of all ranks applied; entries of -1 are skipped."""
    flat = updates.reshape(sharding.rows_shape(len(entries)))
    rows, rounds = sharding.rounds(len(entries), row_bytes_of(sharding, itemsize))
    if max(rounds) <= 1 or not include_self or reduction not in CHAINED:
        return _apply(sharding, shard, entries, flat, itemsize, reduction, include_self)
    # The order is that of one process: all updates of rank 0, then those of rank 1, and so on.
    for source, count in enumerate(rounds):
        for number in range(count):
            mine = sharding.transport.rank == source
            part = slice(number * rows, (number + 1) * rows) if mine else slice(0, 0)
            at = (slice(None),) * sharding.axis + (part,)
            shard = _apply(sharding, shard, entries[part], flat[at], itemsize, reduction, True)
    return shard


def _apply(sharding: Sharding, shard: Any, entries: Indices, flat: Any, itemsize: int,
           reduction: _functions.Reduction, include_self: bool) -> Any:
    transport = sharding.transport
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
