# SPDX-License-Identifier: MIT
"""A scatter close to a point, where it is linear: see _gradients.py."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import _operators as operators


class Linearised:
    """A scatter at a point: the coefficients A and C, and the moves between the two shapes."""

    def __init__(self, op: str, options: tuple[Any, ...], how: tuple[Any, ...], indices: Tensor,
                 updates_shape: Any) -> None:
        self.op, self.options, self.indices = op, options, indices
        self.reduction, self.include_self, self.out_of_range, self.negative, _ = how
        self.updates_shape = updates_shape

    def put(self, data: Tensor, updates: Tensor, reduction: str = "none") -> Tensor:
        result: Tensor = operators.operator(self.op)(
            data, self.indices, updates, *self.options, reduction, True, self.out_of_range,
            self.negative, "f32")
        return result

    def take(self, data: Tensor, indices: Tensor | None = None) -> Tensor:
        """What stands where each update goes; 0 for updates that go nowhere. `indices`: others than
        the scatter's, of which some are out of range."""
        skips = indices is not None or self.out_of_range == "skip"
        options = (*self.options, False) if self.op == "scatter_elements" else self.options
        result: Tensor = operators.operator(operators.SCATTERS[self.op])(
            data, self.indices if indices is None else indices, *options,
            "fill" if skips else self.out_of_range, self.negative)
        return result

    def zeros(self, like: Tensor) -> Tensor:
        """Updates of 0: one slice, over and over."""
        sizes = [*self.updates_shape]
        if self.op == "scatter":
            axis, batch_dims = self.options[0] % like.dim(), self.options[1] % (
                self.indices.dim() + 1)
            grid = self.indices.dim() - batch_dims
            sizes[axis:axis + grid] = [1] * grid
        elif self.op == "scatter_nd":
            sizes[:self.indices.dim() - 1] = [1] * (self.indices.dim() - 1)
        return like.new_zeros(sizes).expand(self.updates_shape)

    def untouched(self, like: Tensor) -> Tensor:
        """1 where no update goes, else 0."""
        return self.put(torch.ones_like(like), like.new_zeros(self.updates_shape))

    def own(self, like: Tensor) -> Tensor | None:
        """1 where the old value is part of the result, else 0; None: everywhere."""
        return None if self.include_self else self.untouched(like)

    def _addressed(self, data_shape: Any) -> tuple[Any, Any, tuple[Any, ...]]:
        """What indices choose from, without the slices that go along: the sizes of data and of
        updates, and the options of a scatter of that."""
        indices = list(self.indices.shape)
        if self.op == "scatter_elements":
            return data_shape, indices, self.options
        if self.op == "scatter_nd":
            (batch_dims,) = self.options
            batch_dims = batch_dims % self.indices.dim()
            return data_shape[:batch_dims + int(indices[-1])], indices[:-1], (batch_dims,)
        axis, batch_dims = self.options
        batch_dims = batch_dims + self.indices.dim() if batch_dims < 0 else batch_dims
        return [*data_shape[:batch_dims], data_shape[axis]], indices, (batch_dims, batch_dims)

    def is_last(self, data_shape: Any) -> Tensor:
        """For each update, or each slice of updates: is it the last that goes there?"""
        data_sizes, sizes, options = self._addressed(data_shape)
        part = Linearised(self.op, options, ("none", True, self.out_of_range, self.negative, ""),
                          self.indices, sizes)
        count = torch.empty(sizes, device="meta").numel()
        numbers = torch.arange(count, device=self.indices.device).reshape(sizes)
        last = part.put(numbers.new_full(list(data_sizes), -1), numbers)
        return part.take(last) == numbers

    def take_last(self, grad: Tensor) -> Tensor:
        """take(), with 0 for updates that another one replaced."""
        last = self.is_last(grad.shape)
        if self.op == "scatter_nd":
            last = last.unsqueeze(-1)
        if self.out_of_range in ("clamp", "wrap"):  # to which no index is out of range
            shape = [*last.shape, *[1] * (len(self.updates_shape) - last.dim())]
            if self.op == "scatter":
                axis, batch_dims = self.options[0] % grad.dim(), self.options[1]
                batch_dims = batch_dims + self.indices.dim() if batch_dims < 0 else batch_dims
                before, after = [1] * (axis - batch_dims), [1] * (grad.dim() - axis - 1)
                shape = [*last.shape[:batch_dims], *before, *last.shape[batch_dims:], *after]
            elif self.op == "scatter_nd":
                shape = shape[:last.dim() - 1] + [1] * (len(self.updates_shape) - last.dim() + 1)
            return torch.where(last.reshape(shape), self.take(grad), 0)
        beyond = torch.iinfo(torch.int64).max
        return self.take(grad, torch.where(last, self.indices.long(), beyond))

    def coefficients(self, like: Tensor, data: Tensor | None, updates: Tensor | None,
                     output: Tensor | None) -> tuple[Tensor | None, Tensor | float]:
        """A (None: 1) and C. `like` has data's shape; the others are there if they are needed."""
        if self.reduction in ("add", "sub"):
            return self.own(like), 1.0 if self.reduction == "add" else -1.0
        if self.reduction == "mean":
            return self._of_mean(like)
        assert data is not None and updates is not None and output is not None
        if self.reduction == "mul":
            return self._of_product(data, updates)
        return self._of_extremum(data, updates, output)

    def _of_mean(self, like: Tensor) -> tuple[Tensor, Tensor]:
        own = self.own(like)
        start = torch.ones_like(like) if own is None else own
        share = 1 / self.put(start, like.new_ones(self.updates_shape), "add")
        return (share if own is None else share * own), self.take(share)

    def _of_product(self, data: Tensor, updates: Tensor) -> tuple[Tensor, Tensor]:
        """The product of all other factors: that of those that are not 0, by division, times the
        zero among the others if there is one. That zero is a factor for the sake of the second
        derivative; with two or more, that is 0 as well."""
        own = self.own(data)
        of_data = self.put(torch.ones_like(data), updates, "mul")
        start = data if own is None else torch.where(own == 1, data, torch.ones_like(data))
        zero_start, zero_updates = start == 0, updates == 0
        others = self.take(self.put(zero_start.long(), zero_updates.long(), "add"))
        others = others - zero_updates.long()
        own_zero = updates * zero_updates
        other_zero = self.take(self.put(start * zero_start, own_zero, "add")) - own_zero
        factor = torch.where(others == 0, torch.ones_like(updates), other_zero * (others == 1))
        safe = updates.masked_fill(zero_updates, 1)
        product = self.take(self.put(start.masked_fill(zero_start, 1), safe, "mul")) / safe
        return (of_data if own is None else own * of_data), product * factor

    def _of_extremum(self, data: Tensor, updates: Tensor,
                     output: Tensor) -> tuple[Tensor, Tensor]:
        """Those that are as small or as great as the result share its gradient."""
        own = self.own(data)
        hits = (data == output).to(data.dtype)
        hits = hits if own is None else hits * own
        update_hits = (updates == self.take(output)).to(data.dtype)
        share = 1 / self.put(hits, update_hits, "add").clamp(min=1)
        return hits * share, update_hits * self.take(share)
