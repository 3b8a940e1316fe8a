// SPDX-License-Identifier: MIT
//
// A build without Vulkan says so, and does nothing else.
#include <gtest/gtest.h>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"
#include "sheaf/vulkan.h"

namespace sheaf {
namespace {

const std::string kNotBuilt =
    "vulkan: not built\n"
    "  this build of Sheaf has no device called \"vulkan\"\n"
    "  try: sheaf doctor, which lists devices and what each of them needs";

TEST(NoVulkan, SaysSo) {
  EXPECT_FALSE(device_available("vulkan"));
  EXPECT_EQ(device_description("vulkan"), "this build of Sheaf has no device called \"vulkan\"");
  const Plan plan = plan_gather({f32, {3}}, {i32, {2}});
  EXPECT_EQ(refusal([&] { workspace_bytes(plan, {.device = "vulkan"}); }, ErrorCode::kUnsupported),
            kNotBuilt);
  EXPECT_EQ(refusal([] { DeviceMemory memory("vulkan", 64); }, ErrorCode::kUnsupported), kNotBuilt);
}

TEST(NoVulkan, NoDeviceCanBeMade) {
  const std::string text =
      "vulkan: not built\n"
      "  this build of Sheaf has no Vulkan\n"
      "  try: a build with libvulkan-dev and glslc, or run the plan on the CPU";
  EXPECT_EQ(
      refusal([] { vulkan::Device device{vulkan::DeviceHandles()}; }, ErrorCode::kUnsupported),
      text);
  EXPECT_EQ(refusal([] { vulkan::Device::own(); }, ErrorCode::kUnsupported), text);
}

}  // namespace
}  // namespace sheaf
