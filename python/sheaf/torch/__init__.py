# SPDX-License-Identifier: MIT
"""Sheaf for PyTorch.

Importing this module registers the operators torch.ops.sheaf.gather, .gather_elements, .gather_nd,
.scatter, .scatter_elements, .scatter_nd and .bag. They have gradients in backward and forward mode, of
any order, batching rules for torch.vmap and shape rules for torch.compile. sheaf.gather and the
other plain functions call them when a tensor is PyTorch's.

The functions here have PyTorch's own names and signatures. sheaf.torch_scatter has those of the
package torch_scatter.
"""

from .. import _dispatch
from . import _calls as _calls
from ._in_place import (
    index_add_,
    index_copy_,
    index_fill_,
    index_put_,
    index_reduce_,
    masked_scatter_,
    put_,
    scatter_,
    scatter_add_,
    scatter_reduce_,
)
from ._index_names import (
    index_add,
    index_copy,
    index_fill,
    index_put,
    index_reduce,
    masked_scatter,
    masked_select,
    put,
    take,
)
from ._embedding import EmbeddingBag, embedding, embedding_bag
from ._names import (
    gather,
    index_select,
    scatter,
    scatter_add,
    scatter_reduce,
    take_along_dim,
)
from ._rules import IndexShapeError
from ._segments import (
    scatter_log_softmax,
    scatter_logsumexp,
    scatter_max,
    scatter_mean,
    scatter_min,
    scatter_mul,
    scatter_softmax,
    scatter_std,
    scatter_sum,
)
from ._sharded import ShardedTable
from ._table import Table
from ._table_steps import SGD, Adagrad, RowWiseAdagrad

_dispatch.torch = _calls  # what sheaf.gather and the others call

__all__ = [
    "Adagrad",
    "EmbeddingBag",
    "IndexShapeError",
    "RowWiseAdagrad",
    "SGD",
    "ShardedTable",
    "Table",
    "embedding",
    "embedding_bag",
    "gather",
    "index_add",
    "index_add_",
    "index_copy",
    "index_copy_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_reduce",
    "index_reduce_",
    "index_select",
    "masked_scatter",
    "masked_scatter_",
    "masked_select",
    "put",
    "put_",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_log_softmax",
    "scatter_logsumexp",
    "scatter_max",
    "scatter_mean",
    "scatter_min",
    "scatter_mul",
    "scatter_reduce",
    "scatter_reduce_",
    "scatter_softmax",
    "scatter_std",
    "scatter_sum",
    "take",
    "take_along_dim",
]
