# SPDX-License-Identifier: MIT
"""Encoded tables as operators, for torch.compile: torch.ops.sheaf.encoded_bag and encoded_gather.

A compiled program has tensors, not a sheaf.Encoded: the operators take its parts. Tables have no
gradients.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from .._encoded import Encoded
from .._errors import UnsupportedError, refusal
from . import _operators as operators
from ._bag_composed import bag_count
from ._bag_operators import OPTIONS, BagOptions
from ._shapes import gather_shape

_TABLE = ("Tensor stored, Tensor? scales, Tensor? zeros, str encoding, SymInt[] shape, int block, "
          "int axis, int usual_zero")
operators.library.define(
    f"encoded_bag({_TABLE}, Tensor? indices, Tensor? segments, Tensor? weights, {OPTIONS}) -> Tensor")
operators.library.define(
    f"encoded_gather({_TABLE}, Tensor indices, int gather_axis, int batch_dims, "
    "str out_of_range, str negative, Scalar fill_value, str dtype) -> Tensor")

_TYPES = {"": torch.float32, "float32": torch.float32, "f32": torch.float32,
          "float16": torch.float16, "f16": torch.float16, "bfloat16": torch.bfloat16,
          "bf16": torch.bfloat16}


_PARTS = 8


def _table(stored: Tensor, scales: Any, zeros: Any, encoding: str, shape: Any, block: int,
           axis: int, usual_zero: int) -> Encoded:
    return Encoded(encoding, stored, scales, zeros, shape=shape or None, block=block, axis=axis,
                   usual_zero=usual_zero)


def parts_of(weight: Any, encoding: str | None) -> tuple[Any, ...] | None:
    """What the operators take of a table that is encoded; None of one that is not. Without a shape
    they find it out."""
    if encoding is not None:
        return weight, None, None, encoding, [], 0, -1, 0
    if isinstance(weight, Encoded):
        return (weight.stored, weight.scales, weight.zeros, weight.encoding, list(weight.shape),
                weight.block, weight.axis, weight.usual_zero)
    return None


def refuse_weights_gradient(weights: Any) -> None:
    if operators.any_requires_grad(weights):
        raise UnsupportedError(refusal(
            "bag: gradients of weights with an encoded table",
            "weights requires a gradient, which rows of another type would be decoded for",
            "weights.detach(), or a plain table"))


def _run_bag(*arguments: Any) -> Any:
    indices, segments, weights, *given = arguments[_PARTS:]
    return _sheaf.run_bag("bag", _table(*arguments[:_PARTS]), indices, segments, weights, None,
                          **BagOptions(*given).keywords(), inside_operator=True)


def _run_gather(*arguments: Any) -> Any:
    indices, axis, batch_dims, out_of_range, negative, fill_value, dtype = arguments[_PARTS:]
    return _sheaf.run_encoded_gather("gather", _table(*arguments[:_PARTS]), indices, None,
                                     axis=axis, batch_dims=batch_dims, out_of_range=out_of_range,
                                     negative=negative, fill_value=fill_value,
                                     dtype=dtype or None)


def _shape_of(stored: Tensor, _: Any, __: Any, encoding: str, shape: Any, *___: Any) -> list[Any]:
    """Of the decoded table."""
    return list(shape) or [*stored.shape[:-1],
                           _sheaf.elements_of_row(encoding, int(stored.shape[-1]))]


def _fake_bag(*arguments: Any) -> Tensor:
    stored, shape = arguments[0], _shape_of(*arguments[:_PARTS])
    indices, segments, _, *given = arguments[_PARTS:]
    options = BagOptions(*given)
    bags = bag_count(indices, segments, options)
    result: Tensor = stored.new_empty([bags, *shape[1:]], dtype=_TYPES[options.dtype])
    return result


def _fake_gather(*arguments: Any) -> Tensor:
    stored, shape = arguments[0], _shape_of(*arguments[:_PARTS])
    indices, axis, batch_dims, *_, dtype = arguments[_PARTS:]
    like: Tensor = stored.new_empty(list(shape), dtype=_TYPES[dtype])
    return like.new_empty(gather_shape("gather", like, indices, (axis, batch_dims)))


for _op, _kernel, _fake in (("encoded_bag", _run_bag, _fake_bag),
                            ("encoded_gather", _run_gather, _fake_gather)):
    operators.register(_op, _kernel, *_sheaf.torch_keys())
    torch.library.register_fake(f"sheaf::{_op}", _fake, lib=operators.library)


def bag(parts: tuple[Any, ...], indices: Any, segments: Any, weights: Any,
        options: BagOptions) -> Tensor:
    refuse_weights_gradient(weights)
    result: Tensor = operators.operator("encoded_bag")(*parts, indices, segments, weights, *options)
    return result


def gather(parts: tuple[Any, ...], indices: Tensor, rule: tuple[str, str], dtype: str) -> Tensor:
    """Along axis 0."""
    result: Tensor = operators.operator("encoded_gather")(*parts, indices, 0, 0, *rule, 0, dtype)
    return result
