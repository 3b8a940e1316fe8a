// SPDX-License-Identifier: MIT
#include "strings.h"

#include <numeric>
#include <string>
#include <vector>

namespace sheaf::ort {
namespace {

std::vector<int64_t> numbers_from(int64_t first, const Dims& sizes) {
  std::vector<int64_t> numbers(static_cast<size_t>(element_count(sizes)));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// By way of `held`: the output may be the input's memory, and the string its own copy.
void copy_string(const Api& api, const Value* from, size_t source, Value* to, size_t target,
                 std::string& held) {
  size_t length = 0;
  api.check(kGetStringLength, from, source, &length);
  held.resize(length);
  api.check(kGetString, from, length, source, held.data());
  char* room = nullptr;
  api.check(kResizeString, to, target, length, &room);
  held.copy(room, length);
}

}  // namespace

TensorSpec string_numbers(const Dims& sizes) { return {i64, sizes}; }

void run_on_strings(const Context& context, const Plan& plan, std::span<const Input> inputs,
                    const void* indices) {
  const std::vector<int64_t> data = numbers_from(0, inputs[0].sizes);
  const auto data_count = static_cast<int64_t>(data.size());
  std::vector<int64_t> numbers = numbers_from(0, plan.output().sizes);
  const RunOptions options{.output_is_fresh = true};
  if (plan.is_scatter()) {
    const std::vector<int64_t> updates = numbers_from(data_count, inputs[2].sizes);
    plan.run(data.data(), indices, updates.data(), numbers.data(), options);
  } else {
    plan.run(data.data(), indices, numbers.data(), options);
  }
  Value* const output = context.output_value(plan.output().sizes);
  std::string held;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const bool is_update = numbers[i] >= data_count;
    const Input& from = inputs[is_update ? 2 : 0];
    const int64_t source = is_update ? numbers[i] - data_count : numbers[i];
    copy_string(context.api(), from.value, static_cast<size_t>(source), output, i, held);
  }
}

}  // namespace sheaf::ort
