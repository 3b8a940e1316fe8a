// SPDX-License-Identifier: MIT
//
// Bags and experts on a device: what is refused before anything is started, and what its workspace
// says when it is finished. The device is a stand-in that runs nothing before it is waited for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "helpers/deferred_device.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string_view added_device() {
  add_deferred_device();
  return kDeferredBags;
}

class DeviceBags : public testing::Test {
 protected:
  BagPlan plan() const {
    return plan_bag({TensorSpec(f32, {3, 2}), view(indices_).spec, view(offsets_).spec, {}},
                    {.last_offset = true});
  }
  BagMemory memory() {
    return {.stored = table_.data(),
            .indices = indices_.data(),
            .segments = offsets_.data(),
            .output = output_.data()};
  }
  Queue queue() const {
    return {.device = kDeferredBags, .workspace = {workspace_.data(), workspace_.bytes()}};
  }
  std::string refused(const Queue& queue, const BagMemory& memory) {
    const std::string text = refusal([&] { run(plan(), memory, queue); });
    EXPECT_THAT(output_, Each(-1));
    return text;
  }

  std::vector<float> table_ = {1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices_ = {0, 2, 1, 1};
  std::vector<int64_t> offsets_ = {0, 2, 4};
  std::vector<float> output_ = std::vector<float>(4, -1);
  DeviceMemory workspace_{added_device(), 1 << 12};
};

TEST_F(DeviceBags, RunWhenTheyAreWaitedFor) {
  EXPECT_GT(workspace_bytes(plan(), queue()), 0U);
  run(plan(), memory(), queue());
  EXPECT_THAT(output_, Each(-1));
  finish(plan(), queue());
  EXPECT_THAT(output_, ElementsAre(6, 8, 6, 8));
}

TEST_F(DeviceBags, RefuseWorkspacesThatDoNotFit) {
  const size_t needed = workspace_bytes(plan(), queue());
  Queue small = queue();
  small.workspace.bytes = needed - 1;
  EXPECT_THAT(refused(small, memory()), HasSubstr("bag: workspace too small\n"));
  Queue none = queue();
  none.workspace.memory = nullptr;
  EXPECT_THAT(refused(none, memory()), HasSubstr("the workspace has 0 bytes, but the plan needs"));
  Queue odd = queue();
  odd.workspace.memory = static_cast<std::byte*>(odd.workspace.memory) + 8;
  EXPECT_THAT(refused(odd, memory()), HasSubstr("bag: misaligned workspace\n"));
  small.workspace.bytes = 1;
  const BagPlan clamped =  // whose only report is on its segments
      plan_bag({TensorSpec(f32, {3, 2}), view(indices_).spec, view(offsets_).spec, {}},
               {.last_offset = true, .rule = {.out_of_range = OutOfRange::kClamp}});
  EXPECT_THAT(refusal([&] { finish(clamped, small); }), HasSubstr("bag: no verdict to read\n"));
  for (const Queue& queue : {small, none}) {
    EXPECT_THAT(refusal([&] { finish(plan(), queue); }), HasSubstr("bag: no verdict to read\n"));
  }
}

TEST_F(DeviceBags, RefuseMisalignedTensors) {
  BagMemory odd = memory();
  odd.indices = reinterpret_cast<const std::byte*>(indices_.data()) + 1;
  EXPECT_THAT(refused(queue(), odd),
              HasSubstr("indices is i64, but its address is not a multiple of 4 bytes"));
}

TEST_F(DeviceBags, ReportSegmentsAndIndices) {
  offsets_ = {0, 3, 2};
  run(plan(), memory(), queue());
  EXPECT_THAT(refusal([&] { finish(plan(), queue()); }),
              HasSubstr("offsets[2] = 2, but bags begin in order"));
  offsets_ = {0, 2, 4};
  indices_[1] = 3;
  run(plan(), memory(), queue());
  EXPECT_EQ(index_error([&] { finish(plan(), queue()); }).position(), Dims{1});
  EXPECT_THAT(output_, Each(-1));
}

TEST_F(DeviceBags, AreRefusedWhereThereIsNoKernel) {
  const Queue queue{.device = kDeferred};
  const auto unsupported = [](const auto& call) { return refusal(call, ErrorCode::kUnsupported); };
  EXPECT_THAT(unsupported([&] { run(plan(), memory(), queue); }),
              HasSubstr("the backend \"deferred\" has no kernel for bags"));
  EXPECT_THAT(unsupported([&] { finish(plan(), queue); }), HasSubstr("no bags on this device"));
  const EncodedGatherPlan encoded =
      plan_gather_encoded(encoded_rows(Encoding::kQ8_0, {2, 32}), TensorSpec(i64, {1}));
  EXPECT_THAT(unsupported([&] { static_cast<void>(workspace_bytes(encoded, queue)); }),
              HasSubstr("the backend \"deferred\" has no kernel that decodes"));
  const MoePlan experts =
      plan_moe_permute(TensorSpec(f32, {2, 2}), TensorSpec(i64, {2, 1}), {.experts = 2});
  EXPECT_THAT(unsupported([&] { static_cast<void>(workspace_bytes(experts, queue)); }),
              HasSubstr("the backend \"deferred\" refuses: it has no kernels for them"));
}

class DeviceExperts : public DeviceBags {
 protected:
  MoePlan plan() const {
    return plan_moe_permute(TensorSpec(f32, {3, 2}), TensorSpec(i64, {3, 1}), {.experts = 2});
  }
  MoeMemory memory() {
    return {.tokens = table_.data(),
            .experts = experts_.data(),
            .rows = rows_.data(),
            .inverse = inverse_,
            .offsets = begins_};
  }

  std::vector<int64_t> experts_ = {1, 0, 1};
  std::vector<float> rows_ = std::vector<float>(6, -1);
  int64_t inverse_[3] = {}, begins_[3] = {};
};

TEST_F(DeviceExperts, ArePermutedWhenTheyAreWaitedFor) {
  run(plan(), memory(), queue());
  EXPECT_THAT(rows_, Each(-1));
  finish(plan(), queue());
  EXPECT_THAT(rows_, ElementsAre(3, 4, 1, 2, 5, 6));
  EXPECT_THAT(begins_, ElementsAre(0, 1, 3));
  EXPECT_THAT(inverse_, ElementsAre(1, 0, 2));
}

TEST_F(DeviceExperts, RefuseWorkspacesThatDoNotFit) {
  const size_t needed = workspace_bytes(plan(), queue());
  Queue small = queue();
  small.workspace.bytes = needed - 1;
  Queue none = queue();
  none.workspace.memory = nullptr;
  Queue odd = queue();
  odd.workspace.memory = static_cast<std::byte*>(odd.workspace.memory) + 8;
  for (const Queue& queue : {small, none, odd}) {
    EXPECT_THAT(refusal([&] { run(plan(), memory(), queue); }),
                HasSubstr("moe.permute: workspace too small, or misaligned\n"));
  }
  EXPECT_THAT(rows_, Each(-1));
}

TEST_F(DeviceExperts, ReportThoseThatAreNone) {
  experts_ = {0, 2, -1};
  run(plan(), memory(), queue());
  const IndexError error = index_error([&] { finish(plan(), queue()); });
  EXPECT_EQ(error.position(), (Dims{1, 0}));
  EXPECT_EQ(error.bad_count(), 2);
  EXPECT_THAT(rows_, Each(-1));
  experts_ = {0, 1, 0};
  run(plan(), memory(), queue());
  run_steps(1);  // the check
  experts_[1] = 9;
  EXPECT_THAT(index_error([&] { finish(plan(), queue()); }).what(),
              HasSubstr("experts changed while the call ran"));
}

}  // namespace
}  // namespace sheaf
