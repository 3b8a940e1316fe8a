# SPDX-License-Identifier: MIT
"""How sheaf.bag and sheaf.segment_reduce call the operators when a tensor is PyTorch's."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from .._encoded import Encoded
from . import _encoded_operators as encoded_operators
from . import _bag_gradients, _bag_rules  # noqa: F401  they register
from ._bag_operators import BagOptions
from ._rules import refuse_gradients

_bag = torch.ops.sheaf.bag.default
is_compiling = torch.compiler.is_compiling


def _as_tensor(values: Any, like: Tensor, dtype: Any = None) -> Any:
    """Lists as a tensor beside `like`; arrays of other libraries as they are."""
    if isinstance(values, (list, tuple)) and like.device.type == "cpu":
        made = torch.tensor(values, dtype=dtype)
        return made.to(torch.int64) if made.numel() == 0 and dtype is None else made
    return values


def _are_plain(data: Tensor, *others: Any) -> bool:
    """Whether the compiled part may run at once, past PyTorch's dispatcher."""
    if is_compiling() or not isinstance(data, Tensor):
        return False
    given = [other for other in others if other is not None]
    return all(isinstance(other, Tensor) for other in given) and all(
        _sheaf.are_plain_tensors(data, other, None) for other in given or [data])


def _weights_type(data: Any) -> Any:
    stored = data.stored if isinstance(data, Encoded) else data
    wide = isinstance(stored, Tensor) and stored.dtype == torch.float64
    return torch.float64 if wide else torch.float32


def _run_encoded(data: Encoded, indices: Any, segments: Any, weights: Any, out: Any,
                 options: BagOptions, threads: int) -> Any:
    """Tables that are encoded have no gradients, and those of weights are not there."""
    encoded_operators.refuse_weights_gradient(weights)
    if is_compiling() and out is None:
        parts = encoded_operators.parts_of(data, None)
        assert parts is not None
        return encoded_operators.bag(parts, indices, segments, weights, options)
    return _sheaf.run_bag("bag", data, indices, segments, weights, out, **options.keywords(),
                          threads=threads)


def bag(call: str, data: Any, indices: Any, segments: Any, weights: Any, out: Any, *,
        threads: int = 0, **keywords: Any) -> Any:
    keywords["dtype"] = keywords.get("dtype") or ""
    options = BagOptions(**keywords)
    stored = data.stored if isinstance(data, Encoded) else data
    if isinstance(stored, Tensor):
        indices, segments = _as_tensor(indices, stored), _as_tensor(segments, stored)
        weights = _as_tensor(weights, stored, _weights_type(data))
    if isinstance(data, Encoded):
        return _run_encoded(data, indices, segments, weights, out, options, threads)
    tensors = (data, indices, segments, weights)
    if not all(tensor is None or isinstance(tensor, Tensor) for tensor in (*tensors, out)):
        return _sheaf.run_bag(call, *tensors, out, **options.keywords(), threads=threads)
    if out is not None:
        refuse_gradients(out, data, weights)
    if _are_plain(*tensors, out):
        result = _sheaf.run_bag(call, *tensors, out, **options.keywords(), threads=threads,
                                inside_operator=True)
        if out is not None:
            torch.autograd.graph.increment_version(out)
        return result
    if out is not None and not options.dtype:
        options = options._replace(dtype=str(out.dtype).partition(".")[2])
    result = _bag(*tensors, *options, threads=threads)
    return result if out is None else out.copy_(result)

