// SPDX-License-Identifier: MIT
//
// Runs of a few points are moved and reduced many at a time: which ones, and that the reference's
// bits come out, whatever the type, the rule and the length of a run.
#include "backends/cpu/short_runs.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using cpu::places_in_runs;
using cpu::runs_together;

// Loop: extent, data, index, output, window.
TEST(ShortRuns, AreJoinedWhereIndicesAndOutputsFollow) {
  const Loop inner{3, 0, 1, 4, 0};
  EXPECT_EQ(runs_together({1000, 12, 3, 12, 0}, inner, 4), 682);  // of 2048 points
  EXPECT_EQ(runs_together({5, 12, 3, 12, 0}, inner, 4), 5);
  EXPECT_EQ(runs_together({3, 12, 3, 12, 0}, inner, 4), 1) << "few runs";
  EXPECT_EQ(runs_together({1000, 12, 4, 12, 0}, inner, 4), 1) << "indices with gaps";
  EXPECT_EQ(runs_together({1000, 12, 3, 16, 0}, inner, 4), 1) << "output with gaps";
  EXPECT_EQ(runs_together({1000, 12, 0, 12, 0}, {3, 0, 0, 4, 0}, 4), 1) << "one index for all";
  EXPECT_EQ(runs_together({1000, 4096, 129, 516, 0}, {129, 0, 1, 4, 0}, 4), 1) << "long";
  EXPECT_EQ(runs_together({1000, 9999, 3, 6000, 0}, {3, 0, 1, 2000, 0}, 2000), 1) << "wide rows";
}

TEST(ShortRuns, ReachNoFurtherThan32BitPlaces) {
  const int64_t far = int64_t{1} << 27;
  EXPECT_EQ(runs_together({1000, far, 3, 12, 0}, {3, 0, 1, 4, 0}, 4), 4);
  EXPECT_EQ(runs_together({1000, -far, 3, 12, 0}, {3, 0, 1, 4, 0}, 4), 4);
  EXPECT_EQ(runs_together({1000, 8 * far, 3, 12, 0}, {3, 0, 1, 4, 0}, 4), 1);
  EXPECT_EQ(runs_together({1000, 12, 3, 12, 0}, {3, 8 * far, 1, 4, 0}, 4), 1);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(runs_together({9, kMost, 3, 12, 0}, {3, -kMost, 1, 4, 0}, 4), 1);
}

TEST(ShortRuns, PlacesAreThoseOfTheLoops) {
  const auto places = places_in_runs({2, -100, 3, 12, 0}, {3, 8, 1, 4, 0}, 2);
  const std::vector<int32_t> expected{0, 8, 16, -100, -92, -84, 0};
  ASSERT_NE(places, nullptr);
  EXPECT_EQ(std::vector<int32_t>(places.get(), places.get() + 7), expected);
}

std::vector<std::byte> random_bytes(int64_t count, std::mt19937& rng) {
  std::vector<std::byte> bytes(static_cast<size_t>(count));
  for (auto& b : bytes) {
    b = static_cast<std::byte>(rng());
  }
  return bytes;
}

// Indices from [-extent, extent), and beyond it for rules that allow that.
template <class Index>
std::vector<Index> random_indices(const Plan& plan, int64_t extent, int64_t beyond,
                                  std::mt19937& rng) {
  std::vector<Index> indices(static_cast<size_t>(element_count(plan.indices().sizes)));
  std::uniform_int_distribution<int64_t> any(-extent - beyond, extent - 1 + beyond);
  for (auto& index : indices) {
    index = static_cast<Index>(any(rng));
  }
  return indices;
}

template <class Index>
void check_gather(const Plan& plan, int64_t extent, int64_t beyond) {
  std::mt19937 rng(5);
  const auto data = random_bytes(plan.ranges().data.hi, rng);
  const auto indices = random_indices<Index>(plan, extent, beyond, rng);
  std::vector<std::byte> expected(static_cast<size_t>(plan.ranges().output.hi));
  plan.run(data.data(), indices.data(), expected.data(), {.kernel = "reference"});
  for (const int threads : {1, 3}) {
    std::vector<std::byte> output(expected.size());
    plan.run(data.data(), indices.data(), output.data(), {.threads = threads, .kernel = "cpu"});
    EXPECT_TRUE(output == expected) << plan.str() << ", threads " << threads;
  }
}

TEST(ShortRuns, GatherElementsOfEveryTypeAndRule) {
  for (const DType type : {u8, f16, f32, f64, c128}) {
    for (const int64_t width : {1, 2, 3, 7, 16, 33, 128}) {
      const Dims shape{9000 / width, width};
      for (const int64_t axis : {0, 1}) {
        for (const auto rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill}) {
          const GatherElementsOptions options{.axis = axis, .rule = {.out_of_range = rule}};
          const int64_t beyond = rule == OutOfRange::kFail ? 0 : 5;
          const int64_t extent = shape[static_cast<int>(axis)];
          check_gather<int64_t>(plan_gather_elements({type, shape}, {i64, shape}, options), extent,
                                beyond);
          check_gather<int32_t>(plan_gather_elements({type, shape}, {i32, shape}, options), extent,
                                beyond);
          check_gather<int16_t>(plan_gather_elements({type, shape}, {i16, shape}, options), extent,
                                beyond);
        }
      }
    }
  }
}

TEST(ShortRuns, BatchesOfFewIndices) {
  for (const int64_t row : {1, 3, 4, 8, 16, 50}) {
    for (const int64_t count : {1, 2, 5, 40}) {
      check_gather<int64_t>(
          plan_gather({f32, {700, 9, row}}, {i64, {700, count}}, {.axis = 1, .batch_dims = 1}), 9,
          0);
      check_gather<int64_t>(
          plan_gather_nd({f32, {700, 6, 7, row}}, {i64, {700, count, 2}}, {.batch_dims = 1}), 6, 0);
    }
  }
}

template <class Element, class Index>
void check_scatter(const Plan& plan, int64_t extent, int64_t beyond) {
  std::mt19937 rng(3);
  const auto indices = random_indices<Index>(plan, extent, beyond, rng);
  std::vector<Element> updates(static_cast<size_t>(element_count(plan.updates().sizes)));
  for (auto& update : updates) {
    update = static_cast<Element>(static_cast<double>(rng() % 2000) * 0.37 - 300.0);
  }
  const std::vector<Element> base(static_cast<size_t>(element_count(plan.data().sizes)),
                                  Element(1.5));
  std::vector<Element> expected(base.size());
  plan.run(base.data(), indices.data(), updates.data(), expected.data(), {.kernel = "reference"});
  for (const int threads : {1, 3}) {
    std::vector<Element> output(base.size());
    plan.run(base.data(), indices.data(), updates.data(), output.data(),
             {.threads = threads, .kernel = "cpu"});
    EXPECT_EQ(std::memcmp(output.data(), expected.data(), sizeof(Element) * expected.size()), 0)
        << plan.str() << ", threads " << threads;
  }
}

TEST(ShortRuns, ScatterElementsOfEveryReduction) {
  for (const auto reduction :
       {Reduction::kNone, Reduction::kAdd, Reduction::kMul, Reduction::kMin, Reduction::kMean}) {
    for (const int64_t width : {1, 2, 3, 7, 16, 33, 128}) {
      const Dims shape{9000 / width, width};
      for (const int64_t axis : {0, 1}) {
        for (const auto rule : {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kSkip}) {
          const ScatterElementsOptions options{
              .axis = axis, .reduction = reduction, .rule = {.out_of_range = rule}};
          const int64_t extent = shape[static_cast<int>(axis)];
          const int64_t beyond = rule == OutOfRange::kFail ? 0 : 5;
          check_scatter<float, int64_t>(
              plan_scatter_elements({f32, shape}, {i64, shape}, {f32, shape}, options), extent,
              beyond);
          check_scatter<double, int32_t>(
              plan_scatter_elements({f64, shape}, {i32, shape}, {f64, shape}, options), extent,
              beyond);
        }
      }
    }
  }
}

// Threads divide wide rows by columns; the last piece may be a single element.
TEST(ShortRuns, ScatterBatchesOfFewRows) {
  for (const int64_t columns : {1, 3, 64, 65, 128, 129, 257}) {
    for (const int64_t count : {1, 3, 7, 100}) {
      const Dims rows{9, count, columns};
      check_scatter<float, int64_t>(
          plan_scatter({f32, {9, 50, columns}}, {i64, {9, count}}, {f32, rows},
                       {.axis = 1, .batch_dims = 1, .reduction = Reduction::kAdd}),
          50, 0);
      check_scatter<double, int16_t>(
          plan_scatter({f64, {9, 50, columns}}, {i16, {9, count}}, {f64, rows},
                       {.axis = 1, .batch_dims = 1, .reduction = Reduction::kAdd}),
          50, 0);
      check_scatter<float, int64_t>(
          plan_scatter_nd({f32, {9, 7, 6, columns}}, {i64, {9, count, 2}}, {f32, rows},
                          {.batch_dims = 1, .reduction = Reduction::kAdd}),
          6, 0);
    }
  }
}

TEST(ShortRuns, ABadIndexIsFoundAndNothingIsWritten) {
  const Plan plan = plan_gather_elements({f32, {5000, 3}}, {i64, {5000, 3}}, {.axis = 1});
  std::vector<int64_t> indices(15000, 2);
  indices[14000] = 3;
  const std::vector<float> data(15000);
  std::vector<float> output(15000, 1.0F);
  EXPECT_THROW(plan.run(data.data(), indices.data(), output.data(), {.kernel = "cpu"}), IndexError);
  EXPECT_TRUE(output == std::vector<float>(output.size(), 1.0F));
}

}  // namespace
}  // namespace sheaf
