# SPDX-License-Identifier: MIT
"""Indexed data movement in tensors: NumPy, PyTorch, JAX and other arrays in, the same kind out."""

from . import cuda, moe, vulkan
from ._bags import bag, plan_bag, segment_reduce
from ._encoded import Encoded, encoded_rows
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
from ._explain_bags import BagExplanation
from ._files import File, RowCache, open, open_raw
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
from ._sheaf import BagPlan, Plan, Spec, version
from ._tables import Table
from ._threads import get_num_threads, num_threads, read_environment, set_num_threads

__version__ = version()
del version
read_environment()
warn_if_slow()
del read_environment, warn_if_slow

__all__ = [
    "ArgumentError",
    "AxisError",
    "BagExplanation",
    "BagPlan",
    "BufferError",
    "DTypeError",
    "DeviceError",
    "Encoded",
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
    "bag",
    "bincount",
    "cast",
    "concat",
    "cuda",
    "encoded_rows",
    "explain",
    "gather",
    "gather_elements",
    "gather_nd",
    "get_num_threads",
    "moe",
    "nonzero",
    "num_threads",
    "one_hot",
    "open",
    "open_raw",
    "pad",
    "plan_bag",
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
    "segment_reduce",
    "set_num_threads",
    "show_config",
    "split",
    "take",
    "take_along_axis",
    "tile",
    "top_k",
    "vulkan",
]


def load_ipython_extension(shell: object) -> None:
    """%load_ext sheaf: %%explain draws the gathers and scatters of a cell."""
    from . import _magic
    _magic.load(shell)


for _name in __all__:  # where users find them, and where pickle looks for them
    if getattr(globals()[_name], "__module__", "").startswith("sheaf._") and _name not in (
            "BagPlan", "Plan", "RowCache", "Spec"):
        globals()[_name].__module__ = "sheaf"
del _name
