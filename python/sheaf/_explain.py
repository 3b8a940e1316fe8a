# SPDX-License-Identifier: MIT
"""Which element goes where, and why: sheaf.explain()."""

from typing import Any, Callable

import numpy

from . import _functions, _interop, _picture, _sheaf
from ._errors import ArgumentError, refusal

_PLANNERS: dict[str, Callable[..., _sheaf.Plan]] = {
    "gather": _functions.plan_gather,
    "gather_elements": _functions.plan_gather_elements,
    "gather_nd": _functions.plan_gather_nd,
    "scatter": _functions.plan_scatter,
    "scatter_elements": _functions.plan_scatter_elements,
    "scatter_nd": _functions.plan_scatter_nd,
}
_MAX_LINES = 24


def _position(name: str, element: int, shape: tuple[int, ...]) -> str:
    place = numpy.unravel_index(element, shape) if shape else ()
    return f"{name}[{', '.join(str(int(p)) for p in place)}]"


class Explanation:
    """A plan with the indices it is to run on. Prints as text; a notebook shows the picture."""

    def __init__(self, plan: _sheaf.Plan, indices: Any) -> None:
        self.plan = plan
        indices = _interop.on_host(indices)
        #: For each output element of a gather the row-major number of its element of data; -1
        #: where it is filled. For each update of a scatter the number of the output element it
        #: goes to; -1 where it is skipped.
        self.map, self.index_map = _sheaf.element_map(plan, indices)
        #: (name, refusal) of each kernel in the order they are asked; the first without a refusal
        #: runs.
        self.kernels = _sheaf.kernels(plan)
        self._index_values = _values(indices)

    def source_of(self, element: int) -> str:
        """Where output element number `element` comes from, in words."""
        source = int(self.map.flat[element])
        index = int(self.index_map.flat[element])
        text = "fill_value" if source < 0 else _position("data", source, self.plan.data.shape)
        if index < 0:
            return text
        return f"{text} by {_position('indices', index, self.plan.indices.shape)}"

    def target_of(self, element: int) -> str:
        """Where update number `element` of a scatter goes, in words."""
        target = int(self.map.flat[element])
        index = int(self.index_map.flat[element])
        text = "nowhere" if target < 0 else _position("output", target, self.plan.shape)
        if index < 0:
            return text
        return f"{text} by {_position('indices', index, self.plan.indices.shape)}"

    def _line(self, element: int) -> str:
        if self.plan.updates is None:
            place = _position("output", element, self.plan.shape)
            return f"{place} <- {self.source_of(element)}"
        return (f"{_position('updates', element, self.plan.updates.shape)} -> "
                f"{self.target_of(element)}")

    def __str__(self) -> str:
        lines = [str(self.plan).rstrip()]
        kernel = next((name for name, refusal in self.kernels if not refusal), "none")
        lines.append(f"kernel {kernel}")
        lines += [self._line(element) for element in range(min(self.map.size, _MAX_LINES))]
        if self.map.size > _MAX_LINES:
            lines.append(f"... and {self.map.size - _MAX_LINES} more")
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        return f"<sheaf.Explanation of {self.plan!r}>"

    @property
    def svg(self) -> str:
        """The picture: an element of the output has the colour of the element it comes from; an
        update of a scatter that of the element it goes to."""
        return _picture.draw(self, self._index_values)

    def _repr_svg_(self) -> str:
        return self.svg


def _values(indices: Any) -> Any:
    if isinstance(indices, (list, tuple, int)):
        return numpy.asarray(indices, dtype=numpy.int64)
    if hasattr(indices, "__dlpack__"):
        return numpy.from_dlpack(indices)
    return numpy.asarray(indices)


def explain(what: "_sheaf.Plan | str", *tensors: Any, **options: Any) -> Explanation:
    """explain("gather", data, indices, axis=0, ...), or explain(plan, indices) for a plan.
    The scatters take their updates, too: explain("scatter", data, indices, updates, ...).

    Moves nothing. A bad index is an IndexError, as in a run.
    """
    if isinstance(what, _sheaf.Plan):
        if len(tensors) != 1 or options:
            raise TypeError("explain(plan, indices) takes a plan and its indices, nothing else")
        return Explanation(what, tensors[0])
    if what not in _PLANNERS:
        raise ArgumentError(refusal(
            "unknown operator",
            f"explain({what!r}, ...)",
            f"{', '.join(_PLANNERS)}"))
    names = ["data", "indices", "updates"][:3 if what.startswith("scatter") else 2]
    if len(tensors) != len(names):
        count = "three" if len(names) == 3 else "two"
        raise TypeError(
            f"explain({what!r}, {', '.join(names)}) takes {count} arrays, got {len(tensors)}")
    return Explanation(_PLANNERS[what](*tensors, **options), tensors[1])
