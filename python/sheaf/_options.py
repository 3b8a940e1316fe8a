# SPDX-License-Identifier: MIT
"""The words that options take, for every module that has them."""

from __future__ import annotations

from typing import Literal, Optional

GatherRule = Literal["fail", "clamp", "fill", "wrap", "trust"]
ScatterRule = Literal["fail", "clamp", "skip", "wrap", "trust"]
BagRule = Literal["fail", "clamp", "fill", "skip", "wrap", "trust"]
Pool = Literal["sum", "mean", "max", "min", "mul", "sqrtn"]
Negative = Literal["from_end", "out_of_range"]
#: Those of the library, then their names in other libraries.
Reduction = Literal["none", "add", "sub", "mul", "min", "max", "mean",
                    "sum", "prod", "multiply", "amin", "amax"]
#: None: in the type of data, rounded after every update.
Accumulate = Optional[Literal["f32"]]
