// SPDX-License-Identifier: MIT
#include "neighbours.h"

#include <algorithm>

#include "frontends/onnx/slice_window.h"
#include "kept_plans.h"
#include "moves/moves.h"
#include "sheaf/move.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf::ort {
namespace {

// A call of a provider's kernel costs some microseconds more than one of the runtime's own: outputs
// of fewer elements do not make up for it.
constexpr int64_t kLeastSlice = 65'536;
constexpr int64_t kLeastOneHot = 4'096;

// 0 where the model does not tell.
int64_t known_elements(const std::optional<Dims>& sizes) {
  int64_t elements = sizes.has_value() && !sizes->empty() ? 1 : 0;
  for (int d = 0; sizes.has_value() && d < sizes->size(); ++d) {
    elements = (*sizes)[d] < 0 ? 0 : checked_mul(elements, (*sizes)[d]).value_or(0);
  }
  return elements;
}

[[noreturn]] void refuse_input(const char* op, const char* name, const Input& input,
                               const char* next) {
  throw Failure(kInvalidArgumentError,
                cat(op, ": its ", name, " is ", input.spec().str(), "\n  try: ", next));
}

// A list that is an input: read once, and then used.
std::vector<int64_t> integers_of(const char* name, const Input& input) {
  const TensorSpec spec = input.spec();
  if (spec.rank() != 1 || spec.sizes[0] > kMaxRank || (spec.dtype != i32 && spec.dtype != i64)) {
    refuse_input("Slice", name, input, "a list of i32 or i64, at most one number per dimension");
  }
  const int64_t count = spec.sizes[0];
  if (spec.dtype == i64) {
    const auto* const numbers = static_cast<const int64_t*>(input.data);
    return {numbers, numbers + count};
  }
  const auto* const numbers = static_cast<const int32_t*>(input.data);
  return {numbers, numbers + count};
}

// What a plan is kept for beside types and sizes: numbers in the place of sizes.
Input numbers_as_key(const Dims& numbers) { return {.type = kInt64, .sizes = numbers}; }

class SliceKernel final : public Kernel {
 public:
  explicit SliceKernel(const MakeKernel& made) : Kernel(made.node.api()) {
    // Before version 10 the lists are attributes.
    lists_[kStarts] = made.node.numbers("starts");
    lists_[kEnds] = made.node.numbers("ends");
    lists_[kAxes] = made.node.numbers("axes");
  }

  void run(const Context& context) override {
    const Input data = context.input(0);
    const onnx::SliceWindow window =
        in_words_of("Slice", [&] { return window_of(context, data.sizes); });
    const Input key[] = {data, numbers_as_key(window.start), numbers_as_key(window.steps),
                         numbers_as_key(window.sizes)};
    const auto work = works_.find(key, [&] {
      const TensorSpec from = data.spec();
      return moves::slice("Slice", from, TensorSpec(from.dtype, window.sizes), window.start,
                          window.steps);
    });
    void* const output = context.output(window.sizes);
    (*work)({&data.data, 1}, {&output, 1});
  }

 private:
  enum List : size_t { kStarts, kEnds, kAxes, kSteps };
  using MaybeList = std::optional<std::vector<int64_t>>;

  onnx::SliceWindow window_of(const Context& context, const Dims& sizes) const {
    constexpr const char* kNames[] = {"starts", "ends", "axes", "steps"};
    MaybeList given[4];
    for (size_t list = kStarts; list <= kSteps; ++list) {
      given[list] = lists_[list];
      const std::optional<Input> input = context.optional_input(list + 1);
      if (input.has_value()) {
        given[list] = integers_of(kNames[list], *input);
      }
    }
    if (!given[kStarts].has_value() || !given[kEnds].has_value()) {
      throw Failure(kInvalidArgumentError, "Slice: it has no starts, or no ends");
    }
    onnx::SliceLists lists{*given[kStarts], *given[kEnds], std::nullopt, std::nullopt};
    if (given[kAxes].has_value()) {
      lists.axes = *given[kAxes];
    }
    if (given[kSteps].has_value()) {
      lists.steps = *given[kSteps];
    }
    return onnx::slice_window(sizes, lists);
  }

  MaybeList lists_[4];
  KeptPlans<moves::Work> works_;
};

class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(const MakeKernel& made)
      : Kernel(made.node.api()), axis_(made.node.number("axis", -1)) {}

  void run(const Context& context) override {
    const Input indices = context.input(0), depth = context.input(1), values = context.input(2);
    if (values.sizes.size() != 1 || values.sizes[0] != 2) {
      refuse_input("OneHot", "values", values, "two values: off and on");
    }
    const int axis = axis_among(indices.sizes.size() + 1);
    Dims sizes = with_size_at(indices.sizes, axis, depth_of(depth));
    const Input key[] = {indices, values, numbers_as_key(sizes)};
    const auto work = works_.find(key, [&] {
      const TensorSpec named(indices.spec().dtype, with_size_at(indices.sizes, axis, 1));
      return moves::one_hot("OneHot", named, values.spec(), TensorSpec(values.spec().dtype, sizes),
                            axis);
    });
    void* const output = context.output(sizes);
    const void* const inputs[] = {indices.data, values.data};
    (*work)(inputs, {&output, 1});
  }

 private:
  int axis_among(int64_t rank) const {
    if (axis_ < -rank || axis_ >= rank) {
      throw Failure(kInvalidArgumentError,
                    cat("OneHot: axis ", axis_, " of a tensor of rank ", rank,
                        "\n  try: an axis from ", -rank, " to ", rank - 1));
    }
    return static_cast<int>(axis_ < 0 ? axis_ + rank : axis_);
  }

  static int64_t depth_of(const Input& depth) {
    if (element_count(depth.sizes) != 1) {
      refuse_input("OneHot", "depth", depth, "one number");
    }
    int64_t number = 0;
    cast({depth.data, TensorSpec(depth.spec().dtype, {})}, view(&number, {}));
    if (number <= 0) {
      throw Failure(kInvalidArgumentError,
                    cat("OneHot: its depth is ", number, "\n  try: 1 or more"));
    }
    return number;
  }

  static Dims with_size_at(const Dims& sizes, int axis, int64_t size) {
    Dims grown;
    for (int d = 0; d <= sizes.size(); ++d) {
      grown.push_back(d < axis ? sizes[d] : d == axis ? size : sizes[d - 1]);
    }
    return grown;
  }

  int64_t axis_;
  KeptPlans<moves::Work> works_;
};

}  // namespace

// Strings are moved one by one, which is no faster than by the runtime.
bool takes_slice(const OfferedNode& node) {
  if (node.inputs.empty() || node.outputs.empty() || node.inputs[0].type == kString) {
    return false;
  }
  const std::optional<Dims>& from = node.inputs[0].sizes;
  const std::optional<Dims>& to = node.outputs[0].sizes;
  // Rows that stay whole are copied equally fast by both.
  return known_elements(from) > 0 && known_elements(to) >= kLeastSlice &&
         to->size() == from->size() && to->back() < from->back();
}

bool takes_one_hot(const OfferedNode& node) {
  return node.inputs.size() == 3 && node.outputs.size() == 1 && node.inputs[2].type != kString &&
         known_elements(node.outputs[0].sizes) >= kLeastOneHot;
}

std::unique_ptr<Kernel> make_slice(const MakeKernel& made) {
  return std::make_unique<SliceKernel>(made);
}
std::unique_ptr<Kernel> make_one_hot(const MakeKernel& made) {
  return std::make_unique<OneHotKernel>(made);
}

}  // namespace sheaf::ort
