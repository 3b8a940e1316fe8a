# SPDX-License-Identifier: MIT
"""Mixtures of experts: tokens in the order of the experts that they are sent to, and back.

    rows, inverse, offsets = sheaf.moe.permute(tokens, experts, num_experts=8)
    # expert e works on rows[offsets[e]:offsets[e + 1]]
    output = sheaf.moe.unpermute(results, inverse, weights)
"""
from __future__ import annotations

from typing import Any, NamedTuple, Optional

from . import _errors, _sheaf
from ._bags import bag
from ._functions import gather

__all__ = ["Permuted", "permute", "unpermute"]


class Permuted(NamedTuple):
    """What permute() gives."""
    rows: Any     #: [rows, ...]: tokens, once for each choice, in the order of experts
    inverse: Any  #: int64[tokens, choices]: the row of each choice; -1: it was dropped
    offsets: Any  #: int64[experts + 1]: where the rows of each expert begin, and the last ones end


def permute(tokens: Any, experts: Any, num_experts: Optional[int] = None,
            capacity: Optional[int] = None, *, threads: int = 0) -> Permuted:
    """The rows of `tokens` in the order of their experts.

    `experts` is [tokens, choices]: the numbers of the experts that each token is sent to. Rows of
    one expert are in the order of (token, choice). num_experts: how many experts there are; None:
    one more than the largest number. capacity: how many rows an expert takes; those after them are
    dropped. An expert may get no rows. A number that is none of the experts' is an IndexError.

    On a GPU every token is read once. The call waits for the GPU if capacity is given or
    num_experts is not.
    """
    routing: Any = _sheaf.moe_route(
        tokens, experts,
        -1 if num_experts is None else _not_negative("num_experts", num_experts),
        -1 if capacity is None else _not_negative("capacity", capacity), threads)
    rows, sources, inverse, offsets = routing
    if len(tokens) != inverse.shape[0]:
        raise _errors.ArgumentError(_sheaf.refusal_text(
            "moe.permute: tokens do not fit",
            f"there are {len(tokens)} tokens, but experts has {inverse.shape[0]} rows",
            "tokens [tokens, ...] and experts [tokens, choices]"))
    if capacity is not None:  # on a GPU there is room for all, and this waits for it
        kept = int(offsets[-1])
        rows, sources = rows if rows is None else rows[:kept], sources[:kept]
    return Permuted(gather(tokens, sources, threads=threads) if rows is None else rows,
                    inverse, offsets)


def unpermute(rows: Any, inverse: Any, weights: Any = None, *, threads: int = 0) -> Any:
    """output[t] = sum over k of rows[inverse[t, k]] * weights[t, k], in the order of k.

    Choices that were dropped (-1) are left out. Floats narrower than float32 are multiplied and
    summed in float32 and rounded once. It is a bag: gradients and memory of a GPU are as there.
    """
    return bag(rows, inverse, weights=weights, negative="out_of_range", out_of_range="skip",
               threads=threads)


def _not_negative(name: str, value: int) -> int:
    if value < 0:
        raise _errors.ArgumentError(_sheaf.refusal_text(
            f"moe.permute: {name} is negative", f"{name}={value}",
            "a number of 0 or more, or None"))
    return value
