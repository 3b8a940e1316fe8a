// SPDX-License-Identifier: MIT
//
// Narrow floats that accumulate in f32: wide, in order, rounded once, on every backend.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"
#include "support/float_bits.h"

namespace sheaf {
namespace {

struct Narrow {
  DType type;
  FloatFormat format;
};
const Narrow kNarrow[] = {
    {f16, kFormatF16}, {bf16, kFormatBF16}, {f8e4m3, kFormatF8E4M3}, {f8e5m2, kFormatF8E5M2}};

// Elements of a narrow type, from values that need not be exact in it.
std::vector<std::byte> encoded(const Narrow& narrow, const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  for (const double value : values) {
    const uint16_t bits = to_float_bits(narrow.format, value);
    bytes.push_back(static_cast<std::byte>(bits & 0xFF));
    if (narrow.type.bytes() == 2) {
      bytes.push_back(static_cast<std::byte>(bits >> 8));
    }
  }
  return bytes;
}

float decoded(const Narrow& narrow, const std::vector<std::byte>& bytes, size_t i) {
  const size_t width = static_cast<size_t>(narrow.type.bytes());
  unsigned bits = std::to_integer<unsigned>(bytes[i * width]);
  bits |= width == 2 ? std::to_integer<unsigned>(bytes[i * width + 1]) << 8 : 0U;
  return static_cast<float>(from_float_bits(narrow.format, static_cast<uint16_t>(bits)));
}

// 2,000 updates of one column into 7 cells: the plain loop, in float.
struct SumCase {
  explicit SumCase(const Narrow& type) : narrow(type) {
    std::mt19937 random(7);
    std::vector<double> start, values;
    for (int i = 0; i < 7; ++i) {
      start.push_back(0.25 * i);
    }
    for (int i = 0; i < 2000; ++i) {
      indices.push_back(static_cast<int64_t>(random() % 7));
      values.push_back(static_cast<double>(random() % 64) / 512);
    }
    data = encoded(narrow, start);
    updates = encoded(narrow, values);
  }

  std::vector<std::byte> expected(bool include_self, bool mean) const {
    std::vector<double> results;
    for (size_t cell = 0; cell < 7; ++cell) {
      float sum = include_self ? decoded(narrow, data, cell) : -0.0F;
      int64_t count = include_self ? 1 : 0;
      for (size_t i = 0; i < indices.size(); ++i) {
        if (indices[i] == static_cast<int64_t>(cell)) {
          sum += decoded(narrow, updates, i);
          ++count;
        }
      }
      results.push_back(mean ? double{static_cast<float>(sum / static_cast<double>(count))}
                             : double{sum});
    }
    return encoded(narrow, results);
  }

  Plan plan(const ScatterOptions& options) const {
    return plan_scatter({narrow.type, {7}}, {i64, {2000}}, {narrow.type, {2000}}, options);
  }

  Narrow narrow;
  std::vector<int64_t> indices;
  std::vector<std::byte> data, updates;
};

TEST(WideScatter, RoundsOnceOnEveryBackend) {
  add_deferred_device();
  for (const Narrow& narrow : kNarrow) {
    const SumCase sum(narrow);
    for (const bool include_self : {true, false}) {
      for (const Reduction reduction : {Reduction::kAdd, Reduction::kMean}) {
        const Plan plan = sum.plan(
            {.reduction = reduction, .include_self = include_self, .accumulate_f32 = true});
        const auto expected = sum.expected(include_self, reduction == Reduction::kMean);
        for (const std::string backend : {"", "reference"}) {
          std::vector<std::byte> output(sum.data.size());
          plan.run(sum.data.data(), sum.indices.data(), sum.updates.data(), output.data(),
                   {.kernel = backend});
          EXPECT_EQ(output, expected) << narrow.type.name() << " " << backend;
        }
        std::vector<std::byte> output(sum.data.size());
        const DeviceMemory workspace(kDeferred, workspace_bytes(plan, {.device = kDeferred}));
        const Queue queue{.device = kDeferred, .workspace = workspace};
        run(plan, sum.data.data(), sum.indices.data(), sum.updates.data(), output.data(), queue);
        finish(plan, queue);
        EXPECT_EQ(output, expected) << narrow.type.name() << " on a device";
      }
    }
  }
}

TEST(WideScatter, DiffersFromRoundingEachUpdate) {
  const SumCase sum(kNarrow[1]);
  std::vector<std::byte> each(sum.data.size());
  sum.plan({.reduction = Reduction::kAdd})
      .run(sum.data.data(), sum.indices.data(), sum.updates.data(), each.data());
  EXPECT_NE(each, sum.expected(true, false));
}

TEST(WideScatter, TakesStridesRepeatedUpdatesAndItsOwnData) {
  // Column 1 of a 3 x 2 table, in place; one update for all three indices.
  std::vector<std::byte> table = encoded(kNarrow[0], {1, 2, 3, 4, 5, 6});
  const std::vector<std::byte> one = encoded(kNarrow[0], {0.5});
  const std::vector<int64_t> indices = {2, 0, 2};
  const TensorSpec column(f16, {3}, {2});
  const Plan plan = plan_scatter(column, {i64, {3}}, {f16, {3}, {0}}, column,
                                 {.reduction = Reduction::kAdd, .accumulate_f32 = true});
  void* const at = table.data() + 2;
  plan.run(at, indices.data(), one.data(), at);
  EXPECT_EQ(table, encoded(kNarrow[0], {1, 2.5, 3, 4, 5, 7}));
}

// On the host and on a device: onto zeros, where data is not read, under a rule that cannot fail,
// and with nothing to write to or from.
TEST(WideScatter, TakesEveryShapeAndRuleOnEveryBackend) {
  add_deferred_device();
  const Narrow& narrow = kNarrow[0];
  const auto run_both = [](const Plan& plan, const std::vector<std::byte>& data,
                           const std::vector<int64_t>& indices,
                           const std::vector<std::byte>& updates) {
    std::vector<std::byte> on_host(data.size(), std::byte{0x55}), on_device = on_host;
    plan.run(data.data(), indices.data(), updates.data(), on_host.data());
    const DeviceMemory workspace(kDeferred, workspace_bytes(plan, {.device = kDeferred}));
    const Queue queue{.device = kDeferred, .workspace = workspace};
    run(plan, data.data(), indices.data(), updates.data(), on_device.data(), queue);
    finish(plan, queue);
    EXPECT_EQ(on_host, on_device);
    return on_host;
  };
  const auto data = encoded(narrow, {1, 2, 3}), updates = encoded(narrow, {0.5, 0.25});
  const ScatterOptions adds{.reduction = Reduction::kAdd, .accumulate_f32 = true};
  ScatterOptions zeros = adds, skips = adds;
  zeros.onto_zeros = true;
  skips.rule.out_of_range = OutOfRange::kSkip;
  const auto planned = [](int64_t entries, int64_t count, const ScatterOptions& options) {
    return plan_scatter({f16, {entries}}, {i64, {count}}, {f16, {count}}, options);
  };
  EXPECT_EQ(run_both(planned(3, 2, zeros), data, {2, 2}, updates), encoded(narrow, {0, 0, 0.75}));
  EXPECT_EQ(run_both(planned(3, 2, skips), data, {9, 0}, updates), encoded(narrow, {1.25, 2, 3}));
  EXPECT_EQ(run_both(planned(3, 0, adds), data, {}, {}), data);
  EXPECT_EQ(run_both(planned(0, 2, skips), {}, {0, 1}, updates), std::vector<std::byte>());
  const Plan scalar = plan_xla_scatter(
      {f16, {}}, {i64, {0}}, {f16, {}},
      {.index_vector_dim = 0, .reduction = Reduction::kAdd, .accumulate_f32 = true});
  EXPECT_EQ(run_both(scalar, encoded(narrow, {1}), {}, encoded(narrow, {0.5})),
            encoded(narrow, {1.5}));
}

TEST(WideScatter, WithoutAReductionNothingIsWidened) {
  const Plan plan = plan_scatter({f16, {3}}, {i64, {1}}, {f16, {1}}, {.accumulate_f32 = true});
  std::vector<std::byte> output(6);
  const auto data = encoded(kNarrow[0], {1, 2, 3}), update = encoded(kNarrow[0], {9});
  const int64_t index = 1;
  plan.run(data.data(), &index, update.data(), output.data());
  EXPECT_EQ(output, encoded(kNarrow[0], {1, 9, 3}));
}

TEST(WideScatter, LeavesTheOutputUntouchedOnABadIndex) {
  add_deferred_device();
  SumCase sum(kNarrow[2]);
  sum.indices[3] = 9;
  const Plan plan = sum.plan({.reduction = Reduction::kAdd, .accumulate_f32 = true});
  std::vector<std::byte> output(sum.data.size(), std::byte{0x55});
  const auto untouched = output;
  const std::string text =
      "scatter: index out of range\n"
      "  indices[3] = 9, but axis 0 of data has 7 entries (allowed -7..6); 1 of 2000 indices are "
      "out of range\n"
      "  data f8e4m3[7]   indices i64[2000]   updates f8e4m3[2000]   axis 0   reduction add   "
      "accumulate_f32 1   output f8e4m3[7]\n";
  const auto on_host = refusal(
      [&] { plan.run(sum.data.data(), sum.indices.data(), sum.updates.data(), output.data()); },
      ErrorCode::kIndexOutOfRange);
  EXPECT_EQ(on_host.substr(0, text.size()), text);
  const DeviceMemory workspace(kDeferred, workspace_bytes(plan, {.device = kDeferred}));
  const Queue queue{.device = kDeferred, .workspace = workspace};
  run(plan, sum.data.data(), sum.indices.data(), sum.updates.data(), output.data(), queue);
  EXPECT_EQ(
      refusal([&] { finish(plan, queue); }, ErrorCode::kIndexOutOfRange).substr(0, text.size()),
      text);
  EXPECT_EQ(output, untouched);
}

TEST(WideScatter, RefusesTypesThatAreNotRoundedFromFloat) {
  EXPECT_EQ(refusal([] {
              plan_scatter({f64, {3}}, {i64, {1}}, {f64, {1}},
                           {.reduction = Reduction::kAdd, .accumulate_f32 = true});
            }),
            "scatter: nothing to accumulate in f32\n"
            "  data is f64, but f16, bf16, f8e4m3 and f8e5m2 are rounded from f32\n"
            "  data f64[3]   indices i64[1]   updates f64[1]   axis 0   reduction add   "
            "accumulate_f32 1\n"
            "  try: leave accumulate out");
}

TEST(WideScatter, IsAnotherPlanThanRoundingEachUpdate) {
  const auto plan = [](DType type, bool wide) {
    return plan_scatter({type, {3}}, {i64, {1}}, {type, {1}},
                        {.reduction = Reduction::kAdd, .accumulate_f32 = wide});
  };
  EXPECT_FALSE(plan(f16, true) == plan(f16, false));
  EXPECT_TRUE(plan(f16, true) == plan(f16, true));
  EXPECT_TRUE(plan(f32, true) == plan(f32, false));
  EXPECT_TRUE(plan(f16, true).str().starts_with("scatter add f16 in f32, 2 bytes per step"));
}

}  // namespace
}  // namespace sheaf
