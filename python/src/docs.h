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

inline constexpr char kRunSignature[] =
    "def run(self, data: typing.Any, indices: typing.Any, updates: typing.Any = None, out: "
    "typing.Any = None, *, threads: int = 0) -> typing.Any";
inline constexpr char kRunDoc[] =
    R"(Moves the elements: run(data, indices, updates, out=None) in the plan of a scatter,
run(data, indices, out=None) in that of a gather. The arrays must be laid out as those that were
planned for. A scatter onto zeros, as vjp() makes them, does not read data: it may be None.)";
inline constexpr char kVjpDoc[] =
    R"(The gradient as a plan of its own, all arrays contiguous but for indices.

Of a gather: a scatter-add onto zeros, run(None, indices, gradient of the output), which gives the
gradient of data. Of a scatter (none or add): a gather, run(gradient of the output, indices), which
gives the gradient of the updates.)";

#undef SHEAF_RULE_KEYWORDS

#define SHEAF_TENSORS "data: typing.Any, indices: typing.Any, updates: typing.Any, "
#define SHEAF_SCATTER_KEYWORDS                                                              \
  "reduction: typing.Literal['none', 'add', 'sub', 'mul', 'min', 'max', 'mean'] = 'none', " \
  "include_self: bool = True, relaxed: bool = False, "                                      \
  "out_of_range: typing.Literal['fail', 'clamp', 'skip', 'wrap', 'trust'] = 'fail', "       \
  "negative: typing.Literal['from_end', 'out_of_range'] = 'from_end', "

inline constexpr char kScatterSignature[] =
    "def scatter(" SHEAF_TENSORS "axis: int = 0, *, batch_dims: int = 0, " SHEAF_SCATTER_KEYWORDS
    "threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kScatterDoc[] = R"(data with whole slices joined to it along one axis.

    output[pre, indices[q], post] (reduction)= updates[pre, q, post]

Updates to one element are joined in their row-major order: the result does not depend on the
number of threads. With relaxed=True a backend may join them in another order, if that is faster.
With include_self=False what was there is no part of the reduction.
out_of_range="skip" leaves an update out. With out=data the scatter is done in place.)";

inline constexpr char kScatterElementsSignature[] =
    "def scatter_elements(" SHEAF_TENSORS "axis: int = 0, *, " SHEAF_SCATTER_KEYWORDS
    "threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kScatterElementsDoc[] = R"(data with one update joined to it for each index.

    output[indices[i, j, k], j, k] (reduction)= updates[i, j, k]    (axis 0)

Off the axis, indices and updates may be smaller than data. Keywords as in scatter.)";

inline constexpr char kScatterNdSignature[] =
    "def scatter_nd(" SHEAF_TENSORS "*, batch_dims: int = 0, " SHEAF_SCATTER_KEYWORDS
    "threads: int = 0, out: typing.Any = None) -> typing.Any";
inline constexpr char kScatterNdDoc[] =
    R"(data with an element or a slice joined to it for each index tuple.

    output[b, indices[b, g, 0], indices[b, g, 1], ..., s] (reduction)= updates[b, g, s]

Keywords as in scatter.)";

inline constexpr char kPutAlongAxisSignature[] =
    "def put_along_axis(arr: typing.Any, indices: typing.Any, values: typing.Any, axis: int | "
    "None, *, threads: int = 0) -> None";
inline constexpr char kPutAlongAxisDoc[] =
    R"(Writes one value into arr for each index along an axis, as numpy.put_along_axis.

indices has as many dimensions as arr; off the axis it is broadcast to arr, and values to both. With
axis=None, arr is taken as flat and indices has one dimension. Of several values for one element
the last stays.)";

inline constexpr char kPlanScatterSignature[] =
    "def plan_scatter(" SHEAF_TENSORS
    "axis: int = 0, *, batch_dims: int = 0, " SHEAF_SCATTER_KEYWORDS
    "out: typing.Any = None) -> Plan";
inline constexpr char kPlanScatterElementsSignature[] =
    "def plan_scatter_elements(" SHEAF_TENSORS "axis: int = 0, *, " SHEAF_SCATTER_KEYWORDS
    "out: typing.Any = None) -> Plan";
inline constexpr char kPlanScatterNdSignature[] =
    "def plan_scatter_nd(" SHEAF_TENSORS "*, batch_dims: int = 0, " SHEAF_SCATTER_KEYWORDS
    "out: typing.Any = None) -> Plan";

#undef SHEAF_TENSORS
#undef SHEAF_SCATTER_KEYWORDS

}  // namespace sheaf::python
