# SPDX-License-Identifier: MIT
"""Indexed data movement in tensors: NumPy, PyTorch, JAX and other arrays in, the same kind out."""

from . import cuda
from ._errors import (
    ArgumentError,
    AxisError,
    BufferError,
    DTypeError,
    DeviceError,
    Error,
    FileError,
    FileNotFoundError,
    IndexDTypeError,
    IndexError,
    OutOfMemoryError,
    PermissionError,
    UnsupportedError,
)
from ._config import show_config, warn_if_slow
from ._explain import Explanation, explain
from ._files import File, RowCache, Table, open, open_raw
from ._functions import (
    gather,
    gather_elements,
    gather_nd,
    plan_gather,
    plan_gather_elements,
    plan_gather_nd,
    plan_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    scatter,
    scatter_elements,
    scatter_nd,
)
from ._moves import (
    cast,
    concat,
    nonzero,
    one_hot,
    pad,
    reverse_subsequences,
    split,
    tile,
    top_k,
)
from ._numpy_names import add_at, bincount, put_along_axis, take, take_along_axis
from ._sheaf import Plan, Spec, version
from ._threads import get_num_threads, num_threads, read_environment, set_num_threads

__version__ = version()
del version
read_environment()
warn_if_slow()
del read_environment, warn_if_slow

__all__ = [
    "ArgumentError",
    "AxisError",
    "BufferError",
    "DTypeError",
    "DeviceError",
    "Error",
    "Explanation",
    "File",
    "FileError",
    "FileNotFoundError",
    "IndexDTypeError",
    "IndexError",
    "OutOfMemoryError",
    "PermissionError",
    "Plan",
    "RowCache",
    "Spec",
    "Table",
    "UnsupportedError",
    "__version__",
    "add_at",
    "bincount",
    "cast",
    "concat",
    "cuda",
    "explain",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_num_threads",
    "nonzero",
    "num_threads",
    "one_hot",
    "open",
    "open_raw",
    "pad",
    "plan_gather",
    "plan_gather_elements",
    "plan_gather_nd",
    "plan_scatter",
    "plan_scatter_elements",
    "plan_scatter_nd",
    "put_along_axis",
    "reverse_subsequences",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "set_num_threads",
    "show_config",
    "split",
    "take",
    "take_along_axis",
    "tile",
    "top_k",
]

for _name in __all__:  # where users find them, and where pickle looks for them
    if getattr(globals()[_name], "__module__", "").startswith("sheaf._") and _name not in (
            "Plan", "RowCache", "Spec"):
        globals()[_name].__module__ = "sheaf"
del _name
