# SPDX-License-Identifier: MIT
"""The coefficients by which a scatter is linear in the tangents of data and updates."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ._call import Call


def coefficients(call: Call, arrays: Any, run_gather: Any, run_scatter: Any) -> Any:
    """A, of data, and C, of updates, from data, indices, updates and output."""
    data, indices, updates, output = arrays
    rule = "fill" if call.out_of_range == "skip" else call.out_of_range

    def put(start: Any, values: Any, reduction: str = "none") -> Any:
        return run_scatter(call._replace(reduction=reduction, include_self=True), start, indices,
                           values)

    def take(values: Any) -> Any:
        """What stands where each update goes; 0 for updates that go nowhere."""
        return run_gather(call.inverse_gather(rule), values, indices)

    ones = jnp.ones_like(data)
    own = ones if call.include_self else put(ones, jnp.zeros_like(updates))
    if call.reduction == "none":
        numbers = jnp.arange(updates.size, dtype=jnp.int32).reshape(updates.shape)
        last = put(jnp.full(data.shape, -1, jnp.int32), numbers)
        is_last = (take(last) == numbers).astype(data.dtype)
        return put(ones, jnp.zeros_like(updates)), is_last
    if call.reduction in ("add", "sub"):
        return own, jnp.ones_like(updates) * (1 if call.reduction == "add" else -1)
    if call.reduction == "mean":
        share = 1 / put(own, jnp.ones_like(updates), "add")
        return own * share, take(share)
    if call.reduction == "mul":
        return _of_product(put, take, data, updates, own)
    hits = own * (data == output)
    update_hits = (updates == take(output)).astype(data.dtype)
    share = 1 / jnp.maximum(put(hits, update_hits, "add"), 1)
    return hits * share, update_hits * take(share)


def _of_product(put: Any, take: Any, data: Any, updates: Any, own: Any) -> Any:
    """The product of all other factors: of those that are not 0, times the zero among the others if
    there is one, for the sake of the second derivative."""
    start = jnp.where(own == 1, data, 1)
    zero_start, zero_updates = start == 0, updates == 0
    others = take(put(zero_start.astype(jnp.int32), zero_updates.astype(jnp.int32), "add")
                  ) - zero_updates
    own_zero = updates * zero_updates
    other_zero = take(put(start * zero_start, own_zero, "add")) - own_zero
    factor = jnp.where(others == 0, 1, other_zero * (others == 1))
    safe = jnp.where(zero_updates, 1, updates)
    product = take(put(jnp.where(zero_start, 1, start), safe, "mul")) / safe
    return own * put(jnp.ones_like(data), updates, "mul"), product * factor
