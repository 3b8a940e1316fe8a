// SPDX-License-Identifier: MIT
//
// Indices that another stream changes while a call runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "helpers/device.h"

namespace sheaf {
namespace {

class CudaHostile : public DeviceTest {};

// Indices that another stream changes while a call runs never lead outside a buffer: far ones would
// end the process with an illegal address.
TEST_F(CudaHostile, IndicesThatChangeDuringACall) {
  constexpr int64_t kRows = 400, kEntries = 512, kPicked = 1600;
  const IndexRule fill{.out_of_range = OutOfRange::kFill, .fill_value = 1};
  std::vector<Plan> plans;
  for (const IndexRule& rule : {IndexRule{}, fill}) {
    plans.push_back(plan_gather({u8, {kRows, 24}}, {i64, {kRows * kEntries}}, {.rule = rule}));
    plans.push_back(
        plan_gather({u8, {kRows, kEntries}}, {i64, {kEntries}}, {.axis = 1, .rule = rule}));
    plans.push_back(plan_gather_elements({u8, {kRows, kEntries}}, {i64, {kRows, kEntries}},
                                         {.axis = 1, .rule = rule}));
    plans.push_back(plan_gather_elements({u8, {kRows, kEntries}}, {i64, {kRows, kEntries}},
                                         {.axis = 0, .rule = rule}));
    plans.push_back(plan_gather_elements({u8, {kRows, kEntries}}, {i64, {kPicked, kEntries}},
                                         {.axis = 0, .rule = rule}));
  }
  CudaMemory data(kRows * kEntries), indices(kPicked * kEntries * 8);
  data.fill(std::byte{1}, data.bytes());
  const DeviceStream running, changing;
  const PinnedMemory near(indices.bytes()), far(indices.bytes());
  std::memset(near.data(), 0, near.bytes());
  std::memset(far.data(), 0x7A, far.bytes());
  for (const Plan& plan : plans) {
    CudaMemory output(static_cast<size_t>(element_count(plan.output().sizes)));
    const auto index_bytes = static_cast<size_t>(element_count(plan.indices().sizes)) * 8;
    for (const std::string& kernel : gpu().kernels(plan)) {
      const RunOptions options{.kernel = kernel, .output_is_fresh = true};
      const cuda::Workspace workspace(cuda::workspace_bytes(plan, options));
      for (int round = 0; round < 30; ++round) {
        changing.upload(indices.data(), round % 2 == 0 ? near.data() : far.data(), index_bytes);
        cuda::run(plan, data.data(), indices.data(), output.data(), workspace, running, options);
      }
      changing.wait();
      try {
        cuda::check(plan, workspace, running);
      } catch (const IndexError&) {  // as it may be: what counts is that it ends
      }
      std::vector<uint8_t> got(output.bytes());
      output.download(got.data(), got.size());
      EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](uint8_t byte) { return byte <= 1; }))
          << kernel;
    }
  }
}

// Kernels that read indices twice must stay within their memory if they differ: compute-sanitizer
// would tell. The sums are anything.
TEST_F(CudaHostile, IndicesThatChangeDuringAScatter) {
  constexpr int64_t kCells = 5000, kUpdates = 20000, kRows = 200, kColumns = 512;
  std::vector<Plan> plans;
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kSkip}) {
    plans.push_back(plan_scatter({f32, {kCells, 3}}, {i64, {kUpdates}}, {f32, {kUpdates, 3}},
                                 {.reduction = Reduction::kAdd, .rule = {.out_of_range = rule}}));
    plans.push_back(plan_scatter_elements(
        {f32, {kRows, kColumns}}, {i64, {kRows, kColumns}}, {f32, {kRows, kColumns}},
        {.axis = 1, .reduction = Reduction::kAdd, .rule = {.out_of_range = rule}}));
    for (const int64_t axis : {1, 0}) {  // few cells, many columns
      const Dims cells = axis == 1 ? Dims{1280, 10} : Dims{10, 1280};
      const Dims updates = axis == 1 ? Dims{1280, 80} : Dims{80, 1280};
      plans.push_back(plan_scatter_elements(
          {f32, cells}, {i64, updates}, {f32, updates},
          {.axis = axis, .reduction = Reduction::kAdd, .rule = {.out_of_range = rule}}));
    }
  }
  CudaMemory indices(kRows * kColumns * 8), updates(kRows * kColumns * 4);
  CudaMemory output(kRows * kColumns * 4);
  updates.fill(std::byte{0}, updates.bytes());
  output.fill(std::byte{0}, output.bytes());
  const DeviceStream running, changing;
  const PinnedMemory near(indices.bytes()), far(indices.bytes());
  std::memset(near.data(), 0, near.bytes());
  std::memset(far.data(), 0x7A, far.bytes());
  for (const Plan& plan : plans) {
    const auto index_bytes = static_cast<size_t>(element_count(plan.indices().sizes)) * 8;
    for (const std::string& kernel : gpu().kernels(plan)) {
      const RunOptions options{.kernel = kernel};
      const cuda::Workspace workspace(cuda::workspace_bytes(plan, options));
      for (int round = 0; round < 30; ++round) {
        changing.upload(indices.data(), round % 2 == 0 ? near.data() : far.data(), index_bytes);
        cuda::run(plan, output.data(), indices.data(), updates.data(), output.data(), workspace,
                  running, options);
      }
      changing.wait();
      try {
        cuda::check(plan, workspace, running);
      } catch (const IndexError&) {  // as it may be
      }
      std::vector<float> got(kRows * kColumns, 1);
      output.download(got.data(), output.bytes());
      EXPECT_TRUE(std::all_of(got.begin(), got.end(), [](float sum) { return sum == 0; }))
          << kernel;
    }
  }
}

}  // namespace
}  // namespace sheaf
