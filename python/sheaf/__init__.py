# SPDX-License-Identifier: MIT
"""Indexed data movement in tensors: NumPy, PyTorch, JAX and other arrays in, the same kind out."""

from . import cuda
from ._errors import (
    ArgumentError,
    AxisError,
    DTypeError,
    DeviceError,
    Error,
    FileError,
    IndexDTypeError,
    IndexError,
    OutOfMemoryError,
    UnsupportedError,
)
from ._explain import Explanation, explain
from ._files import File, RowCache, Table, open, open_raw
from ._sheaf import (
    Plan,
    Spec,
    gather,
    gather_elements,
    gather_nd,
    plan_gather,
    plan_gather_elements,
    plan_gather_nd,
    plan_scatter,
    plan_scatter_elements,
    plan_scatter_nd,
    put_along_axis,
    scatter,
    scatter_elements,
    scatter_nd,
    take,
    take_along_axis,
    version,
)

__version__ = version()
del version

__all__ = [
    "ArgumentError",
    "AxisError",
    "DTypeError",
    "DeviceError",
    "Error",
    "Explanation",
    "File",
    "FileError",
    "IndexDTypeError",
    "IndexError",
    "OutOfMemoryError",
    "Plan",
    "RowCache",
    "Spec",
    "Table",
    "UnsupportedError",
    "__version__",
    "cuda",
    "explain",
    "gather",
    "gather_elements",
    "gather_nd",
    "open",
    "open_raw",
    "plan_gather",
    "plan_gather_elements",
    "plan_gather_nd",
    "plan_scatter",
    "plan_scatter_elements",
    "plan_scatter_nd",
    "put_along_axis",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "take",
    "take_along_axis",
]
