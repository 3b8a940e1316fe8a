// SPDX-License-Identifier: MIT
//
// Dispatch on memory of a device, in the order of a stream: on a device that runs nothing before it
// is waited for.
#include <gmock/gmock.h>

#include <optional>

#include "frontends/directml/dml.h"
#include "helpers/deferred_device.h"

using namespace dml_test;
using testing::HasSubstr;

namespace {

class DirectmlQueue : public testing::Test {
 protected:
  DirectmlQueue() { add_deferred_device(); }

  sheaf::Queue queue_for(const IDMLCompiledOperator& op) {
    sheaf::Queue queue{.device = kDeferred};
    workspace_.emplace(kDeferred, sheaf::workspace_bytes(op.GetPlan(), queue));
    queue.workspace = *workspace_;
    return queue;
  }

  std::optional<sheaf::DeviceMemory> workspace_;
};

TEST_F(DirectmlQueue, StartsAndReturns) {
  const Compiled compiled = compile(sound_gather());
  std::vector<float> input(64), output(64, -1.0f);
  for (size_t i = 0; i < input.size(); ++i) {
    input[i] = static_cast<float>(i);
  }
  const std::vector<uint32_t> indices(64, 1);
  WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
  std::vector<float> expected = output;
  WholeBuffers on_host{HostBuffer(input), HostBuffer(indices), HostBuffer(expected)};
  ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), on_host.bindings()), S_OK);

  const sheaf::Queue queue = queue_for(*compiled.op.Get());
  ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings(), queue), S_OK);
  EXPECT_GT(steps_waiting(), 0);
  EXPECT_EQ(output, std::vector<float>(64, -1.0f));
  sheaf::wait(queue);
  EXPECT_EQ(output, expected);
  EXPECT_NE(output, std::vector<float>(64, -1.0f));
}

TEST_F(DirectmlQueue, RefusesAsOnTheHost) {
  const Compiled compiled = compile(sound_gather());
  std::vector<float> input(64), output(64, -1.0f);
  const std::vector<uint32_t> indices(64, 1);
  WholeBuffers buffers{HostBuffer(input), HostBuffer(indices), HostBuffer(output)};
  Bindings bindings = buffers.bindings();
  bindings.InputCount = 1;
  const sheaf::Queue queue = queue_for(*compiled.op.Get());
  EXPECT_EQ(compiled.device->Dispatch(compiled.op.Get(), bindings, queue), E_INVALIDARG);
  EXPECT_THAT(LastErrorText(), HasSubstr("1 inputs are bound, but this operator has 2"));
  EXPECT_EQ(steps_waiting(), 0);
  EXPECT_TRUE(FAILED(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings(),
                                               sheaf::Queue{.device = "nowhere"})));
  EXPECT_THAT(LastErrorText(), HasSubstr("nowhere"));
  EXPECT_EQ(output, std::vector<float>(64, -1.0f));
}

}  // namespace
