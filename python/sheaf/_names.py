# SPDX-License-Identifier: MIT
"""Calls by the names of other libraries: explain("torch.gather", x, 1, index)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy

from . import _sheaf
from ._errors import ArgumentError, refusal

_ARRAYS = ("data", "indices", "updates")
_PART = re.compile(r"(?:(\w+)=)?\"?(\{(?:axis|batch_dims|reduction)\}"
                   r"|\b(?:data|indices|updates|shape)\b)")


class NamedCall(NamedTuple):
    """A call of another library in Sheaf's words."""
    id: str
    op: str
    arrays: dict[str, Any]
    options: dict[str, Any]


def _parts(call: str) -> list[tuple[str, str]]:
    """The arguments of a call as its library writes it, in order: its own word, and ours."""
    found: list[tuple[str, str]] = []
    for match in _PART.finditer(call):
        ours = match[2].strip("{}")
        if ours not in (part[1] for part in found):
            found.append((match[1] or ours, ours))
    # Descriptors have no order: ours.
    return found if any(part[1] == "data" or part[1] == "shape" for part in found) else [
        *((name, name) for name in _ARRAYS), *found]


def _is_option(value: Any) -> bool:
    return isinstance(value, (str, int, numpy.integer)) and not isinstance(value, bool)


def _by_position(parts: list[tuple[str, str]], values: tuple[Any, ...]) -> dict[str, Any]:
    """In the library's own order if numbers and arrays stand where it has them, else in ours."""
    own = [ours for _, ours in parts]
    fits = len(values) <= len(own) and all(
        (ours in _ARRAYS) != _is_option(value)
        for ours, value in zip(own, values) if ours != "shape")
    order = own if fits else [*(name for name in _ARRAYS if name in own),
                              *(name for name in own if name not in _ARRAYS)]
    return dict(zip(order, values))


# What has no effect on where elements go.
_IGNORED = ("out", "padding_idx", "scale_grad_by_freq", "sparse", "sparse_grad", "unique_indices",
            "indices_are_sorted")
_MODES = {"raise": "fail", "clip": "clamp", "wrap": "wrap", "fill": "fill"}
# Without an axis, these take data as one dimension.
_FLATTENING = ("numpy.take", "jnp.take", "torch.take_along_dim")


def _in_our_words(name: str, keywords: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Keywords that other libraries have beside those of the table."""
    keywords = {key: value for key, value in keywords.items() if key not in _IGNORED}
    mode = keywords.pop("mode", None)
    if mode is not None:
        found = _sheaf.find_name(name)
        other = found and _sheaf.find_name(f"{found['id']}, {mode}")
        name = other["id"] if other else name
        if not other:
            keywords["out_of_range"] = _MODES.get(mode, mode)
    if keywords.pop("accumulate", False):
        keywords["reduction"] = "add"
    return name, keywords


def named_call(name: str, values: tuple[Any, ...], keywords: dict[str, Any]) -> NamedCall | None:
    """The call that `name` stands for, or None if it is no name of another library's.

    Arguments are those of the library, by position or by its keywords; Sheaf's words are taken,
    too.
    """
    if _sheaf.find_name(name) is None:
        return None
    name, keywords = _in_our_words(name, keywords)
    found = _sheaf.find_name(name)
    assert found is not None
    parts = _parts(found["call"])
    arguments = _by_position(parts, values)
    own_words = dict(parts)
    for key, value in keywords.items():
        arguments[own_words.get(key, key)] = value
    if "shape" in arguments:  # onto zeros
        updates = numpy.asarray(arguments["updates"])
        arguments["data"] = numpy.zeros(arguments.pop("shape"), updates.dtype)
    arrays = {key: arguments.pop(key) for key in _ARRAYS if key in arguments}
    wanted = _ARRAYS[:3 if "scatter" in found["op"] else 2]
    missing = [key for key in wanted if key not in arrays]
    if missing or len(arrays) > len(wanted) or len(values) > len(parts):
        own = ", ".join(own for own, _ in parts)
        raise TypeError(f"explain({name!r}, {own}) takes {' and '.join(wanted)}; "
                        f"got {' and '.join(arrays) or 'none of them'}")
    if found["op"].startswith("xla"):
        raise ArgumentError(refusal(
            f"explain: no plans of {found['id']}", "Python has no plans of XLA's general forms",
            f"sheaf explain '{found['id']} ...' on the command line"))
    found = _sheaf.find_name(name, arrays["data"]) or found
    if found["id"].startswith(_FLATTENING) and arguments.get("axis") is None:
        arguments["axis"] = 0
        arrays["data"] = arrays["data"].reshape(-1)
    options = _options(found, arguments)
    return NamedCall(found["id"], found["op"], arrays, options)


def _options(found: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    options = {"negative": found["negative"], "out_of_range": found["out_of_range"], **given}
    if "scatter" in found["op"]:
        reduction = options.get("reduction", found["reduction"])
        options["reduction"] = found["reductions"].get(reduction, reduction)
    elif options["out_of_range"] == "fill":
        options.setdefault("fill_value", found["fill_value"])
    if found["broadcast"]:
        options.setdefault("broadcast", True)
    return options
