# SPDX-License-Identifier: MIT
"""Cold lookups in a table on disk: Sheaf, NumPy's memory map, safetensors' slices, and fio.

usage: scripts/python bench/files.py [--gib 4] [--rows 200000] [--row-bytes 512] [--folder DIR]

All read the same file in the same run, each from a cold page cache (POSIX_FADV_DONTNEED). fio reads
random blocks of 4 KiB at depth 64, which is the limit for anybody who reads blocks; it is left out
where it is not installed. Prints a table in Markdown. Not a test: nothing is asserted.
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time

import numpy as np

import sheaf

BLOCK = 4096


def write_table(path, rows, row_bytes):
    """A .npy of random bytes, a chunk at a time."""
    columns = row_bytes // 4
    table = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(rows, columns))
    chunk = np.random.default_rng(1).standard_normal((1 << 20) // row_bytes * columns,
                                                     dtype=np.float32).reshape(-1, columns)
    for start in range(0, rows, len(chunk)):
        part = table[start:start + len(chunk)]
        part[:] = chunk[:len(part)]
    table.flush()
    del table
    with open(path, "rb") as file:
        os.fsync(file.fileno())


def forget(path):
    """Drops the file's pages from the page cache."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def best_of(times, path, run):
    best = float("inf")
    for _ in range(times):
        forget(path)
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


def fio_rate(path, direct):
    """Bytes per second of random 4 KiB reads at depth 64, or None."""
    if shutil.which("fio") is None:
        return None
    forget(path)
    command = ["fio", "--name=read", f"--filename={path}", "--rw=randread", f"--bs={BLOCK}",
               "--iodepth=64", "--ioengine=io_uring", f"--direct={int(direct)}", "--runtime=5",
               "--time_based", "--readonly", "--output-format=json", "--randrepeat=0"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        return None
    return json.loads(result.stdout)["jobs"][0]["read"]["bw_bytes"]


def save_safetensors(npy, path):
    """The same rows as a .safetensors file; None where the library is not installed."""
    try:
        import safetensors  # noqa: F401
    except ImportError:
        return None
    table = np.load(npy, mmap_mode="r")
    header = json.dumps({"table": {"dtype": "F32", "shape": list(table.shape),
                                   "data_offsets": [0, table.nbytes]}}).encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for start in range(0, len(table), 1 << 16):
            file.write(table[start:start + (1 << 16)].tobytes())
        file.flush()
        os.fsync(file.fileno())
    return path


def safetensors_lookup(path, ids):
    from safetensors import safe_open
    with safe_open(path, framework="numpy") as file:
        rows = file.get_slice("table")
        return np.stack([rows[int(i):int(i) + 1][0] for i in ids])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gib", type=float, default=4)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--row-bytes", type=int, default=512)
    parser.add_argument("--folder", default=None)
    options = parser.parse_args()
    rows = int(options.gib * (1 << 30)) // options.row_bytes
    ids = np.random.default_rng(2).integers(0, rows, options.rows)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        npy = os.path.join(folder, "table.npy")
        write_table(npy, rows, options.row_bytes)
        table = sheaf.open(npy).table()
        lines = []

        def add(name, seconds, read_bytes=None):
            rate = f"{read_bytes / seconds / 2**20:,.0f} MiB/s" if read_bytes else ""
            lines.append((name, seconds, rate))

        for direct in (False, True):
            suffix = ", O_DIRECT" if direct else ""
            try:
                seconds = best_of(3, npy, lambda: table.gather(ids, direct=direct))
            except sheaf.FileError as error:
                print(str(error).splitlines()[0])
                continue
            add(f"sheaf ({table.file_stats['reader']}{suffix})", seconds, table.file_stats["bytes_read"])
            read = table.file_stats["bytes_read"]
            rate = fio_rate(npy, direct)
            if rate:
                add(f"fio, as many bytes{suffix}", read / rate, read)
        seconds = best_of(3, npy, lambda: table.gather(ids, reader="pread"))
        add("sheaf (pread)", seconds, table.file_stats["bytes_read"])
        expected = table.gather(ids)
        add("sheaf, in the page cache", min(timed(lambda: table.gather(ids)) for _ in range(3)))

        def mapped():
            return np.load(npy, mmap_mode="r")[ids]

        add("np.load(mmap_mode=\"r\")[ids]", best_of(3, npy, mapped))
        np.testing.assert_array_equal(mapped(), expected)
        add("the same, in the page cache", min(timed(mapped) for _ in range(3)))
        add("np.load(mmap_mode=\"r\")[ids], sorted first",
            best_of(3, npy, lambda: np.load(npy, mmap_mode="r")[np.sort(ids)]))
        other = save_safetensors(npy, os.path.join(folder, "table.safetensors"))
        if other:
            add("safetensors slices", best_of(1, other, lambda: safetensors_lookup(other, ids)))
    print(f"{options.rows:,} random rows of {options.row_bytes} bytes out of "
          f"{options.gib:g} GiB, {os.cpu_count()} cores\n")
    print("| reader | seconds | read |\n|---|---|---|")
    for name, seconds, rate in lines:
        print(f"| {name} | {seconds:.2f} | {rate} |")


def timed(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
