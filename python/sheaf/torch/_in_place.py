# SPDX-License-Identifier: MIT
"""The in-place forms, index_add_ and its relatives: functions of the tensor that they change, which
they return, as the methods of the same names do. With gradients, PyTorch records the change."""

from __future__ import annotations

from typing import Any, Callable, Sequence

import torch.autograd.forward_ad as forward_ad
from torch import Tensor

from . import _index_names as index_names
from . import _names as names
from . import _operators as operators
from ._gradients import in_transform
from ._rules import change, run


def _change(call: Callable[..., Tensor], input: Tensor, *arguments: Any, **keywords: Any) -> Tensor:
    """call(input, ...) into input."""
    given = (*arguments, *keywords.values())
    if (operators.any_requires_grad(input, *given) or in_transform()
            or forward_ad._current_level >= 0):
        return input.copy_(call(input.clone(), *arguments, **keywords))  # gradients may need it
    return call(input, *arguments, **keywords, out=input)


def index_add_(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    """As torch.Tensor.index_add_."""
    return _change(index_names.index_add, input, dim, index, source, alpha=alpha)


def index_copy_(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """As torch.Tensor.index_copy_."""
    return _change(index_names.index_copy, input, dim, index, source)


def index_reduce_(input: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *,
                  include_self: bool = True) -> Tensor:
    """As torch.Tensor.index_reduce_."""
    return _change(index_names.index_reduce, input, dim, index, source, reduce,
                   include_self=include_self)


def scatter_(input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None,
             reduce: str | None = None) -> Tensor:
    """As torch.Tensor.scatter_."""
    return _change(names.scatter, input, dim, index, src, value=value, reduce=reduce)


def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """As torch.Tensor.scatter_add_."""
    return _change(names.scatter_add, input, dim, index, src)


def scatter_reduce_(input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *,
                    include_self: bool = True) -> Tensor:
    """As torch.Tensor.scatter_reduce_."""
    return _change(names.scatter_reduce, input, dim, index, src, reduce, include_self=include_self)


def _flat(input: Tensor, arguments: tuple[Any, ...]) -> Tensor:
    """A scatter into the elements of input, which it may have as a copy in one dimension."""
    if input.is_contiguous():
        change(*arguments)
        return input
    return input.copy_(run(*arguments).reshape(input.shape))


def index_fill_(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """As torch.Tensor.index_fill_."""
    change(*index_names.fill_arguments(input, dim, index, value))
    return input


def index_put_(input: Tensor, indices: Sequence[Tensor | None], values: Tensor,
               accumulate: bool = False) -> Tensor:
    """As torch.Tensor.index_put_."""
    change(*index_names.put_arguments(input, indices, values, accumulate)[1])
    return input


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """As torch.Tensor.put_."""
    return _flat(input, index_names.flat_arguments(input, index, source, accumulate))


def masked_scatter_(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """As torch.Tensor.masked_scatter_."""
    return _flat(input, index_names.masked_arguments(input, mask, source))
