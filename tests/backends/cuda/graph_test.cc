// SPDX-License-Identifier: MIT
//
// Runs captured in a CUDA graph and in several streams. That a capture succeeds shows that run()
// neither allocates nor waits.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "helpers/device.h"
#include "helpers/refusal.h"
#include "helpers/rng.h"

namespace sheaf {
namespace {

class CudaGraph : public DeviceTest {};
class CudaStreams : public DeviceTest {};

constexpr int64_t kTableRows = 5000, kTableColumns = 33, kPickedRows = 20'000;

template <class T>
void send(const std::vector<T>& from, DeviceMemory& to) {
  to.upload(from.data(), from.size() * sizeof(T));
}

// One plan with tensors of its own on both sides.
struct Job {
  Plan plan;
  std::vector<float> data, updates, output;
  std::vector<int32_t> indices;
  CudaMemory device_data, device_indices, device_updates, device_output;
  cuda::Workspace workspace;

  explicit Job(const Plan& p)
      : plan(p),
        data(kTableRows * kTableColumns),
        updates(kPickedRows * kTableColumns),
        output(static_cast<size_t>(element_count(p.output().sizes))),
        indices(kPickedRows),
        device_data(data.size() * 4),
        device_indices(indices.size() * 4),
        device_updates(updates.size() * 4),
        device_output(output.size() * 4),
        workspace(p) {}

  void refill(uint64_t seed) {
    Rng rng(seed);
    for (std::vector<float>* values : {&data, &updates}) {
      for (float& value : *values) {
        value = static_cast<float>(rng.from(-1000, 1000)) / 7;
      }
    }
    for (int32_t& index : indices) {
      index = static_cast<int32_t>(rng.from(-kTableRows, kTableRows - 1));
    }
    send(data, device_data);
    send(updates, device_updates);
    send(indices, device_indices);
    device_output.fill(std::byte{0xEE}, device_output.bytes());
  }

  void run(const DeviceStream& stream, bool fresh = false) const {
    const RunOptions options{.output_is_fresh = fresh};
    if (plan.is_scatter()) {
      cuda::run(plan, device_data.data(), device_indices.data(), device_updates.data(),
                device_output.data(), workspace, stream, options);
    } else {
      cuda::run(plan, device_data.data(), device_indices.data(), device_output.data(), workspace,
                stream, options);
    }
  }

  // Waits, and compares with the reference backend.
  void expect_result(const DeviceStream& stream) {
    cuda::check(plan, workspace, stream);
    std::vector<float> expected(output.size());
    if (plan.is_scatter()) {
      plan.run(data.data(), indices.data(), updates.data(), expected.data(),
               {.kernel = "reference"});
    } else {
      plan.run(data.data(), indices.data(), expected.data(), {.kernel = "reference"});
    }
    device_output.download(output.data(), output.size() * 4);
    EXPECT_TRUE(output == expected) << plan.str();
  }
};

Plan gather_plan(OutOfRange rule) {
  return plan_gather({f32, {kTableRows, kTableColumns}}, {i32, {kPickedRows}},
                     {.rule = {.out_of_range = rule}});
}

Plan scatter_plan(Reduction reduction, OutOfRange rule) {
  return plan_scatter({f32, {kTableRows, kTableColumns}}, {i32, {kPickedRows}},
                      {f32, {kPickedRows, kTableColumns}},
                      {.reduction = reduction, .rule = {.out_of_range = rule}});
}

// Updates so narrow that they are linked into chains: cuda.chained.
Plan narrow_plan(OutOfRange rule) {
  return plan_scatter({f32, {kTableRows, 3}}, {i32, {kPickedRows}}, {f32, {kPickedRows, 3}},
                      {.reduction = Reduction::kAdd, .rule = {.out_of_range = rule}});
}

void capture_and_replay(const Plan& plan, bool fresh = false) {
  Job job(plan);
  const DeviceStream stream;
  job.refill(1);
  const DeviceGraph graph(stream, [&] { job.run(stream, fresh); });
  for (const uint64_t seed : {1u, 2u, 3u}) {
    job.refill(seed);
    graph.launch(stream);
    job.expect_result(stream);
  }
}

TEST_F(CudaGraph, Gather) { capture_and_replay(gather_plan(OutOfRange::kClamp)); }
TEST_F(CudaGraph, GatherThatMayFail) { capture_and_replay(gather_plan(OutOfRange::kFail)); }
TEST_F(CudaGraph, GatherIntoAFreshOutput) {
  capture_and_replay(gather_plan(OutOfRange::kFail), true);
}
TEST_F(CudaGraph, ScatterAdd) {
  capture_and_replay(scatter_plan(Reduction::kAdd, OutOfRange::kSkip));
}
TEST_F(CudaGraph, ScatterThatMayFail) {
  for (const Reduction reduction : {Reduction::kNone, Reduction::kMax, Reduction::kMean}) {
    capture_and_replay(scatter_plan(reduction, OutOfRange::kFail));
  }
}

TEST_F(CudaGraph, NarrowScatter) {
  capture_and_replay(narrow_plan(OutOfRange::kSkip));
  capture_and_replay(narrow_plan(OutOfRange::kFail));
}

// Chains or a sort: the device decides in every replay.
TEST_F(CudaGraph, ReplaysWithOtherIndicesTakeOtherWays) {
  Job job(narrow_plan(OutOfRange::kFail));
  const DeviceStream stream;
  const DeviceGraph graph(stream, [&] { job.run(stream); });
  for (const int32_t cells : {5000, 1, 5000, 100}) {
    job.refill(8);
    for (int32_t& index : job.indices) {
      index %= cells;
    }
    send(job.indices, job.device_indices);
    graph.launch(stream);
    job.expect_result(stream);
  }
}

// A bad index on a replay is reported, and the next replay with good ones works.
TEST_F(CudaGraph, ABadIndexOnAReplayIsRefused) {
  for (const Plan& plan :
       {gather_plan(OutOfRange::kFail), scatter_plan(Reduction::kAdd, OutOfRange::kFail),
        narrow_plan(OutOfRange::kFail)}) {
    Job job(plan);
    const DeviceStream stream;
    const DeviceGraph graph(stream, [&] { job.run(stream); });
    job.refill(4);
    job.indices[1234] = kTableRows;
    send(job.indices, job.device_indices);
    graph.launch(stream);
    const IndexError error = index_error([&] { cuda::check(plan, job.workspace, stream); });
    EXPECT_EQ(error.position(), (Dims{1234}));
    EXPECT_EQ(error.bad_count(), 1);
    std::vector<std::byte> bytes(job.device_output.bytes());
    job.device_output.download(bytes.data(), bytes.size());
    EXPECT_TRUE(bytes == std::vector<std::byte>(bytes.size(), std::byte{0xEE}));
    job.refill(5);
    graph.launch(stream);
    job.expect_result(stream);
  }
}

// Two runs at once, each with its own workspace, do not meet.
TEST_F(CudaStreams, TwoAtOnce) {
  const std::vector<Plan> plans = {gather_plan(OutOfRange::kFail),
                                   scatter_plan(Reduction::kAdd, OutOfRange::kFail),
                                   narrow_plan(OutOfRange::kFail)};
  for (const Plan& plan : plans) {
    Job first(plan);
    Job second(scatter_plan(Reduction::kMean, OutOfRange::kSkip));
    const DeviceStream one;
    const DeviceStream two;
    first.refill(6);
    second.refill(7);
    for (int round = 0; round < 50; ++round) {
      first.run(one);
      second.run(two);
    }
    first.expect_result(one);
    second.expect_result(two);
  }
}

}  // namespace
}  // namespace sheaf
