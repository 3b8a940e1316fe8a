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
    """
    One gather or scatter, decided: run it as often as you like, from any thread.
    """

    def run(self, data: Any, indices: Any, updates: Any = None, out: Any = None, *, threads: int = 0) -> Any:
        """
        Moves the elements: run(data, indices, updates, out=None) in the plan of a scatter,
        run(data, indices, out=None) in that of a gather. The arrays must be laid out as those that were
        planned for. A scatter onto zeros, as vjp() makes them, does not read data: it may be None.
        """

    def vjp(self) -> Plan:
        """
        The gradient as a plan of its own, all arrays contiguous but for indices.

        Of a gather: a scatter-add onto zeros, run(None, indices, gradient of the output), which gives the
        gradient of data. Of a scatter (none or add): a gather, run(gradient of the output, indices), which
        gives the gradient of the updates.
        """

    def json(self) -> str:
        """The loop nest as a JSON text."""

    @property
    def data(self) -> Spec: ...

    @property
    def indices(self) -> Spec: ...

    @property
    def updates(self) -> Spec | None:
        """None in the plan of a gather."""

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

def plan_scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', out: Any = None) -> Plan:
    """
    The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.
    """

def plan_scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', out: Any = None) -> Plan:
    """
    The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.
    """

def plan_scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', out: Any = None) -> Plan:
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

def scatter(data: Any, indices: Any, updates: Any, axis: int = 0, *, batch_dims: int = 0, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', threads: int = 0, out: Any = None) -> Any:
    """
    data with whole slices joined to it along one axis.

        output[pre, indices[q], post] (reduction)= updates[pre, q, post]

    Updates to one element are joined in their row-major order: the result does not depend on the
    number of threads. With relaxed=True a backend may join them in another order, if that is faster.
    With include_self=False what was there is no part of the reduction.
    out_of_range="skip" leaves an update out. With out=data the scatter is done in place.
    """

def scatter_elements(data: Any, indices: Any, updates: Any, axis: int = 0, *, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', threads: int = 0, out: Any = None) -> Any:
    """
    data with one update joined to it for each index.

        output[indices[i, j, k], j, k] (reduction)= updates[i, j, k]    (axis 0)

    Off the axis, indices and updates may be smaller than data. Keywords as in scatter.
    """

def scatter_nd(data: Any, indices: Any, updates: Any, *, batch_dims: int = 0, reduction: Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', include_self: bool = True, relaxed: bool = False, out_of_range: Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', negative: Literal['from_end', 'out_of_range'] = 'from_end', threads: int = 0, out: Any = None) -> Any:
    """
    data with an element or a slice joined to it for each index tuple.

        output[b, indices[b, g, 0], indices[b, g, 1], ..., s] (reduction)= updates[b, g, s]

    Keywords as in scatter.
    """

def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None, *, threads: int = 0) -> None:
    """
    Writes one value into arr for each index along an axis, as numpy.put_along_axis.

    indices has as many dimensions as arr; off the axis it is broadcast to arr, and values to both. With
    axis=None, arr is taken as flat and indices has one dimension. Of several values for one element
    the last stays.
    """

def element_map(plan: Plan, indices: Any) -> tuple[Any, Any]:
    """
    Two int64 arrays of the output's shape: the element of data (-1: filled) and the element of indices (-1: none) that each output element comes from, as row-major numbers. For a scatter, of the updates' shape: the element that each update goes to (-1: skipped).
    """

def kernels(plan: Plan) -> list[tuple[str, str]]:
    """
    Each kernel in the order they are asked, and why it refuses (empty: it accepts).
    """

def backends() -> list[str]:
    """The backends of this build, fastest first."""

def cuda_available() -> bool:
    """Whether this build can run on the current device."""

def cuda_description() -> str:
    """The current device, or why there is none."""

def cuda_defer(change: int) -> None:
    """
    Runs do not wait for verdicts while the sum of all changes is positive.
    """

def cuda_check() -> None:
    """Waits for all verdicts that were put off."""

def cuda_forget() -> None:
    """Lets go of the verdicts of captured graphs."""

class RowCache:
    """Rows of tables that stay in memory between calls."""

    def __init__(self, bytes: int) -> None: ...

    @property
    def hits(self) -> int: ...

    @property
    def misses(self) -> int: ...

    @property
    def nbytes(self) -> int: ...

class FileSettings:
    """How a table is read."""

    def __init__(self) -> None: ...

    @property
    def memory(self) -> int: ...

    @memory.setter
    def memory(self, arg: int, /) -> None: ...

    @property
    def depth(self) -> int: ...

    @depth.setter
    def depth(self, arg: int, /) -> None: ...

    @property
    def direct(self) -> bool: ...

    @direct.setter
    def direct(self, arg: bool, /) -> None: ...

    @property
    def reader(self) -> str: ...

    @reader.setter
    def reader(self, arg: str, /) -> None: ...

    @property
    def cache(self) -> RowCache: ...

    @cache.setter
    def cache(self, arg: RowCache, /) -> None: ...

class TableHandle:
    """What sheaf.Table stands on."""

    def info(self) -> tuple[Any, ...]: ...

    def load(self) -> Any: ...

    def gather(self, *arguments: Any) -> tuple[Any, ...]: ...

    def scatter(self, *arguments: Any) -> dict[str, Any]: ...

class FileHandle:
    """What sheaf.File stands on."""

    def __init__(self, arg: str, /) -> None: ...

    def format(self) -> str: ...

    def metadata(self) -> dict[str, str]: ...

    def tensors(self) -> list[tuple[Any, ...]]: ...

    def table(self, arg: str, /) -> TableHandle: ...

def raw_table(arg0: str, arg1: str, arg2: Sequence[int], arg3: int, /) -> TableHandle: ...

def set_table_type(arg: object, /) -> None: ...
