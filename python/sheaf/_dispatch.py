# SPDX-License-Identifier: MIT
"""Which arrays go to another module: tensors of PyTorch, and what JAX is tracing.

Those modules need PyTorch and JAX, so they are imported when the first such array is passed.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ._errors import ArgumentError, refusal

#: sheaf.torch._calls, which sheaf.torch puts here.
torch: Any = None


def all_numpy(data: Any, indices: Any, out: Any, updates: Any = None) -> bool:
    """Whether all are arrays of NumPy, or None. Most are, and this is quicker than the questions
    below."""
    return (type(data) is ndarray and type(indices) is ndarray
            and (out is None or type(out) is ndarray)
            and (updates is None or type(updates) is ndarray))


def is_torch(array: Any) -> bool:
    """Whether it is a tensor of PyTorch. The second name is for torch.compile of PyTorch 2.6, which does not
    find the first in a tensor that the compiled function has made."""
    return hasattr(array, "__torch_function__") or hasattr(array, "is_quantized")


def is_table(data: Any) -> bool:
    """Whether it is a sheaf.Table. By a name, which torch.compile can follow."""
    return hasattr(data, "forget_cached_rows")


def torch_calls() -> Any:
    """What runs calls on tensors of PyTorch."""
    return torch or _import_torch_calls()


def _import_torch_calls() -> Any:
    from .torch import _calls
    return _calls


def torch_bags() -> Any:
    """What runs bags of tensors of PyTorch."""
    from .torch import _bag_calls
    return _bag_calls


def is_traced(array: Any) -> bool:
    """Whether it stands for an array in a program that JAX is tracing."""
    return hasattr(array, "_trace")


def traced(op: str, out: Any) -> Any:
    """The function of sheaf.jax. It has no threads, and its order of updates is never relaxed."""
    if out is not None:
        raise ArgumentError(refusal(f"{op}: out in a compiled program",
                                    "arrays of JAX are not written to",
                                    "the result of the call; donated data is overwritten"))
    from . import jax
    return getattr(jax, op)
