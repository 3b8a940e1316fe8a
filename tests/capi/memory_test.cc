// SPDX-License-Identifier: MIT
//
// Calls that run out of memory: each allocation in turn fails, and every time the call says so,
// leaves the output alone and throws nothing.
#include <sheaf/bnns.h>

#include "faults/failing_allocator.h"
#include "helpers.h"

namespace sheaf::capi_tests {
namespace {

using faults::allow_allocations;

// Calls `f` with 0, 1, 2, … allocations to spend until it succeeds; returns how many failed.
template <class F>
int failures_until_success(F f, int success, int out_of_memory) {
  for (int allowed = 0; allowed < 1000; ++allowed) {
    allow_allocations(allowed);
    const int result = f();
    allow_allocations(-1);
    if (result == success) {
      return allowed;
    }
    EXPECT_EQ(result, out_of_memory) << sheaf_last_error();
    EXPECT_THAT(sheaf_last_error(), testing::HasSubstr("out of memory"));
  }
  ADD_FAILURE() << "never succeeded";
  return -1;
}

struct Problem {
  Values<float> data{{10, 11, 20, 21, 30, 31}, {3, 2}};
  Values<int64_t> indices{{2, 0}, {2}};
  Values<float> output{{-1, -1, -1, -1}, {2, 2}};
};

TEST(CapiMemory, OneShot) {
  Problem p;
  const int failed = failures_until_success(
      [&] {
        const int status = sheaf_gather(p.data, p.indices, p.output, nullptr);
        if (status != SHEAF_OK) {
          for (const float value : p.output.values) {
            EXPECT_EQ(value, -1);
          }
        }
        return status;
      },
      SHEAF_OK, SHEAF_OUT_OF_MEMORY);
  EXPECT_GE(failed, 1);
  EXPECT_THAT(p.output.values, testing::ElementsAre(30, 31, 10, 11));
}

TEST(CapiMemory, Scatter) {
  Problem p;
  Values<float> changed{std::vector<float>(6, -1), {3, 2}};
  const int failed = failures_until_success(
      [&] {
        const int status = sheaf_scatter(p.data, p.indices, p.output, changed, nullptr);
        if (status != SHEAF_OK) {  // no matcher: it would allocate
          for (const float value : changed.values) {
            EXPECT_EQ(value, -1);
          }
        }
        return status;
      },
      SHEAF_OK, SHEAF_OUT_OF_MEMORY);
  EXPECT_GE(failed, 1);
  EXPECT_THAT(changed.values, testing::ElementsAre(-1, -1, 20, 21, -1, -1));
}

TEST(CapiMemory, Plans) {
  Problem p;
  sheaf_plan* plan = nullptr;
  failures_until_success(
      [&] {
        const int status = sheaf_plan_gather(p.data, p.indices, nullptr, nullptr, &plan);
        EXPECT_EQ(plan == nullptr, status != SHEAF_OK);
        return status;
      },
      SHEAF_OK, SHEAF_OUT_OF_MEMORY);
  ASSERT_NE(plan, nullptr);
  sheaf_plan* gradient = nullptr;
  failures_until_success(
      [&] {
        const int status = sheaf_plan_vjp(plan, &gradient);
        EXPECT_EQ(gradient == nullptr, status != SHEAF_OK);
        return status;
      },
      SHEAF_OK, SHEAF_OUT_OF_MEMORY);
  sheaf_plan_destroy(gradient);
  failures_until_success(
      [&] { return sheaf_plan_str(plan) != nullptr ? SHEAF_OK : SHEAF_OUT_OF_MEMORY; }, SHEAF_OK,
      SHEAF_OUT_OF_MEMORY);
  sheaf_plan_destroy(plan);
}

// A refusal whose text finds no memory is still a failure, and has a text.
TEST(CapiMemory, Refusals) {
  Problem p;
  p.indices.values[1] = 9;
  failures_until_success([&] { return sheaf_gather(p.data, p.indices, p.output, nullptr); },
                         SHEAF_INDEX_OUT_OF_RANGE, SHEAF_OUT_OF_MEMORY);
  EXPECT_THAT(p.output.values, testing::Each(-1));
}

TEST(CapiMemory, Bnns) {
  Problem p;
  BNNSNDArrayDescriptor input = {};
  input.layout = BNNSDataLayout2DFirstMajor;
  input.size[0] = 3;
  input.size[1] = 2;
  input.data = p.data.values.data();
  input.data_type = BNNSDataTypeFloat32;
  BNNSNDArrayDescriptor output = input;
  output.size[0] = 2;
  output.data = p.output.values.data();
  BNNSNDArrayDescriptor indices = {};
  indices.layout = BNNSDataLayoutVector;
  indices.size[0] = 2;
  indices.data = p.indices.values.data();
  indices.data_type = BNNSDataTypeInt64;
  const int failed =
      failures_until_success([&] { return BNNSGather(0, &input, &indices, &output, nullptr); },
                             SHEAF_BNNS_OK, SHEAF_BNNS_OUT_OF_MEMORY);
  EXPECT_GE(failed, 1);
  EXPECT_THAT(p.output.values, testing::ElementsAre(30, 31, 10, 11));
}

}  // namespace
}  // namespace sheaf::capi_tests
