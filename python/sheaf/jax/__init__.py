# SPDX-License-Identifier: MIT
"""Sheaf inside programs that JAX compiles: jax.jit, grad, vmap and shard_map, through XLA's FFI.

gather, gather_elements, gather_nd, scatter, scatter_elements, scatter_nd and bag take what the
functions of `sheaf` take. A compiled program cannot raise Sheaf's errors. On a CPU a bad index under
out_of_range="fail" makes the program fail with the same text; on a GPU, where nothing waits, it is
filled with 0 or skipped. With check=True the result comes with a verdict, an array of two integers:
how many indices are out of range, and which is the first, counted in row-major order (-1: none).
check="checkify" hands the verdict to jax.experimental.checkify.

xla_gather and xla_scatter are lax.gather and lax.scatter with JAX's own dimension numbers, run at
once.
"""

from ._bags import bag
from ._operators import (
    gather,
    gather_elements,
    gather_nd,
    scatter,
    scatter_elements,
    scatter_nd,
)
from ._xla import xla_gather, xla_scatter

__all__ = [
    "bag",
    "gather",
    "gather_elements",
    "gather_nd",
    "scatter",
    "scatter_elements",
    "scatter_nd",
    "xla_gather",
    "xla_scatter",
]
