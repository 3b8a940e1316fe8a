# SPDX-License-Identifier: MIT
"""Rows of a table in host memory or in a file, to a GPU: Sheaf's ways, its peers and the bus.

    python3 bench/tables.py                        # 32 GiB in host memory, 4 Mi rows
    python3 bench/tables.py --table-gib 8 --json tables.json
    python3 bench/tables.py --quick                # a minute less, also without a GPU: no figures to quote

Indices are int64, and where the output is. Every library's rows are compared: element i of the table is
the number i. One table is printed, in GB/s of rows; the limit is a copy over the bus, of a file what
sheaf.gather reads to the host. Peers: PyTorch by index_select into pinned memory and a copy, with the
copy of the indices; CuPy on mapped memory.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import sheaf

from text import text_table

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None

GIB = 1 << 30
ELEMENT = 8  # int64
WAYS = ("ring", "mapped", "split")
COLUMNS = ("limit", "PyTorch", "CuPy", *WAYS, "chosen")


def has_gpu() -> bool:
    return torch is not None and torch.cuda.is_available() and sheaf.cuda.is_available()


class Machine:
    """Where the rows go: the GPU, or with --quick the host."""

    def __init__(self, gpu: bool, seconds: float, deadline: float) -> None:
        self.gpu, self.seconds, self.deadline = gpu, seconds, deadline
        self.wrong: list[str] = []

    def wait(self) -> None:
        if self.gpu:
            torch.cuda.synchronize()

    def over(self) -> bool:
        return time.perf_counter() > self.deadline

    def rate(self, call: Callable[[], Any], moved: int) -> float | None:
        """GB/s of the best of some rounds; None if the call cannot run here."""
        if self.over():
            return None
        try:
            call()
        except (sheaf.UnsupportedError, NotImplementedError):
            return None
        self.wait()
        best, begin = float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - begin < self.seconds:
            start = time.perf_counter()
            call()
            self.wait()
            best = min(best, time.perf_counter() - start)
        return moved / best / 1e9

    def empty(self, rows: int, width: int) -> Any:
        if self.gpu:
            return torch.empty((rows, width), dtype=torch.int64, device="cuda")
        return np.empty((rows, width), np.int64)

    def check(self, name: str, out: Any, ids: Any) -> None:
        """Row r of the table has the numbers from r * width on."""
        width = out.shape[1]
        for first in range(0, len(ids), 1 << 18):
            some, at = out[first:first + (1 << 18)], ids[first:first + (1 << 18)]
            count = torch.arange(width, device="cuda") if self.gpu else np.arange(width)
            if not bool((some == at[:, None] * width + count).all()):
                self.wrong.append(name)
                return


def new_table(size: int) -> np.ndarray:
    """Memory in large pages, filled by many threads."""
    memory = mmap.mmap(-1, size)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    table = np.frombuffer(memory, np.int64)
    if torch is not None:
        torch.arange(len(table), out=torch.from_numpy(table))
    else:
        table[:] = np.arange(len(table))
    return table


def lock(table: np.ndarray) -> float:
    """Registers the memory with CUDA, for all that read it; seconds."""
    start = time.perf_counter()
    failed = torch.cuda.cudart().cudaHostRegister(table.ctypes.data, table.nbytes, 0)
    if int(failed) != 0:
        raise SystemExit(f"cudaHostRegister failed: {failed}; see ulimit -l")
    return time.perf_counter() - start


def uniform(machine: Machine, rows: int, count: int) -> Any:
    if machine.gpu:
        return torch.randint(rows, (count,), device="cuda", dtype=torch.int64)
    return np.random.default_rng(1).integers(0, rows, count)


def zipf(machine: Machine, rows: int, count: int, exponent: float = 1.05) -> Any:
    """Ranks by the inverse of the integral, on rows that are not side by side."""
    power = 1 - exponent
    tail = 1 - rows ** power
    if machine.gpu:
        random = torch.rand(count, device="cuda", dtype=torch.float64)
        ranks = ((1 - random * tail) ** (1 / power)).long() - 1
        return (ranks.clamp_(0, rows - 1) * 2654435761) % rows
    random = np.random.default_rng(2).random(count)
    ranks = ((1 - random * tail) ** (1 / power)).astype(np.int64) - 1
    return (np.clip(ranks, 0, rows - 1) * 2654435761) % rows


def copy_rate(machine: Machine, staging: Any) -> float | None:
    if machine.gpu:
        there = torch.empty_like(staging, device="cuda")
        return machine.rate(lambda: there.copy_(staging, non_blocking=True), staging.nbytes)
    copied = np.empty_like(staging)
    return machine.rate(lambda: np.copyto(copied, staging), staging.nbytes)


def torch_rate(machine: Machine, table: np.ndarray, ids: Any, out: Any, staging: Any) -> Any:
    if torch is None:
        return None
    source = torch.from_numpy(table)
    if not machine.gpu:
        there, at = torch.from_numpy(out), torch.from_numpy(ids)
        return machine.rate(lambda: torch.index_select(source, 0, at, out=there), out.nbytes)
    pinned = staging[:out.numel()].view(out.shape)

    def call() -> None:
        torch.index_select(source, 0, ids.cpu(), out=pinned)
        out.copy_(pinned, non_blocking=True)

    return machine.rate(call, out.nbytes)


def cupy_rate(machine: Machine, table: np.ndarray, ids: Any, out: Any) -> Any:
    if cupy is None or not machine.gpu:
        return None
    memory = cupy.cuda.UnownedMemory(table.ctypes.data, table.nbytes, table, 0)
    mapped = cupy.ndarray(table.shape, np.int64, cupy.cuda.MemoryPointer(memory, 0))
    at, there = cupy.from_dlpack(ids), cupy.from_dlpack(out)
    return machine.rate(lambda: cupy.take(mapped, at, axis=0, out=there), out.nbytes)


def sheaf_rates(machine: Machine, table: Any, ids: Any, out: Any, name: str, warm: int = 0,
                ways: Any = WAYS, **options: Any) -> dict[str, Any]:
    """Each way that takes the call, and the one that Sheaf chooses."""
    line: dict[str, Any] = {}
    for way in (*ways, ""):
        rows = sheaf.Table(table, way=way, **options)
        out[:] = -1
        for _ in range(warm):
            if not machine.over():
                rows.gather(ids, out=out)
        before = rows.stats()
        line[way or "chosen"] = machine.rate(lambda: rows.gather(ids, out=out), out.nbytes)
        if line[way or "chosen"] is not None:
            machine.check(f"{name}, {way or 'chosen'}", out, ids)
        stats = rows.stats()
        if not way:
            line["way"] = stats["way"]
            asked = stats["rows"] - before["rows"]
            line["hits"] = (stats["cache_hits"] - before["cache_hits"]) / max(asked, 1)
    return line


def memory_lines(machine: Machine, table: np.ndarray, arguments: Any, limit: Any,
                 staging: Any) -> list[dict[str, Any]]:
    lines = []
    for row_bytes in arguments.row_bytes:
        width = row_bytes // ELEMENT
        rows = table[:len(table) // width * width].reshape(-1, width)
        count = min(arguments.rows, int(arguments.output_gib * GIB) // row_bytes)
        ids, out = uniform(machine, len(rows), count), machine.empty(count, width)
        name = f"host memory, {row_bytes} B"
        line = {"case": name, "rows": count, "limit": limit}
        for peer, rate in (("PyTorch", lambda: torch_rate(machine, rows, ids, out, staging)),
                           ("CuPy", lambda: cupy_rate(machine, rows, ids, out))):
            out[:] = -1
            try:
                line[peer] = rate()
            except Exception as error:  # a peer that cannot: its column stays empty
                print(f"{name}, {peer}: {error}", file=sys.stderr)
                continue
            if line[peer] is not None:
                machine.check(f"{name}, {peer}", out, ids)
        lines.append(line | sheaf_rates(machine, rows, ids, out, name))
    return lines


def zipf_lines(machine: Machine, table: np.ndarray, arguments: Any, limit: Any) -> Any:
    lines = []
    for row_bytes in (256, 1024):
        width = row_bytes // ELEMENT
        rows = table[:len(table) // width * width].reshape(-1, width)
        count = min(arguments.rows, int(arguments.output_gib * GIB) // row_bytes)
        ids, out = zipf(machine, len(rows), count), machine.empty(count, width)
        name = f"zipf 1.05, {row_bytes} B, cache 10 %"
        rates = sheaf_rates(machine, rows, ids, out, name, warm=arguments.warm, ways=(),
                            cache_bytes=rows.nbytes // 10)
        without = sheaf_rates(machine, rows, ids, out, f"{name} (without)", ways=("ring",))
        lines.append({"case": name, "rows": count, "limit": limit, **rates,
                      "ring": without["ring"]})
    return lines


def file_lines(machine: Machine, arguments: Any) -> list[dict[str, Any]]:
    lines: list[dict[str, Any]] = []
    if machine.over():
        return lines
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = os.path.join(folder, "table.bin")
        size = int(arguments.file_gib * GIB)
        np.arange(size // ELEMENT, dtype=np.int64).tofile(path)
        os.sync()
        for row_bytes in (512, 4096):
            width = row_bytes // ELEMENT
            raw = sheaf.open_raw(path, "i64", (size // row_bytes, width))
            count = min(arguments.rows // 16, size // row_bytes)
            ids, out = uniform(machine, len(raw), count), machine.empty(count, width)
            at = ids.cpu().numpy() if machine.gpu else ids
            direct = not arguments.quick
            line = {"case": f"file, {row_bytes} B", "rows": count,
                    "limit": machine.rate(lambda: raw.gather(at, direct=direct), out.nbytes)}
            lines.append(line | sheaf_rates(machine, raw, ids, out, line["case"], ways=(),
                                            direct=direct))
        start = time.perf_counter()
        first = sheaf.Table(path_of_npy(folder, size))
        opened = time.perf_counter()
        first.gather(ids[:1] * 0)
        machine.wait()
        lines[0]["open_s"] = opened - start
        lines[0]["first_row_s"] = time.perf_counter() - opened
    return lines


def path_of_npy(folder: str, size: int) -> str:
    """A header before a hole: a file of that size that takes no room."""
    path = os.path.join(folder, "hole.npy")
    np.lib.format.open_memmap(path, "w+", np.int64, (size // 512, 64)).flush()
    return path


def cells(line: dict[str, Any], columns: list[str]) -> list[str]:
    rates = [f"{line[name]:.1f}" if line.get(name) else "-" for name in columns]
    best, limit = line.get("chosen"), line.get("limit")
    share = f"{best / limit:.2f}" if best and limit else "-"
    hits = f"{line['hits']:.0%}" if line.get("hits") else "-"
    return [line["case"], f"{line['rows']:,}", *rates, line.get("way") or "-", share, hits]


def parse() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--table-gib", type=float, default=32, help="bytes of the table in host memory")
    parser.add_argument("--rows", type=int, default=4 << 20, help="rows of a call (4 Mi)")
    parser.add_argument("--row-bytes", type=int, nargs="+", default=[64, 128, 256, 512, 1024, 4096])
    parser.add_argument("--output-gib", type=float, default=16, help="at most; larger rows: fewer of them")
    parser.add_argument("--file-gib", type=float, default=4)
    parser.add_argument("--folder", help="where the file is put")
    parser.add_argument("--seconds", type=float, default=0.4, help="of each measurement")
    parser.add_argument("--budget", type=float, default=110, help="seconds, then the rest is left out")
    parser.add_argument("--warm", type=int, default=8, help="calls that fill the cache of rows")
    parser.add_argument("--quick", action="store_true", help="small, and on the host if there is no GPU")
    parser.add_argument("--json", help="write everything to this file")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.table_gib, arguments.file_gib = min(arguments.table_gib, 1 / 16), 1 / 16
        arguments.rows, arguments.seconds = min(arguments.rows, 1 << 16), 0.02
        arguments.warm = 2
    return arguments


def main() -> int:
    arguments = parse()
    begin = time.perf_counter()
    gpu = has_gpu()
    if not gpu and not arguments.quick:
        print("no GPU that PyTorch and Sheaf can use; --quick runs on the host", file=sys.stderr)
        return 2
    machine = Machine(gpu, arguments.seconds, begin + arguments.budget)
    table = new_table(int(arguments.table_gib * GIB))
    notes = [f"table of {table.nbytes / GIB:g} GiB, filled in {time.perf_counter() - begin:.1f} s"]
    most = max(min(arguments.rows * size, int(arguments.output_gib * GIB))
               for size in arguments.row_bytes)
    if gpu:
        notes.append(f"locked in {lock(table):.1f} s")
        staging = torch.empty(most // ELEMENT, dtype=torch.int64, pin_memory=True)
    else:
        staging = np.empty(most // ELEMENT, np.int64)
    limit = copy_rate(machine, staging[:min(len(staging), GIB // ELEMENT)])
    lines = memory_lines(machine, table, arguments, limit, staging)
    lines += zipf_lines(machine, table, arguments, limit)
    lines += file_lines(machine, arguments)
    columns = [name for name in COLUMNS if any(line.get(name) for line in lines)]
    header = ["GB/s", "rows", *columns, "way", "of limit", "hits"]
    print(text_table(header, [cells(line, columns) for line in lines]))
    for opened in (line for line in lines if "open_s" in line):
        notes.append(f"a file opens in {opened['open_s'] * 1e3:.1f} ms, its first row takes "
                     f"{opened['first_row_s'] * 1e3:.1f} ms more")
    if machine.over():
        notes.append("the budget is spent: empty columns were not measured")
    where = torch.cuda.get_device_name() if gpu else "the host: only the logic is tested"
    print(f"{where}; {'; '.join(notes)}; {time.perf_counter() - begin:.0f} s in all")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"device": where, "notes": notes, "lines": lines}, file, indent=1)
    for name in machine.wrong:
        print(f"WRONG ROWS: {name}", file=sys.stderr)
    return 1 if machine.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
