# SPDX-License-Identifier: MIT
"""Sheaf for PyTorch.

Importing this module registers the operators torch.ops.sheaf.gather, .gather_elements, .gather_nd,
.scatter, .scatter_elements and .scatter_nd. They have gradients in backward and forward mode, of
any order, batching rules for torch.vmap and shape rules for torch.compile. sheaf.gather and the
other plain functions call them when a tensor is PyTorch's.

The functions here have PyTorch's own names and signatures, or those of the package torch_scatter.
"""

from . import _calls as _calls
from ._names import (
    embedding,
    gather,
    index_add,
    index_copy,
    index_put,
    index_reduce,
    index_select,
    scatter,
    scatter_add,
    scatter_reduce,
    take_along_dim,
)
from ._segments import (
    scatter_log_softmax,
    scatter_max,
    scatter_mean,
    scatter_min,
    scatter_mul,
    scatter_softmax,
    scatter_sum,
)
from ._sharded import ShardedTable

__all__ = [
    "ShardedTable",
    "embedding",
    "gather",
    "index_add",
    "index_copy",
    "index_put",
    "index_reduce",
    "index_select",
    "scatter",
    "scatter_add",
    "scatter_log_softmax",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_reduce",
    "scatter_softmax",
    "scatter_sum",
    "take_along_dim",
]
