"""The compiled part of sheaf."""

from collections.abc import Sequence
from typing import Any


def version() -> str:
    """The version of the library."""

def compiler() -> str:
    """Who compiled this."""

def lacks() -> str:
    """
    The libraries that the build did not find, without which there is no cpu backend.
    """

def refusal_text(what: str, detail: str, next: str) -> str:
    """The lines of a refusal."""

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

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

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
        The gradient as a plan, all arrays contiguous but for indices.

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

    def __hash__(self) -> int: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

def plan_again(data: Spec, indices: Spec, updates: Spec | None, output: Spec, options: tuple[Any, ...]) -> Plan:
    """What pickle calls."""

def plan_gather(op: str, data: object | None, indices: object | None, out: object | None, axis: int, batch_dims: int, broadcast: bool, out_of_range: str, negative: str, fill_value: object | None) -> Plan: ...

def plan_scatter(op: str, data: object | None, indices: object | None, updates: object | None, out: object | None, axis: int, batch_dims: int, reduction: str, include_self: bool, relaxed: bool, accumulate: str, out_of_range: str, negative: str) -> Plan: ...

def element_map(plan: Plan, indices: Any) -> tuple[Any, Any]:
    """
    Two int64 arrays of the output's shape: the element of data (-1: filled) and the element of indices (-1: none) that each output element comes from, as row-major numbers. For a scatter, of the updates' shape: the element that each update goes to (-1: skipped).
    """

def kernels(plan: Plan) -> list[tuple[str, str]]:
    """
    Each kernel in the order they are asked, and why it refuses (empty: it accepts).
    """

def try_gather(backend: str, data: object, indices: object) -> object:
    """Rows of data by one backend, for the doctor."""

def backends() -> list[str]:
    """The backends of this build, fastest first."""

def take(x: object | None, indices: object | None, axis: object | None, out: object | None, mode: str, threads: int) -> object: ...

def take_along_axis(x: object | None, indices: object | None, axis: object | None, out: object | None, threads: int) -> object: ...

def put_along_axis(arr: object | None, indices: object | None, values: object | None, axis: object | None, threads: int) -> None: ...

def run_gather(op: str, data: object | None, indices: object | None, out: object | None, threads: int, inside_operator: bool, axis: int, batch_dims: int, broadcast: bool, out_of_range: str, negative: str, fill_value: object | None) -> object: ...

def run_scatter(op: str, data: object | None, indices: object | None, updates: object | None, out: object | None, threads: int, inside_operator: bool, axis: int, batch_dims: int, reduction: str, include_self: bool, relaxed: bool, accumulate: str, out_of_range: str, negative: str) -> object: ...

def run_scatter_zeros(op: str, updates: object, indices: object, shape: Sequence[int], threads: int, axis: int, batch_dims: int, out_of_range: str, negative: str) -> object: ...

def run_xla_gather(data: object | None, indices: object | None, offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], operand_batching_dims: Sequence[int], start_indices_batching_dims: Sequence[int], start_index_map: Sequence[int], index_vector_dim: int, slice_sizes: Sequence[int], out_of_range: str, fill_value: object | None, threads: int) -> object: ...

def run_xla_scatter(data: object | None, indices: object | None, updates: object | None, update_window_dims: Sequence[int], inserted_window_dims: Sequence[int], operand_batching_dims: Sequence[int], scatter_indices_batching_dims: Sequence[int], scatter_dims_to_operand_dims: Sequence[int], index_vector_dim: int, reduction: str, out_of_range: str, threads: int) -> object: ...

def are_plain_tensors(data: object, indices: object, updates: object | None = None) -> bool: ...

def is_call_watched() -> bool: ...

def set_process_threads(threads: int) -> int: ...

def set_own_threads(threads: int) -> int: ...

def thread_limit() -> int: ...

def gpu_name() -> str:
    """What the backend for GPUs is called."""

def torch_keys() -> tuple[str, str]:
    """The names by which PyTorch's dispatcher knows the devices."""

def gpu_available() -> bool:
    """Whether this build can run on the current device."""

def gpu_description() -> str:
    """The current device, or why there is none."""

def gpu_defer(change: int) -> None:
    """
    Runs do not wait for verdicts while the sum of all changes is positive.
    """

def gpu_check() -> None:
    """Waits for all verdicts that were put off."""

def gpu_forget() -> None:
    """Lets go of the verdicts of captured graphs."""

def has_jax_ffi() -> bool:
    """Whether compiled programs of JAX can call Sheaf."""

def jax_handlers() -> dict[str, Any]:
    """Handlers for XLA's FFI, by name."""

def jax_workspace(plan: Plan, devices: Sequence[int]) -> int:
    """Bytes that a run of the plan needs on any of these GPUs."""

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
    def format(self) -> str: ...

    @format.setter
    def format(self, arg: str, /) -> None: ...

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

    def __init__(self, arg: bytes, /) -> None: ...

    def format(self) -> str: ...

    def metadata(self) -> dict[str, str]: ...

    def tensors(self) -> list[tuple[Any, ...]]: ...

    def table(self, arg: str, /) -> TableHandle: ...

def raw_table(arg0: bytes, arg1: str, arg2: Sequence[int], arg3: int, /) -> TableHandle: ...

def set_table_type(arg: object, /) -> None: ...

def move(call: str, inputs: list[Any], outputs: list[Any], dims: list[int], axis: int, mode: str, largest: bool) -> int: ...

def small_bincount(x: object | None, weights: object | None, minlength: object | None) -> object: ...

def torch_kernel(op: str, in_python: object, expand: object, into: bool, caller: str) -> object: ...
