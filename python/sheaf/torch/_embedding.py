# SPDX-License-Identifier: MIT
"""embedding, embedding_bag and EmbeddingBag, with PyTorch's signatures and results.

The table may also be encoded: a sheaf.Encoded, or the bytes of one and the name of its encoding.
Then rows are decoded to f32, or to dtype, and the table has no gradient.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from .. import _sheaf
from .._encoded import dtype_name
from .._errors import ArgumentError, UnsupportedError, refusal
from . import _bag_composed as composed
from . import _encoded_operators as encoded_operators
from ._bag_calls import bag
from ._bag_operators import BagOptions, rows_of
from ._rules import FAIL, run

_MODES = ("sum", "mean", "max")


class _ByFrequency(Function):
    """A table whose gradient is divided by how often each row was named."""

    generate_vmap_rule = True

    @staticmethod
    def forward(weight: Tensor, divisors: Tensor) -> Tensor:
        return weight.view_as(weight)

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[1])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        return grad / ctx.saved_tensors[0].to(grad.dtype), None


def _by_frequency(weight: Tensor, input: Tensor) -> Tensor:
    counts = composed.scattered(torch.zeros(weight.shape[0], device=weight.device),
                                input.reshape(-1), torch.ones(input.numel(), device=weight.device))
    result: Tensor = _ByFrequency.apply(weight, counts.clamp(min=1).unsqueeze(1))
    return result


def compressed_gradient(grad: Tensor, indices: Tensor, segments: Any, weights: Any, extent: int,
                        options: BagOptions) -> Tensor:
    """The gradient of a table: the distinct rows, ascending, and their sums in order."""
    named: Any = _sheaf.bag_gradient_rows(rows_of(grad), None, indices, segments, weights,
                                          extent=extent, **options.gradient_keywords())
    rows, values = named
    return torch.sparse_coo_tensor(rows.unsqueeze(0), values, (extent, *grad.shape[1:]),
                                   check_invariants=False, is_coalesced=True)


class _SparseBag(Function):
    """A bag whose table has a sparse gradient."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, indices: Tensor, segments: Any, weights: Any,
                options: BagOptions) -> Any:
        ctx.options, ctx.extent = options, weight.shape[0]
        ctx.save_for_backward(None if weights is None else weight, indices, segments, weights)
        return _sheaf.run_bag("bag", weight, indices, segments, weights, None,
                              **options.keywords(), inside_operator=True)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        weight, indices, segments, weights = ctx.saved_tensors
        of_weight = of_weights = None
        if ctx.needs_input_grad[0]:
            of_weight = compressed_gradient(grad, indices, segments, weights, ctx.extent, ctx.options)
        if weights is not None and ctx.needs_input_grad[3]:
            of_weights = torch.ops.sheaf._bag_weights_gradient(
                grad, weight, indices, segments, weights, *ctx.options)
        return of_weight, None, None, of_weights, None


class _SparseRows(Function):
    """Rows of a table that has a sparse gradient: each is a bag of one entry."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, input: Tensor, padding: int | None) -> Any:
        ctx.padding, ctx.extent = padding, weight.shape[0]
        ctx.save_for_backward(input)
        return run("gather", weight, input, 0, 0, *FAIL)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        (input,) = ctx.saved_tensors
        options = BagOptions(padding_index=ctx.padding, negative="out_of_range")
        grad = grad.reshape(-1, grad.shape[-1])
        rows = compressed_gradient(grad, input.reshape(-1, 1), None, None, ctx.extent, options)
        return rows, None, None


def _encoded_parts(call: str, weight: Any, encoding: str | None, dtype: Any) -> Any:
    """What the operators take of an encoded table; None if weight is a plain one."""
    parts = encoded_operators.parts_of(weight, encoding)
    if dtype is not None and parts is None:
        raise ArgumentError(refusal(f"{call}: dtype with a plain table",
                                    f"dtype={dtype}, but weight is not encoded",
                                    "encoding=, or the result's .to(dtype)"))
    rank = len(weight.shape)
    if rank != 2:
        raise ArgumentError(refusal(f"{call}: weight has {rank} dimensions", "it must have 2",
                                    "sheaf.gather"))
    return parts


def _refuse_training(call: str, max_norm: Any, scale_grad_by_freq: bool, sparse: bool) -> None:
    if max_norm is not None or scale_grad_by_freq or sparse:
        raise UnsupportedError(refusal(
            f"{call}: max_norm, scale_grad_by_freq, sparse",
            "weight is encoded: it has no gradient, and is left as it is",
            "a plain table"))


def _padding(call: str, padding_idx: int | None, rows: int) -> int | None:
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise ArgumentError(refusal(
            f"{call}: padding_idx out of range",
            f"padding_idx = {padding_idx}, but weight has {rows} rows",
            "one of its rows"))
    return padding_idx % rows


def _renormed(weight: Tensor, input: Tensor, max_norm: float, norm_type: float) -> None:
    """In place, as PyTorch does it: rows that are named and longer than max_norm are shortened."""
    with torch.no_grad():
        torch.embedding_renorm_(weight.detach(), input.contiguous(), max_norm, norm_type)


def _refuse_both(call: str, scale_grad_by_freq: bool, sparse: bool) -> None:
    if scale_grad_by_freq and sparse:
        raise UnsupportedError(refusal(f"{call}: scale_grad_by_freq with sparse",
                                       "PyTorch has no such gradient", "sparse=False"))


def embedding(input: Tensor, weight: Any, padding_idx: int | None = None,
              max_norm: float | None = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False, sparse: bool = False, *,
              encoding: str | None = None, dtype: Any = None) -> Tensor:
    """As torch.nn.functional.embedding: rows of weight. Rows of padding_idx get no gradient. With
    sparse=True the gradient is a coalesced sparse tensor.

    weight may be a sheaf.Encoded, or its bytes with encoding= ("row_u8_f32" is what
    embedding_bag_byte_prepack makes); rows then come as f32, or as dtype.
    """
    parts = _encoded_parts("embedding", weight, encoding, dtype)
    padding = _padding("embedding", padding_idx, weight.shape[0])
    if parts is not None:
        _refuse_training("embedding", max_norm, scale_grad_by_freq, sparse)
        return encoded_operators.gather(parts, input, FAIL, dtype_name(dtype) or "")
    _refuse_both("embedding", scale_grad_by_freq, sparse)
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and torch.is_grad_enabled():
        result: Tensor = _SparseRows.apply(weight, input, padding)
        return result
    if scale_grad_by_freq:
        weight = _by_frequency(weight, input)
    rows: Tensor = run("gather", weight, input, 0, 0, *FAIL)
    if padding is None:
        return rows
    return torch.where((input == padding).unsqueeze(-1), rows.detach(), rows)


def _check_bag(input: Tensor, offsets: Any, mode: str, per_sample_weights: Any,
               scale_grad_by_freq: bool, sparse: bool) -> None:
    problem = ""
    if input.dim() == 2 and offsets is not None:
        problem = "offsets are given, but the rows of a matrix are its bags"
    elif input.dim() == 1 and (not isinstance(offsets, Tensor) or offsets.dim() != 1):
        problem = "offsets must be a tensor of one dimension if input has one"
    elif input.dim() not in (1, 2):
        problem = f"input has {input.dim()} dimensions, and must have 1 or 2"
    elif mode not in _MODES:
        problem = f"mode = {mode!r}"
    elif mode == "max" and (scale_grad_by_freq or sparse):
        problem = "mode = 'max' has neither scale_grad_by_freq nor sparse gradients"
    elif per_sample_weights is not None and per_sample_weights.shape != input.shape:
        problem = (f"per_sample_weights has shape {list(per_sample_weights.shape)}, but input "
                   f"{list(input.shape)}")
    if problem:
        raise ArgumentError(refusal("embedding_bag: arguments do not go together", problem,
                                    "what torch.nn.functional.embedding_bag takes"))
    if per_sample_weights is not None and mode != "sum":
        raise UnsupportedError(refusal("embedding_bag: per_sample_weights",
                                       f"mode = {mode!r}, but only sums are weighted",
                                       "mode='sum', or sheaf.bag"))


def embedding_bag(input: Tensor, weight: Any, offsets: Tensor | None = None,
                  max_norm: float | None = None, norm_type: float = 2,
                  scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
                  per_sample_weights: Tensor | None = None, include_last_offset: bool = False,
                  padding_idx: int | None = None, *, encoding: str | None = None,
                  dtype: Any = None) -> Tensor:
    """As torch.nn.functional.embedding_bag: the sum, mean or maximum of the rows of each bag. Rows
    are added up in the order of input, in f32 where they are narrower. With sparse=True the
    gradient is a coalesced sparse tensor.

    weight may be a sheaf.Encoded, or its bytes with encoding=, as in embedding().
    """
    _check_bag(input, offsets, mode, per_sample_weights, scale_grad_by_freq, sparse)
    parts = _encoded_parts("embedding_bag", weight, encoding, dtype)
    padding = _padding("embedding_bag", padding_idx, weight.shape[0])
    options = BagOptions(pool=mode, last_offset=include_last_offset and offsets is not None,
                         padding_index=padding, negative="out_of_range",
                         dtype=dtype_name(dtype) or "")
    if parts is not None:
        _refuse_training("embedding_bag", max_norm, scale_grad_by_freq, sparse)
        return encoded_operators.bag(parts, input, offsets, per_sample_weights, options)
    _refuse_both("embedding_bag", scale_grad_by_freq, sparse)
    if max_norm is not None:
        _renormed(weight, input, max_norm, norm_type)
    if sparse and weight.requires_grad and torch.is_grad_enabled():
        result: Tensor = _SparseBag.apply(weight, input, offsets, per_sample_weights, options)
        return result
    if scale_grad_by_freq:
        weight = _by_frequency(weight, input)
    result = bag("bag", weight, input, offsets, per_sample_weights, None, **options.to_dict())
    return result


class EmbeddingBag(torch.nn.EmbeddingBag):
    """torch.nn.EmbeddingBag, computed by Sheaf: the same constructor, parameters and state."""

    def forward(self, input: Tensor, offsets: Tensor | None = None,
                per_sample_weights: Tensor | None = None) -> Tensor:
        return embedding_bag(input, self.weight, offsets, self.max_norm, self.norm_type,
                             self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights,
                             self.include_last_offset, self.padding_idx)


for _name in (embedding, embedding_bag, EmbeddingBag):
    _name.__module__ = "sheaf.torch"
