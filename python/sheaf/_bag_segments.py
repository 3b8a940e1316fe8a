# SPDX-License-Identifier: MIT
"""Which entries a bag has: offsets, lengths or ids."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

from ._dispatch import is_traced
from ._errors import ArgumentError, refusal


class Segments(NamedTuple):
    """The array that says which entries a bag has, and what it holds."""
    array: Any
    form: str
    bags: int


def segments_of(call: str, offsets: Any, lengths: Any, ids: Any, bags: int | None,
                last_offset: bool) -> Segments:
    given = [(array, form) for array, form in ((offsets, "offsets"), (lengths, "lengths"),
                                               (ids, "ids")) if array is not None]
    if len(given) > 1:
        raise ArgumentError(refusal(f"{call}: two kinds of segments",
                                    f"{' and '.join(form for _, form in given)} are given",
                                    "one of offsets, lengths and ids"))
    array, form = given[0] if given else (None, "offsets")
    if last_offset and offsets is None:
        raise ArgumentError(refusal(f"{call}: last_offset without offsets",
                                    "it says that offsets have one more entry",
                                    "offsets, or last_offset=False"))
    if form != "ids":
        if bags is not None:
            raise ArgumentError(refusal(f"{call}: bags without ids",
                                        f"bags={bags}, but the other segments say how many",
                                        "ids, or no bags"))
        return Segments(array, form, -1)
    return Segments(array, form, _count(call, array) if bags is None else operator.index(bags))


def _count(call: str, ids: Any) -> int:
    """One more than the last id, which is the greatest."""
    if is_traced(ids):
        raise ArgumentError(refusal(f"{call}: the number of bags is not known",
                                    "in a compiled program ids have no values yet",
                                    "bags=, a number"))
    if len(ids) == 0:
        return 0
    last = ids[-1]
    return int(last.item() if hasattr(last, "item") else last) + 1
