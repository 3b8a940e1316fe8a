# SPDX-License-Identifier: MIT
"""The grid of problems: what is gathered, from how much, with which indices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

LINE = 64  # bytes a processor fetches at once
MIB = 1 << 20


@dataclass(frozen=True)
class Case:
    """One problem on float32 data."""

    name: str
    group: str
    op: str  # "take", "elements" or "nd"
    data: tuple[int, ...]
    indices: tuple[int, ...]
    axis: int = 0
    distribution: str = "uniform"
    index_bytes: int = 8

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
        return 4 if self.op == "elements" else 4 * int(np.prod(self.data[first:], dtype=np.int64))

    def moved_bytes(self) -> int:
        """Indices, rows read and rows written."""
        return self.index_bytes * size(self.indices) + 2 * 4 * size(self.output())

    def compulsory_bytes(self) -> int:
        """What must pass through memory: whole lines of data, each no more often than there are."""
        rows = 4 * size(self.output()) // self.row_bytes()
        lines = -(-self.row_bytes() // LINE) + (self.row_bytes() % LINE > 0)
        touched = min(rows * lines * LINE, 4 * size(self.data))
        return self.index_bytes * size(self.indices) + touched + 4 * size(self.output())

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


def grid(quick: bool) -> list[Case]:
    """All cases; `quick` keeps one of each kind."""
    square = (4096, 4096)
    far = (4, 16, 64, 256, 4096) if quick else (
        4, 8, 12, 16, 20, 32, 64, 200, 256, 1024, 4096, 10248, 16384)
    near = (4, 16, 64) if quick else (4, 8, 12, 16, 20, 32, 64)
    cases = [row_case(row, 1024 * MIB) for row in far]
    cases += [row_case(row, MIB // 4) for row in near]
    cases += [
        Case("inner axis, 4096 x 4096", "other", "take", square, (4096,), axis=1),
        Case("elements, axis 0", "other", "elements", square, square, axis=0),
        Case("elements, axis -1", "other", "elements", square, square, axis=1),
    ]
    cases += [pairs_case(channels) for channels in (1, 4, 32)]
    if not quick:
        for distribution in ("sorted", "runs of 8", "zipf 1.2", "same"):
            cases.append(row_case(64, 1024 * MIB, distribution))
    cases.append(Case("tiny: 32 rows of 256 B", "tiny", "take", (1000, 64), (32,)))
    return cases


def growth() -> list[Case]:
    """The same rows, more and more of them: time per row should stay flat."""
    return [
        Case(f"{count:,} rows of 16 B", "growth", "take", (64 * MIB, 4), (count,))
        for count in (10**3, 10**4, 10**5, 10**6, 10**7, 10**8)
    ]
