#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a call costs on the host when there is next to nothing to move, beside the peer's own call; and
sums into bins, where the call is the whole program. One process, the same arrays.

  scripts/python bench/calls.py
  scripts/python bench/calls.py --only grad --json calls.json
  scripts/python bench/calls.py --device cuda     # where a GPU is: the time until the call returns
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import timeit
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sheaf

from text import ratio_text, seconds_text, text_table

Call = Callable[[], object]
Row = tuple[str, Call, str, Call]  # name, Sheaf's call, the peer's name, its call


def numpy_calls() -> Iterator[Row]:
    x, i, u = np.ones((100, 16), "f4"), np.array([3, 1, 7]), np.ones((3, 16), "f4")
    out = np.empty((3, 16), "f4")
    plan = sheaf.plan_gather(x, i)
    peer = lambda: np.take(x, i, axis=0)  # noqa: E731
    yield "numpy: take", lambda: sheaf.take(x, i, axis=0), "numpy.take", peer
    yield "numpy: gather", lambda: sheaf.gather(x, i), "numpy.take", peer
    yield "numpy: gather, out=", lambda: sheaf.gather(x, i, out=out), "numpy.take, out=", (
        lambda: np.take(x, i, axis=0, out=out, mode="clip"))
    yield "numpy: plan.run, out=", lambda: plan.run(x, i, out), "numpy.take", peer
    yield "numpy: scatter add, in place", (
        lambda: sheaf.scatter(x, i, u, reduction="add", out=x)), "numpy.add.at", (
        lambda: np.add.at(x, i, u))


def torch_calls(device: str) -> Iterator[Row]:
    import torch

    import sheaf.torch
    x = torch.ones(100, 16, device=device)
    i, u = torch.tensor([3, 1, 7], device=device), torch.ones(3, 16, device=device)
    p = torch.nn.Parameter(x.clone())
    op, index_select = torch.ops.sheaf.gather, torch.index_select
    batch, rows = torch.ones(8, 100, 16, device=device), torch.ones(8, 3, device=device).long()

    def trained(call: Callable[[], Any]) -> Call:
        def step() -> None:
            call().sum().backward()
            p.grad = None
        return step

    yield "torch: sheaf.gather", lambda: sheaf.gather(x, i), "index_select", (
        lambda: index_select(x, 0, i))
    out = torch.empty(3, 16, device=device)
    yield "torch: sheaf.gather, out=", lambda: sheaf.gather(x, i, out=out), "index_select, out=", (
        lambda: index_select(x, 0, i, out=out))
    yield "torch: operator", lambda: op(x, i), "index_select", lambda: index_select(x, 0, i)
    yield "torch: operator, clamp", lambda: op(x, i, 0, 0, "clamp"), "index_select", (
        lambda: index_select(x, 0, i))
    yield "torch: operator, with grad", lambda: op(p, i), "index_select", (
        lambda: index_select(p, 0, i))
    yield "torch: forward and backward", trained(lambda: op(p, i)), "index_select", (
        trained(lambda: index_select(p, 0, i)))
    yield "torch: scatter add", lambda: torch.ops.sheaf.scatter(x, i, u, 0, 0, "add"), (
        "index_add"), lambda: torch.index_add(x, 0, i, u)
    yield "torch: vmap", lambda: torch.func.vmap(sheaf.gather)(batch, rows), "index_select", (
        lambda: torch.func.vmap(lambda x, i: index_select(x, 0, i))(batch, rows))


def jax_calls() -> Iterator[Row]:
    import jax
    import jax.numpy as jnp

    import sheaf.jax
    cpu = jax.devices("cpu")[0]  # also where the default device is a GPU
    x, i = (jax.device_put(array, cpu) for array in (np.ones((100, 16), "f4"), np.array([3, 1, 7])))
    ours, theirs = jax.jit(sheaf.jax.gather), jax.jit(lambda x, i: jnp.take(x, i, axis=0))
    yield "jax: jit of gather", lambda: ours(x, i).block_until_ready(), "jnp.take", (
        lambda: theirs(x, i).block_until_ready())


def sums() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    bins, weights = rng.integers(0, 1000, 1 << 20), rng.random(1 << 20)
    into, wide = np.zeros(1000), np.zeros((1000, 16), "f4")
    rows = rng.random((1 << 16, 16)).astype("f4")
    yield "sums: bincount of 1 Mi", lambda: sheaf.bincount(bins), "numpy", lambda: np.bincount(bins)
    yield "sums: bincount, weights", lambda: sheaf.bincount(bins, weights), "numpy", (
        lambda: np.bincount(bins, weights))
    yield "sums: add_at of 1 Mi", lambda: sheaf.add_at(into, bins, weights), "numpy", (
        lambda: np.add.at(into, bins, weights))
    yield "sums: add_at of 64 Ki rows", lambda: sheaf.add_at(wide, bins[:1 << 16], rows), "numpy", (
        lambda: np.add.at(wide, bins[:1 << 16], rows))
    try:
        import torch
    except ImportError:
        return
    torch_bins, torch_weights = torch.tensor(bins), torch.tensor(weights)
    torch_into = torch.zeros(1000, dtype=torch.float64)
    yield "sums: bincount of 1 Mi", lambda: sheaf.bincount(bins), "torch", (
        lambda: torch.bincount(torch_bins))
    yield "sums: add_at of 1 Mi", lambda: sheaf.add_at(into, bins, weights), "torch", (
        lambda: torch_into.index_add_(0, torch_bins, torch_weights))


def everything(device: str) -> Iterator[Row]:
    parts: list[Callable[[], Iterator[Row]]] = [lambda: torch_calls(device)]
    if device == "cpu":
        parts = [numpy_calls, *parts, jax_calls, sums]
    for part in parts:
        try:
            yield from part()
        except ImportError as error:
            print(f"left out: {error}", file=sys.stderr)


def measure_calls(device: str, only: str = "") -> Iterator[tuple[str, float, str, float]]:
    """Name, Sheaf's time, the peer's name, its time."""
    for name, ours, peer, theirs in everything(device):
        if re.search(only, name):
            yield name, per_call(ours), peer, per_call(theirs)


def per_call(call: Call) -> float:
    """The best of several rounds of about 20 ms: what disturbs a call only makes it longer."""
    call()
    timer = timeit.Timer(call)
    rounds = max(1, int(0.02 / max(timer.timeit(3) / 3, 1e-7)))
    return min(timer.repeat(7, rounds)) / rounds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names that this regular expression finds")
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--json", help="write the numbers there too")
    arguments = parser.parse_args()
    results = list(measure_calls(arguments.device, arguments.only))
    print(text_table(["call", "sheaf", "peer", "its time", "sheaf is"], [
        [name, seconds_text(mine), peer, seconds_text(other), ratio_text(other / mine)]
        for name, mine, peer, other in results]))
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump([{"call": name, "sheaf": mine, "peer": peer, "its_time": other}
                       for name, mine, peer, other in results], file, indent=1)


if __name__ == "__main__":
    main()
