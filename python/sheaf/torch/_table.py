# SPDX-License-Identifier: MIT
"""sheaf.torch.Table: rows of a table that is larger than the GPU, as a module.

Two operators stand for it in graphs: table_rows, and table_gradient, which hands the gradient to the
table. Both take the table's key, so that torch.compile sees nothing of what is behind them. Autograd
follows them by the anchor, an empty tensor that needs a gradient.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import torch
from torch import Tensor

from .. import _sheaf
from .._errors import ArgumentError, UnsupportedError, refusal
from .._tables import Table as Rows
from . import _operators as operators
from ._bag_operators import BagOptions
from ._embedding import compressed_gradient

_keys = itertools.count()
_tables: weakref.WeakValueDictionary[str, Table] = weakref.WeakValueDictionary()


class Table(torch.nn.Module):
    """Rows of a table that stays where it is: ids in, rows out, on the device of ids.

        table = sheaf.torch.Table(torch.empty(rows, width))                   # host memory
        table = sheaf.torch.Table("model.safetensors", "embed.weight")        # a file: frozen
        rows = table(ids)

    weight is a tensor in host memory, pinned or not; or a path and a name, or a sheaf.Table. Options
    are those of sheaf.Table: way, piece_bytes, pieces, threads, lock, cache_bytes, cached_rows.

    The weight is no parameter: .to(device) and .half() leave it as it is. backward() leaves its
    gradient here: the distinct rows, ascending, and their sums in order. sheaf.torch.SGD, Adagrad and
    RowWiseAdagrad apply it to the rows in host memory. state_dict() has the weight, not a copy of it.
    """

    weight: Tensor | None

    def __init__(self, weight: Any, name: str = "", *, padding_idx: int | None = None,
                 **options: Any) -> None:
        super().__init__()
        self._options = options
        self._file: Rows | None = None
        self._gradients: list[tuple[Tensor, Tensor]] = []
        if isinstance(weight, Tensor):
            if weight.device.type != "cpu":
                raise ArgumentError(refusal("Table: weight is not in host memory",
                                            f"it is on {weight.device}",
                                            "torch.nn.Embedding, or weight.cpu()"))
            self.register_buffer("weight", weight.detach())
        else:
            self.register_buffer("weight", None)
            self._file = Rows(weight, name, **options)
        self._attach()
        self.padding_idx = self._padding(padding_idx)
        trains = self.weight is not None and self.weight.is_floating_point()
        self.anchor = torch.empty(0, requires_grad=trains)

    def _padding(self, row: int | None) -> int | None:
        if row is None:
            return None
        rows = len(self.rows)
        if not -rows <= row < rows:
            raise ArgumentError(refusal("Table: padding_idx out of range",
                                        f"padding_idx = {row}, but the table has {rows} rows",
                                        "one of its rows"))
        return row % rows

    def _attach(self) -> None:
        """Makes the table of the weight, and its key."""
        self._rows = self._file if self.weight is None else Rows(self.weight, **self._options)
        if len(self.rows.shape) < 1:
            raise ArgumentError(refusal("Table: weight has no dimensions", "it has no rows",
                                        "a tensor of rows"))
        self._seen = None if self.weight is None else self.weight.data_ptr()
        self.key = f"table{next(_keys)}"
        _tables[self.key] = self

    @property
    def rows(self) -> Rows:
        """The sheaf.Table: stats(), explain(), bag()."""
        assert self._rows is not None
        return self._rows

    def extra_repr(self) -> str:
        return repr(self.rows)

    def forward(self, ids: Tensor) -> Tensor:
        """The rows that ids name, on their device. An id out of range is an error."""
        result: Tensor = torch.ops.sheaf.table_rows(self.anchor, ids, self.key)
        return result

    def gradient(self) -> tuple[Tensor, Tensor] | None:
        """The rows of all backward passes since zero_grad(), ascending, and their sums, on the host;
        None if there was none."""
        if len(self._gradients) > 1:
            rows, sums = (torch.cat(parts) for parts in zip(*self._gradients))
            self._gradients = [_summed(sums, rows, self.rows.shape[0], None)]
        return self._gradients[0] if self._gradients else None

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._gradients = []
        self.anchor.grad = None

    def requires_grad_(self, requires_grad: bool = True) -> Table:
        """Whether backward() leaves a gradient here. A table in a file has none."""
        if requires_grad and self.weight is None:
            raise UnsupportedError(refusal("Table: no gradient of a table in a file",
                                           repr(self.rows), "the rows in host memory"))
        self.anchor.requires_grad_(requires_grad)
        return self

    def changed(self) -> None:
        """To be called after the weight was written to: cached rows are fetched again."""
        self._attached().forget_cached_rows()

    def _attached(self) -> Rows:
        """The rows of the weight, which may have moved."""
        if self.weight is not None and self.weight.data_ptr() != self._seen:
            self._attach()
        return self.rows

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        return self  # the weight stays where it is

    def share_memory(self) -> Table:
        """Moves the weight to memory that processes share."""
        if self.weight is not None:
            self.weight.share_memory_()  # type: ignore[no-untyped-call]
            self.changed()
        return self

    def _load_from_state_dict(self, *arguments: Any) -> None:
        super()._load_from_state_dict(*arguments)
        self.changed()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items()
                if name not in ("_rows", "key", "_seen")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        self._attach()

    def _keep(self, gradient: Tensor, ids: Tensor) -> None:
        count = self.rows.shape[0]
        flat = gradient.reshape(ids.numel(), *self.rows.shape[1:])
        rows, sums = _summed(flat, ids.reshape(-1), count, self.padding_idx)
        self._gradients.append((rows.cpu(), sums.cpu()))


def _summed(values: Tensor, rows: Tensor, count: int, padding: int | None) -> tuple[Tensor, Tensor]:
    """The distinct rows, ascending, and the sums of their values in order."""
    flat = values.reshape(values.shape[0], -1).contiguous()
    options = BagOptions(padding_index=padding, negative="out_of_range")
    sparse = compressed_gradient(flat, rows.reshape(-1, 1), None, None, count, options)
    return sparse.indices()[0], sparse.values().reshape(-1, *values.shape[1:])


def _table_rows(anchor: Tensor, ids: Tensor, table: str) -> Any:
    return _tables[table].rows.gather(ids, negative="out_of_range")


def _table_gradient(gradient: Tensor, ids: Tensor, table: str) -> Tensor:
    _tables[table]._keep(gradient, ids)
    return torch.empty(0)


def _described_rows(anchor: Tensor, ids: Tensor, table: str) -> Tensor:
    rows = _tables[table].rows
    name = str(rows.dtype).removeprefix("torch.")  # NumPy's names are PyTorch's
    return ids.new_empty((*ids.shape, *rows.shape[1:]), dtype=getattr(torch, name))


def _remember(ctx: Any, inputs: Any, output: Any) -> None:
    _, ids, ctx.table = inputs
    ctx.save_for_backward(ids)


def _backward(ctx: Any, gradient: Tensor) -> Any:
    (ids,) = ctx.saved_tensors
    return torch.ops.sheaf.table_gradient(gradient, ids, ctx.table), None, None


_library = operators.library
_library.define("table_rows(Tensor anchor, Tensor ids, str table) -> Tensor")
_library.define("table_gradient(Tensor gradient, Tensor ids, str table) -> Tensor")
operators.register("table_rows", _table_rows, *_sheaf.torch_keys())
operators.register("table_gradient", _table_gradient, *_sheaf.torch_keys())
torch.library.register_fake("sheaf::table_rows", _described_rows, lib=_library)
torch.library.register_fake("sheaf::table_gradient",
                            lambda gradient, ids, table: torch.empty(0), lib=_library)
torch.library.register_autograd("sheaf::table_rows", _backward, setup_context=_remember,
                                lib=_library)
Table.__module__ = "sheaf.torch"
