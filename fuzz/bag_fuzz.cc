// SPDX-License-Identifier: MIT
//
// Any bag, and any gather of an encoded table: refused with an Error, or planned and run by every
// kernel that takes it, between guard pages. All kernels give the reference backend's bytes, or all
// refuse indices or segments in the same words and none writes.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/bag_problem.h"
#include "input.h"
#include "plan/bag.h"
#include "plan/byte_ranges.h"
#include "sheaf/sheaf.h"
#include "support/checked.h"

namespace {

using namespace sheaf;

constexpr DType kElementTypes[] = {f32, f32, f16, bf16, f64, i32, u8, i64, f8e4m3, boolean, c64};
constexpr DType kScaleTypes[] = {f32, f16, bf16, f8e4m3, u8, i8, i32};
constexpr DType kIntegers[] = {i64, i32, u8, i8, i16, u16, u32, u64, f32};
constexpr DType kOutputs[] = {f32, f16, bf16, f64, u8};

// Contiguous, or one time in four with strides of its own.
TensorSpec spec_of(fuzz::Input& input, DType type, const Dims& sizes) {
  TensorSpec spec;  // unchecked: sizes may be anything
  spec.dtype = type;
  spec.sizes = sizes;
  spec.strides = Dims(sizes.size(), 1);
  uint64_t step = 1;
  for (int d = sizes.size() - 1; d >= 0; --d) {
    spec.strides[d] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(sizes[d]);
  }
  if (input.one_in(4)) {
    for (int64_t& stride : spec.strides) {
      stride = input.number(-4, 40);
    }
  }
  if (input.one_in(30)) {
    spec.sizes.push_back(input.number(0, 3));
  }
  return spec;
}

// The bytes of a row where the encoding has such rows, now and then another number.
int64_t stored_bytes(fuzz::Input& input, Encoding encoding, int64_t elements) {
  if (!input.one_in(16)) {
    try {
      return encoded_row_bytes(encoding, elements);
    } catch (const Error&) {
    }
  }
  return input.number(0, 80);
}

EncodedSpec table(fuzz::Input& input) {
  Dims sizes;
  for (int64_t rank = input.one_in(6) ? input.below(4) : 2; rank > 0; --rank) {
    sizes.push_back(input.number(0, 6));
  }
  const auto encoding = input.one_in(2) ? Encoding::kPlain : input.enumerator<Encoding>(23);
  if (encoding == Encoding::kPlain) {
    return spec_of(input, input.pick(kElementTypes), sizes);
  }
  if (!sizes.empty() && encoding >= Encoding::kQ8_0 && sizes.back() >= 0 && sizes.back() < 4) {
    sizes.back() *= encoding >= Encoding::kQ4K ? 256 : 32;
  }
  EncodedSpec data;
  data.encoding = encoding;
  data.sizes = sizes;
  Dims stored = sizes;
  if (!stored.empty()) {
    stored.back() = stored_bytes(input, encoding, sizes.back());
  }
  data.stored = spec_of(input, input.one_in(40) ? i8 : u8, stored);
  data.axis = input.number(-2, 1);
  data.block = input.number(0, 4);
  data.usual_zero = input.number(-8, 8);
  const auto axis = data.axis < 0 ? data.axis + sizes.size() : data.axis;
  if ((encoding < Encoding::kRowU8F32) != input.one_in(30)) {
    Dims blocks = sizes;
    if (input.one_in(5)) {
      blocks = {1};
    } else if (axis >= 0 && axis < sizes.size() && data.block >= 0) {
      int64_t& size = blocks[static_cast<int>(axis)];
      size = data.block == 0 ? 1 : size / data.block + (size % data.block != 0 ? 1 : 0);
    }
    data.scales = spec_of(input, input.pick(kScaleTypes), blocks);
    if (input.one_in(3)) {
      const DType type = input.pick(kScaleTypes);
      if (!blocks.empty() && !input.one_in(4) && (type == u8 || type == i8)) {
        const int64_t each = encoding == Encoding::kU4 || encoding == Encoding::kI4   ? 2
                             : encoding == Encoding::kU2 || encoding == Encoding::kI2 ? 4
                                                                                      : 1;
        blocks.back() = blocks.back() / each + (blocks.back() % each != 0 ? 1 : 0);
      }
      data.zeros = spec_of(input, type, blocks);
    }
  }
  return data;
}

BagProblem problem(fuzz::Input& input) {
  constexpr OutOfRange kChecked[] = {OutOfRange::kFail, OutOfRange::kFail, OutOfRange::kClamp,
                                     OutOfRange::kFill, OutOfRange::kWrap, OutOfRange::kSkip};
  BagProblem made;
  made.specs.data = table(input);
  BagOptions& o = made.options;
  o.pool = input.enumerator<Pool>(5);
  o.segments = input.enumerator<SegmentForm>(2);
  o.last_offset = input.one_in(3);
  o.bags = input.number(-1, 5);
  o.accumulate_f32 = !input.one_in(3);
  o.rule.negative = input.enumerator<Negative>(1);
  o.rule.out_of_range =
      input.one_in(40) ? static_cast<OutOfRange>(input.number(6, 90)) : input.pick(kChecked);
  o.rule.fill_value = input.number(-2, 3);
  o.empty_value = input.number(-2, 3);
  if (input.one_in(3)) {
    o.padding_index = input.number(-3, 3);
  }
  if (input.one_in(3)) {
    o.output_type = input.pick(kOutputs);
  }
  const int64_t entries =
      input.number(0, input.one_in(4) ? 90 : 12);  // from 33 on not all are listed
  const bool matrix = input.one_in(4);
  if (matrix || !input.one_in(5)) {
    const Dims sizes = matrix ? Dims{input.number(0, 3), entries} : Dims{entries};
    made.specs.indices = spec_of(input, input.pick(kIntegers), sizes);
  }
  if (matrix == input.one_in(20)) {
    const int64_t count = o.segments == SegmentForm::kIds ? entries : input.number(0, 5);
    made.specs.segments = spec_of(input, input.pick(kIntegers), {count});
  }
  if (input.one_in(3)) {
    made.specs.weights = spec_of(input, input.pick(kOutputs),
                                 made.specs.indices ? made.specs.indices->sizes : Dims{entries});
  }
  return made;
}

constexpr int kTensors = 7;

// Where the tensor lies in memory of its own; null where it has none or is empty.
struct Guarded {
  std::span<std::byte> bytes;
  std::byte* origin = nullptr;
};
Guarded guarded(int which, const TensorSpec& spec, Flush flush) {
  static const GuardedMemory memory[kTensors] = {
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes),
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes),
      GuardedMemory(fuzz::kMostBytes), GuardedMemory(fuzz::kMostBytes),
      GuardedMemory(fuzz::kMostBytes)};
  const ByteRange range = *byte_range(spec);
  const auto bytes = memory[which].part(static_cast<size_t>(range.hi - range.lo), flush);
  return {bytes, bytes.data() - range.lo};
}

bool small(const TensorSpec& spec) {
  const std::optional<ByteRange> range = byte_range(spec);
  int64_t elements = 1;
  for (const int64_t size : spec.sizes) {
    elements = saturating_mul(elements, size);
  }
  return range && range->hi - range->lo <= fuzz::kMostBytes && elements <= fuzz::kMostBytes;
}

// The seven tensors of a bag, filled by the input.
class Tensors {
 public:
  Tensors(const BagSpecs& specs, const TensorSpec& output, fuzz::Input& input)
      : flush_(input.one_in(2) ? Flush::kFront : Flush::kBack) {
    place(0, &specs.data.stored);
    place(1, specs.data.scales ? &*specs.data.scales : nullptr);
    place(2, specs.data.zeros ? &*specs.data.zeros : nullptr);
    place(3, specs.indices ? &*specs.indices : nullptr);
    place(4, specs.segments ? &*specs.segments : nullptr);
    place(5, specs.weights ? &*specs.weights : nullptr);
    place(6, &output);
    for (const int which : {4, 3, 5, 1, 2, 0}) {
      input.fill(all_[which].bytes);
    }
  }
  BagMemory memory() const {
    return {all_[0].origin, all_[1].origin, all_[2].origin, all_[3].origin,
            all_[4].origin, all_[5].origin, all_[6].origin};
  }
  // Most inputs are to get past the check of segments.
  void make_sound(const BagPlan& plan, fuzz::Input& input) {
    const auto& spec = plan.request().specs.segments;
    if (!spec || input.one_in(3)) {
      return;
    }
    const auto entries = plan.nest().entries;
    int64_t value = 0;
    for (int64_t i = 0; i < spec->sizes[0]; ++i) {
      const bool lengths = plan.nest().form == SegmentForm::kLengths;
      const bool ids = plan.nest().form == SegmentForm::kIds;
      const int64_t most = ids ? plan.bags() - 1 : entries;
      const int64_t step = std::min(input.below(4), std::max<int64_t>(most - value, 0));
      const bool last = lengths && i + 1 == spec->sizes[0];
      const int64_t stored = lengths ? (last ? entries - value : step) : value;
      value += step;
      std::memcpy(all_[4].origin + i * spec->strides[0] * spec->dtype.bytes(), &stored,
                  static_cast<size_t>(spec->dtype.bytes()));
    }
  }
  std::span<std::byte> output() const { return all_[6].bytes; }

 private:
  void place(int which, const TensorSpec* spec) {
    if (spec != nullptr) {
      all_[which] = guarded(which, *spec, flush_);
    }
  }

  Flush flush_;
  Guarded all_[kTensors];
};

constexpr std::byte kNothing{0xEE};

template <class Run>
BagResult result_of(const Tensors& tensors, Run run) {
  std::fill(tensors.output().begin(), tensors.output().end(), kNothing);
  BagResult result;
  try {
    run();
  } catch (const Error& error) {
    result.error = error.what();
    fuzz::require(std::all_of(tensors.output().begin(), tensors.output().end(),
                              [](std::byte b) { return b == kNothing; }),
                  "an output was written before its inputs were refused");
  }
  result.output.assign(tensors.output().begin(), tensors.output().end());
  return result;
}

bool all_small(const BagSpecs& specs, const TensorSpec& output) {
  const auto fits = [](const std::optional<TensorSpec>& spec) { return !spec || small(*spec); };
  return small(specs.data.stored) && fits(specs.data.scales) && fits(specs.data.zeros) &&
         fits(specs.indices) && fits(specs.segments) && fits(specs.weights) && small(output);
}

void run_bag(fuzz::Input& input, const BagProblem& asked) {
  const BagPlan plan = asked.plan();
  fuzz::require(!plan.str().empty() && !plan.json().empty(), "a plan prints");
  if (!all_small(asked.specs, plan.output())) {
    return;
  }
  Tensors tensors(asked.specs, plan.output(), input);
  tensors.make_sound(plan, input);
  const auto run = [&](std::string_view kernel, int threads) {
    return result_of(tensors,
                     [&] { plan.run(tensors.memory(), {.threads = threads, .kernel = kernel}); });
  };
  const BagResult expected = run("reference", 1);
  for (const std::string_view kernel : bag_kernels(plan)) {
    fuzz::require(run(kernel, static_cast<int>(input.below(3))) == expected,
                  std::string(kernel).c_str());
  }
}

void run_gather(fuzz::Input& input, BagProblem asked) {
  const TensorSpec indices = asked.specs.indices ? *asked.specs.indices : TensorSpec(i64, {2, 2});
  const DType type = input.pick(kOutputs);
  const IndexRule rule = asked.options.rule;
  const int64_t axis = input.number(-1, 2);
  const int64_t op = input.below(3);
  const EncodedGatherPlan plan =
      op == 0   ? plan_gather_encoded(asked.specs.data, indices,
                                      GatherOptions{.axis = axis, .rule = rule}, type)
      : op == 1 ? plan_gather_encoded(asked.specs.data, indices,
                                      GatherElementsOptions{.axis = axis, .rule = rule}, type)
                : plan_gather_encoded(asked.specs.data, indices,
                                      GatherNdOptions{.batch_dims = axis, .rule = rule}, type);
  fuzz::require(!plan.str().empty(), "a plan prints");
  asked.specs.indices = indices;
  asked.specs.segments = asked.specs.weights = {};
  if (!all_small(asked.specs, plan.output())) {
    return;
  }
  const Tensors tensors(asked.specs, plan.output(), input);
  const BagMemory memory = tensors.memory();
  const auto run = [&](std::string_view kernel) {
    return result_of(tensors, [&] {
      plan.run({memory.stored, memory.scales, memory.zeros, memory.indices, memory.output},
               {.kernel = kernel});
    });
  };
  fuzz::require(run("cpu.encoded") == run("reference"), "cpu.encoded");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  try {
    const BagProblem asked = problem(input);
    if (asked.specs.data.encoding != Encoding::kPlain && input.one_in(2)) {
      run_gather(input, asked);
    } else {
      run_bag(input, asked);
    }
  } catch (const Error& error) {
    fuzz::require(std::strstr(error.what(), "\n  try: ") != nullptr, "a refusal says what to try");
  }
  return 0;
}
