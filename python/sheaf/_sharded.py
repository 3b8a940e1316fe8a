# SPDX-License-Identifier: MIT
"""What sheaf.mpi.ShardedTable and sheaf.torch.ShardedTable have in common. The protocol is the
library's (sheaf/sharded.h); a table brings the transport that it runs over."""

from __future__ import annotations

from typing import Any, Protocol

from . import _sheaf
from ._functions import GatherRule, Negative, Reduction, ScatterRule

#: What one call may allocate on a rank, by default.
WORKSPACE_BYTES = 1 << 28


class Transport(Protocol):
    """A group of processes."""

    rank: int
    size: int

    def exchange(self, to: list[memoryview], received: list[memoryview]) -> int:
        """Collective: to[r] goes to rank r; what comes from rank r is written to received[r], whose
        length says how much that is. Returns how many bytes came."""


class ShardedTable:
    """An array whose axis `axis` is split: this rank has `shard`, the entries after those of the
    ranks before it. Every method is collective, with the same options on every rank; indices,
    updates and results are each rank's own. A call allocates at most `workspace_bytes`, and its
    result."""

    def __init__(self, transport: Transport, shard: Any, axis: int, workspace_bytes: int) -> None:
        self.shard = shard
        self._table = _sheaf.ShardedTable(transport.rank, transport.size, transport.exchange,
                                          self._values(), axis, workspace_bytes)

    def _values(self) -> Any:
        return self.shard

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the whole table."""
        return self._table.shape

    def _gather(self, op: str, indices: Any, rule: tuple[Any, Any, Any]) -> Any:
        return self._table.gather(op, self._values(), indices, *rule)

    def gather(self, indices: Any, *, out_of_range: GatherRule = "fail",
               negative: Negative = "from_end", fill_value: Any = 0) -> Any:
        """This rank's rows: what sheaf.gather(whole, indices, axis) returns."""
        return self._gather("gather", indices, (out_of_range, negative, fill_value))

    def gather_elements(self, indices: Any, *, out_of_range: GatherRule = "fail",
                        negative: Negative = "from_end", fill_value: Any = 0) -> Any:
        """What sheaf.gather_elements(whole, indices, axis) returns."""
        return self._gather("gather_elements", indices, (out_of_range, negative, fill_value))

    def gather_nd(self, indices: Any, *, out_of_range: GatherRule = "fail",
                  negative: Negative = "from_end", fill_value: Any = 0) -> Any:
        """What sheaf.gather_nd(whole, indices) returns; axis 0 is the split one."""
        return self._gather("gather_nd", indices, (out_of_range, negative, fill_value))

    def scatter(self, indices: Any, updates: Any, *, reduction: Reduction = "none",
                include_self: bool = True, out_of_range: ScatterRule = "fail",
                negative: Negative = "from_end") -> None:
        """Applies the updates of all ranks to the shards, in place: those of rank 0 first."""
        self._table.scatter("scatter", self._values(), indices, updates, reduction, include_self,
                            out_of_range, negative)

    def scatter_elements(self, indices: Any, updates: Any, *, reduction: Reduction = "none",
                         include_self: bool = True, out_of_range: ScatterRule = "fail",
                         negative: Negative = "from_end") -> None:
        """The same for sheaf.scatter_elements(whole, indices, updates, axis)."""
        self._table.scatter("scatter_elements", self._values(), indices, updates, reduction,
                            include_self, out_of_range, negative)

    def scatter_nd(self, indices: Any, updates: Any, *, reduction: Reduction = "none",
                   include_self: bool = True, out_of_range: ScatterRule = "fail",
                   negative: Negative = "from_end") -> None:
        """The same for sheaf.scatter_nd(whole, indices, updates); axis 0 is the split one."""
        self._table.scatter("scatter_nd", self._values(), indices, updates, reduction, include_self,
                            out_of_range, negative)
