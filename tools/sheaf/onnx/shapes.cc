// SPDX-License-Identifier: MIT
//
// Nodes that change a shape, or make a tensor out of nothing: no element moves.
#include <algorithm>
#include <numeric>

#include "onnx/call.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

Value list_value(const Integers& numbers) {
  Array array(TensorSpec(i64, {std::ssize(numbers)}));
  std::copy(numbers.begin(), numbers.end(), array.elements<int64_t>().begin());
  return Value(std::move(array));
}

int64_t product(const Dims& sizes, int begin, int end) {
  return element_count(Dims(std::span(sizes.begin() + begin, sizes.begin() + end)));
}

Outputs reshape_to(const Call& call, const Dims& sizes) {
  Value& from = call.input(0);
  if (element_count(sizes) != element_count(from.sizes())) {
    refuse_node(call.node,
                cat("its input ", bracketed(from.sizes()), " has ", element_count(from.sizes()),
                    " elements, but ", bracketed(sizes), " has ", element_count(sizes)),
                "a shape with as many elements");
  }
  return {from.reshaped(sizes)};
}

// A size of 0 is that of the input, unless `allowzero`; one size of -1 follows from the others.
Outputs run_reshape(const Call& call) {
  const Dims from = call.input(0).sizes();
  Integers sizes = call.list("shape", 1);
  auto open = sizes.end();
  for (auto size = sizes.begin(); size != sizes.end(); ++size) {
    const auto d = size - sizes.begin();
    if (*size == -1 && open == sizes.end()) {
      open = size;
      *size = 1;
    } else if (*size == 0 && call.number("allowzero") == 0 && d < from.size()) {
      *size = from[static_cast<int>(d)];
    }
  }
  const int64_t known = element_count(sizes_of(call, sizes));
  if (open != sizes.end() && known > 0) {
    *open = element_count(from) / known;
  }
  return reshape_to(call, sizes_of(call, sizes));
}

Outputs run_flatten(const Call& call) {
  const Dims& from = call.input(0).sizes();
  const int64_t axis = call.number("axis", 1);
  const int at = axis == from.size() ? from.size() : axis_of(call, axis, from.size());
  return reshape_to(call, {product(from, 0, at), product(from, at, from.size())});
}

Outputs run_squeeze(const Call& call) {
  const Dims& from = call.input(0).sizes();
  Fixed<bool> dropped(from.size(), false);
  if (call.has_list("axes", 1)) {
    for (const int64_t axis : call.list("axes", 1)) {
      const int d = axis_of(call, axis, from.size());
      if (from[d] != 1) {
        refuse_node(call.node, cat("axis ", axis, " has ", from[d], " entries"), "axes of size 1");
      }
      dropped[d] = true;
    }
  } else {
    std::transform(from.begin(), from.end(), dropped.begin(), [](int64_t n) { return n == 1; });
  }
  Dims sizes;
  for (int d = 0; d < from.size(); ++d) {
    if (!dropped[d]) {
      sizes.push_back(from[d]);
    }
  }
  return reshape_to(call, sizes);
}

Outputs run_unsqueeze(const Call& call) {
  const Dims& from = call.input(0).sizes();
  const Integers axes = call.list("axes", 1);
  const int rank = from.size() + static_cast<int>(std::min<size_t>(axes.size(), kMaxRank));
  Fixed<bool> added(rank, false);
  for (const int64_t axis : axes) {
    const int d = axis_of(call, axis, rank);
    if (added[d]) {
      refuse_node(call.node, cat("axis ", axis, " is named twice"), "distinct axes");
    }
    added[d] = true;
  }
  Dims sizes;
  for (int d = 0, next = 0; d < rank; ++d) {
    sizes.push_back(added[d] ? 1 : from[next++]);
  }
  return reshape_to(call, sizes);
}

Outputs run_shape(const Call& call) {
  const Dims& sizes = call.input(0).sizes();
  const int64_t rank = sizes.size();
  const auto place = [&](int64_t at) {
    return std::clamp(at < 0 ? at + rank : at, int64_t{0}, rank);
  };
  const int64_t start = place(call.number("start")), end = place(call.number("end", rank));
  return {list_value(Integers(sizes.begin() + start, sizes.begin() + std::max(start, end)))};
}

Outputs run_size(const Call& call) {
  return {list_value({element_count(call.input(0).sizes())}).reshaped({})};
}

Outputs run_identity(const Call& call) { return {call.input(0)}; }

Value tensor_attribute(const Call& call, const io::OnnxAttribute& value) {
  if (!value.tensor || !value.tensor->info.unsupported.empty()) {
    refuse_node(call.node, "its value is not a tensor of a type that Sheaf has",
                "a tensor of numbers");
  }
  return Value(
      Table(value.tensor->info, std::make_shared<const TableSource>(value.tensor->source)));
}

Value float_list(const std::vector<float>& numbers) {
  Array array(TensorSpec(f32, {std::ssize(numbers)}));
  std::copy(numbers.begin(), numbers.end(), array.elements<float>().begin());
  return Value(std::move(array));
}

Outputs run_constant(const Call& call) {
  if (const io::OnnxAttribute* value = call.find("value")) {
    return {tensor_attribute(call, *value)};
  }
  if (const io::OnnxAttribute* value = call.find("value_int")) {
    return {list_value({value->number}).reshaped({})};
  }
  if (const io::OnnxAttribute* value = call.find("value_ints")) {
    return {list_value(value->numbers)};
  }
  if (const io::OnnxAttribute* value = call.find("value_float")) {
    return {float_list({value->real}).reshaped({})};
  }
  if (const io::OnnxAttribute* value = call.find("value_floats")) {
    return {float_list(value->reals)};
  }
  refuse_node(call.node, "its value is a text or sparse, or missing",
              "value, value_int, value_ints, value_float or value_floats");
}

Outputs run_constant_of_shape(const Call& call) {
  const io::OnnxAttribute* value = call.find("value");
  Value one = value ? tensor_attribute(call, *value) : float_list({0});
  if (element_count(one.sizes()) != 1) {
    refuse_node(call.node, cat("its value has ", element_count(one.sizes()), " elements"), "one");
  }
  Array filled(TensorSpec(one.dtype(), sizes_of(call, call.integers(0))));
  copy(one.reshaped({}).tensor(), filled.tensor());
  return {Value(std::move(filled))};
}

constexpr Operator kShapes[] = {
    {"Reshape", run_reshape},
    {"Flatten", run_flatten},
    {"Squeeze", run_squeeze},
    {"Unsqueeze", run_unsqueeze},
    {"Shape", run_shape},
    {"Size", run_size},
    {"Identity", run_identity},
    {"Constant", run_constant},
    {"ConstantOfShape", run_constant_of_shape},
};

}  // namespace

std::span<const Operator> shape_operators() { return kShapes; }

}  // namespace sheaf::cli
