// SPDX-License-Identifier: MIT
//
// A build without CUDA says so, and does nothing else.
#include "sheaf/cuda.h"

#include <gtest/gtest.h>

#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

const std::string kNotBuilt =
    "cuda: not built\n"
    "  this build of Sheaf has no device called \"cuda\"\n"
    "  try: sheaf doctor, which lists devices and what each of them needs";

TEST(NoCuda, IsNotAvailable) {
  EXPECT_FALSE(cuda::available());
  EXPECT_EQ(cuda::description(), "this build of Sheaf has no device called \"cuda\"");
  EXPECT_TRUE(cuda::kernels_for(plan_gather({f32, {3}}, {i32, {2}})).empty());
}

TEST(NoCuda, RefusesToRun) {
  const Plan gathers = plan_gather({f32, {3}}, {i32, {2}});
  const Plan scatters = plan_scatter({f32, {3}}, {i32, {2}}, {f32, {2}});
  std::vector<float> data(3), output(3), updates(2);
  const std::vector<int32_t> indices(2);
  const auto text = [](auto&& call) { return refusal(call, ErrorCode::kUnsupported); };
  EXPECT_EQ(text([&] { cuda::workspace_bytes(gathers); }), kNotBuilt);
  EXPECT_EQ(text([&] { cuda::Workspace{gathers}; }), kNotBuilt);
  EXPECT_EQ(text([&] { cuda::Workspace{size_t{256}}; }), kNotBuilt);
  EXPECT_EQ(text([&] { cuda::run(gathers, data.data(), indices.data(), output.data()); }),
            kNotBuilt);
  EXPECT_EQ(text([&] {
              cuda::run(scatters, data.data(), indices.data(), updates.data(), output.data());
            }),
            kNotBuilt);
  EXPECT_EQ(text([&] { cuda::check(gathers, {}); }), kNotBuilt);
}

TEST(NoCuda, HasNoDeviceMemory) {
  EXPECT_EQ(refusal([] { DeviceMemory memory("cuda", 64); }, ErrorCode::kUnsupported), kNotBuilt);
  EXPECT_EQ(refusal([] { free_device_bytes("cuda"); }, ErrorCode::kUnsupported), kNotBuilt);
}

}  // namespace
}  // namespace sheaf
