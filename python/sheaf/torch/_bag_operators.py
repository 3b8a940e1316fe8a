# SPDX-License-Identifier: MIT
"""The operators torch.ops.sheaf.bag and those of its gradients: schemas and kernels.

A bag that adds up rows is linear in each of three tensors: data, weights and the gradient of its
output. The three operators are the same sum, each with another of them left open, so that the
gradient of each is made of the other two.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import Tensor

from .. import _sheaf
from . import _operators as operators


class BagOptions(NamedTuple):
    """In the order of the schema."""
    pool: str = "sum"
    form: str = "offsets"
    last_offset: bool = False
    bags: Any = -1
    padding_index: Any = None
    empty_value: Any = 0
    accumulate: str = "f32"
    dtype: str = ""
    out_of_range: str = "fail"
    negative: str = "from_end"
    fill_value: Any = 0

    def linear(self) -> BagOptions:
        """What a tangent of data goes through: what is constant is gone."""
        return self._replace(empty_value=0, fill_value=0)

    def to_dict(self) -> dict[str, Any]:
        """As _asdict(), which torch.compile of PyTorch 2.6 does not follow."""
        return dict(zip(_NAMES, self))

    def keywords(self) -> dict[str, Any]:
        """Those of the compiled part."""
        return {**self.to_dict(), "dtype": self.dtype or None}

    def gradient_keywords(self) -> dict[str, Any]:
        keywords = self.to_dict()
        for name in ("empty_value", "dtype"):
            del keywords[name]
        return keywords


_NAMES = BagOptions._fields
OPTIONS = ('str pool="sum", str form="offsets", bool last_offset=False, SymInt bags=-1, '
            'SymInt? padding_index=None, Scalar empty_value=0, str accumulate="f32", '
            'str dtype="", str out_of_range="fail", str negative="from_end", '
            'Scalar fill_value=0')

operators.library.define(
    "bag(Tensor data, Tensor? indices, Tensor? segments, Tensor? weights, "
    f"{OPTIONS}, *, int threads=0) -> Tensor")
operators.library.define(
    "_bag_gradient(Tensor gradient, Tensor? data, Tensor? indices, Tensor? segments, "
    f"Tensor? weights, SymInt extent, {OPTIONS}) -> Tensor")
operators.library.define(
    "_bag_weights_gradient(Tensor gradient, Tensor data, Tensor? indices, Tensor? segments, "
    f"Tensor weights, {OPTIONS}) -> Tensor")


def run_bag(data: Tensor, indices: Any, segments: Any, weights: Any, *given: Any,
            threads: int = 0, out: Any = None) -> Any:
    options = BagOptions(*given)
    return _sheaf.run_bag("bag", data, indices, segments, weights, out, **options.keywords(),
                          threads=threads, inside_operator=True)


def rows_of(gradient: Tensor) -> Tensor:
    """A gradient whose rows each lie in one run, as the compiled part wants them."""
    return gradient if gradient.dim() <= 2 else gradient.contiguous()


def run_gradient(gradient: Tensor, data: Any, indices: Any, segments: Any, weights: Any,
                 extent: int, *given: Any) -> Any:
    options = BagOptions(*given)
    return _sheaf.bag_gradient_dense(rows_of(gradient), data, indices, segments, weights, None,
                                     extent=extent, **options.gradient_keywords())


def run_weights_gradient(gradient: Tensor, data: Tensor, indices: Any, segments: Any,
                         weights: Tensor, *given: Any) -> Any:
    options = BagOptions(*given)
    return _sheaf.bag_gradient_weights(rows_of(gradient), data, indices, segments, weights,
                                       **options.gradient_keywords())


operators.register("bag", run_bag, *_sheaf.torch_keys())
operators.register("_bag_gradient", run_gradient, *_sheaf.torch_keys())
operators.register("_bag_weights_gradient", run_weights_gradient, *_sheaf.torch_keys())
