// SPDX-License-Identifier: MIT
//
// Who takes which plan, and that each family gives the reference's bits on plans large enough for
// its tiles, streams and threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// The kernel alone: its mover depends on the processor.
std::string chosen(const Plan& plan) {
  const std::string name = kernel_name(plan, {.kernel = "cpu"});
  return name.substr(0, name.find('/'));
}

TensorSpec floats(const Dims& sizes) { return {f32, sizes}; }
TensorSpec longs(const Dims& sizes) { return {i64, sizes}; }

TEST(CpuFamilies, AreChosenByTheShapeOfTheNest) {
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({9}))), "cpu.small");
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({999}))), "cpu.rows");
  EXPECT_EQ(chosen(plan_gather(floats({100, 16}), longs({999}))), "cpu.rows");
  EXPECT_EQ(chosen(plan_gather(floats({100, 64}), longs({9}), {.axis = 1})), "cpu.lookup");
  EXPECT_EQ(chosen(plan_gather_elements(floats({9, 7}), longs({9, 7}), {.axis = 1})), "cpu.rows");
  EXPECT_EQ(chosen(plan_gather_elements(floats({9, 7}), longs({9, 7}), {.axis = 0})),
            "cpu.columns");
  EXPECT_EQ(chosen(plan_gather_nd(floats({9, 7, 3}), longs({999, 2}))), "cpu.rows");
  EXPECT_EQ(chosen(plan_gather(TensorSpec(f32, {9, 7}, {1, 9}), longs({5}))), "cpu.strided");
}

TEST(CpuFamilies, ExpandedIndicesBecomeRows) {
  const Plan plan = plan_gather_elements(floats({50, 64}), TensorSpec(i64, {999, 64}, {1, 0}));
  EXPECT_EQ(chosen(plan), "cpu.rows");
}

std::string refusal_of(const Plan& plan, const std::string& name) {
  for (const KernelReport& report : kernels_for(plan)) {
    if (report.name == name) {
      return report.refusal;
    }
  }
  return "not asked";
}

TEST(CpuFamilies, EachRefusalHasItsReason) {
  const Plan plan = plan_gather(floats({100, 64}), longs({999}));
  EXPECT_EQ(refusal_of(plan, "cpu.small"), "more than 256 rows, or than 32 KiB");
  EXPECT_EQ(refusal_of(plan, "cpu.lookup"), "no loop around the indices");
  EXPECT_EQ(refusal_of(plan, "cpu.columns"), "fewer than two loops, or no index");
  EXPECT_EQ(refusal_of(plan, "cpu.rows/copy"), "");
  EXPECT_EQ(refusal_of(plan, "cpu.rows/short"), "indices serve one row only");
  EXPECT_EQ(refusal_of(plan, "cpu.rows/copy_direct"), "rows of more than 64 bytes");
  EXPECT_EQ(refusal_of(plan, "cpu.rows/in_turn"), "rows of less than 512 bytes, or above 1 MiB");
  EXPECT_EQ(kernels_for(plan).back().name, "reference.loops");
}

// What explain names is what a run takes: the first mover without a refusal.
TEST(CpuFamilies, TheNameHasTheMover) {
  EXPECT_EQ(kernel_name(plan_gather({u16, {100, 1}}, longs({999}))), "cpu.rows/copy_direct");
  EXPECT_EQ(kernel_name(plan_gather({u16, {100, 50}}, longs({999}))), "cpu.rows/copy");
  EXPECT_EQ(kernel_name(plan_gather({u16, {100, 1}}, longs({999})), {.kernel = "cpu.rows/copy"}),
            "cpu.rows/copy");
  EXPECT_EQ(kernel_name(plan_gather({u16, {100, 1}}, longs({999})), {.kernel = "cpu.strided"}),
            "cpu.strided/copy_direct");
}

std::string refusal_when_forced(const char* kernel) {
  const std::vector<float> data(6400);
  const std::vector<int64_t> indices(9);
  std::vector<float> output(9 * 64);
  try {
    plan_gather(floats({100, 64}), longs({9}))
        .run(data.data(), indices.data(), output.data(), {.kernel = kernel});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported);
    return error.what();
  }
  return "ran";
}

TEST(CpuFamilies, AForcedKernelOrMoverThatRefusesSaysWhy) {
  EXPECT_THAT(refusal_when_forced("cpu.lookup"),
              testing::HasSubstr("cpu.lookup refuses: no loop around the indices"));
  EXPECT_THAT(refusal_when_forced("cpu.strided/short"),
              testing::HasSubstr("cpu.strided/short refuses: indices serve one row only"));
  EXPECT_THAT(refusal_when_forced("cpu.strided/abacus"),
              testing::HasSubstr("cpu.strided/abacus refuses: it has no such mover"));
  EXPECT_THAT(refusal_when_forced("cpu.small/copy"),
              testing::HasSubstr("cpu.small/copy refuses: it has no such mover"));
  EXPECT_EQ(refusal_when_forced("cpu.strided/copy"), "ran");
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

// A large plan's memory, and the reference's output.
struct LargeWorld {
  explicit LargeWorld(const Large& of)
      : plan(of.plan),
        data(static_cast<size_t>(element_count(plan.data().sizes))),
        indices(static_cast<size_t>(plan.ranges().indices.hi / 8)),
        expected(static_cast<size_t>(element_count(plan.output().sizes))) {
    std::mt19937 rng(11);
    for (auto& value : data) {
      value = static_cast<uint32_t>(rng());
    }
    for (auto& value : indices) {
      value = static_cast<int64_t>(rng()) % (2 * of.extent) - of.extent;
    }
    plan.run(data.data(), indices.data(), expected.data(), {.kernel = "reference"});
  }
  bool agrees(const std::string& kernel, int threads) const {
    std::vector<uint32_t> output(expected.size(), 0xA5A5A5A5);
    plan.run(data.data(), indices.data(), output.data(), {.threads = threads, .kernel = kernel});
    return output == expected;
  }

  const Plan& plan;
  std::vector<uint32_t> data;
  std::vector<int64_t> indices;
  std::vector<uint32_t> expected;
};

TEST(CpuFamilies, LargePlansGiveTheReferencesBitsOnEveryThreadCount) {
  for (const Large& large : large_plans()) {
    const LargeWorld world(large);
    for (const int threads : {1, 2, 5, 0}) {
      EXPECT_TRUE(world.agrees("cpu", threads)) << large.name << ", threads " << threads;
    }
  }
}

// Not only the mover that pays on this machine.
TEST(CpuFamilies, LargePlansGiveTheReferencesBitsByEveryMoverThatCan) {
  std::set<std::string> all, tried;
  for (const Large& large : large_plans()) {
    const LargeWorld world(large);
    for (const KernelReport& report : kernels_for(large.plan, {.kernel = "cpu"})) {
      if (report.name.find('/') == std::string::npos) {
        continue;
      }
      const std::string mover = report.name.substr(report.name.find('/') + 1);
      all.insert(mover);
      if (report.can_run) {
        tried.insert(mover);
        EXPECT_TRUE(world.agrees(report.name, 2)) << large.name << ", " << report.name;
      } else if (report.refusal == "no gather instruction" ||
                 report.refusal == "streaming stores do not pay on this processor") {
        tried.insert(mover);  // as far as this processor can
      }
    }
  }
  EXPECT_EQ(tried, all) << "a mover that no plan here is for";
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
