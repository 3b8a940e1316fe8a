// SPDX-License-Identifier: MIT
//
// Plans on a Vulkan device: what the host refuses at once, which kernel runs, indices that turn bad
// between the check and the move, and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "execution/registry.h"
#include "helpers/device.h"
#include "helpers/device_check.h"
#include "helpers/refusal.h"
#include "sheaf/c.h"

namespace sheaf {
namespace {

using testing::HasSubstr;

class VulkanRun : public DeviceTest {
 protected:
  const Plan gathers = plan_gather({f32, {3, 2}}, {i64, {2}});
  const Plan scatters =
      plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}}, {.reduction = Reduction::kAdd});
};

const Queue kQueue{.device = "vulkan"};

Queue with(const DeviceMemory& workspace) { return {.device = "vulkan", .workspace = workspace}; }

class Memory256 : public DeviceMemory {
 public:
  Memory256() : DeviceMemory("vulkan", 256) { fill(std::byte{0}, 256); }
};

std::vector<std::string> accepting(const Plan& plan) {
  std::vector<std::string> names;
  for (const KernelReport& report : kernels_for(plan, kQueue)) {
    if (report.refusal.empty()) {
      names.push_back(report.name);
    }
  }
  return names;
}

TEST_F(VulkanRun, RefusesWhatPlanRunRefuses) {
  const Memory256 floats, numbers;
  const DeviceMemory workspace("vulkan", workspace_bytes(gathers, kQueue));
  float* const f = reinterpret_cast<float*>(floats.data());
  const auto same = [&](const void* data, const void* indices, void* output) {
    EXPECT_EQ(refusal([&] { run(gathers, data, indices, output, with(workspace)); }),
              refusal([&] { gathers.run(data, indices, output); }));
  };
  same(nullptr, numbers.data(), f + 32);
  same(f, nullptr, f + 32);
  same(f, numbers.data(), nullptr);
  same(f, numbers.data(), f + 5);
  same(f, numbers.data(), numbers.data() + 8);
}

TEST_F(VulkanRun, RefusesWorkspacesThatDoNotServe) {
  const Memory256 floats, numbers;
  float* const f = reinterpret_cast<float*>(floats.data());
  EXPECT_THAT(refusal([&] { run(gathers, f, numbers.data(), f + 32, kQueue); }),
              HasSubstr("workspace too small"));
  EXPECT_THAT(refusal([&] { finish(gathers, kQueue); }), HasSubstr("no verdict to read"));
}

TEST_F(VulkanRun, RefusesNumbersThatAreNotAligned) {
  const Memory256 floats, numbers;
  const DeviceMemory workspace("vulkan", workspace_bytes(scatters, kQueue));
  std::byte *const f = floats.data(), *const i = numbers.data();
  const Queue queue = with(workspace);
  const auto text = [](auto call) { return refusal(call); };
  EXPECT_THAT(text([&] { run(gathers, f, i + 4, f + 128, queue); }),
              HasSubstr(": misaligned pointer\n"));
  EXPECT_THAT(text([&] { run(scatters, f, i, f + 65, f + 128, queue); }),
              HasSubstr(": misaligned pointer\n"));
  EXPECT_NO_THROW(run(gathers, f + 1, i, f + 131, queue));
  EXPECT_NO_THROW(finish(gathers, queue));
}

TEST_F(VulkanRun, ChoosesByAlignmentAndStrides) {
  EXPECT_EQ(accepting(gathers).front(), "vulkan.lines");
  EXPECT_EQ(accepting(plan_gather({f32, {30, 4}}, {u8, {20}})).front(), "vulkan.rows");
  EXPECT_EQ(accepting(plan_gather_nd({f32, {3, 4, 5}}, {i64, {7, 2}})).front(), "vulkan.rows");
  EXPECT_EQ(accepting(plan_gather({u8, {30, 33}}, {i64, {20}})).front(), "vulkan.packed");
  const TensorSpec apart(f32, {2, 2}, {4, 1});
  EXPECT_EQ(accepting(plan_gather({f32, {3, 2}}, {i64, {2}}, apart)).front(), "vulkan.strided");
  const TensorSpec bytes_apart(u8, {2, 2}, {5, 1});
  EXPECT_EQ(accepting(plan_gather({u8, {3, 2}}, {i64, {2}}, bytes_apart)).front(), "vulkan.units");
  EXPECT_EQ(accepting(scatters).front(), "vulkan.sorted");
  EXPECT_EQ(accepting(plan_scatter({f32, {3, 2}}, {i64, {2}}, {f32, {2, 2}})).front(),
            "vulkan.marked");
}

TEST_F(VulkanRun, RefusesKernelsThatAreNotThereOrDoNotFit) {
  const Memory256 floats, numbers;
  const DeviceMemory workspace("vulkan", workspace_bytes(scatters, kQueue));
  const auto text = [&](std::string_view kernel) {
    return refusal(
        [&] {
          run(gathers, floats.data() + 2, numbers.data(), floats.data() + 128, with(workspace),
              {.kernel = kernel});
        },
        ErrorCode::kUnsupported);
  };
  EXPECT_THAT(text("vulkan.abacus"), HasSubstr("names no gather kernel"));
  EXPECT_THAT(text("vulkan.rows"),
              HasSubstr("vulkan.rows refuses: rows, strides or addresses are not whole words"));
}

// Strides of 0 ask for any number of elements without memory for them.
TEST_F(VulkanRun, RefusesMoreThanARunCanHave) {
  const Memory256 memory;
  void* const far_away = memory.data() + (int64_t{1} << 45);
  const Plan gather = plan_gather({u8, {3}}, TensorSpec(u8, {int64_t{1} << 43}, {0}),
                                  {.rule = {.out_of_range = OutOfRange::kClamp}});
  EXPECT_THAT(refusal([&] { run(gather, memory.data(), memory.data(), far_away, kQueue); },
                      ErrorCode::kUnsupported),
              HasSubstr("more bytes than a run can have"));
  const TensorSpec many(u8, {int64_t{1} << 32}, {0});
  const Plan scatter =
      plan_scatter({u8, {3}}, many, many,
                   {.reduction = Reduction::kAdd, .rule = {.out_of_range = OutOfRange::kClamp}});
  EXPECT_THAT(refusal([&] { workspace_bytes(scatter, kQueue); }, ErrorCode::kUnsupported),
              HasSubstr("more than 2^31 index tuples in one run"));
}

TEST_F(VulkanRun, RefusesBagsThatARunCannotHave) {
  const BagPlan bag = plan_bag({.data = {TensorSpec(f32, {4, 2})},
                                .indices = TensorSpec(u8, {2, int64_t{1} << 42}, {0, 0})});
  EXPECT_THAT(refusal([&] { workspace_bytes(bag, kQueue); }, ErrorCode::kUnsupported),
              HasSubstr("vulkan.bag refuses: more elements of rows than a run can have"));
}

// As if the indices had changed after they were checked: every kernel stays inside its tensors, and
// finish() says what happened.
TEST_F(VulkanRun, IndicesThatTurnBadAfterTheCheck) {
  constexpr size_t kGuard = 1024;
  const Backend& vulkan = device_backend("vulkan");
  for (const DType type : {u8, f32, f64}) {
    const Plan plan = plan_gather({type, {5, 3}}, {i32, {40}});
    const auto data_bytes = static_cast<size_t>(15 * type.bytes());
    const auto output_bytes = static_cast<size_t>(120 * type.bytes());
    DeviceMemory data("vulkan", data_bytes), indices("vulkan", 160);
    DeviceMemory output("vulkan", output_bytes + 2 * kGuard);
    DeviceMemory workspace("vulkan", workspace_bytes(plan, kQueue));
    std::vector<int32_t> far(40, 0x7A7A7A7A);
    far[7] = 2;
    indices.upload(far.data(), 160);
    data.fill(std::byte{1}, data_bytes);
    for (const GatherKernel& kernel : vulkan.gather) {
      if (kernel.refusal({.nest = plan.nest(), .plan = &plan}) != nullptr) {
        continue;
      }
      output.fill(std::byte{0xEE}, output.bytes());
      workspace.fill(std::byte{0}, workspace.bytes());
      const Launch launch{.verdict = reinterpret_cast<Verdict*>(workspace.data()), .plan = &plan};
      kernel.run(plan.nest(), {data.data(), indices.data(), output.data() + kGuard}, launch);
      const IndexError error = index_error([&] { finish(plan, with(workspace)); });
      EXPECT_THAT(error.what(), HasSubstr("indices changed while the call ran"));
      std::vector<uint8_t> got(output.bytes());
      output.download(got.data(), got.size());
      EXPECT_EQ(std::count(got.begin(), got.begin() + kGuard, 0xEE), int64_t{kGuard});
      EXPECT_EQ(std::count(got.end() - kGuard, got.end(), 0xEE), int64_t{kGuard});
      EXPECT_EQ(got[kGuard + static_cast<size_t>(21 * type.bytes())], 1) << kernel.name;
    }
  }
}

TEST_F(VulkanRun, ScattersWhoseIndicesTurnBadAfterTheCheck) {
  const Backend& vulkan = device_backend("vulkan");
  for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
    const Plan plan = plan_scatter({f32, {64}}, {i64, {50}}, {f32, {50}}, {.reduction = reduction});
    DeviceMemory indices("vulkan", 400), updates("vulkan", 200), output("vulkan", 256);
    indices.fill(std::byte{0x7A}, 400);
    updates.fill(std::byte{1}, 200);
    for (const ScatterKernel& kernel : vulkan.scatter) {
      if (kernel.refusal({.nest = plan.nest(), .plan = &plan}) != nullptr) {
        continue;
      }
      const size_t bytes = 256 + kernel.workspace_bytes(plan.nest(), 0);
      DeviceMemory workspace("vulkan", bytes);
      workspace.fill(std::byte{0}, bytes);
      output.fill(std::byte{0}, 256);
      const Launch launch{.verdict = reinterpret_cast<Verdict*>(workspace.data()),
                          .workspace = workspace.data() + 256};
      kernel.run(plan.nest(), {output.data(), indices.data(), updates.data()}, launch);
      const IndexError error = index_error([&] { finish(plan, with(workspace)); });
      EXPECT_THAT(error.what(), HasSubstr("indices changed while the call ran"));
      std::vector<uint8_t> got(256);
      output.download(got.data(), got.size());
      EXPECT_EQ(std::count(got.begin(), got.end(), 0), 256) << kernel.name;
    }
  }
}

// DLPack's number for Vulkan leads here from C.
TEST_F(VulkanRun, FromC) {
  const std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  std::vector<int32_t> rows = {2, 0, -1};
  DeviceMemory data("vulkan", 32), indices("vulkan", 12), output("vulkan", 24);
  data.upload(table.data(), 32);
  indices.upload(rows.data(), 12);
  int64_t table_shape[2] = {4, 2}, rows_shape[1] = {3}, picked_shape[2] = {3, 2};
  const DLDevice device{kDLVulkan, 0};
  DLTensor d{data.data(), device, 2, {kDLFloat, 32, 1}, table_shape, nullptr, 0};
  DLTensor i{indices.data(), device, 1, {kDLInt, 32, 1}, rows_shape, nullptr, 0};
  DLTensor o{output.data(), device, 2, {kDLFloat, 32, 1}, picked_shape, nullptr, 0};
  sheaf_queue* queue = nullptr;
  ASSERT_EQ(sheaf_queue_device(device, nullptr, &queue), SHEAF_OK) << sheaf_last_error();
  sheaf_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_gather(&d, &i, &o, nullptr, &plan), SHEAF_OK) << sheaf_last_error();
  sheaf_run_options options{};
  options.struct_size = sizeof options;
  options.queue = queue;
  EXPECT_EQ(sheaf_plan_run(plan, &d, &i, &o, &options), SHEAF_OK) << sheaf_last_error();
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK) << sheaf_last_error();
  std::vector<float> got(6);
  output.download(got.data(), 24);
  EXPECT_EQ(got, (std::vector<float>{20, 21, 0, 1, 30, 31}));
  rows[1] = 9;
  indices.upload(rows.data(), 12);
  EXPECT_EQ(sheaf_plan_run(plan, &d, &i, &o, &options), SHEAF_OK);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_INDEX_OUT_OF_RANGE);
  sheaf_plan_destroy(plan);
  sheaf_queue_destroy(queue);
}

// More batches than a stream keeps, from several threads.
TEST_F(VulkanRun, ManyRunsFromManyThreads) {
  const Plan plan =
      plan_gather({i32, {100}}, {i32, {64}}, {.rule = {.out_of_range = OutOfRange::kClamp}});
  std::vector<int32_t> table(100), picked(64);
  for (size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<int32_t>(1000 + i);
  }
  for (size_t i = 0; i < picked.size(); ++i) {
    picked[i] = static_cast<int32_t>(99 - i);
  }
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      DeviceMemory data("vulkan", 400), indices("vulkan", 256), output("vulkan", 256);
      data.upload(table.data(), 400);
      indices.upload(picked.data(), 256);
      for (int round = 0; round < 40; ++round) {
        run(plan, data.data(), indices.data(), output.data(), kQueue);
      }
      finish(plan, kQueue);
      std::vector<int32_t> got(64);
      output.download(got.data(), 256);
      for (size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i], static_cast<int32_t>(1099 - i));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST_F(VulkanRun, MemoryIsCopiedInPartsAndFreed) {
  constexpr size_t kBytes = (size_t{9} << 20) + 13;  // more than the staging buffer
  const size_t before = free_device_bytes("vulkan");
  EXPECT_GT(before, 0u);
  std::vector<uint8_t> sent(kBytes), came(kBytes);
  for (size_t i = 0; i < kBytes; ++i) {
    sent[i] = static_cast<uint8_t>(i * 31 % 251);
  }
  DeviceMemory memory("vulkan", kBytes + 5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 16, 0u);
  memory.upload(sent.data(), kBytes, 5);
  memory.download(came.data(), kBytes, 5);
  EXPECT_EQ(sent, came);
  memory.fill(std::byte{7}, 3, 6);
  memory.download(came.data(), 5, 5);
  EXPECT_EQ(std::vector<uint8_t>(came.begin(), came.begin() + 5),
            (std::vector<uint8_t>{sent[0], 7, 7, 7, sent[4]}));
}

TEST_F(VulkanRun, RefusesMemoryThatIsNotThere) {
  EXPECT_THAT(
      refusal([] { DeviceMemory memory("vulkan", SIZE_MAX - 100); }, ErrorCode::kOutOfMemory),
      HasSubstr("vulkan: out of device memory\n"));
  DeviceMemory memory("vulkan", 16);
  EXPECT_EQ(refusal([&] { memory.upload("", 1, 4000); }),
            "vulkan: unknown device memory\n"
            "  the bytes to be copied lie outside what DeviceMemory allocated\n"
            "  try: DeviceMemory(\"vulkan\", bytes), or copies of your own");
}

}  // namespace
}  // namespace sheaf
