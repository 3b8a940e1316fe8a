// SPDX-License-Identifier: MIT
//
// Nodes that copy along fixed paths, or convert on the way: each becomes one call of sheaf/move.h.
#include <algorithm>
#include <numeric>

#include "frontends/onnx/slice_window.h"
#include "machine/terminal.h"
#include "onnx/call.h"
#include "sheaf/move.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

Outputs one(Array array) {
  Outputs outputs;
  outputs.emplace_back(std::move(array));
  return outputs;
}

Array converted(const ConstTensor& from, DType type) {
  Array to(TensorSpec(type, from.spec.sizes));
  cast(from, to.tensor());
  return to;
}

// `from` with its dimensions in another order.
Array transposed(const ConstTensor& from, const Integers& order) {
  TensorSpec read(from.spec.dtype, {});
  for (const int64_t d : order) {
    read.sizes.push_back(from.spec.sizes[static_cast<int>(d)]);
    read.strides.push_back(from.spec.strides[static_cast<int>(d)]);
  }
  Array to(TensorSpec(read.dtype, read.sizes));
  copy({from.data, read}, to.tensor());
  return to;
}

Outputs run_transpose(const Call& call) {
  const ConstTensor from = call.tensor(0);
  const int rank = from.spec.rank();
  Integers order(static_cast<size_t>(rank)), sorted;
  std::iota(order.rbegin(), order.rend(), 0);
  sorted.assign(order.rbegin(), order.rend());
  if (const io::OnnxAttribute* perm = call.find("perm")) {
    order = perm->numbers;
    if (!std::is_permutation(order.begin(), order.end(), sorted.begin(), sorted.end())) {
      refuse_node(call.node, "its perm is not an order of the dimensions",
                  cat("each of 0 to ", rank - 1, " once"));
    }
  }
  return one(transposed(from, order));
}

// Integers of less than a byte are moved, not converted.
void check_conversion(const Call& call, DType from, DType to) {
  for (const DType type : {from, to}) {
    if (type.is_sub_byte()) {
      refuse_node(call.node,
                  cat("elements of ", type.name(), " (ONNX type ", io::onnx_type(type),
                      ") are moved, not converted"),
                  "another type");
    }
  }
}

// Sheaf's float8 conversions overflow to NaN or infinity; ONNX's saturate unless told otherwise.
void check_saturation(const Call& call, DType to) {
  if ((to == f8e4m3 || to == f8e5m2) && call.number("saturate", 1) != 0) {
    refuse_node(call.node, cat("a saturating conversion to ", to.name(), " is not there"),
                "saturate = 0");
  }
}

Outputs run_cast(const Call& call) {
  const std::optional<DType> to = io::type_of_onnx(call.number("to"));
  if (!to) {
    refuse_node(call.node, cat("its `to` is ", call.number("to"), ", no type that Sheaf has"),
                "a number of TensorProto.DataType");
  }
  check_saturation(call, *to);
  check_conversion(call, call.input(0).dtype(), *to);
  return one(converted(call.tensor(0), *to));
}

Outputs run_cast_like(const Call& call) {
  check_saturation(call, call.input(1).dtype());
  check_conversion(call, call.input(0).dtype(), call.input(1).dtype());
  return one(converted(call.tensor(0), call.input(1).dtype()));
}

// Broadcasting in both directions: a size of 1 in the shape is that of the input.
Outputs run_expand(const Call& call) {
  const ConstTensor from = call.tensor(0);
  Integers sizes = call.integers(1);
  const auto rank = static_cast<size_t>(from.spec.rank());
  sizes.insert(sizes.begin(), rank - std::min(rank, sizes.size()), 1);
  for (int d = 1; d <= from.spec.rank(); ++d) {
    int64_t& size = sizes[sizes.size() - static_cast<size_t>(d)];
    size = size == 1 ? from.spec.sizes[from.spec.rank() - d] : size;
  }
  Array to(TensorSpec(from.spec.dtype, sizes_of(call, sizes)));
  copy(from, to.tensor());
  return one(std::move(to));
}

Outputs run_tile(const Call& call) {
  const ConstTensor from = call.tensor(0);
  const Dims repeats = sizes_of(call, call.integers(1));
  if (repeats.size() != from.spec.rank()) {
    refuse_node(call.node, cat("it has ", repeats.size(), " repeats for ", from.spec.str()),
                "one for each dimension");
  }
  Dims sizes = from.spec.sizes;
  for (int d = 0; d < sizes.size(); ++d) {
    sizes[d] = element_count({sizes[d], repeats[d]});
  }
  Array to(TensorSpec(from.spec.dtype, sizes));
  if (element_count(sizes) > 0) {
    tile(from, to.tensor(), repeats);
  }
  return one(std::move(to));
}

Outputs run_concat(const Call& call) {
  std::vector<ConstTensor> parts;
  int64_t total = 0;
  const int axis = axis_of(call, call.number("axis", 1), call.input(0).sizes().size());
  for (size_t i = 0; i < call.node.inputs.size(); ++i) {
    parts.push_back(call.tensor(i));
    const Dims& sizes = parts.back().spec.sizes;
    total += axis < sizes.size() ? sizes[axis] : 0;
  }
  TensorSpec joined = parts[0].spec;
  joined.sizes[axis] = total;
  Array to(TensorSpec(joined.dtype, joined.sizes));
  join(parts, axis, to.tensor());
  return one(std::move(to));
}

// How many entries each output gets. Without a list: equal parts, and the last may be smaller.
Integers split_sizes(const Call& call, int64_t entries) {
  if (call.has_list("split", 1)) {
    return call.list("split", 1);
  }
  const auto count = static_cast<int64_t>(call.node.outputs.size());
  if (count == 0) {
    refuse_node(call.node, "it has no outputs", "an output for each part");
  }
  const int64_t part = (entries + count - 1) / count;
  Integers sizes;
  for (int64_t i = 0; i < count; ++i) {
    sizes.push_back(std::clamp(entries - i * part, int64_t{0}, part));
  }
  return sizes;
}

Outputs run_split(const Call& call) {
  const ConstTensor from = call.tensor(0);
  const int axis = axis_of(call, call.number("axis"), from.spec.rank());
  std::vector<Array> parts;
  std::vector<Tensor> to;
  for (const int64_t size : split_sizes(call, from.spec.sizes[axis])) {
    if (size < 0) {
      refuse_node(call.node, cat("a part has ", size, " entries"), "sizes of 0 or more");
    }
    Dims sizes = from.spec.sizes;
    sizes[axis] = size;
    parts.emplace_back(TensorSpec(from.spec.dtype, sizes));
    to.push_back(parts.back().tensor());
  }
  split(from, axis, to);
  Outputs outputs;
  for (Array& part : parts) {
    outputs.emplace_back(std::move(part));
  }
  return outputs;
}

Array sliced(const ConstTensor& from, const onnx::SliceWindow& window) {
  Array to(TensorSpec(from.spec.dtype, window.sizes));
  slice(from, to.tensor(), window.start, window.steps);
  return to;
}

Outputs run_slice(const Call& call) {
  const ConstTensor from = call.tensor(0);
  const Integers starts = call.list("starts", 1), ends = call.list("ends", 2);
  const Integers axes = call.list("axes", 3);
  const Integers steps = call.has(4) ? call.integers(4) : Integers();
  onnx::SliceLists lists{starts, ends, std::nullopt, std::nullopt};
  if (call.has_list("axes", 3)) {
    lists.axes = axes;
  }
  if (call.has(4)) {
    lists.steps = steps;
  }
  return one(sliced(from, in_words_of_node(call.node, [&] {
                      return onnx::slice_window(from.spec.sizes, lists);
                    })));
}

PadMode pad_mode(const Call& call) {
  const io::OnnxAttribute* mode = call.find("mode");
  const std::string name = mode ? mode->text : "constant";
  constexpr std::pair<const char*, PadMode> kModes[] = {{"constant", PadMode::kConstant},
                                                        {"edge", PadMode::kEdge},
                                                        {"reflect", PadMode::kReflect},
                                                        {"wrap", PadMode::kWrap}};
  for (const auto& [known, value] : kModes) {
    if (name == known) {
      return value;
    }
  }
  refuse_node(call.node, cat("its mode is \"", printable(name), "\""),
              "constant, edge, reflect or wrap");
}

// Entries before and behind each dimension. Old models have an attribute for all dimensions, new
// ones a list of axes too.
std::pair<Dims, Dims> pad_counts(const Call& call, int rank) {
  const Integers counts = call.list(call.find("paddings") ? "paddings" : "pads", 1);
  Integers axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) {
    axes = call.integers(3);
  }
  if (counts.size() != 2 * axes.size()) {
    refuse_node(call.node, cat("it has ", counts.size(), " pads for ", axes.size(), " axes"),
                "two for each axis");
  }
  std::pair<Dims, Dims> pads{Dims(rank, 0), Dims(rank, 0)};
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = axis_of(call, axes[i], rank);
    pads.first[d] = counts[i];
    pads.second[d] = counts[i + axes.size()];
  }
  return pads;
}

// The value between the copies, of the data's type: an input, an attribute, or 0.
Array pad_value(const Call& call, DType type) {
  Array value(TensorSpec(type, {}));
  if (call.has(2)) {
    const ConstTensor given = call.tensor(2);
    if (element_count(given.spec.sizes) != 1 || given.spec.dtype != type) {
      refuse_node(call.node, cat("its constant_value is ", given.spec.str()),
                  cat("one element of type ", type.name()));
    }
    copy({given.data, value.spec()}, value.tensor());
  } else if (const io::OnnxAttribute* given = call.find("value")) {
    cast(view(&given->real, {}), value.tensor());
  } else {
    fill(value.tensor(), 0);
  }
  return value;
}

// Negative pads cut entries off, before the others are added.
Outputs run_pad(const Call& call) {
  ConstTensor from = call.tensor(0);
  const int rank = from.spec.rank();
  const PadMode mode = pad_mode(call);
  auto [before, behind] = pad_counts(call, rank);
  onnx::SliceWindow window = onnx::whole_window(from.spec.sizes);
  Dims sizes;
  for (int d = 0; d < rank; ++d) {
    const int64_t whole = from.spec.sizes[d];
    narrow_window(window, d, -std::clamp(before[d], -whole, int64_t{0}),
                  whole + std::clamp(behind[d], -whole, int64_t{0}), 1);
    before[d] = std::max(before[d], int64_t{0});
    int64_t size = window.sizes[d];
    if (__builtin_add_overflow(size, before[d], &size) ||
        __builtin_add_overflow(size, std::max(behind[d], int64_t{0}), &size)) {
      refuse_node(call.node, "its pads are beyond 2^63 - 1", "smaller pads");
    }
    sizes.push_back(size);
  }
  const Array cut = sliced(from, window);
  Array to(TensorSpec(from.spec.dtype, sizes));
  if (mode != PadMode::kConstant) {
    pad(cut.tensor(), to.tensor(), before, mode);
    return one(std::move(to));
  }
  copy(pad_value(call, from.spec.dtype).tensor(), to.tensor());
  const Tensor all = to.tensor();
  int64_t first = 0;
  for (int d = 0; d < rank; ++d) {
    first += before[d] * all.spec.strides[d];
  }
  copy(cut.tensor(), {static_cast<std::byte*>(all.data) + first * all.spec.dtype.bytes(),
                      {all.spec.dtype, cut.sizes(), all.spec.strides}});
  return one(std::move(to));
}

Outputs run_one_hot(const Call& call) {
  const ConstTensor given = call.tensor(0), values = call.tensor(2);
  const Array indices = converted(given, i64);
  const ConstTensor depth_given = call.tensor(1);
  if (element_count(depth_given.spec.sizes) != 1) {
    refuse_node(call.node, cat("its depth is ", depth_given.spec.str()), "one number");
  }
  const Array depth = converted({depth_given.data, {depth_given.spec.dtype, {}}}, i64);
  const int rank = given.spec.rank() + 1;
  const int axis = axis_of(call, call.number("axis", -1), rank);
  Integers sizes(given.spec.sizes.begin(), given.spec.sizes.end());
  sizes.insert(sizes.begin() + axis, depth.elements<int64_t>()[0]);
  Array to(TensorSpec(values.spec.dtype, sizes_of(call, sizes)));
  sizes[static_cast<size_t>(axis)] = 1;
  one_hot({indices.tensor().data, TensorSpec(i64, Dims(sizes))}, values, to.tensor(), axis);
  return one(std::move(to));
}

Outputs run_nonzero(const Call& call) {
  const ConstTensor from = call.tensor(0);
  const int64_t rank = from.spec.rank();
  Array rows(TensorSpec(i64, {element_count(from.spec.sizes), rank}));
  const int64_t found = nonzero(from, rows.tensor());
  return one(transposed({rows.tensor().data, TensorSpec(i64, {found, rank})}, {1, 0}));
}

Outputs run_reverse_sequence(const Call& call) {
  const ConstTensor from = call.tensor(0), lengths = call.tensor(1);
  const int rank = from.spec.rank();
  const int batch = axis_of(call, call.number("batch_axis", 1), rank);
  const int time = axis_of(call, call.number("time_axis", 0), rank);
  if (batch == time || lengths.spec.rank() != 1 ||
      lengths.spec.sizes[0] != from.spec.sizes[batch]) {
    refuse_node(call.node,
                cat("its sequence_lens is ", lengths.spec.str(), " for ", from.spec.str()),
                "one length for each entry of the batch axis");
  }
  TensorSpec spread(lengths.spec.dtype, from.spec.sizes, Dims(rank, 0));
  spread.sizes[time] = 1;
  spread.strides[batch] = 1;
  Array to(TensorSpec(from.spec.dtype, from.spec.sizes));
  reverse_subsequences(from, {lengths.data, spread}, to.tensor(), time);
  return one(std::move(to));
}

constexpr Operator kMoves[] = {
    {"Transpose", run_transpose},
    {"Cast", run_cast},
    {"CastLike", run_cast_like},
    {"Expand", run_expand},
    {"Tile", run_tile},
    {"Concat", run_concat},
    {"Split", run_split},
    {"Slice", run_slice},
    {"Pad", run_pad},
    {"OneHot", run_one_hot},
    {"NonZero", run_nonzero},
    {"ReverseSequence", run_reverse_sequence},
};

}  // namespace

std::span<const Operator> move_operators() { return kMoves; }

}  // namespace sheaf::cli
