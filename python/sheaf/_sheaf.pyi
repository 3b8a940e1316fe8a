"""The compiled part of sheaf."""

from collections.abc import Sequence
from typing import Any, Literal


def version() -> str:
    """The version of the library."""

class Spec:
    """A tensor without its memory: dtype, shape and strides."""

    def __init__(self, dtype: Any, shape: Sequence[int], strides: Sequence[int] | None = None) -> None:
        """
        dtype is a name ("f32", "bfloat16", "opaque24") or a NumPy dtype; strides are in elements.
        """

    @property
    def dtype(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def strides(self) -> tuple[int, ...]: ...

    def __repr__(self) -> str: ...

    def __str__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

class Plan:
    """One gather, decided: run it as often as you like, from any thread."""

    def run(self, data: Any, indices: Any, out: Any = None, *, threads: int = 0) -> Any:
        """
        Moves the elements. The arrays must be laid out as those that were planned for.
        """

    def json(self) -> str:
        """The loop nest as a JSON text."""

    @property
    def data(self) -> Spec: ...

    @property
    def indices(self) -> Spec: ...

    @property
    def output(self) -> Spec: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's shape."""

    @property
    def dtype(self) -> str:
        """The name of the output's element type."""

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __eq__(self, other: object, /) -> bool: ...

def plan_gather(data: Any, indices: Any, *, axis: int = 0, batch_dims: int = 0, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, out: Any = None) -> Plan:
    """
    The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.
    """

def plan_gather_elements(data: Any, indices: Any, *, axis: int = 0, broadcast: bool = False, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, out: Any = None) -> Plan:
    """
    The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.
    """

def plan_gather_nd(data: Any, indices: Any, *, batch_dims: int = 0, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, out: Any = None) -> Plan:
    """
    The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.
    """

def take(x: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Literal['raise', 'wrap', 'clip'] = 'raise', *, threads: int = 0) -> Any:
    """
    Slices of x along an axis, as numpy.take.

    Without an axis, x is taken as flat. mode says what becomes of an index out of range: "raise" an
    IndexError, "wrap" around, or "clip" to the nearest entry (negative indices then mean entry 0).
    The result is an array of x's kind; with out it is written there, and out is returned.
    """

def take_along_axis(x: Any, indices: Any, axis: int | None = -1, *, out: Any = None, threads: int = 0) -> Any:
    """
    One element of x for each index along an axis, as numpy.take_along_axis.

    indices has as many dimensions as x; off the axis the two are broadcast against each other. With
    axis=None, x is taken as flat and indices has one dimension.
    """

def gather(data: Any, indices: Any, *, axis: int = 0, batch_dims: int = 0, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, threads: int = 0, out: Any = None) -> Any:
    """
    Whole slices of data along one axis.

        output[pre, q, post] = data[pre, indices[q], post]

    The first batch_dims dimensions are shared by data and indices.
    """

def gather_elements(data: Any, indices: Any, *, axis: int = 0, broadcast: bool = False, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, threads: int = 0, out: Any = None) -> Any:
    """
    One element of data for each index.

        output[i, j, k] = data[indices[i, j, k], j, k]    (axis 0)

    Off the axis, indices may be smaller than data; with broadcast=True dimensions of size 1 stretch.
    """

def gather_nd(data: Any, indices: Any, *, batch_dims: int = 0, out_of_range: Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', fill_value: Any = 0, threads: int = 0, out: Any = None) -> Any:
    """
    An element or a slice of data for each index tuple, in the last dimension of indices.

        output[b, g, s] = data[b, indices[b, g, 0], indices[b, g, 1], ..., s]
    """

def element_map(plan: Plan, indices: Any) -> tuple[Any, Any]:
    """
    Two int64 arrays of the output's shape: the element of data (-1: filled) and the element of indices (-1: none) that each output element comes from, as row-major numbers.
    """

def kernels(plan: Plan) -> list[tuple[str, str]]:
    """
    Each kernel in the order they are asked, and why it refuses (empty: it accepts).
    """

def backends() -> list[str]:
    """The backends of this build, fastest first."""
