// SPDX-License-Identifier: MIT
//
// The published holes of scatters in other libraries, tried on this one.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/guarded.h"
#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(CVE_2022_35939, AWriteIsCheckedAtBothEnds) {
  const GuardedMemory output(1);
  const std::vector<int32_t> data(6, 5);
  const std::vector<int32_t> updates(4, 9);
  for (const Flush flush : {Flush::kFront, Flush::kBack}) {
    const auto memory = output.part(data.size() * 4, flush);
    for (const int64_t bad : {int64_t{3}, int64_t{-4}, int64_t{INT32_MAX}, INT64_MAX, INT64_MIN}) {
      for (const OutOfRange rule :
           {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kSkip}) {
        const Plan plan =
            plan_scatter_nd({i32, {3, 2}}, {i64, {2, 1}}, {i32, {2, 2}},
                            {.reduction = Reduction::kAdd, .rule = {.out_of_range = rule}});
        const std::vector<int64_t> indices = {0, bad};
        for (const std::string& kernel : accepting_kernels(plan)) {
          std::memset(memory.data(), 0xEE, memory.size());
          bool refused = false;
          try {
            plan.run(data.data(), indices.data(), updates.data(), memory.data(),
                     {.kernel = kernel});
          } catch (const IndexError&) {
            refused = true;
            EXPECT_EQ(memory.front(), std::byte{0xEE}) << kernel << " wrote before it refused";
          }
          EXPECT_EQ(refused, rule == OutOfRange::kFail) << bad << " " << kernel;
        }
      }
    }
  }
}

TEST(CVE_2021_37655, UpdatesAreComparedByShapeNotByCount) {
  EXPECT_THROW(plan_scatter({f32, {8}}, {i64, {1}}, {f32, {5}}), Error);
  EXPECT_THROW(plan_scatter({f32, {8, 2}}, {i64, {3}}, {f32, {2, 3}}), Error);
  EXPECT_THROW(plan_scatter({f32, {8, 2}}, {i64, {3}}, {f32, {6}}), Error);
  EXPECT_THROW(plan_scatter({f32, {8, 2}}, {i64, {3}}, {f32, {3, 2, 1}}), Error);
}

// No reduction traps: not on overflow, and a mean never divides by 0.
TEST(CVE_2021_37642, NothingIsDividedByZero) {
  const std::vector<int32_t> data = {INT32_MIN, INT32_MAX, 0};
  const std::vector<int32_t> updates = {-1, INT32_MAX, 0, INT32_MIN};
  const std::vector<int8_t> indices = {0, 1, 9, 0};
  for (const Reduction reduction : {Reduction::kAdd, Reduction::kSub, Reduction::kMul,
                                    Reduction::kMin, Reduction::kMax, Reduction::kMean}) {
    for (const bool self : {true, false}) {
      const Plan plan = plan_scatter({i32, {3}}, {i8, {4}}, {i32, {4}},
                                     {.reduction = reduction,
                                      .include_self = self,
                                      .rule = {.out_of_range = OutOfRange::kSkip}});
      for (const std::string& kernel : accepting_kernels(plan)) {
        std::vector<int32_t> output(3, -1);
        plan.run(data.data(), indices.data(), updates.data(), output.data(), {.kernel = kernel});
        EXPECT_EQ(output[2], 0) << "no update goes there: it is not divided";
      }
    }
  }
}

TEST(CVE_2020_15212, HugeAndNegativeIdsAreRefusedNotAllocated) {
  const std::vector<float> data(4), updates = {1, 2};
  std::vector<float> output(4, -1);
  const Plan plan =
      plan_scatter({f32, {4}}, {i64, {2}}, {f32, {2}},
                   {.reduction = Reduction::kMean, .rule = {.negative = Negative::kOutOfRange}});
  for (const int64_t id : {int64_t{-1}, int64_t{1676240524292489355}, INT64_MAX, INT64_MIN}) {
    const std::vector<int64_t> indices = {1, id};
    const IndexError error =
        index_error([&] { plan.run(data.data(), indices.data(), updates.data(), output.data()); });
    EXPECT_EQ(error.position(), (Dims{1}));
  }
  EXPECT_EQ(output, std::vector<float>(4, -1));
}

}  // namespace
}  // namespace sheaf
