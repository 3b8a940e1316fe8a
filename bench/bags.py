# SPDX-License-Identifier: MIT
"""Embedding bags: the cases, and who is measured on them. PyTorch's kernels for quantised rows are FBGEMM's
where it was built with them.

Numbers are small and whole, and bags have 16 entries: sums, means and decoded rows are exact, so that every
library gives the same bits in whatever order it adds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from measure import Timing, time_call

LINE = 64
MIB = 1 << 20
PER_BAG = 16
ROW_BYTES: dict[str, Callable[[int], int]] = {
    "f32": lambda columns: 4 * columns,
    "f16": lambda columns: 2 * columns,
    "bf16": lambda columns: 2 * columns,
    "int8": lambda columns: columns + 8,  # row_u8_f32
    "int4": lambda columns: columns // 2 + 4,  # row_u4_f16
}
ENCODINGS = {"int8": "row_u8_f32", "int4": "row_u4_f16"}


@dataclass(frozen=True)
class BagCase:
    """Rows of one kind, picked at random and pooled."""

    name: str
    group: str
    kind: str
    data: tuple[int, int]
    indices: tuple[int]
    pool: str = "sum"
    index_bytes: int = 8

    family = "bag"
    element_bytes = 4

    def bags(self) -> int:
        return self.indices[0] // PER_BAG

    def row_bytes(self) -> int:
        return ROW_BYTES[self.kind](self.data[1])

    def output_bytes(self) -> int:
        return self.bags() * self.data[1] * (2 if self.kind in ("f16", "bf16") else 4)

    def moved_bytes(self) -> int:
        entries = self.indices[0] * (self.index_bytes + self.row_bytes())
        return entries + self.bags() * self.index_bytes + self.output_bytes()

    def compulsory_bytes(self) -> int:
        """Whole lines of the table, each no more often than there are."""
        lines = -(-self.row_bytes() // LINE) + (self.row_bytes() % LINE > 0)
        touched = min(self.indices[0] * lines * LINE, self.data[0] * self.row_bytes())
        return (self.indices[0] + self.bags()) * self.index_bytes + touched + self.output_bytes()


def bag_case(kind: str, columns: int, pool: str = "sum", table: int | None = None) -> BagCase:
    """Tables are larger than caches. Quantised ones are made of floats that take 4 to 8 times as much."""
    table = table or (64 * MIB if kind in ENCODINGS else 256 * MIB)
    rows = table // ROW_BYTES[kind](columns)
    entries = min(MIB // 2, 128 * MIB // ROW_BYTES[kind](columns))
    place = f"{table // MIB} MiB" if table >= MIB else f"{table // 1024} KiB"
    return BagCase(f"bag {pool}, {kind}, D = {columns}, table {place}", "bags", kind, (rows, columns),
                   (entries // PER_BAG * PER_BAG,), pool)


def cpu_bags(quick: bool) -> list[BagCase]:
    if quick:
        return [bag_case("f32", 64), bag_case("bf16", 64, "mean"), bag_case("int8", 128), bag_case("f32", 64, "max")]
    cases = [bag_case(kind, columns) for kind in ROW_BYTES for columns in (16, 64, 128)]
    cases += [bag_case(kind, 64, pool) for kind in ("f32", "f16", "bf16") for pool in ("mean", "max")]
    return cases + [bag_case(kind, 64, table=MIB) for kind in ROW_BYTES]


@lru_cache(maxsize=1)
def bag_inputs(case: BagCase) -> tuple[Any, Any, Any, Any]:
    """Table (packed if it is quantised), indices, offsets, and what has to come out, as PyTorch's tensors."""
    import torch

    rng = np.random.default_rng(2)
    most = {"int8": 256, "int4": 16}.get(case.kind, 9)
    values = rng.integers(0, most, case.data, dtype=np.uint8).astype(np.float32)
    if case.kind in ENCODINGS:
        values[:, 0], values[:, 1] = 0, most - 1  # a scale of 1 and a bias of 0 are exact
    i = rng.integers(0, case.data[0], case.indices)
    rows = values[i].reshape(case.bags(), PER_BAG, case.data[1])
    want = {"sum": rows.sum, "mean": rows.mean, "max": rows.max}[case.pool](axis=1)
    x = torch.from_numpy(values)
    if case.kind == "int8":
        x = torch.ops.quantized.embedding_bag_byte_prepack(x)
    elif case.kind == "int4":
        x = torch.ops.quantized.embedding_bag_4bit_prepack(x)
    else:
        x = x.to({"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[case.kind])
    offsets = torch.arange(0, len(i), PER_BAG)
    return x, torch.from_numpy(i), offsets, torch.from_numpy(want)


def sheaf_bag(case: BagCase, threads: int) -> Callable[[], Any]:
    import sheaf

    x, i, offsets, _ = bag_inputs(case)
    table = sheaf.encoded_rows(ENCODINGS[case.kind], x) if case.kind in ENCODINGS else x
    return lambda: sheaf.bag(table, i, offsets, pool=case.pool, threads=threads)


def torch_bag(case: BagCase, threads: int) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(threads)
    x, i, offsets, _ = bag_inputs(case)
    if case.kind in ENCODINGS:
        width = "byte" if case.kind == "int8" else "4bit"
        work = getattr(torch.ops.quantized, f"embedding_bag_{width}_rowwise_offsets")
        return lambda: work(x, i, offsets)
    return lambda: torch.nn.functional.embedding_bag(i, x, offsets, mode=case.pool)


BAG_CONTESTANTS = {"sheaf": sheaf_bag, "torch": torch_bag}


def run_bag(case: BagCase, names: list[str], threads: int, seconds: float) -> dict[str, Timing]:
    import torch

    want = bag_inputs(case)[3]
    timings = {}
    for name in [name for name in BAG_CONTESTANTS if name in names]:
        call = BAG_CONTESTANTS[name](case, threads)
        got = torch.as_tensor(call())
        if not torch.equal(got.to(torch.float32), want.to(got.dtype).to(torch.float32)):
            raise SystemExit(f"{name} gives another result than numpy on: {case.name}")
        timings[name] = time_call(call, seconds)
    return timings
