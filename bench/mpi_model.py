# SPDX-License-Identifier: MIT
"""The cost model of docs/scaling.md: a sharded gather on 1 to 1,024 ranks.

usage: bench/mpi_model.py [--rows N] [--batch M] [--row-bytes B] [--exponent S]

Time of one run on a rank, in the order of its steps:

  agree      2 small all-reduces and one all-to-all of counts: 2 log2(n) latencies, n - 1 messages
  index      `index_ns` per index: resolve, deduplicate, sort by owner
  serve      `row_ns` + `byte_ns` * bytes per row that others asked of this rank
  wire       (bytes + 8) per distinct row of another rank, over this rank's share of the network, and
             2 (n - 1) messages per round
  unpack     `byte_ns` * bytes per index

Entries are drawn by a Zipf law. A rank asks for each distinct entry once, so it sends
d = sum of 1 - (1 - p_i)^m requests; an owner serves those of all ranks that fall into its part.
"""

import argparse

import numpy as np

# Fitted to mpi_bench --messages with 2 ranks (docs/scaling.md): 64 to 4096 bytes within 7 %.
INDEX_NS, ROW_NS, BYTE_NS, NEAR_BYTE_NS = 60.0, 15.0, 0.12, 0.23
# Assumed: a node with 16 ranks and a 100 Gbit/s network.
LATENCY_US, MESSAGE_US, NODE_GBS, RANKS_PER_NODE = 2.0, 0.5, 12.5, 16
ROUND_BYTES, MIN_ROWS = 1 << 20, 64  # as in src/distributed/gather_run.cc


def popularity(rows, exponent):
    """Groups of entries of about equal probability: how many each has, and the probability of one.
    The head entry by entry, the tail in steps of 0.1 %."""
    edges = np.unique(np.concatenate([np.arange(1, 10_001), np.geomspace(10_000, rows + 1, 20_000)
                                      .astype(np.int64)]))
    edges = edges[edges <= rows + 1]
    counts = np.diff(edges)
    weights = (edges[:-1] + counts / 2.0) ** -exponent
    return edges[:-1], counts, weights / (weights * counts).sum()


def simulate(ranks, arguments, cyclic):
    first, counts, p = popularity(arguments.rows, arguments.exponent)
    asked = counts * -np.expm1(arguments.batch * np.log1p(-p))  # distinct entries of one rank
    distinct = asked.sum()
    if cyclic:  # the hottest entries lie on different ranks
        served = distinct
    else:  # rank 0 has the head
        served = ranks * asked[first <= arguments.rows // ranks].sum()
    away = (ranks - 1) / ranks
    row = arguments.row_bytes
    rounds = np.ceil(max(distinct / ranks, served / ranks)
                     / max(MIN_ROWS, ROUND_BYTES / (ranks * row)))
    bandwidth = NODE_GBS / min(ranks, RANKS_PER_NODE) * 1e3  # bytes per microsecond
    off_node = max(ranks - RANKS_PER_NODE, 0) / ranks
    steps = {
        "agree": 4 * np.log2(ranks) * LATENCY_US + (ranks - 1) * MESSAGE_US,
        "index": arguments.batch * INDEX_NS * 1e-3,
        "serve": served * (ROW_NS + BYTE_NS * row) * 1e-3,
        "wire": max(distinct, served) * away * (row + 8)
                * (off_node / bandwidth + (1 - off_node) * NEAR_BYTE_NS * 1e-3),
        "messages": 2 * (ranks - 1) * rounds * MESSAGE_US,
        "unpack": arguments.batch * BYTE_NS * row * 1e-3,
    }
    return distinct, served, steps


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--batch", type=int, default=65_536)
    parser.add_argument("--row-bytes", type=int, default=256)
    parser.add_argument("--exponent", type=float, default=1.0)
    arguments = parser.parse_args()
    print("| ranks | split | distinct | hottest owner | time ms | Mrows/s | largest step |")
    print("|---|---|---|---|---|---|---|")
    for ranks in (1, 4, 16, 64, 256, 1024):
        for cyclic in (False, True):
            distinct, served, steps = simulate(ranks, arguments, cyclic)
            total = sum(steps.values())
            worst = max(steps, key=steps.get)
            print(f"| {ranks} | {'cyclic' if cyclic else 'block'} | {distinct / arguments.batch:.0%} "
                  f"| {served / distinct:.1f} | {total / 1e3:.2f} "
                  f"| {ranks * arguments.batch / total:.1f} | {worst} {steps[worst] / total:.0%} |")


if __name__ == "__main__":
    main()
