"""The compiled part of sheaf."""

from collections.abc import Callable, Sequence
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

def bag_gradient_rows(gradient: object, data: object | None, indices: object | None, segments: object | None, weights: object | None, *, extent: int = -1, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, accumulate: str = 'f32', threads: int = 0) -> object: ...

def bag_gradient_dense(gradient: object, data: object | None, indices: object | None, segments: object | None, weights: object | None, out: object | None, *, extent: int = -1, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, accumulate: str = 'f32', threads: int = 0) -> object: ...

def bag_gradient_weights(gradient: object, data: object | None, indices: object | None, segments: object | None, weights: object | None, *, extent: int = -1, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, accumulate: str = 'f32', threads: int = 0) -> object: ...

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

def plan_gather(op: str, data: object | None, indices: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0) -> Plan: ...

def plan_scatter(op: str, data: object | None, indices: object | None, updates: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, reduction: str = 'none', include_self: bool = True, relaxed: bool = False, accumulate: str = '', out_of_range: str = 'fail', negative: str = 'from_end') -> Plan: ...

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

def run_gather(op: str, data: object | None, indices: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, threads: int = 0, inside_operator: bool = False) -> object: ...

def run_scatter(op: str, data: object | None, indices: object | None, updates: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, reduction: str = 'none', include_self: bool = True, relaxed: bool = False, accumulate: str = '', out_of_range: str = 'fail', negative: str = 'from_end', threads: int = 0, inside_operator: bool = False) -> object: ...

def run_scatter_zeros(op: str, updates: object, indices: object, shape: Sequence[int], *, axis: int, batch_dims: int, out_of_range: str, negative: str) -> object: ...

def run_xla_gather(data: object | None, indices: object | None, offset_dims: Sequence[int], collapsed_slice_dims: Sequence[int], operand_batching_dims: Sequence[int], start_indices_batching_dims: Sequence[int], start_index_map: Sequence[int], index_vector_dim: int, slice_sizes: Sequence[int], out_of_range: str, fill_value: object | None, threads: int) -> object: ...

def run_xla_scatter(data: object | None, indices: object | None, updates: object | None, update_window_dims: Sequence[int], inserted_window_dims: Sequence[int], operand_batching_dims: Sequence[int], scatter_indices_batching_dims: Sequence[int], scatter_dims_to_operand_dims: Sequence[int], index_vector_dim: int, reduction: str, out_of_range: str, threads: int) -> object: ...

def are_plain_tensors(data: object, indices: object, updates: object | None = None) -> bool: ...

def is_call_watched() -> bool: ...

def reductions() -> dict[str, str]:
    """Each word for a reduction, and its name here."""

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

def jax_bag_workspace(plan: BagPlan, devices: Sequence[int]) -> int:
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

class TableRows:
    """Rows that come to where indices and output are."""

    def described(self) -> tuple[Any, ...]: ...

    def with_options(self, *, way: str = '', piece_bytes: int = 16777216, pieces: int = 4, threads: int = 0, lock: bool = False, cache_bytes: int = 0, cached_rows: Sequence[int] = [], memory: int = 268435456, depth: int = 64, direct: bool = False, reader: str = '', cache: object | None = None) -> TableRows: ...

    def gather(self, op: str, indices: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, dtype: object | None = None, packed: bool = False, threads: int = 0) -> object: ...

    def bag(self, indices: object | None, segments: object | None, weights: object | None, out: object | None, *, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, empty_value: object | None = 0, accumulate: str = 'f32', dtype: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, threads: int = 0) -> object: ...

    def scatter(self, op: str, indices: object | None, updates: object | None, *, axis: int = 0, batch_dims: int = 0, reduction: str = 'none', include_self: bool = True, relaxed: bool = False, accumulate: str = '', out_of_range: str = 'fail', negative: str = 'from_end', threads: int = 0) -> None: ...

    def prefetch(self, op: str, indices: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, negative: str = 'from_end') -> None: ...

    def explain(self, op: str, indices: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, out_of_range: str = 'fail', negative: str = 'from_end') -> str: ...

    def stats(self) -> dict[str, Any]: ...

    def forget_cached_rows(self) -> None: ...

def rows_of_file(table: TableHandle) -> TableRows:
    """The rows of a table in a file."""

def rows_of_array(data: object | None) -> TableRows:
    """The rows of an array, or of a sheaf.Encoded."""

def moe_route(tokens: object, experts: object, number: int, capacity: int, threads: int) -> object: ...

def move(call: str, inputs: list[Any], outputs: list[Any], dims: list[int], axis: int, mode: str, largest: bool) -> int: ...

class ShardedTable:
    def __init__(self, rank: int, ranks: int, exchange: Callable, shard: object | None, axis: object | None, workspace_bytes: object | None) -> None: ...

    @property
    def shape(self) -> tuple: ...

    def gather(self, op: str, shard: object | None, indices: object | None, out_of_range: object | None, negative: object | None, fill_value: object | None) -> object: ...

    def scatter(self, op: str, shard: object | None, indices: object | None, updates: object | None, reduction: object | None, include_self: object | None, out_of_range: object | None, negative: object | None) -> None: ...

def small_bincount(x: object | None, weights: object | None, minlength: object | None) -> object: ...

def torch_kernel(op: str, in_python: object, expand: object, into: bool, caller: str) -> object: ...

def set_encoded_type(arg: object, /) -> None: ...

def check_encoded(encoded: object) -> None:
    """Refuses a description whose parts do not go together."""

def elements_of_row(encoding: str, bytes: int) -> int:
    """
    The most elements that a row of so many bytes has; -1: no row has that length.
    """

def encoded_row_bytes(encoding: str, elements: int) -> int:
    """Bytes that the elements of a row take up."""

def run_encoded_gather(op: str, data: object, indices: object | None, out: object | None, *, axis: int = 0, batch_dims: int = 0, broadcast: bool = False, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, dtype: object | None = None, threads: int = 0) -> object: ...

class BagPlan:
    """One bag, decided: run it as often as you like, from any thread."""

    def run(self, data: Any, indices: Any = None, segments: Any = None, weights: Any = None, out: Any = None, *, threads: int = 0) -> Any:
        """
        Pools the rows. The arrays must be laid out as those that were planned for; segments are the
        offsets, lengths or ids.
        """

    def json(self) -> str:
        """The plan as a JSON text."""

    @property
    def bags(self) -> int:
        """How many bags there are."""

    @property
    def output(self) -> Spec: ...

    @property
    def data(self) -> Spec:
        """Of an encoded table, its bytes."""

    @property
    def indices(self) -> Spec | None: ...

    @property
    def segments(self) -> Spec | None:
        """Offsets, lengths or ids."""

    @property
    def weights(self) -> Spec | None: ...

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's shape."""

    @property
    def dtype(self) -> str:
        """The name of the output's element type."""

    @property
    def options(self) -> dict[str, Any]: ...

    @property
    def table_shape(self) -> tuple[int, ...]:
        """The shape of data, decoded."""

    @property
    def kernels(self) -> list[tuple[str, str]]:
        """
        Each kernel in the order they are asked, and why it refuses (empty: it accepts).
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

def plan_bag(call: str, data: object | None, indices: object | None, segments: object | None, weights: object | None, out: object | None, *, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, empty_value: object | None = 0, accumulate: str = 'f32', dtype: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0) -> BagPlan: ...

def run_bag(call: str, data: object | None, indices: object | None, segments: object | None, weights: object | None, out: object | None, *, pool: str = 'sum', form: str = 'offsets', last_offset: bool = False, bags: int = -1, padding_index: object | None = None, empty_value: object | None = 0, accumulate: str = 'f32', dtype: object | None = None, out_of_range: str = 'fail', negative: str = 'from_end', fill_value: object | None = 0, threads: int = 0, inside_operator: bool = False) -> object: ...

def picture(plan: Plan, indices: Any, data: Any = None, updates: Any = None, title: str = '') -> str:
    """The call as an SVG document; what is None has no values."""

def bag_picture(plan: BagPlan, data: Any, indices: Any, segments: Any, weights: Any) -> str:
    """The same of a bag."""

def find_name(text: str, data: Any = None) -> dict[str, Any] | None:
    """
    What another library's name for an operator stands for, on data like this.
    """

def name_list() -> list[str]:
    """The names that other libraries have for the operators."""

def did_you_mean(word: str) -> str:
    """A question about a mistyped operator; empty where none is near."""

def name_call(name: str, plan: Plan) -> str:
    """The call as the name's library writes it."""

def name_objections(name: str, plan: Plan, axis: int) -> list[tuple[bool, str]]:
    """
    (refuses, text): what the name's library would refuse, or do in another way.
    """

def vulkan_available() -> bool:
    """Whether there is a Vulkan device that runs plans."""

def vulkan_description() -> str:
    """The Vulkan device, or why there is none."""

def vulkan_empty(host: object) -> object:
    """Memory for an array like this one, exported by DLPack."""

def vulkan_upload(to: object, host: object) -> None:
    """Copies from the host."""

def vulkan_download(source: object, host: object) -> None:
    """Copies to the host."""

def vulkan_reshaped(array: object, sizes: tuple[int, ...]) -> object:
    """The same memory with other sizes."""

def vulkan_described(array: object) -> tuple[str, tuple[int, ...]]:
    """
    Sheaf's name of the dtype, and the sizes, of an array on the Vulkan device.
    """
