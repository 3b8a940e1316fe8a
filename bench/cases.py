# SPDX-License-Identifier: MIT
"""The grid of problems: what is gathered or scattered, from how much, with which indices.

The numbers of scatters are small and whole, so that sums are exact: every library gives the same
bits, in whatever order it adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LINE = 64  # bytes a processor fetches at once
MIB = 1 << 20


@dataclass(frozen=True)
class Case:
    """One problem on float32 data, or on bytes."""

    name: str
    group: str
    op: str  # "take", "elements" or "nd"
    data: tuple[int, ...]
    indices: tuple[int, ...]
    axis: int = 0
    distribution: str = "uniform"
    index_bytes: int = 8
    element_bytes: int = 4  # or 1

    family = "gather"

    def output(self) -> tuple[int, ...]:
        if self.op == "elements":
            return self.indices
        if self.op == "nd":
            return self.indices[:-1] + self.data[self.indices[-1] :]
        return self.data[: self.axis] + self.indices + self.data[self.axis + 1 :]

    def extents(self) -> tuple[int, ...]:
        """How many entries each component of an index chooses from."""
        return self.data[: self.indices[-1]] if self.op == "nd" else (self.data[self.axis],)

    def row_bytes(self) -> int:
        """What lies side by side in data for one index."""
        first = self.indices[-1] if self.op == "nd" else self.axis + 1
        return self.element_bytes * (1 if self.op == "elements" else size(self.data[first:]))

    def output_bytes(self) -> int:
        return self.element_bytes * size(self.output())

    def moved_bytes(self) -> int:
        """Indices, rows read and rows written."""
        return self.index_bytes * size(self.indices) + 2 * self.output_bytes()

    def compulsory_bytes(self) -> int:
        """What must pass through memory: whole lines of data, each no more often than there are."""
        rows = self.output_bytes() // self.row_bytes()
        lines = -(-self.row_bytes() // LINE) + (self.row_bytes() % LINE > 0)
        touched = min(rows * lines * LINE, self.element_bytes * size(self.data))
        return self.index_bytes * size(self.indices) + touched + self.output_bytes()

    def make_indices(self, rng: np.random.Generator) -> np.ndarray:
        columns = [pick(rng, self.distribution, extent, self.points()) for extent in self.extents()]
        i = np.stack(columns, axis=-1).reshape(self.indices)
        return np.ascontiguousarray(i, dtype=f"i{self.index_bytes}")

    def points(self) -> int:
        return size(self.indices) // len(self.extents())


def size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=np.int64))


def pick(rng: np.random.Generator, distribution: str, extent: int, count: int) -> np.ndarray:
    if distribution == "uniform":
        return rng.integers(0, extent, count)
    if distribution == "sorted":
        return np.sort(rng.integers(0, extent, count))
    if distribution == "same":
        return np.full(count, extent // 2, dtype=np.int64)
    if distribution == "runs of 8":
        starts = rng.integers(0, max(1, extent - 8), -(-count // 8))
        return (starts[:, None] + np.arange(8)).reshape(-1)[:count] % extent
    if distribution == "zipf 1.2":
        return rng.zipf(1.2, count) % extent
    raise ValueError(f"no distribution {distribution!r}")


def row_case(row_bytes: int, table: int, distribution: str = "uniform") -> Case:
    width = row_bytes // 4
    rows = max(1, table // row_bytes)
    count = min(4 * MIB, max(1024, 128 * MIB // row_bytes)) if table >= 64 * MIB else MIB
    place = f"{table // MIB} MiB" if table >= MIB else f"{table // 1024} KiB"
    name = f"rows of {row_bytes} B, table {place}"
    if distribution != "uniform":
        name += f", {distribution}"
    return Case(name, f"rows, {place}", "take", (rows, width), (count,), distribution=distribution)


def pairs_case(channels: int) -> Case:
    shape = (2048, 2048, channels)
    return Case(f"nd pairs, C = {channels}", "other", "nd", shape, (MIB, 2))


SQUARE, SMALLER_SQUARE = (4096, 4096), (1024, 1024)
TRIPLES, SIXTEENS = (1_000_000, 3), (262_144, 16)  # short last axes
TINY = Case("tiny: 32 rows of 256 B", "tiny", "take", (1000, 64), (32,))


def elements_name(shape: tuple[int, int], axis: int) -> str:
    return f"elements, axis {(0, -1)[axis]}, {shape[0]:,} x {shape[1]:,}"


def elements_case(shape: tuple[int, int], axis: int) -> Case:
    return Case(elements_name(shape, axis), "other", "elements", shape, shape, axis=axis)


def cpu_gathers(quick: bool) -> list[Case]:
    far = (4, 16, 64, 4096) if quick else (4, 8, 12, 16, 32, 48, 64, 256, 1024, 4096, 10248)
    near = (4, 64) if quick else (4, 8, 12, 16, 32, 48, 64)
    cases = [row_case(row, 1024 * MIB) for row in far]
    if not quick:
        cases += [row_case(64, 1024 * MIB, distribution) for distribution in ("sorted", "zipf 1.2")]
    cases += [row_case(row, MIB // 4) for row in near]
    cases.append(Case("inner axis, 4,096 x 4,096", "other", "take", SQUARE, (4096,), axis=1))
    squares = [(SQUARE, 1), (SQUARE, 0)]
    cases += [elements_case(*square) for square in (squares if quick else [*squares, (TRIPLES, 1),
                                                                           (SIXTEENS, 1)])]
    cases += [pairs_case(channels) for channels in ((4,) if quick else (1, 4, 32))]
    return [*cases, TINY]


def growth() -> list[Case]:
    """The same rows, more and more of them: time per row should stay flat."""
    return [
        Case(f"{count:,} rows of 16 B", "growth", "take", (64 * MIB, 4), (count,))
        for count in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
    ]


@dataclass(frozen=True)
class ScatterCase:
    """One problem on float32 data, scattered in place."""

    name: str
    group: str
    op: str  # "rows", "elements" or "nd"
    data: tuple[int, ...]
    indices: tuple[int, ...]
    axis: int = 0
    distribution: str = "uniform"
    reduction: str = "add"  # or "none", with unique indices
    index_bytes: int = 8

    family = "scatter"
    element_bytes = 4

    def updates(self) -> tuple[int, ...]:
        if self.op == "elements":
            return self.indices
        if self.op == "nd":
            return self.indices[:-1] + self.data[self.indices[-1] :]
        return self.indices + self.data[1:]

    def row_bytes(self) -> int:
        """What lies side by side in data for one index."""
        first = self.indices[-1] if self.op == "nd" else 1
        return 4 if self.op == "elements" else 4 * size(self.data[first:])

    def visits(self) -> int:
        """How often a byte of data that is written passes: adding reads it, too."""
        return 1 if self.reduction == "none" else 2

    def moved_bytes(self) -> int:
        updates = 4 * size(self.updates())
        return self.index_bytes * size(self.indices) + (1 + self.visits()) * updates

    def compulsory_bytes(self) -> int:
        """What must pass through memory: whole lines of data, each no more often than there are."""
        rows = 4 * size(self.updates()) // self.row_bytes()
        lines = -(-self.row_bytes() // LINE) + (self.row_bytes() % LINE > 0)
        few = {"same": 1}.get(self.distribution, rows)
        touched = min(few * lines * LINE, 4 * size(self.data))
        indices = self.index_bytes * size(self.indices)
        return indices + 4 * size(self.updates()) + self.visits() * touched

    def make_indices(self, rng: np.random.Generator) -> np.ndarray:
        if self.distribution == "unique":
            return rng.permutation(self.data[0])[: self.indices[0]]
        extents = self.data[: self.indices[-1]] if self.op == "nd" else (self.data[self.axis],)
        points = size(self.indices) // len(extents)
        columns = [pick(rng, self.distribution, extent, points) for extent in extents]
        return np.ascontiguousarray(np.stack(columns, axis=-1).reshape(self.indices))

    def flat_rows(self, i: np.ndarray) -> np.ndarray:
        """The row of data, seen as rows of row_bytes, that each row of the updates goes to."""
        if self.op == "rows":
            return i
        if self.op == "nd":
            return np.ravel_multi_index(tuple(np.moveaxis(i, -1, 0)), self.data[: i.shape[-1]])
        other = np.arange(self.data[1 - self.axis]).reshape((1, -1) if self.axis == 0 else (-1, 1))
        columns = self.data[1]
        return (i * columns + other if self.axis == 0 else other * columns + i).reshape(-1)


def whole_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(-4, 5, shape, dtype=np.int8).astype(np.float32)


def expected(case: ScatterCase, x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
    """By a way that none of the contestants takes: column by column, counted up."""
    rows = case.flat_rows(i)
    want = x.reshape(-1, case.row_bytes() // 4).copy()
    flat = u.reshape(len(rows), -1)
    if case.reduction == "none":
        want[rows] = flat
    else:
        for column in range(want.shape[1]):
            want[:, column] += np.bincount(rows, flat[:, column], len(want))
    return want.reshape(x.shape)


def rows_case(count: int, rows: int, distribution: str = "uniform", row_bytes: int = 64
              ) -> ScatterCase:
    def short(number: int) -> str:
        return f"{number // MIB} Mi" if number % MIB == 0 else f"{number:,}"

    name = f"add {short(count)} rows of {row_bytes} B into {short(rows)}"
    if distribution != "uniform":
        name += f", {distribution}"
    return ScatterCase(name, "scatter rows", "rows", (rows, row_bytes // 4), (count,),
                       distribution=distribution)


def added_elements(shape: tuple[int, int], axis: int) -> ScatterCase:
    return ScatterCase(f"add {elements_name(shape, axis)}", "scatter other", "elements", shape, shape,
                       axis=axis)


def cpu_scatters(quick: bool) -> list[ScatterCase]:
    put = ScatterCase("put 1 Mi unique rows of 64 B", "scatter rows", "rows", (MIB, 16), (MIB,),
                      distribution="unique", reduction="none")
    cases = [rows_case(MIB, MIB // 4), rows_case(MIB, 100), put, added_elements(SQUARE, 1)]
    if quick:
        return cases
    return [
        rows_case(4 * MIB, MIB, row_bytes=4),
        rows_case(10**6, 1000, row_bytes=4),
        *cases,
        rows_case(MIB, MIB // 4, "zipf 1.2"),
        rows_case(MIB, 100, "same"),
        rows_case(481_385, 556_416, row_bytes=320),
        *(added_elements(*square) for square in ((SQUARE, 0), (SMALLER_SQUARE, 1), (SMALLER_SQUARE, 0),
                                                 (TRIPLES, 1), (SIXTEENS, 1))),
        ScatterCase("add nd pairs, C = 4", "scatter other", "nd", (2048, 2048, 4), (MIB, 2)),
        ScatterCase("tiny: add 32 rows of 256 B", "tiny", "rows", (1000, 64), (32,)),
    ]


def cpu_cases(quick: bool) -> list[Case | ScatterCase]:
    """In the order of the tables; `quick` keeps a few of each kind."""
    return [*cpu_gathers(quick), *cpu_scatters(quick)]


# The problems for a GPU: buffers far larger than its caches, so that memory is what is measured.
GIB = 1 << 30
GPU_TABLE = 8 * GIB
SIDE = 16384  # of the square for the inner axis and for elements
LONG = (2048, 100_000)

# Rows whose bytes are no multiple of 16 stand beside the next size that is one.
ODD = {7: 16, 12: 16, 13: 16, 20: 32, 33: 48, 65: 80, 200: 208, 1000: 1008, 1001: 1008,
       10248: 10256}
ROWS = (4, 7, 8, 12, 13, 16, 20, 32, 33, 48, 64, 65, 80, 128, 200, 208, 256, 512, 1000, 1001, 1008,
        1024, 4096, 10248, 10256, 16384)
QUICK_ROWS = (4, 12, 16, 64, 128, 256, 512, 4096)


def index_name(index_bytes: int) -> str:
    return f"int{8 * index_bytes}"


def far_rows(row_bytes: int, index_bytes: int = 8) -> Case:
    name = f"rows of {row_bytes} B" + (", int32" if index_bytes == 4 else "")
    output = GIB // 4 if row_bytes == 4 else GIB
    element = 1 if row_bytes % 4 else 4
    return Case(name, "rows", "take", (GPU_TABLE // row_bytes, row_bytes // element),
                (output // row_bytes,), index_bytes=index_bytes, element_bytes=element)


def gpu_square(op: str, axis: int, index_bytes: int,
               shape: tuple[int, int] = (SIDE, SIDE)) -> Case:
    what = "inner axis" if op == "take" else f"elements, axis {(0, -1)[axis]}"
    size = "" if shape == (SIDE, SIDE) else f", {shape[0]:,} x {shape[1]:,}"
    indices = shape[axis:] if op == "take" else shape
    return Case(f"{what}{size}, {index_name(index_bytes)}", "square", op, shape, indices, axis=axis,
                index_bytes=index_bytes)


def gpu_pairs(channels: int) -> Case:
    output = {1: GIB // 4, 4: GIB // 2}.get(channels, GIB)
    shape = (4096, 4096, channels)
    return Case(f"nd pairs, C = {channels}", "nd", "nd", shape, (output // (4 * channels), 2))


def gpu_gathers(quick: bool) -> list[Case]:
    cases = [far_rows(row) for row in (QUICK_ROWS if quick else ROWS)]
    cases += [far_rows(row, 4) for row in ((16,) if quick else (4, 16, 64, 512))]
    for op, axis in (("take", 1), ("elements", 1), ("elements", 0)):
        cases += [gpu_square(op, axis, width) for width in ((8,) if quick else (8, 4))]
    if not quick:  # rows longer than shared memory
        cases += [gpu_square(op, 1, 8, LONG) for op in ("take", "elements")]
    cases += [gpu_pairs(channels) for channels in ((1, 32) if quick else (1, 4, 32, 128))]
    return cases


def gpu_added(axis: int, cells: int = SIDE) -> ScatterCase:
    """A square of updates; `cells` is the extent of the axis that the indices choose from."""
    name = f"add elements, axis {(0, -1)[axis]}" + ("" if cells == SIDE else f", into {cells:,}")
    data = (SIDE, cells) if axis else (cells, SIDE)
    return ScatterCase(name, "scatter other", "elements", data, (SIDE, SIDE), axis=axis)


def gpu_scatters(quick: bool) -> list[ScatterCase]:
    many = 8 * MIB
    cases = [rows_case(many, MIB), rows_case(many, MIB, row_bytes=512)]
    if not quick:
        cases += [rows_case(many, 100), rows_case(many // 2, 1000)]
        cases += [rows_case(many // 2, MIB, row_bytes=row) for row in (4, 16)]
        for row in (64, 512):
            cases += [rows_case(MIB // 2, 1, row_bytes=row),
                      rows_case(many // 2, MIB, "zipf 1.2", row)]
        cases += [gpu_added(1), gpu_added(0), gpu_added(1, 10), gpu_added(1, 1000)]
    cases.append(ScatterCase("put 8 Mi unique rows of 64 B", "scatter rows", "rows", (many, 16),
                             (many,), distribution="unique", reduction="none"))
    return cases


def gpu_cases(quick: bool, growth_only: bool = False) -> list[Case | ScatterCase]:
    """In the order of the tables."""
    if growth_only:
        return growth()
    return [*gpu_gathers(quick), *([] if quick else growth()[:2]), *gpu_scatters(quick), TINY]
