# SPDX-License-Identifier: MIT
"""The scatters of the grid. All numbers are small and whole, so that sums are exact: every library
gives the same bits, in whatever order it adds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cases import LINE, MIB, pick, size


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


def scatter_grid(quick: bool) -> list[ScatterCase]:
    """All cases; `quick` takes an eighth of the updates and one of each kind."""
    square = (4096, 4096)
    many = MIB if quick else 8 * MIB
    other = "scatter other"
    cases = [
        ScatterCase("add 481,385 rows of 320 B", "scatter rows", "rows", (556416, 80), (481385,)),
        rows_case(many, MIB),
        rows_case(many, 100),
        rows_case(many, 100, "same"),
        ScatterCase("add elements, axis 0", other, "elements", square, square, axis=0),
        ScatterCase("add elements, axis -1", other, "elements", square, square, axis=1),
        ScatterCase("put 2 Mi unique rows of 64 B", "scatter rows", "rows", (4 * MIB, 16),
                    (2 * MIB,), distribution="unique", reduction="none"),
        ScatterCase("add nd pairs, C = 4", other, "nd", (2048, 2048, 4), (MIB, 2)),
    ]
    if not quick:
        cases.insert(3, rows_case(many, MIB, "zipf 1.2"))
        cases.insert(4, rows_case(many, 100, "zipf 1.2"))
        cases.append(ScatterCase("add nd pairs, C = 1", other, "nd", (2048, 2048), (MIB, 2)))
        cases.append(ScatterCase("tiny: add 32 rows of 256 B", "tiny", "rows", (1000, 64), (32,)))
    return cases
