# SPDX-License-Identifier: MIT
"""Which rows go into which bag: sheaf.explain() of a bag."""

from __future__ import annotations

from typing import Any

import numpy

from . import _interop, _sheaf
from ._encoded import Encoded

_MAX_LINES = 24
_MAX_ROWS = 12  # of a bag, in one line


def _values(array: Any) -> Any:
    array = _interop.on_host(array)
    return numpy.asarray(numpy.from_dlpack(array) if hasattr(array, "__dlpack__") else array)


def _on_host(array: Any) -> Any:
    if not isinstance(array, Encoded):
        return _interop.on_host(array)
    parts = [_interop.on_host(part) for part in (array.stored, array.scales, array.zeros)]
    if isinstance(parts[0], _sheaf.Spec):
        return None  # a table that was only planned for has no values
    return Encoded(array.encoding, *parts, shape=array.shape, block=array.block, axis=array.axis,
                   usual_zero=array.usual_zero)


class BagExplanation:
    """The plan of a bag with the indices and segments it is to run on. Prints as text; a notebook
    shows the picture."""

    def __init__(self, plan: _sheaf.BagPlan, indices: Any = None, segments: Any = None,
                 data: Any = None, weights: Any = None) -> None:
        self.plan = plan
        self._arrays = data, indices, segments, weights
        options = plan.options
        self.indices = None if indices is None else _values(indices)
        #: For each entry the row of data that it names; -1 where it names none.
        self.rows = self._rows(options)
        #: For each entry the number of its bag; -1 for those in no bag.
        self.bags = self._bags(None if segments is None else _values(segments), options)
        left_out = self.rows < 0 if options["out_of_range"] == "skip" else self.rows < -1
        if options["padding_index"] is not None:
            left_out |= self.rows == options["padding_index"] % max(plan.table_shape[0], 1)
        #: Whether each entry takes part.
        self.taken = ~left_out & (self.bags >= 0)
        #: (name, refusal) of each kernel in the order they are asked.
        self.kernels = plan.kernels

    def _rows(self, options: dict[str, Any]) -> Any:
        extent = self.plan.table_shape[0]
        if self.indices is None:
            return numpy.arange(extent)
        rule = "fill" if options["out_of_range"] == "skip" else options["out_of_range"]
        entries = self.indices.reshape(-1)
        gather = _sheaf.plan_gather("gather", _sheaf.Spec("u8", [extent]), entries, None,
                                    out_of_range=rule, negative=options["negative"])
        return _sheaf.element_map(gather, entries)[0]

    def _bags(self, segments: Any, options: dict[str, Any]) -> Any:
        count, entries = self.plan.bags, self.rows.size
        if segments is None:
            return numpy.repeat(numpy.arange(count), entries // max(count, 1))
        segments = segments.astype(numpy.int64)
        if options["form"] == "ids":
            return segments
        starts = (numpy.append(0, numpy.cumsum(segments)) if options["form"] == "lengths"
                  else segments if options["last_offset"] else numpy.append(segments, entries))
        bags = numpy.searchsorted(starts, numpy.arange(entries), side="right") - 1
        return numpy.where(bags >= count, -1, bags)

    def entries_of(self, bag: int) -> Any:
        """The numbers of the entries that bag `bag` is made of, in order."""
        return numpy.flatnonzero(self.taken & (self.bags == bag))

    def _term(self, entry: int) -> str:
        row = int(self.rows[entry])
        text = "fill_value" if row < 0 else f"data[{row}]"
        return text if self.plan.weights is None else f"{text} * weights[{entry}]"

    def sources_of(self, bag: int) -> str:
        """Which rows a bag is made of, in words."""
        entries = self.entries_of(bag)
        if not entries.size:
            return "empty_value"
        terms = [self._term(int(entry)) for entry in entries[:_MAX_ROWS]]
        more = [f"and {entries.size - _MAX_ROWS} more"] if entries.size > _MAX_ROWS else []
        return f"{self.plan.options['pool']} of {', '.join(terms + more)}"

    def __str__(self) -> str:
        lines = [str(self.plan).rstrip()]
        kernel = next((name for name, refusal in self.kernels if not refusal), "none")
        lines.append(f"kernel {kernel}")
        lines += [f"output[{bag}] <- {self.sources_of(bag)}"
                  for bag in range(min(self.plan.bags, _MAX_LINES))]
        if self.plan.bags > _MAX_LINES:
            lines.append(f"... and {self.plan.bags - _MAX_LINES} more")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"<sheaf.BagExplanation of {self.plan!r}>"

    @property
    def svg(self) -> str:
        """The picture: an entry has the colour of the row it names, and so has a bag of one row.
        The same as `sheaf explain --svg`."""
        data, indices, segments, weights = map(_on_host, self._arrays)
        return _sheaf.bag_picture(self.plan, data, indices, segments, weights)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        """As a part of the page, whose text colour it takes: light or dark."""
        return self.svg

