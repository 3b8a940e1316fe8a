// SPDX-License-Identifier: MIT
//
// Any request: refused with an Error, or planned and run by every kernel that takes it, between
// guard pages. All kernels give the reference backend's bytes, or all refuse the indices and none
// writes.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "input.h"
#include "plan/byte_ranges.h"
#include "plan/request.h"
#include "plan/vocabulary.h"
#include "sheaf/sheaf.h"

namespace {

using namespace sheaf;

constexpr DType kDataTypes[] = {u8, i16, f32, f16, bf16, i64, f64, c64, boolean, i32};
constexpr DType kIndices[] = {i64, i32, u8, i8, i16, u16, u32, u64};

Dims dims(fuzz::Input& input, int64_t low, int64_t high) {
  Dims result;
  for (int64_t rank = input.below(5); rank > 0; --rank) {
    result.push_back(input.number(low, high));
  }
  return result;
}

TensorSpec tensor(fuzz::Input& input, DType type) {
  const Dims sizes = dims(input, 0, 4);
  if (!input.one_in(3)) {
    return {type, sizes};
  }
  Dims strides;
  for (int d = 0; d < sizes.size(); ++d) {
    strides.push_back(input.number(-4, 12));
  }
  return {type, sizes, strides};
}

XlaGatherOptions xla_options(fuzz::Input& input) {
  XlaGatherOptions options;
  options.offset_dims = dims(input, 0, 3);
  options.collapsed_slice_dims = dims(input, 0, 2);
  options.operand_batching_dims = input.one_in(4) ? dims(input, 0, 2) : Dims{};
  options.start_indices_batching_dims = input.one_in(4) ? dims(input, 0, 2) : Dims{};
  options.start_index_map = dims(input, 0, 3);
  options.index_vector_dim = input.number(0, 3);
  options.slice_sizes = dims(input, 0, 3);
  return options;
}

Request request(fuzz::Input& input) {
  constexpr OutOfRange kChecked[] = {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill,
                                     OutOfRange::kWrap, OutOfRange::kSkip};
  Request r = request_from(static_cast<Op>(input.below(std::ssize(kOps))));
  r.data = tensor(input, input.pick(kDataTypes));
  r.indices = tensor(input, input.pick(kIndices));
  r.axis = input.number(-2, 3);
  r.batch_dims = input.one_in(4) ? input.number(-2, 3) : 0;
  r.broadcast = input.one_in(4);
  r.rule = {input.one_in(2) ? Negative::kOutOfRange : Negative::kFromEnd, input.pick(kChecked), 1};
  if (r.xla) {
    r.xla = xla_options(input);
  }
  if (is_scatter(r.op)) {
    r.updates_given = r.op == Op::kXlaScatter || input.one_in(3);
    r.updates = r.updates_given ? tensor(input, r.data.dtype) : TensorSpec{};
    r.reduction = input.pick(kReductions).value;
    r.include_self = !input.one_in(3);
    r.onto_zeros = input.one_in(5);
  }
  return r;
}

// The memory of a tensor, and where its element {0, 0, …} lies.
struct Memory {
  std::span<std::byte> bytes;
  std::byte* origin = nullptr;
};
Memory memory_of(int which, ByteRange range) {
  const std::span<std::byte> bytes = fuzz::memory_for(which, range.hi - range.lo);
  return {bytes, bytes.data() - range.lo};
}

struct Result {
  bool refused = false;
  std::vector<std::byte> output;
  bool operator==(const Result&) const = default;
};

class Runs {
 public:
  Runs(const Plan& plan, fuzz::Input& input)
      : plan_(plan),
        data_(memory_of(0, *byte_range(plan.data()))),
        indices_(memory_of(1, *byte_range(plan.indices()))),
        updates_(memory_of(2, *byte_range(plan.updates()))),
        output_(memory_of(3, *byte_range(plan.output()))) {
    input.fill(indices_.bytes);
    input.fill(data_.bytes);
    input.fill(updates_.bytes);
  }

  Result run(const std::string& kernel) {
    std::fill(output_.bytes.begin(), output_.bytes.end(), std::byte{0xEE});
    Result result;
    try {
      if (is_scatter(plan_.request().op)) {
        plan_.run(data_.origin, indices_.origin, updates_.origin, output_.origin,
                  {.kernel = kernel});
      } else {
        plan_.run(data_.origin, indices_.origin, output_.origin, {.kernel = kernel});
      }
    } catch (const IndexError&) {
      result.refused = true;
      fuzz::require(std::all_of(output_.bytes.begin(), output_.bytes.end(),
                                [](std::byte b) { return b == std::byte{0xEE}; }),
                    "an output was written before its indices were refused");
    }
    result.output.assign(output_.bytes.begin(), output_.bytes.end());
    return result;
  }

 private:
  const Plan& plan_;
  Memory data_, indices_, updates_, output_;
};

bool small(const TensorSpec& spec) {
  const std::optional<ByteRange> range = byte_range(spec);
  return range && range->hi - range->lo <= fuzz::kMostBytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  try {
    const Plan plan = make_plan(request(input));
    if (!small(plan.data()) || !small(plan.indices()) || !small(plan.updates()) ||
        !small(plan.output())) {
      return 0;
    }
    Runs runs(plan, input);
    const Result expected = runs.run("reference");
    for (const std::string& kernel : accepting_kernels(plan)) {
      fuzz::require(runs.run(kernel) == expected, kernel.c_str());
    }
  } catch (const Error& error) {
    fuzz::require(std::strstr(error.what(), "\n  try: ") != nullptr, "a refusal says what to try");
  }
  return 0;
}
