# SPDX-License-Identifier: MIT
"""Which element goes where, and why: sheaf.explain()."""

from __future__ import annotations

from typing import Any, Callable

import numpy

from . import _bags, _functions, _interop, _sheaf
from ._errors import ArgumentError, refusal
from ._explain_bags import BagExplanation
from ._names import named_call

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

    def __init__(self, plan: _sheaf.Plan, indices: Any, data: Any = None,
                 updates: Any = None, *, name: str = "", axis: int = 0) -> None:
        self.plan = plan
        #: The call as another library writes it, if it came by that library's name.
        self.call = _sheaf.name_call(name, plan) if name else ""
        #: What that library would refuse of it, or do in another way, in sentences.
        self.objections = [text for _, text in _sheaf.name_objections(name, plan, axis)
                           ] if name else []
        indices = _interop.on_host(indices)
        self._arrays = indices, _values(data), _values(updates)
        #: For each output element of a gather the row-major number of its element of data; -1
        #: where it is filled. For each update of a scatter the number of the output element it
        #: goes to; -1 where it is skipped.
        self.map, self.index_map = _sheaf.element_map(plan, indices)
        #: (name, refusal) of each kernel in the order they are asked; the first without a refusal
        #: runs.
        self.kernels = _sheaf.kernels(plan)

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
        lines = [self.call] if self.call else []
        lines += [*self.objections, str(self.plan).rstrip()]
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
        update of a scatter that of the element it goes to. The same as `sheaf explain --svg`."""
        indices, data, updates = map(_interop.on_host, self._arrays)
        return _sheaf.picture(self.plan, indices, data, updates, self.call)

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        """As a part of the page, whose text colour it takes: light or dark."""
        return self.svg


def _values(array: Any) -> Any:
    """What has values: not a sheaf.Spec."""
    return None if isinstance(array, _sheaf.Spec) else array


def _explain_bag(data: Any, indices: Any = None, offsets: Any = None,
                 **options: Any) -> BagExplanation:
    """With the arguments of plan_bag."""
    plan = _bags.plan_bag(data, indices, offsets, **options)
    segments = [options.get(name) for name in ("lengths", "ids")]
    given = [array for array in (offsets, *segments) if array is not None]
    return BagExplanation(plan, indices, given[0] if given else None, _values(data),
                          _values(options.get("weights")))


def explain(what: "_sheaf.Plan | _sheaf.BagPlan | str", *tensors: Any,
            **options: Any) -> Explanation | BagExplanation:
    """explain("gather", data, indices, axis=0, ...), or explain(plan, indices) for a plan, with
    data= and updates= for their values. The scatters take their updates, too:
    explain("scatter", data, indices, updates, ...); a bag what bag() takes: explain("bag", data,
    indices, offsets, ...), or explain(plan, indices, segments, data, weights).

    Names of other libraries work too, with the arguments of that library: explain("torch.gather",
    x, 1, index). What it would refuse of them is in objections.

    Moves nothing. A bad index is an IndexError, as in a run.
    """
    if isinstance(what, _sheaf.BagPlan):
        return BagExplanation(what, *tensors, **options)
    if what == "bag":
        return _explain_bag(*tensors, **options)
    if isinstance(what, _sheaf.Plan):
        if len(tensors) != 1 or not options.keys() <= {"data", "updates"}:
            raise TypeError("explain(plan, indices) takes a plan, its indices, data= and updates=, "
                            "nothing else")
        return Explanation(what, tensors[0], **options)
    if what not in _PLANNERS:
        call = named_call(what, tensors, options)
        if call is not None:
            plan = _PLANNERS[call.op](**call.arrays, **call.options)
            return Explanation(plan, call.arrays["indices"], _values(call.arrays["data"]),
                               call.arrays.get("updates"), name=call.id,
                               axis=call.options.get("axis", 0))
        meant = _sheaf.did_you_mean(what)
        raise ArgumentError(refusal(
            "unknown operator",
            f"explain({what!r}, ...){'; ' if meant else ''}{meant}",
            f"{', '.join(_PLANNERS)}, bag, or another library's name, as in torch.gather"))
    names = ["data", "indices", "updates"][:3 if what.startswith("scatter") else 2]
    if len(tensors) != len(names):
        count = "three" if len(names) == 3 else "two"
        raise TypeError(
            f"explain({what!r}, {', '.join(names)}) takes {count} arrays, got {len(tensors)}")
    return Explanation(_PLANNERS[what](*tensors, **options), tensors[1], tensors[0], *tensors[2:])
