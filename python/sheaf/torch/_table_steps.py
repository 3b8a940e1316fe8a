# SPDX-License-Identifier: MIT
"""Optimisers of tables: each applies the compressed gradient to the rows in host memory.

A row that the batch did not name is not touched, and neither is its state. Rows narrower than f32
are computed in f32 and rounded once.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable

import torch
from torch import Tensor

from .._errors import ArgumentError, refusal
from .._functions import gather, scatter
from ._table import Table


def _wide(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.dtype in (torch.float16, torch.bfloat16) else tensor


def _store(table: Tensor, rows: Tensor, values: Tensor) -> None:
    scatter(table, rows, values.to(table.dtype), out=table)


class _TableOptimizer(torch.optim.Optimizer):
    """An optimiser of tables, which stand in its groups by their anchors."""

    def __init__(self, tables: Table | Iterable[Table], defaults: dict[str, Any]) -> None:
        self.tables = [tables] if isinstance(tables, Table) else list(tables)
        for number, table in enumerate(self.tables):
            if not isinstance(table, Table) or table.weight is None:
                raise ArgumentError(refusal(f"{type(self).__name__}: no weight to change",
                                            f"tables[{number}] is {table!r}",
                                            "sheaf.torch.Table of a tensor in host memory"))
        super().__init__([table.anchor for table in self.tables], defaults)

    def zero_grad(self, set_to_none: bool = True) -> None:
        for table in self.tables:
            table.zero_grad()

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        (group,) = self.param_groups
        for table in self.tables:
            gradient = table.gradient()
            if gradient is not None and gradient[0].numel() > 0:
                assert table.weight is not None
                rows, sums = gradient
                old = _wide(gather(table.weight, rows))
                change = self._change(table, rows, _wide(sums), group)
                # Other rows stay where they are cached.
                table._attached().scatter(rows, (old - change).to(table.weight.dtype))
        return loss

    def _change(self, table: Table, rows: Tensor, sums: Tensor, group: dict[str, Any]) -> Tensor:
        raise NotImplementedError

    def _accumulated(self, table: Table, rows: Tensor, squares: Tensor, initial: float) -> Tensor:
        """The sums of squares of these rows, with the new ones."""
        state = self.state[table.anchor]
        if "sum" not in state:
            assert table.weight is not None
            state["sum"] = torch.full((table.weight.shape[0], *squares.shape[1:]), initial,
                                      dtype=squares.dtype)
        sums: Tensor = gather(state["sum"], rows) + squares
        _store(state["sum"], rows, sums)
        return sums


class SGD(_TableOptimizer):
    """row = row - lr * gradient"""

    def __init__(self, tables: Table | Iterable[Table], lr: float = 1e-3) -> None:
        super().__init__(tables, {"lr": lr})

    def _change(self, table: Table, rows: Tensor, sums: Tensor, group: dict[str, Any]) -> Tensor:
        change: Tensor = sums * group["lr"]
        return change


class Adagrad(_TableOptimizer):
    """sum = sum + gradient²; row = row - lr * gradient / (sqrt(sum) + eps), element by element. The
    sums take as much host memory as the table."""

    _per_row = False

    def __init__(self, tables: Table | Iterable[Table], lr: float = 1e-2, *, eps: float = 1e-10,
                 initial_accumulator_value: float = 0.0) -> None:
        super().__init__(tables, {"lr": lr, "eps": eps,
                                  "initial_accumulator_value": initial_accumulator_value})

    def _change(self, table: Table, rows: Tensor, sums: Tensor, group: dict[str, Any]) -> Tensor:
        squares = sums * sums
        if self._per_row:
            squares = squares.reshape(len(rows), -1).mean(1)
        total = self._accumulated(table, rows, squares, group["initial_accumulator_value"])
        root = total.sqrt() + group["eps"]
        if self._per_row:
            root = root.reshape(-1, *[1] * (sums.dim() - 1))
        change: Tensor = sums / root * group["lr"]
        return change


class RowWiseAdagrad(Adagrad):
    """Adagrad with one sum for each row, of the means of the squares: one number of state per row."""

    _per_row = True


for _class in (SGD, Adagrad, RowWiseAdagrad):
    _class.__module__ = "sheaf.torch"
