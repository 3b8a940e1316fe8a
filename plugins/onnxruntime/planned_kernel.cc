// SPDX-License-Identifier: MIT
#include "planned_kernel.h"

#include <cstring>

#include "execution/entries.h"
#include "strings.h"

namespace sheaf::ort {
namespace {

constexpr size_t kIndices = 1;

// The entries that constant indices name, from a copy of them: what was checked is what is used.
std::vector<int64_t> entries_of(const Plan& plan, const Input& indices) {
  const int64_t count = element_count(indices.sizes);
  const auto bytes = static_cast<size_t>(count * plan.indices().dtype.bytes());
  std::vector<int64_t> copy((bytes + sizeof(int64_t) - 1) / sizeof(int64_t));
  if (bytes > 0) {
    std::memcpy(copy.data(), indices.data, bytes);
  }
  std::vector<int64_t> entries(static_cast<size_t>(count));
  resolve_entries(plan, copy.data(), entries.data());
  return entries;
}

}  // namespace

PlannedKernel::PlannedKernel(const MakeKernel& made, PlanOf plan_of, size_t inputs)
    : Kernel(made.node.api()),
      plan_of_(std::move(plan_of)),
      input_count_(inputs),
      output_is_fresh_(!made.caller_sees_output),
      indices_are_constant_(made.node.is_constant(kIndices)) {}

PlannedKernel::Prepared PlannedKernel::prepare(std::span<const Input> inputs) const {
  std::vector<TensorSpec> specs;
  for (const Input& input : inputs) {
    specs.push_back(input.type == kString ? string_numbers(input.sizes) : input.spec());
  }
  Plan plan = plan_of_(specs);
  if (!indices_are_constant_ || plan.nest().coordinates.empty()) {
    return {std::move(plan), std::nullopt};
  }
  std::vector<int64_t> entries = entries_of(plan, inputs[kIndices]);
  return {entry_plan(plan, plan.nest().coordinates[0].extent), std::move(entries)};
}

void PlannedKernel::run(const Context& context) {
  Input inputs[3];
  for (size_t i = 0; i < input_count_; ++i) {
    inputs[i] = context.input(i);
  }
  const std::span<const Input> given(inputs, input_count_);
  const auto prepared = plans_.find(given, [&] { return prepare(given); });
  const void* const indices =
      prepared->entries.has_value() ? prepared->entries->data() : inputs[kIndices].data;
  if (inputs[0].type == kString) {
    run_on_strings(context, prepared->plan, given, indices);
    return;
  }
  void* const output = context.output(prepared->plan.output().sizes);
  // The runtime gives the input's own memory where nobody reads that any more. It is then no
  // fresh output, though nobody would see it after a failure.
  const RunOptions options{.output_is_fresh = output_is_fresh_ && output != inputs[0].data};
  if (prepared->plan.is_scatter()) {
    prepared->plan.run(inputs[0].data, indices, inputs[2].data, output, options);
  } else {
    prepared->plan.run(inputs[0].data, indices, output, options);
  }
}

}  // namespace sheaf::ort
