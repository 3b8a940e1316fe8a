// SPDX-License-Identifier: MIT
//
// Queues of the C API: the host's, and those of a device that runs nothing before it is waited for.
#include <gtest/gtest.h>
#include <sheaf/c.h>

#include <string>
#include <vector>

#include "capi/helpers.h"
#include "helpers/deferred_device.h"

namespace {

constexpr DLDevice kDevice{kDLExtDev, 0};

struct Call {
  std::vector<float> table = {0, 1, 10, 11, 20, 21, 30, 31};
  std::vector<int32_t> rows = {2, 0, -1};
  std::vector<float> picked = std::vector<float>(6, -1.0F);
  int64_t table_shape[2] = {4, 2}, rows_shape[1] = {3}, picked_shape[2] = {3, 2};
  DLTensor data, indices, output;
  const std::vector<float> expected = {20, 21, 0, 1, 30, 31};
  const std::vector<float> untouched = std::vector<float>(6, -1.0F);

  explicit Call(DLDevice device)
      : data{table.data(), device, 2, {kDLFloat, 32, 1}, table_shape, nullptr, 0},
        indices{rows.data(), device, 1, {kDLInt, 32, 1}, rows_shape, nullptr, 0},
        output{picked.data(), device, 2, {kDLFloat, 32, 1}, picked_shape, nullptr, 0} {
    add_deferred_device();
  }
};

std::string last_error() { return sheaf_last_error(); }

TEST(CQueue, HostThreads) {
  Call call({kDLCPU, 0});
  sheaf_queue* queue = nullptr;
  ASSERT_EQ(sheaf_queue_host(2, &queue), SHEAF_OK);
  sheaf_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_gather(&call.data, &call.indices, nullptr, nullptr, &plan), SHEAF_OK);
  sheaf_run_options options = {};
  options.queue = queue;
  EXPECT_EQ(sheaf_plan_run(plan, &call.data, &call.indices, &call.output, &options), SHEAF_OK);
  EXPECT_EQ(call.picked, call.expected);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  sheaf_plan_destroy(plan);
  sheaf_queue_destroy(queue);
}

TEST(CQueue, OneCallOnADeviceRunsToTheEnd) {
  Call call(kDevice);
  ASSERT_EQ(sheaf_gather(&call.data, &call.indices, &call.output, nullptr), SHEAF_OK);
  EXPECT_EQ(call.picked, call.expected);
  call.rows[1] = 9;
  EXPECT_EQ(sheaf_gather(&call.data, &call.indices, &call.output, nullptr),
            SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_NE(last_error().find("indices[1] = 9"), std::string::npos);
}

TEST(CQueue, PlansOnADeviceQueueReportWhenItIsFinished) {
  Call call(kDevice);
  sheaf_queue* queue = nullptr;
  int stream = 0;
  ASSERT_EQ(sheaf_queue_device(kDevice, &stream, &queue), SHEAF_OK);
  sheaf_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_gather(&call.data, &call.indices, nullptr, nullptr, &plan), SHEAF_OK);
  sheaf_run_options options = {};
  options.struct_size = sizeof options;
  options.queue = queue;
  const auto run = [&] {
    return sheaf_plan_run(plan, &call.data, &call.indices, &call.output, &options);
  };
  ASSERT_EQ(run(), SHEAF_OK);
  EXPECT_EQ(call.picked, call.untouched);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  EXPECT_EQ(call.picked, call.expected);

  call.picked = call.untouched;
  call.rows[0] = -5;
  ASSERT_EQ(run(), SHEAF_OK);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_INDEX_OUT_OF_RANGE);
  EXPECT_NE(last_error().find("indices[0] = -5"), std::string::npos);
  EXPECT_EQ(call.picked, call.untouched);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);  // reported once

  ASSERT_EQ(run(), SHEAF_OK);
  EXPECT_EQ(run(), SHEAF_INDEX_OUT_OF_RANGE);  // the report of the run before is not lost
  sheaf_plan_destroy(plan);
  sheaf_queue_destroy(queue);
  EXPECT_EQ(steps_waiting(), 0);
}

// One workspace serves all runs of a queue; a plan that needs more waits for those before it.
TEST(CQueue, TheWorkspaceGrowsBehindARunThatWaits) {
  Call call(kDevice);
  sheaf_queue* queue = nullptr;
  ASSERT_EQ(sheaf_queue_device(kDevice, nullptr, &queue), SHEAF_OK);
  sheaf_run_options options = {};
  options.queue = queue;
  sheaf_gather_options clamp = {};
  clamp.rule.out_of_range = SHEAF_CLAMP;
  sheaf_plan *clamps = nullptr, *fails = nullptr;
  ASSERT_EQ(sheaf_plan_gather(&call.data, &call.indices, nullptr, &clamp, &clamps), SHEAF_OK);
  ASSERT_EQ(sheaf_plan_gather(&call.data, &call.indices, nullptr, nullptr, &fails), SHEAF_OK);
  std::vector<float> second(6, -1.0F);
  DLTensor other = call.output;
  other.data = second.data();
  EXPECT_EQ(sheaf_plan_run(clamps, &call.data, &call.indices, &call.output, &options), SHEAF_OK);
  EXPECT_EQ(call.picked, call.untouched);
  EXPECT_EQ(sheaf_plan_run(fails, &call.data, &call.indices, &other, &options), SHEAF_OK);
  EXPECT_EQ(call.picked[0], 20) << "its workspace was replaced, so it has run";
  EXPECT_EQ(second, call.untouched);
  EXPECT_EQ(sheaf_queue_finish(queue), SHEAF_OK);
  EXPECT_EQ(second, call.expected);
  sheaf_plan_destroy(clamps);
  sheaf_plan_destroy(fails);
  sheaf_queue_destroy(queue);
}

TEST(CQueue, Refusals) {
  Call on_host({kDLCPU, 0});
  Call on_device(kDevice);
  EXPECT_EQ(sheaf_gather(&on_host.data, &on_device.indices, &on_host.output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(last_error(),
            "gather: tensors in different places\n"
            "  indices: in memory of deferred, but data is in memory of the host\n"
            "  indices int32[3]\n"
            "  try: all tensors of a call in one place");
  on_device.data.device.device_id = 1;
  EXPECT_EQ(sheaf_gather(&on_device.data, &on_device.indices, &on_device.output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("device 1, but this thread uses device 0"), std::string::npos);
  on_device.data.device = {kDLROCM, 0};
  EXPECT_EQ(sheaf_gather(&on_device.data, &on_device.indices, &on_device.output, nullptr),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("DLPack device type 10, which this build has no code for"),
            std::string::npos);
  sheaf_queue* queue = nullptr;
  EXPECT_EQ(sheaf_queue_host(-1, &queue), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_queue_host(1, nullptr), SHEAF_INVALID_ARGUMENT);
  EXPECT_EQ(sheaf_queue_finish(nullptr), SHEAF_INVALID_ARGUMENT);
  sheaf_queue_destroy(nullptr);
  ASSERT_EQ(sheaf_queue_device(kDevice, nullptr, &queue), SHEAF_OK);
  sheaf_plan* plan = nullptr;
  ASSERT_EQ(sheaf_plan_gather(&on_host.data, &on_host.indices, nullptr, nullptr, &plan), SHEAF_OK);
  sheaf_run_options options = {};
  options.queue = queue;
  EXPECT_EQ(sheaf_plan_run(plan, &on_host.data, &on_host.indices, &on_host.output, &options),
            SHEAF_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("queue of another device"), std::string::npos);
  sheaf_plan_destroy(plan);
  sheaf_queue_destroy(queue);
}

TEST(COptions, KnowTheirSize) {
  Call call({kDLCPU, 0});
  struct Later {
    sheaf_gather_options known;
    int64_t added;
  } later = {};
  const auto run = [&] {
    return sheaf_gather(&call.data, &call.indices, &call.output, &later.known);
  };
  later.known.struct_size = sizeof later;
  EXPECT_EQ(run(), SHEAF_OK);
  later.added = 1;
  EXPECT_EQ(run(), SHEAF_INVALID_ARGUMENT);
  EXPECT_NE(last_error().find("options of another version"), std::string::npos);
  later.known.struct_size = sizeof(sheaf_gather_options) - 1;
  EXPECT_EQ(run(), SHEAF_INVALID_ARGUMENT);
  later.known.struct_size = sizeof(sheaf_gather_options);
  EXPECT_EQ(run(), SHEAF_OK);
  EXPECT_EQ(sheaf_version_number(), SHEAF_VERSION_NUMBER);
}

}  // namespace
