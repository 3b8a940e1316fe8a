// SPDX-License-Identifier: MIT
//
// Bags on a device against the reference, bit for bit: every encoding, type, pool, form of segments
// and index rule, by every kernel, with strides, weights, bags that are empty and bags that are
// long.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "execution/registry.h"
#include "helpers/bag_device.h"
#include "helpers/device.h"
#include "plan/bag.h"

namespace sheaf {
namespace {

class DeviceBag : public DeviceTest {};

std::span<const BagKernel> kernels() { return device_backend(test_device()).bag; }

bool is_sound(const BagProblem& problem) {
  try {
    problem.plan();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// Runs on every kernel that accepts, on fresh outputs and others. Returns whether all of them do,
// or the problem is left out.
bool compare(const BagProblem& problem) {
  if (!takes_next_problem()) {
    return true;
  }
  const BagPlan plan = problem.plan();
  const BagResult right = problem.on_reference();
  EXPECT_EQ(right.error, "") << plan.str();
  size_t ran = 0;
  for (const BagKernel& kernel : kernels()) {
    if (kernel.refusal(plan.nest()) == nullptr) {
      ++ran;
      for (const bool fresh : {false, true}) {
        const BagResult result = on_device(problem, kernel.name, fresh);
        EXPECT_EQ(result.error, "") << plan.str();
        EXPECT_TRUE(result.output == right.output) << kernel.name << " fresh " << fresh << "\n"
                                                   << plan.str() << describe(plan.request());
      }
    }
  }
  EXPECT_GT(ran, 0u);
  return ran == kernels().size();
}

// Bags of 0 to 9 entries.
std::vector<int64_t> some_lengths(Rng& rng, int64_t bags) {
  std::vector<int64_t> lengths(static_cast<size_t>(bags));
  for (int64_t& length : lengths) {
    length = rng.one_in(4) ? 0 : rng.from(1, 9);
  }
  return lengths;
}

int64_t sum_of(const std::vector<int64_t>& lengths) {
  int64_t sum = 0;
  for (const int64_t length : lengths) {
    sum += length;
  }
  return sum;
}

BagProblem problem_of(const EncodedSpec& data, const std::vector<int64_t>& lengths, Rng& rng,
                      const BagOptions& options, bool weighted = false) {
  BagProblem problem;
  problem.specs.data = data;
  problem.options = options;
  const std::vector<int64_t> segments = segments_of(lengths, options.segments, options.last_offset);
  problem.specs.indices = TensorSpec(i64, {sum_of(lengths)});
  problem.specs.segments = TensorSpec(i64, {static_cast<int64_t>(segments.size())});
  if (options.segments == SegmentForm::kIds) {
    problem.options.bags = static_cast<int64_t>(lengths.size());
  }
  if (weighted) {
    problem.specs.weights = TensorSpec(f32, problem.specs.indices->sizes);
  }
  problem.make_tensors(rng);
  problem.segments.set_all(segments);
  return problem;
}

const std::vector<DType> kTypes = {boolean, i8,  i16,    i32,  i64, u8,  u16, u32, u64,
                                   f8e4m3,  f16, f8e5m2, bf16, f32, f64, c64, c128};
const std::vector<Pool> kAllPools = {Pool::kSum, Pool::kMean, Pool::kMax,
                                     Pool::kMin, Pool::kMul,  Pool::kSqrtN};

TEST_F(DeviceBag, EveryTypeAndPool) {
  Rng rng(1);
  int ran = 0, by_all = 0;
  for (const DType type : kTypes) {
    for (const Pool pool : kAllPools) {
      for (const bool wide : {true, false}) {
        for (const int64_t columns : {1, 5, 32, 200}) {
          const BagProblem problem =
              problem_of(TensorSpec(type, {40, columns}), some_lengths(rng, 37), rng,
                         {.pool = pool, .accumulate_f32 = wide}, columns != 5);
          BagProblem unweighted = problem;
          unweighted.specs.weights = {};
          unweighted.weights = {};
          for (const BagProblem* p : {&problem, static_cast<const BagProblem*>(&unweighted)}) {
            if (is_sound(*p)) {
              by_all += compare(*p) ? 1 : 0;
              ++ran;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(ran, 700);
  EXPECT_GT(by_all, 50);
}

EncodedSpec codes_of(Encoding encoding, int64_t rows, int64_t columns, int variant) {
  if (!has_scales_beside(encoding)) {
    return encoded_rows(encoding, {rows, columns});
  }
  EncodedSpec spec;
  spec.encoding = encoding;
  spec.sizes = {rows, columns};
  spec.stored = TensorSpec(u8, {rows, (columns * code_bits(encoding) + 7) / 8});
  spec.block = variant % 2 == 0 ? 32 : 16;
  spec.axis = variant == 4 ? 0 : -1;
  const DType types[] = {f32, f16, u8, f8e4m3, bf16};
  const Dims blocks = spec.axis == 0 ? Dims{(rows + spec.block - 1) / spec.block, columns}
                                     : Dims{rows, (columns + spec.block - 1) / spec.block};
  spec.scales = TensorSpec(types[variant], variant == 1 ? Dims{1} : blocks);
  if (variant == 0) {
    spec.zeros = TensorSpec(f16, blocks);
  } else if (variant == 3) {
    const int64_t per_byte = 8 / code_bits(encoding);
    spec.zeros = TensorSpec(u8, {rows, (blocks[1] + per_byte - 1) / per_byte});
  }
  spec.usual_zero = 3;
  return spec;
}

TEST_F(DeviceBag, EveryEncoding) {
  Rng rng(2);
  int by_all = 0;
  for (int number = 1; number <= static_cast<int>(Encoding::kQ6K); ++number) {
    const auto encoding = static_cast<Encoding>(number);
    for (int variant = 0; variant < 5; ++variant) {
      for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
        const DType types[] = {f32, f16, bf16};
        const BagOptions options{
            .pool = pool, .accumulate_f32 = variant != 2, .output_type = types[variant % 3]};
        by_all += compare(problem_of(codes_of(encoding, 50, 256, variant), some_lengths(rng, 30),
                                     rng, options, variant == 1));
      }
    }
  }
  EXPECT_GT(by_all, 20);
}

TEST_F(DeviceBag, SegmentsOfEveryFormAndType) {
  Rng rng(3);
  for (const SegmentForm form : {SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds}) {
    for (const DType type : {i8, i16, i32, i64, u8, u16, u32, u64}) {
      for (const int64_t stride : {1, 3, -2}) {
        for (const bool last : {false, true}) {
          const BagOptions options{.segments = form, .last_offset = last};
          BagProblem problem =
              problem_of(TensorSpec(f32, {60, 8}), some_lengths(rng, 20), rng, options);
          const std::vector<int64_t> values = [&] {
            std::vector<int64_t> lengths = some_lengths(rng, 20);
            while (sum_of(lengths) > 120) {
              lengths = some_lengths(rng, 20);
            }
            problem.specs.indices = TensorSpec(i64, {sum_of(lengths)});
            return segments_of(lengths, form, last);
          }();
          problem.specs.segments =
              TensorSpec(type, {static_cast<int64_t>(values.size())}, {stride});
          problem.make_tensors(rng);
          problem.segments.set_all(values);
          compare(problem);
        }
      }
    }
  }
}

TEST_F(DeviceBag, EveryIndexRuleAndType) {
  Rng rng(4);
  for (const DType type : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap,
                                  OutOfRange::kFill, OutOfRange::kSkip}) {
      for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
        for (const Pool pool : {Pool::kMean, Pool::kMax}) {
          BagOptions options{.pool = pool,
                             .padding_index = 7,
                             .empty_value = -5,
                             .rule = {.negative = negative, .out_of_range = rule}};
          options.rule.fill_value = rule == OutOfRange::kFill ? Scalar(2.5) : Scalar();
          BagProblem problem = problem_of(TensorSpec(f32, {30, 16}), some_lengths(rng, 40), rng,
                                          options, pool == Pool::kMean);
          const int64_t entries = problem.specs.indices->sizes[0];
          problem.specs.indices = TensorSpec(type, {entries});
          problem.indices = BagBytes(*problem.specs.indices);
          const bool goes_out = rule != OutOfRange::kFail;
          const bool below =
              type.is_signed_integer() && (goes_out || negative == Negative::kFromEnd);
          for (int64_t i = 0; i < entries; ++i) {
            problem.indices.set(i,
                                rng.from(below ? (goes_out ? -70 : -30) : 0, goes_out ? 70 : 29));
          }
          compare(problem);
        }
      }
    }
  }
}

TEST_F(DeviceBag, StridesOfEveryTensor) {
  Rng rng(5);
  const BagOptions options{.rule = {.out_of_range = OutOfRange::kSkip}};
  for (const DType type : {f32, f16, f64, u8}) {
    for (const Dims& strides : {Dims{24, 1}, Dims{-24, 1}, Dims{1, 40}, Dims{48, -2}, Dims{0, 1}}) {
      for (const Dims& output : {Dims{24, 1}, Dims{32, 1}, Dims{-25, 1}, Dims{1, 9}, Dims{50, 2}}) {
        BagProblem problem;
        problem.specs.data = TensorSpec(type, {40, 24}, strides);
        problem.specs.indices = TensorSpec(i32, {9, 6}, {1, 10});
        problem.specs.weights = TensorSpec(f32, {9, 6}, {7, 1});
        if (type == u8) {
          problem.specs.weights = {};
        }
        problem.options = options;
        problem.output = TensorSpec(type, {9, 24}, output);
        problem.make_tensors(rng);
        compare(problem);
      }
    }
  }
}

// Rows of one word, of words that are no power of two, of several chunks, and of more dimensions.
TEST_F(DeviceBag, RowsOfEverySize) {
  Rng rng(6);
  for (const int64_t columns :
       {4, 8, 12, 16, 20, 24, 36, 64, 96, 100, 128, 132, 160, 260, 1000, 1800}) {
    for (const DType type : {f32, bf16}) {
      compare(problem_of(TensorSpec(type, {33, columns}), some_lengths(rng, 50), rng, {}));
      compare(
          problem_of(TensorSpec(type, {33, 2, columns / 2}), some_lengths(rng, 50), rng, {}, true));
    }
    for (const Encoding encoding :
         {Encoding::kRowU8F32, Encoding::kRowU8F16Front, Encoding::kRowU4F16}) {
      compare(problem_of(encoded_rows(encoding, {33, columns}), some_lengths(rng, 50), rng, {}));
      compare(problem_of(encoded_rows(encoding, {11, 3, columns}), some_lengths(rng, 50), rng, {},
                         true));
    }
  }
}

TEST_F(DeviceBag, RowsWithoutIndices) {
  Rng rng(7);
  for (const SegmentForm form : {SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds}) {
    const std::vector<int64_t> lengths = some_lengths(rng, 25);
    BagProblem problem;
    problem.specs.data = TensorSpec(f32, {sum_of(lengths), 20});
    problem.options = {.segments = form};
    problem.options.bags = form == SegmentForm::kIds ? 25 : -1;
    const std::vector<int64_t> segments = segments_of(lengths, form, false);
    problem.specs.segments = TensorSpec(i64, {static_cast<int64_t>(segments.size())});
    problem.make_tensors(rng);
    problem.segments.set_all(segments);
    compare(problem);
  }
}

// More than 256 entries are pooled through a ring in shared memory.
TEST_F(DeviceBag, LongBags) {
  Rng rng(8);
  for (const Pool pool : kAllPools) {
    for (const bool weighted : {false, true}) {
      for (const int64_t columns : {4, 40, 128}) {
        std::vector<int64_t> lengths = some_lengths(rng, 70);
        lengths[0] = 257;
        lengths[9] = 5000;
        lengths[10] = 1024;
        lengths[40] = 300;
        lengths[69] = 2049;
        BagOptions options{
            .pool = pool, .padding_index = 3, .rule = {.out_of_range = OutOfRange::kSkip}};
        for (const EncodedSpec& data : {EncodedSpec(TensorSpec(f32, {40, columns})),
                                        EncodedSpec(TensorSpec(f16, {40, columns})),
                                        EncodedSpec(TensorSpec(f64, {40, columns})),
                                        EncodedSpec(TensorSpec(i32, {40, columns})),
                                        encoded_rows(Encoding::kRowU8F32, {40, columns}),
                                        encoded_rows(Encoding::kRowU2F16, {40, columns})}) {
          BagProblem problem = problem_of(data, lengths, rng, options, weighted);
          for (int64_t i = 0; i < problem.specs.indices->sizes[0]; i += 11) {
            problem.indices.set(i, 77);
          }
          if (is_sound(problem)) {
            compare(problem);
          }
        }
      }
    }
  }
}

TEST_F(DeviceBag, LongBagsOfAMatrix) {
  Rng rng(9);
  for (const int64_t per_bag : {0, 1, 256, 257, 1500}) {
    for (const DType type : {f32, bf16, f64}) {
      BagProblem problem;
      problem.specs.data = TensorSpec(type, {100, 72});
      problem.specs.indices = TensorSpec(i64, {6, per_bag});
      problem.specs.weights = TensorSpec(f16, {6, per_bag});
      problem.options.pool = Pool::kMean;
      problem.make_tensors(rng);
      compare(problem);
    }
  }
}

TEST_F(DeviceBag, ManyBagsAndLongGaps) {
  Rng rng(10);
  for (const SegmentForm form : {SegmentForm::kOffsets, SegmentForm::kLengths, SegmentForm::kIds}) {
    std::vector<int64_t> lengths(200'000, 0);
    for (int i = 0; i < 50'000; ++i) {
      lengths[static_cast<size_t>(rng.from(100'000, 199'999))] += 1;
    }
    compare(problem_of(TensorSpec(f32, {1000, 8}), lengths, rng, {.segments = form}));
  }
}

}  // namespace
}  // namespace sheaf
