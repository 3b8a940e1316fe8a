// SPDX-License-Identifier: MIT
//
// Who takes which plan, and that each family gives the reference's bits on plans large enough for
// its tiles, streams and threads.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

std::string chosen(const Plan& plan) { return kernel_name(plan, {.kernel = "cpu"}); }

TensorSpec floats(const Dims& sizes) { return {f32, sizes}; }
TensorSpec longs(const Dims& sizes) { return {i64, sizes}; }

TEST(CpuFamilies, AreChosenByTheShapeOfTheNest) {
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({9}))), "cpu.small");
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({999}))), "cpu.rows_wide");
  EXPECT_EQ(chosen(plan_gather(floats({100, 16}), longs({999}))), "cpu.rows_narrow");
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({9}), {.axis = 1})), "cpu.lookup");
  EXPECT_EQ(chosen(plan_gather_elements(floats({9, 7}), longs({9, 7}), {.axis = 1})),
            "cpu.rows_narrow");
  EXPECT_EQ(chosen(plan_gather_elements(floats({9, 7}), longs({9, 7}), {.axis = 0})),
            "cpu.columns");
  EXPECT_EQ(chosen(plan_gather_nd(floats({9, 7, 3}), longs({999, 2}))), "cpu.rows_narrow");
  EXPECT_EQ(chosen(plan_gather(TensorSpec(f32, {9, 7}, {1, 9}), longs({5}))), "cpu.strided");
}

TEST(CpuFamilies, ExpandedIndicesBecomeRows) {
  const Plan plan = plan_gather_elements(floats({50, 64}), TensorSpec(i64, {999, 64}, {1, 0}));
  EXPECT_EQ(chosen(plan), "cpu.rows_wide");
}

TEST(CpuFamilies, EachRefusalHasItsReason) {
  const Plan plan = plan_gather(floats({100, 64}), longs({999}));
  const auto reports = kernels_for(plan);
  ASSERT_EQ(reports.size(), 7U);
  EXPECT_EQ(reports[0].name, "cpu.small");
  EXPECT_EQ(reports[0].refusal, "more than 256 rows, or than 32 KiB");
  EXPECT_EQ(reports[1].refusal, "no loop around the indices");
  EXPECT_EQ(reports[2].refusal, "");
  EXPECT_EQ(reports[3].refusal, "rows of more than 64 bytes");
  EXPECT_EQ(reports[4].refusal, "fewer than two loops, or no index");
  EXPECT_EQ(reports[6].name, "reference.loops");
}

TEST(CpuFamilies, AForcedKernelThatRefusesSaysWhy) {
  const Plan plan = plan_gather(floats({100, 64}), longs({1}));
  const std::vector<float> data(6400);
  const int64_t index = 0;
  std::vector<float> output(64);
  try {
    plan.run(data.data(), &index, output.data(), {.kernel = "cpu.rows_narrow"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    EXPECT_NE(std::string(error.what()).find("cpu.rows_narrow refuses: "), std::string::npos);
  }
}

struct Large {
  const char* name;
  Plan plan;
  int64_t extent;
};

std::vector<Large> large_plans() {
  const auto wide = [](int64_t row) { return floats({4096, row}); };
  return {
      {"streamed rows", plan_gather(wide(256), longs({40000})), 4096},
      {"streamed odd rows", plan_gather(wide(255), longs({40000})), 4096},
      {"rows of a line", plan_gather(wide(16), longs({700000})), 4096},
      {"near rows of 16 bytes", plan_gather(wide(4), longs({200003})), 4096},
      {"far rows of 32 bytes", plan_gather(floats({600000, 8}), longs({70001})), 600000},
      {"streamed far rows of 32 bytes", plan_gather(floats({600000, 8}), longs({600001})), 600000},
      {"streamed far rows of 32 bytes that may be filled",
       plan_gather(floats({600000, 8}), longs({600001}),
                   {.rule = {.out_of_range = OutOfRange::kFill}}),
       600000},
      {"streamed far rows of 16 bytes", plan_gather(floats({600000, 4}), longs({1100001})), 600000},
      {"streamed far rows of 48 bytes", plan_gather(floats({300000, 12}), longs({400001})), 300000},
      {"far narrow rows", plan_gather(floats({3000000, 1}), longs({300000})), 3000000},
      {"far rows of 12 bytes", plan_gather(floats({1000000, 3}), longs({300000})), 1000000},
      {"lookup", plan_gather(floats({3000, 3000}), longs({3000}), {.axis = 1}), 3000},
      {"lookup of many", plan_gather(floats({40, 5000}), longs({17001}), {.axis = 1}), 5000},
      {"lookup of 8 bytes", plan_gather(floats({300, 700, 2}), longs({900}), {.axis = 1}), 700},
      {"lookup, batch",
       plan_gather(floats({7, 300, 500}), longs({7, 900}), {.axis = 2, .batch_dims = 1}), 500},
      {"elements", plan_gather_elements(floats({2500, 3500}), longs({2500, 3500}), {.axis = 1}),
       3500},
      {"elements, indices with gaps",
       plan_gather_elements(floats({700, 900}), TensorSpec(i64, {700, 128}, {4000, 1}),
                            {.axis = 1}),
       900},
      {"columns", plan_gather_elements(floats({2500, 3500}), longs({2500, 3500}), {.axis = 0}),
       2500},
      {"columns of a batch",
       plan_gather_elements(floats({3, 700, 900}), longs({3, 800, 850}), {.axis = 1}), 700},
      {"columns, few rows of indices",
       plan_gather_elements(floats({2500, 1100}), longs({300, 1100}), {.axis = 0}), 2500},
      {"pairs", plan_gather_nd(floats({900, 900, 4}), longs({200000, 2})), 900},
      {"strided", plan_gather(TensorSpec(f32, {900, 900}, {1, 900}), longs({2000})), 900},
  };
}

TEST(CpuFamilies, LargePlansGiveTheReferencesBitsOnEveryThreadCount) {
  for (const Large& large : large_plans()) {
    const auto data_count = static_cast<size_t>(element_count(large.plan.data().sizes));
    const auto index_count = static_cast<size_t>(large.plan.ranges().indices.hi / 8);
    const auto output_count = static_cast<size_t>(element_count(large.plan.output().sizes));
    std::mt19937 rng(11);
    std::vector<uint32_t> data(data_count);
    for (auto& value : data) {
      value = static_cast<uint32_t>(rng());
    }
    std::vector<int64_t> indices(index_count);
    for (auto& value : indices) {
      value = static_cast<int64_t>(rng()) % (2 * large.extent) - large.extent;
    }
    std::vector<uint32_t> expected(output_count);
    large.plan.run(data.data(), indices.data(), expected.data(), {.kernel = "reference"});
    for (const int threads : {1, 2, 5, 0}) {
      std::vector<uint32_t> output(output_count, 0xA5A5A5A5);
      large.plan.run(data.data(), indices.data(), output.data(),
                     {.threads = threads, .kernel = "cpu"});
      EXPECT_TRUE(output == expected) << large.name << ", threads " << threads;
    }
  }
}

TEST(CpuFamilies, ABadIndexAmongMillionsIsFoundAndNothingIsWritten) {
  const Plan plan = plan_gather(floats({1000, 1}), longs({3000000}));
  std::vector<int64_t> indices(3000000, 7);
  indices[2345678] = 1000;
  const std::vector<float> data(1000);
  std::vector<float> output(3000000, 1.0F);
  try {
    plan.run(data.data(), indices.data(), output.data(), {.kernel = "cpu"});
    FAIL();
  } catch (const IndexError& error) {
    EXPECT_EQ(error.position(), Dims({2345678}));
  }
  EXPECT_TRUE(output == std::vector<float>(output.size(), 1.0F));
}

}  // namespace
}  // namespace sheaf
