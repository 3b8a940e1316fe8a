// SPDX-License-Identifier: MIT
//
// Bags that are captured in a graph.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "helpers/bag_problem.h"
#include "helpers/device.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

class CudaBagGraph : public DeviceTest {};

// That a capture succeeds shows that a run neither allocates nor waits.
TEST_F(CudaBagGraph, RunsWithOtherSegmentsEachTime) {
  Rng rng(1);
  BagProblem problem;
  problem.specs.data = TensorSpec(f32, {20, 4});
  problem.specs.indices = TensorSpec(i64, {10});
  problem.specs.segments = TensorSpec(i64, {4});
  problem.options.segments = SegmentForm::kLengths;
  problem.make_tensors(rng);
  const BagPlan plan = problem.plan();
  DeviceMemory stored("cuda", problem.stored.bytes.size());
  DeviceMemory indices("cuda", problem.indices.bytes.size());
  DeviceMemory segments("cuda", problem.segments.bytes.size());
  DeviceMemory output("cuda", 64);
  DeviceMemory workspace("cuda", workspace_bytes(plan, {.device = "cuda"}));
  stored.upload(problem.stored.bytes.data(), stored.bytes());
  indices.upload(problem.indices.bytes.data(), indices.bytes());
  const DeviceStream stream;
  const Queue queue{.device = "cuda", .stream = stream, .workspace = workspace};
  const auto record = [&] {
    run(plan,
        {.stored = stored.data(),
         .indices = indices.data(),
         .segments = segments.data(),
         .output = output.data()},
        queue);
  };
  const DeviceGraph graph(stream, record);
  for (const std::vector<int64_t>& lengths :
       std::vector<std::vector<int64_t>>{{3, 3, 0, 4}, {10, 0, 0, 0}, {9, 0, 0, 0}, {1, 2, 3, 4}}) {
    problem.segments.set_all(lengths);
    segments.upload(problem.segments.bytes.data(), segments.bytes());
    output.fill(std::byte{0xA5}, output.bytes());
    graph.launch(stream);
    BagResult result;
    try {
      finish(plan, queue);
    } catch (const Error& error) {
      result.error = error.what();
    }
    result.output.resize(output.bytes());
    output.download(result.output.data(), output.bytes());
    EXPECT_TRUE(result == problem.on_reference()) << result.error;
  }
}

}  // namespace
}  // namespace sheaf
