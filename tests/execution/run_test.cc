// SPDX-License-Identifier: MIT
//
// The last checks before a plan runs, and which kernel runs it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

const TensorSpec kData(f32, {3, 2});
const TensorSpec kIndices(i64, {2});

class PlanRun : public testing::Test {
 protected:
  const Plan plan = plan_gather(kData, kIndices);
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const std::vector<int64_t> indices = {2, 0};
  std::vector<float> output = std::vector<float>(4, -1);
  const std::vector<float> untouched = output;
};

TEST_F(PlanRun, RefusesNullPointers) {
  const auto text = [](const std::string& tensor) {
    return "gather: null pointer\n  " + tensor +
           " has elements, but its pointer is null\n"
           "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
           "  try: pass the tensor's memory";
  };
  EXPECT_EQ(refusal([&] { plan.run(nullptr, indices.data(), output.data()); }), text("data"));
  EXPECT_EQ(refusal([&] { plan.run(data.data(), nullptr, output.data()); }), text("indices"));
  EXPECT_EQ(refusal([&] { plan.run(data.data(), indices.data(), nullptr); }), text("output"));
  EXPECT_EQ(output, untouched);
}

TEST_F(PlanRun, TakesNullForWhatIsEmpty) {
  EXPECT_NO_THROW(plan_gather({f32, {3, 0}}, kIndices).run(nullptr, indices.data(), nullptr));
  EXPECT_NO_THROW(plan_gather(kData, {i64, {0}}).run(data.data(), nullptr, nullptr));
  EXPECT_NO_THROW(plan_gather({f32, {0}}, {i64, {0}}).run(nullptr, nullptr, nullptr));
  const Plan no_tuples = plan_gather_nd({f32, {2}}, {i64, {2, 0}});
  no_tuples.run(data.data(), nullptr, output.data());
  EXPECT_EQ(output, (std::vector<float>{1, 2, 1, 2}));
}

TEST_F(PlanRun, ChecksIndicesEvenIfNothingIsMoved) {
  const std::vector<int64_t> bad = {2, 3};
  const Plan empty = plan_gather({f32, {3, 0}}, kIndices);
  EXPECT_EQ(index_error([&] { empty.run(nullptr, bad.data(), nullptr); }).position(), (Dims{1}));
}

TEST_F(PlanRun, LeavesTheOutputAloneOnABadIndex) {
  const std::vector<int64_t> bad = {2, 3};
  for (const std::string& kernel : accepting_kernels(plan)) {
    const IndexError error =
        index_error([&] { plan.run(data.data(), bad.data(), output.data(), {.kernel = kernel}); });
    EXPECT_EQ(error.position(), (Dims{1})) << kernel;
    EXPECT_EQ(output, untouched) << kernel;
  }
}

TEST_F(PlanRun, RefusesOutputsThatOverlapInputs) {
  std::vector<float> shared = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const std::vector<float> before = shared;
  EXPECT_EQ(refusal([&] { plan.run(shared.data(), indices.data(), shared.data() + 5); }),
            "gather: output overlaps an input\n"
            "  output and data share memory\n"
            "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
            "  try: a separate output, then copy it back");
  EXPECT_EQ(shared, before);
  plan.run(shared.data(), indices.data(), shared.data() + 6);
  EXPECT_EQ(shared[6], 5);

  std::array<int64_t, 4> numbers = {2, 0, 1, 1};
  const Plan whole =
      plan_gather({i64, {2}}, {i64, {2}}, {.rule = {.out_of_range = OutOfRange::kWrap}});
  const std::vector<int64_t> table = {10, 20};
  EXPECT_EQ(refusal([&] { whole.run(table.data(), numbers.data(), numbers.data() + 1); }),
            "gather: output overlaps an input\n"
            "  output and indices share memory\n"
            "  data i64[2]   indices i64[2]   axis 0   output i64[2]\n"
            "  try: a separate output, then copy it back");
  EXPECT_EQ(numbers, (std::array<int64_t, 4>{2, 0, 1, 1}));
  whole.run(table.data(), numbers.data(), numbers.data() + 2);
  EXPECT_EQ(numbers, (std::array<int64_t, 4>{2, 0, 10, 10}));
}

TEST_F(PlanRun, WritesOneColumnWhileReadingAnother) {
  std::vector<float> matrix = {1, 0, 2, 0, 3, 0};
  const Plan columns = plan_gather({f32, {3}, {2}}, {i64, {3}}, {f32, {3}, {2}});
  const std::vector<int64_t> reversed = {2, 1, 0};
  columns.run(matrix.data(), reversed.data(), matrix.data() + 1);
  EXPECT_EQ(matrix, (std::vector<float>{1, 3, 2, 2, 3, 1}));
  EXPECT_EQ(refusal([&] {
              columns.run(matrix.data(), reversed.data(), matrix.data() + 2);
            }).find("gather: output overlaps an input"),
            0u);
}

TEST_F(PlanRun, DataAndIndicesMayShareMemory) {
  const std::vector<int64_t> both = {2, 0, 1};
  std::vector<int64_t> out(3);
  plan_gather({i64, {3}}, {i64, {3}}).run(both.data(), both.data(), out.data());
  EXPECT_EQ(out, (std::vector<int64_t>{1, 2, 0}));
}

TEST_F(PlanRun, RefusesStridesThatLeaveTheAddressSpace) {
  const int64_t far = INT64_MAX - 1;
  const Plan plan_far = plan_gather({u8, {2}, {far}}, {u8, {1}});
  uint8_t bytes[3] = {};
  EXPECT_EQ(refusal([&] { plan_far.run(bytes, bytes + 1, bytes + 2); }),
            "gather: tensor too large\n"
            "  the strides of data lead from its pointer out of the address space\n"
            "  data u8[2] strides [9223372036854775806]   indices u8[1]   axis 0   output u8[1]\n"
            "  try: check the strides; they are in elements, not in bytes");
  // And below the lowest address, from a pointer near the highest.
  const Plan plan_back = plan_gather({u8, {int64_t{1} << 62}, {-2}}, {u8, {1}});
  const auto* const high = reinterpret_cast<const void*>(~uintptr_t{0} - 7);
  EXPECT_NE(refusal([&] {
              plan_back.run(high, bytes + 1, bytes + 2);
            }).find("the strides of data lead from its pointer out of the address space"),
            std::string::npos);
}

TEST_F(PlanRun, RefusesTensorsItWasNotMadeFor) {
  std::vector<double> wide(6);
  EXPECT_EQ(refusal([&] {
              plan.run(view(wide, {3, 2}), view(indices), view(output, {2, 2}));
            }),
            "gather: data differs from the plan's\n"
            "  got f64[3, 2], planned for f32[3, 2]\n"
            "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
            "  try: a plan for these tensors, or these strides");
  EXPECT_EQ(refusal([&] {
              plan.run(view(data, {3, 2}), view(indices, {1, 2}), view(output, {2, 2}));
            }).find("gather: indices differs from the plan's\n  got i64[1, 2]"),
            0u);
  EXPECT_EQ(refusal([&] {
              plan.run(view(data, {3, 2}), view(indices), view(output, {2, 2}, {1, 2}));
            }).find("gather: output differs from the plan's\n  got f32[2, 2] strides [1, 2]"),
            0u);
  EXPECT_EQ(output, untouched);
  plan.run(view(data, {3, 2}), view(indices), view(output, {2, 2}));
  EXPECT_EQ(output, (std::vector<float>{5, 6, 1, 2}));
}

TEST_F(PlanRun, RefusesKernelsThatAreNotThere) {
  EXPECT_EQ(
      refusal([&] { plan.run(data.data(), indices.data(), output.data(), {.kernel = "abacus"}); },
              ErrorCode::kUnsupported),
      "gather: no such kernel\n"
      "  \"abacus\" names no gather kernel of this build\n"
      "  data f32[3, 2]   indices i64[2]   axis 0   output f32[2, 2]\n"
      "  try: another kernel; sheaf doctor lists the backends");
  for (const char* name : {"referenc", "reference.", "reference.loop", "Reference", "loops", "."}) {
    EXPECT_EQ(refusal([&] { kernel_name(plan, {.kernel = name}); }, ErrorCode::kUnsupported)
                  .find("gather: no such kernel"),
              0u);
    EXPECT_TRUE(kernels_for(plan, {.kernel = name}).empty());
  }
  EXPECT_EQ(output, untouched);
}

TEST_F(PlanRun, TakesTheKernelAskedFor) {
  EXPECT_EQ(kernel_name(plan, {.kernel = "reference"}), "reference.loops");
  EXPECT_EQ(kernel_name(plan, {.kernel = "reference.loops"}), "reference.loops");
  for (const std::string& kernel : accepting_kernels(plan)) {
    EXPECT_EQ(kernel_name(plan, {.kernel = kernel}), kernel);
    std::fill(output.begin(), output.end(), 0.0f);
    plan.run(data.data(), indices.data(), output.data(), {.kernel = kernel});
    EXPECT_EQ(output, (std::vector<float>{5, 6, 1, 2})) << kernel;
  }
}

// SHEAF_KERNEL is read once, so each try needs a process of its own.
TEST(KernelFromTheEnvironmentDeathTest, IsTakenUnlessTheCallAsksForAnother) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto name = [](const char* environment, const RunOptions& options) {
    setenv("SHEAF_KERNEL", environment, 1);
    try {
      std::cerr << kernel_name(plan_gather(kData, kIndices), options);
    } catch (const Error& error) {
      std::cerr << error.what();
    }
    std::exit(0);
  };
  EXPECT_EXIT(name("reference", {}), testing::ExitedWithCode(0), "reference.loops");
  EXPECT_EXIT(name("abacus", {.kernel = "reference"}), testing::ExitedWithCode(0),
              "reference.loops");
  EXPECT_EXIT(name("abacus", {}), testing::ExitedWithCode(0),
              "\"abacus\" names no gather kernel of this build");
  EXPECT_EXIT(name("cpu.scatter_in_order", {}), testing::ExitedWithCode(0), "cpu.small");
  const auto scatter_name = [](const char* environment) {
    setenv("SHEAF_KERNEL", environment, 1);
    try {
      std::cerr << kernel_name(plan_scatter(kData, kIndices, {f32, {2, 2}}));
    } catch (const Error& error) {
      std::cerr << error.what();
    }
    std::exit(0);
  };
  EXPECT_EXIT(scatter_name("reference"), testing::ExitedWithCode(0), "reference.loops");
  EXPECT_EXIT(scatter_name("cpu.scatter_in_order"), testing::ExitedWithCode(0),
              "cpu.scatter_in_order");
  EXPECT_EXIT(scatter_name("cpu.lookup"), testing::ExitedWithCode(0), "cpu.scatter");
  EXPECT_EXIT(scatter_name("abacus"), testing::ExitedWithCode(0),
              "\"abacus\" names no scatter kernel of this build");
}

TEST_F(PlanRun, ReportsKernelsInTheOrderTheyAreAsked) {
  const auto all = kernels_for(plan);
  ASSERT_FALSE(all.empty());
  const auto first = std::find_if(
      all.begin(), all.end(), [](const KernelReport& report) { return report.refusal.empty(); });
  ASSERT_NE(first, all.end());
  EXPECT_EQ(kernel_name(plan), first->name);
  EXPECT_EQ(all.back().name, "reference.loops");
  EXPECT_EQ(all.back().refusal, "") << "the last one takes everything";
  EXPECT_EQ(backend_names().back(), "reference");
}

TEST(OneShot, WritesIntoTheOutputGiven) {
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const std::vector<int32_t> indices = {1, 0};
  std::vector<float> out(6, -1);
  gather(view(data, {3, 2}), view(indices), view(out, {3, 2}), {.axis = 1});
  EXPECT_EQ(out, (std::vector<float>{2, 1, 4, 3, 6, 5}));
  gather_elements(view(data, {3, 2}), view(indices, {1, 2}), view(out, {1, 2}, {2, 1}));
  EXPECT_EQ(out, (std::vector<float>{3, 2, 4, 3, 6, 5}));
  gather_nd(view(data, {3, 2}), view(indices), view(out, {}, {}, 5));
  EXPECT_EQ(out[5], 3);
  xla_gather(view(data, {3, 2}), view(indices), view(out, {2, 1}, {1, 1}),
             {.offset_dims = {0, 1}, .start_index_map = {0, 1}, .slice_sizes = {2, 1}});
  EXPECT_EQ(out, (std::vector<float>{3, 5, 4, 3, 6, 3}));
}

TEST(OneShot, MakesAnArray) {
  const std::vector<float> data = {1, 2, 3, 4, 5, 6};
  const std::vector<int8_t> indices = {-1, 0};
  const auto values = [](const Array& array) {
    const auto all = array.elements<float>();
    return std::vector<float>(all.begin(), all.end());
  };
  EXPECT_EQ(values(gather(view(data, {3, 2}), view(indices))), (std::vector<float>{5, 6, 1, 2}));
  EXPECT_EQ(values(gather_elements(view(data, {3, 2}), view(indices, {1, 2}))),
            (std::vector<float>{5, 2}));
  EXPECT_EQ(values(gather_nd(view(data, {3, 2}), view(indices))), (std::vector<float>{5}));
  EXPECT_EQ(
      values(xla_gather(view(data, {3, 2}), view(indices),
                        {.offset_dims = {0, 1}, .start_index_map = {0, 1}, .slice_sizes = {2, 1}})),
      (std::vector<float>{1, 3}));
  EXPECT_THROW(gather(view(data, {3, 2}), view(std::vector<int8_t>{3})), IndexError);
}

}  // namespace
}  // namespace sheaf
