// SPDX-License-Identifier: MIT
//
// The typed signatures, which the stubs are made of, and the texts of help().
#pragma once

namespace sheaf::python {

#define SHEAF_RULE_KEYWORDS                                                           \
  "out_of_range: typing.Literal['fail', 'clamp', 'fill', 'wrap', 'trust'] = 'fail', " \
  "negative: typing.Literal['from_end', 'out_of_range'] = 'from_end', "               \
  "fill_value: typing.Any = 0"

inline constexpr char kTakeSignature[] =
    "def take(x: typing.Any, indices: typing.Any, axis: int | None = None, "
    "out: typing.Any = None, mode: typing.Literal['raise', 'wrap', 'clip'] = 'raise', *, "
    "threads: int = 0) -> typing.Any";
inline constexpr char kTakeDoc[] = R"(Slices of x along an axis, as numpy.take.

Without an axis, x is taken as flat. mode says what becomes of an index out of range: "raise" an
IndexError, "wrap" around, or "clip" to the nearest entry (negative indices then mean entry 0).
The result is an array of x's kind; with out it is written there, and out is returned.)";

inline constexpr char kTakeAlongAxisSignature[] =
    "def take_along_axis(x: typing.Any, indices: typing.Any, axis: int | None = -1, *, "
    "out: typing.Any = None, threads: int = 0) -> typing.Any";
inline constexpr char kTakeAlongAxisDoc[] =
    R"(One element of x for each index along an axis, as numpy.take_along_axis.

indices has as many dimensions as x; off the axis the two are broadcast against each other. With
axis=None, x is taken as flat and indices has one dimension.)";

inline constexpr char kGatherSignature[] =
    "def gather(data: typing.Any, indices: typing.Any, *, axis: int = 0, batch_dims: int = "
    "0, " SHEAF_RULE_KEYWORDS ", threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kGatherDoc[] = R"(Whole slices of data along one axis.

    output[pre, q, post] = data[pre, indices[q], post]

The first batch_dims dimensions are shared by data and indices.)";

inline constexpr char kGatherElementsSignature[] =
    "def gather_elements(data: typing.Any, indices: typing.Any, *, axis: int = 0, broadcast: bool "
    "= False, " SHEAF_RULE_KEYWORDS ", threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kGatherElementsDoc[] = R"(One element of data for each index.

    output[i, j, k] = data[indices[i, j, k], j, k]    (axis 0)

Off the axis, indices may be smaller than data; with broadcast=True dimensions of size 1 stretch.)";

inline constexpr char kGatherNdSignature[] =
    "def gather_nd(data: typing.Any, indices: typing.Any, *, batch_dims: int = "
    "0, " SHEAF_RULE_KEYWORDS ", threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kGatherNdDoc[] =
    R"(An element or a slice of data for each index tuple, in the last dimension of indices.

    output[b, g, s] = data[b, indices[b, g, 0], indices[b, g, 1], ..., s])";

inline constexpr char kPlanGatherSignature[] =
    "def plan_gather(data: typing.Any, indices: typing.Any, *, axis: int = 0, batch_dims: int = "
    "0, " SHEAF_RULE_KEYWORDS ", out: typing.Any = None) -> Plan";
inline constexpr char kPlanGatherElementsSignature[] =
    "def plan_gather_elements(data: typing.Any, indices: typing.Any, *, axis: int = 0, broadcast: "
    "bool = False, " SHEAF_RULE_KEYWORDS ", out: typing.Any = None) -> Plan";
inline constexpr char kPlanGatherNdSignature[] =
    "def plan_gather_nd(data: typing.Any, indices: typing.Any, *, batch_dims: int = "
    "0, " SHEAF_RULE_KEYWORDS ", out: typing.Any = None) -> Plan";
inline constexpr char kPlanDoc[] =
    R"(The same, decided but not run. Arrays or Specs; only their shapes, strides and dtypes count.)";

#undef SHEAF_RULE_KEYWORDS

}  // namespace sheaf::python
