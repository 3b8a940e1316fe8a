# SPDX-License-Identifier: MIT
"""PyTorch's device times for the cases of bench/cuda_bench.cu, by the same names.

Medians of CUDA events with the L2 cache flushed before each run; outputs are allocated beforehand.
Scatters have two lines: atomics, and with torch.use_deterministic_algorithms(True).
"""
import statistics

import torch

DEVICE = "cuda"
MI = 1 << 20


def median_ms(run, runs=7):
    flush = torch.empty(1 << 28, dtype=torch.uint8, device=DEVICE)
    run()
    times = []
    for _ in range(runs):
        flush.zero_()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        run()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def report(name, run):
    print(f"{name:<60} {median_ms(run):10.4f} ms", flush=True)


def report_both(name, run):
    report(name + " (atomics)", run)
    torch.use_deterministic_algorithms(True)
    try:
        report(name + " (deterministic)", run)
    except RuntimeError as error:
        print(f"{name:<60} refused: {str(error).splitlines()[0]}")
    finally:
        torch.use_deterministic_algorithms(False)


def zipf(count, extent, s):
    weights = torch.arange(1, extent + 1, dtype=torch.float64, device=DEVICE) ** -s
    sums = weights.cumsum(0)
    ranks = torch.searchsorted(sums, torch.rand(count, dtype=torch.float64, device=DEVICE) * sums[-1])
    return ranks.clamp_(max=extent - 1) * 2654435761 % extent


def gathers():
    for row_bytes in (4, 16, 64, 128, 256, 512, 1024, 4096, 7, 13, 33, 65, 1001):
        dtype = torch.float32 if row_bytes % 4 == 0 else torch.uint8
        columns = row_bytes // dtype.itemsize
        rows = (1 << 32) // row_bytes
        picked = (1 << (28 if row_bytes < 16 else 29)) // row_bytes
        data = torch.zeros(rows, columns, dtype=dtype, device=DEVICE)
        indices = torch.randint(rows, (picked,), device=DEVICE)
        output = torch.empty(picked, columns, dtype=dtype, device=DEVICE)
        report(f"rows {row_bytes} B", lambda: torch.index_select(data, 0, indices, out=output))
        del data, indices, output
    for rows, columns in ((16384, 16384), (2048, 100000)):
        data = torch.rand(rows, columns, device=DEVICE)
        vector = torch.randint(columns, (columns,), device=DEVICE)
        matrix = torch.randint(columns, (rows, columns), device=DEVICE)
        output = torch.empty_like(data)
        shape = f"{rows}x{columns}"
        report(f"inner axis {shape}", lambda: torch.index_select(data, 1, vector, out=output))
        report(f"elements axis -1 {shape}", lambda: torch.gather(data, 1, matrix, out=output))
        if rows == columns:
            report(f"elements axis 0 {shape}", lambda: torch.gather(data, 0, matrix, out=output))
        del data, vector, matrix, output


def scatters():
    for name, updates, cells, columns, make in (
        ("add 0.5 Mi rows of 64 B into 1", MI // 2, 1, 16, None),
        ("add 0.5 Mi rows of 512 B into 1", MI // 2, 1, 128, None),
        ("add 4 Mi rows of 64 B zipf into 1 Mi", 4 * MI, MI, 16, zipf),
        ("add 4 Mi rows of 512 B zipf into 1 Mi", 4 * MI, MI, 128, zipf),
        ("add 4 Mi rows of 64 B into 1000", 4 * MI, 1000, 16, None),
        ("add 8 Mi rows of 64 B into 100", 8 * MI, 100, 16, None),
        ("add 4 Mi rows of 4 B into 1 Mi", 4 * MI, MI, 1, None),
        ("add 4 Mi rows of 16 B into 1 Mi", 4 * MI, MI, 4, None),
        ("add 4 Mi rows of 64 B into 1 Mi", 4 * MI, MI, 16, None),
        ("add 128 Ki rows of 64 B into 64 Ki", MI // 8, MI // 16, 16, None),
        ("add 8 Mi rows of 64 B into 1 Mi", 8 * MI, MI, 16, None),
        ("add 8 Mi rows of 512 B into 1 Mi", 8 * MI, MI, 128, None),
    ):
        output = torch.rand(cells, columns, device=DEVICE)
        indices = make(updates, cells, 1.2) if make else torch.randint(cells, (updates,), device=DEVICE)
        values = torch.rand(updates, columns, device=DEVICE)
        report_both(name, lambda: output.index_add_(0, indices, values))
        del output, indices, values
    output = torch.rand(8 * MI, 16, device=DEVICE)
    values = torch.rand(8 * MI, 16, device=DEVICE)
    indices = torch.arange(8 * MI, device=DEVICE) * 7919 % (8 * MI)
    report("put 8 Mi unique rows of 64 B", lambda: output.index_copy_(0, indices, values))
    del output, values, indices
    output = torch.rand(16384, 16384, device=DEVICE)
    values = torch.rand(16384, 16384, device=DEVICE)
    indices = torch.randint(16384, (16384, 16384), device=DEVICE)
    for axis in (1, 0):
        report(f"scatter_elements add 16384x16384 axis {axis}",
               lambda axis=axis: output.scatter_add_(axis, indices, values))
    for cells in (10, 100, 1000):
        for axis, few in ((1, output[:, :cells].contiguous()), (0, output[:cells])):
            report(f"scatter_elements add 16384x16384 into {cells} axis {axis}",
                   lambda axis=axis, few=few, to=indices % cells: few.scatter_add_(axis, to, values))


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), "PyTorch", torch.__version__)
    gathers()
    scatters()
