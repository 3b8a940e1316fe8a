// SPDX-License-Identifier: MIT
//
// sheaf/vulkan.h: plans on a VkDevice, in buffers, command buffers and between semaphores of the
// caller.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

#include "helpers/device.h"
#include "helpers/refusal.h"
#include "helpers/vulkan_program.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kSecond = 1'000'000'000;

// A table of 4 rows of 2, indices and outputs as parts of one buffer. One program for all tests:
// most of their time goes into compiling kernels.
class VulkanCaller : public DeviceTest {
 protected:
  static constexpr size_t kTable = 0, kRows = 256, kPicked = 512, kBytes = 1024;

  static void SetUpTestSuite() {
    if (device_available("vulkan")) {
      program_.emplace();
      device_.emplace(program_->handles());
      buffer_ = program_->make_buffer(kBytes);
    }
  }
  static void TearDownTestSuite() {
    device_.reset();
    program_.reset();
  }

  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped()) {
      return;
    }
    const float table[] = {0, 1, 10, 11, 20, 21, 30, 31};
    std::memcpy(buffer_.at<float>(kTable), table, sizeof table);
    set_rows({3, 0, -1});
    clear_picked();
  }
  void set_rows(const std::vector<int64_t>& rows) const {
    std::copy(rows.begin(), rows.end(), buffer_.at<int64_t>(kRows));
  }
  void clear_picked() const { std::fill_n(buffer_.at<float>(kPicked), 6, -1.0F); }
  std::vector<float> picked() const {
    return {buffer_.at<float>(kPicked), buffer_.at<float>(kPicked) + 6};
  }
  void start(const Queue& queue, const RunOptions& options = {}) const {
    run(plan_, device_->address(buffer_.buffer, kTable), device_->address(buffer_.buffer, kRows),
        device_->address(buffer_.buffer, kPicked), queue, options);
  }

  const Plan plan_ = plan_gather({f32, {4, 2}}, {i64, {3}});
  static inline std::optional<VulkanProgram> program_;
  static inline std::optional<vulkan::Device> device_;
  static inline VulkanProgram::Buffer buffer_;
};

TEST_F(VulkanCaller, RunsInACommandBufferOfTheCallerAsOftenAsThatIsSubmitted) {
  const vulkan::Memory workspace(*device_, plan_);
  VkCommandBuffer const commands = program_->begin();
  const vulkan::Commands recorded(*device_, commands);
  start(recorded.queue(workspace));
  program_->end(commands);
  EXPECT_THAT(picked(), ElementsAre(-1, -1, -1, -1, -1, -1));  // nothing has run yet
  program_->run(commands);
  EXPECT_NO_THROW(finish(plan_, recorded.queue(workspace)));
  EXPECT_THAT(picked(), ElementsAre(30, 31, 0, 1, 30, 31));
  set_rows({1, 1, 2});
  program_->run(commands);
  EXPECT_NO_THROW(finish(plan_, recorded.queue(workspace)));
  EXPECT_THAT(picked(), ElementsAre(10, 11, 10, 11, 20, 21));
}

TEST_F(VulkanCaller, TheVerdictIsReadBehindTheCallersFence) {
  const vulkan::Memory workspace(*device_, plan_);
  for (const bool fresh : {false, true}) {
    VkCommandBuffer const commands = program_->begin();
    const vulkan::Commands recorded(*device_, commands);
    start(recorded.queue(workspace), {.output_is_fresh = fresh});
    program_->end(commands);
    set_rows({0, 4, 1});
    clear_picked();
    program_->run(commands);
    EXPECT_THAT(
        refusal([&] { finish(plan_, recorded.queue(workspace)); }, ErrorCode::kIndexOutOfRange),
        HasSubstr("indices[1] = 4"));
    if (!fresh) {
      EXPECT_THAT(picked(), ElementsAre(-1, -1, -1, -1, -1, -1));
    }
    set_rows({0, 3, 1});
    program_->run(commands);
    EXPECT_NO_THROW(finish(plan_, recorded.queue(workspace)));
    EXPECT_THAT(picked(), ElementsAre(0, 1, 30, 31, 10, 11));
  }
}

// The verdicts on segments and on indices of a bag are read there too.
TEST_F(VulkanCaller, BagsInACommandBuffer) {
  const BagPlan bag = plan_bag({.data = {TensorSpec(f32, {4, 2})},
                                .indices = TensorSpec(i64, {3}),
                                .segments = TensorSpec(i64, {3})});
  VkCommandBuffer const commands = program_->begin();
  const vulkan::Commands recorded(*device_, commands);
  const vulkan::Memory workspace(*device_, workspace_bytes(bag, recorded.queue()));
  run(bag,
      {.stored = device_->address(buffer_.buffer, kTable),
       .indices = device_->address(buffer_.buffer, kRows),
       .segments = device_->address(buffer_.buffer, kRows + 128),
       .output = device_->address(buffer_.buffer, kPicked)},
      recorded.queue(workspace));
  program_->end(commands);
  const auto run_with = [&](const std::vector<int64_t>& offsets) {
    std::copy(offsets.begin(), offsets.end(), buffer_.at<int64_t>(kRows + 128));
    clear_picked();
    program_->run(commands);
  };
  run_with({0, 2, 2});
  EXPECT_NO_THROW(finish(bag, recorded.queue(workspace)));
  EXPECT_THAT(picked(), ElementsAre(30, 32, 0, 0, 30, 31));
  run_with({0, 2, 1});
  EXPECT_THAT(refusal([&] { finish(bag, recorded.queue(workspace)); }),
              HasSubstr("offsets[2] = 1, but bags begin in order"));
  EXPECT_THAT(picked(), ElementsAre(-1, -1, -1, -1, -1, -1));
  set_rows({3, 4, -1});
  run_with({0, 1, 2});
  EXPECT_THAT(refusal([&] { finish(bag, recorded.queue(workspace)); }, ErrorCode::kIndexOutOfRange),
              HasSubstr("indices[1] = 4"));
  EXPECT_THAT(picked(), ElementsAre(-1, -1, -1, -1, -1, -1));
}

// More runs than one chunk of arguments holds, each of which needs the one before.
TEST_F(VulkanCaller, ManyRunsInOneCommandBuffer) {
  constexpr int kRuns = 300;
  const Plan adds =
      plan_scatter({f32, {4, 2}}, {i64, {3}}, {f32, {3, 2}}, {.reduction = Reduction::kAdd});
  const vulkan::Memory workspace(*device_, adds);
  std::fill_n(buffer_.at<float>(kPicked), 6, 1.0F);
  VkCommandBuffer const commands = program_->begin();
  const vulkan::Commands recorded(*device_, commands);
  void* const table = device_->address(buffer_.buffer, kTable);
  for (int i = 0; i < kRuns; ++i) {
    run(adds, table, device_->address(buffer_.buffer, kRows),
        device_->address(buffer_.buffer, kPicked), table, recorded.queue(workspace));
  }
  program_->end(commands);
  program_->run(commands);
  EXPECT_NO_THROW(finish(adds, recorded.queue(workspace)));
  const float* const sums = buffer_.at<float>(kTable);
  EXPECT_THAT(std::vector<float>(sums, sums + 8),
              ElementsAre(kRuns, 1 + kRuns, 10, 11, 20, 21, 30 + 2 * kRuns, 31 + 2 * kRuns));
}

TEST_F(VulkanCaller, FinishWithoutARunIsRefused) {
  const vulkan::Memory workspace(*device_, plan_);
  VkCommandBuffer const commands = program_->begin();
  const vulkan::Commands recorded(*device_, commands);
  program_->end(commands);
  EXPECT_EQ(refusal([&] { finish(plan_, recorded.queue(workspace)); }),
            "vulkan: no verdict to read\n"
            "  no run with this workspace was recorded into the command buffer\n"
            "  try: the workspace that the run was given");
}

TEST_F(VulkanCaller, WaitsForAndSignalsTimelineSemaphores) {
  const vulkan::Memory workspace(*device_, plan_);
  VkSemaphore const before = program_->make_timeline();
  VkSemaphore const after = program_->make_timeline();
  vulkan::Stream stream(*device_);
  stream.wait_for(before, 7);
  start(stream.queue(workspace));
  stream.signal(after, 8);
  EXPECT_FALSE(program_->reaches(after, 8, kSecond / 20));
  EXPECT_THAT(picked(), ElementsAre(-1, -1, -1, -1, -1, -1));
  set_rows({2, 2, 0});
  program_->signal(before, 7);
  EXPECT_TRUE(program_->reaches(after, 8, 60 * kSecond));
  EXPECT_THAT(picked(), ElementsAre(20, 21, 20, 21, 0, 1));
  EXPECT_NO_THROW(finish(plan_, stream.queue(workspace)));
  set_rows({2, -9, 0});
  start(stream.queue(workspace));
  EXPECT_THAT(refusal([&] { finish(plan_, stream.queue(workspace)); }, ErrorCode::kIndexOutOfRange),
              HasSubstr("indices[1] = -9"));
}

// A signal behind a wait, with nothing between them, waits as well.
TEST_F(VulkanCaller, ASignalAloneWaits) {
  VkSemaphore const before = program_->make_timeline();
  VkSemaphore const after = program_->make_timeline();
  vulkan::Stream stream(*device_);
  stream.wait_for(before, 1);
  stream.signal(after, 1);
  EXPECT_FALSE(program_->reaches(after, 1, kSecond / 20));
  program_->signal(before, 1);
  EXPECT_TRUE(program_->reaches(after, 1, 60 * kSecond));
}

TEST_F(VulkanCaller, MemoryOfTheDevice) {
  vulkan::Memory memory(*device_, 1000);
  std::vector<uint8_t> sent(900), came(900);
  std::iota(sent.begin(), sent.end(), uint8_t{3});
  memory.upload(sent.data(), 900, 100);
  memory.download(came.data(), 900, 100);
  EXPECT_EQ(sent, came);
  EXPECT_EQ(device_->address(memory.buffer()), memory.data());
  EXPECT_EQ(device_->address(memory.buffer(), uint64_t{5} << 30),
            memory.data() + (uint64_t{5} << 30));
  const vulkan::Memory none(*device_, size_t{0});
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_THAT(refusal([&] { memory.upload(sent.data(), 1, 1000); }),
              HasSubstr("unknown device memory"));
  EXPECT_THAT(refusal([&] { none.download(came.data(), 1); }), HasSubstr("unknown device memory"));
  vulkan::Memory moved = std::move(memory);
  EXPECT_EQ(moved.bytes(), 1000u);
}

TEST_F(VulkanCaller, OnTheLibrarysOwnDevice) {
  const vulkan::Device own = vulkan::Device::own();
  EXPECT_EQ(own.description(), device_description("vulkan"));
  EXPECT_EQ(own.description(), device_->description());
  DeviceMemory table("vulkan", 32), rows("vulkan", 24), output("vulkan", 24);
  table.upload(buffer_.mapped + kTable, 32);
  rows.upload(buffer_.mapped + kRows, 24);
  const vulkan::Memory workspace(own, plan_);
  const vulkan::Stream stream(own);
  run(plan_, table.data(), rows.data(), output.data(), stream.queue(workspace));
  EXPECT_NO_THROW(finish(plan_, stream.queue(workspace)));
  std::vector<float> got(6);
  output.download(got.data(), 24);
  EXPECT_THAT(got, ElementsAre(30, 31, 0, 1, 30, 31));
}

TEST_F(VulkanCaller, KernelsOfADeviceOfTheCaller) {
  const vulkan::Stream stream(*device_);
  EXPECT_EQ(kernels_for(plan_, stream.queue()).front().name, "vulkan.lines");
}

TEST_F(VulkanCaller, RefusesNullHandles) {
  using Handles = vulkan::DeviceHandles;
  const auto without = [&](auto member) {
    Handles handles = program_->handles();
    handles.*member = nullptr;
    return refusal([&] { vulkan::Device device(handles); });
  };
  EXPECT_EQ(without(&Handles::instance),
            "vulkan: null handle\n"
            "  DeviceHandles::instance is null\n"
            "  try: all handles of the device that plans are to run on");
  EXPECT_THAT(without(&Handles::physical_device), HasSubstr("physical_device is null"));
  EXPECT_THAT(without(&Handles::device), HasSubstr("DeviceHandles::device is null"));
  EXPECT_THAT(without(&Handles::queue), HasSubstr("DeviceHandles::queue is null"));
}

TEST_F(VulkanCaller, RefusesDevicesWithoutTheFeatures) {
  const auto text = [](VulkanProgram::Features features) {
    const VulkanProgram program(features);
    return refusal([&] { vulkan::Device device(program.handles()); }, ErrorCode::kUnsupported);
  };
  EXPECT_EQ(text({.addresses = false}),
            "vulkan: no device\n"
            "  the device was made without the feature bufferDeviceAddress\n"
            "  try: VkPhysicalDeviceVulkan12Features with that feature in VkDeviceCreateInfo");
  EXPECT_THAT(text({.timelines = false}), HasSubstr("without the feature timelineSemaphore\n"));
}

TEST_F(VulkanCaller, KnowsFeaturesInStructsOfTheirOwn) {
  VkPhysicalDeviceTimelineSemaphoreFeatures timelines{};
  timelines.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES;
  timelines.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceBufferDeviceAddressFeatures addresses{};
  addresses.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES;
  addresses.pNext = &timelines;
  addresses.bufferDeviceAddress = VK_TRUE;
  VkDeviceCreateInfo made{};
  made.pNext = &addresses;
  vulkan::DeviceHandles handles = program_->handles();
  handles.create_info = &made;
  EXPECT_NO_THROW(vulkan::Device device(handles));
  addresses.pNext = nullptr;
  EXPECT_THAT(refusal([&] { vulkan::Device device(handles); }, ErrorCode::kUnsupported),
              HasSubstr("timelineSemaphore"));
}

TEST_F(VulkanCaller, RefusesQueuesThatCannotCompute) {
  vulkan::DeviceHandles handles = program_->handles();
  handles.queue_family = 1000;
  EXPECT_EQ(refusal([&] { vulkan::Device device(handles); }, ErrorCode::kUnsupported),
            "vulkan: no device\n"
            "  queue family 1000 cannot compute\n"
            "  try: a queue of a family with VK_QUEUE_COMPUTE_BIT");
}

// What drivers answer that are older than 1.2, lack a feature, or lack a function.
enum class Lacks { kVersion, kFeature, kFunction };
PFN_vkGetPhysicalDeviceProperties usual_properties;
PFN_vkGetPhysicalDeviceFeatures2 usual_features;
PFN_vkGetInstanceProcAddr usual_lookup;
Lacks lacks;

VKAPI_ATTR void VKAPI_CALL poor_properties(VkPhysicalDevice device,
                                           VkPhysicalDeviceProperties* properties) {
  usual_properties(device, properties);
  properties->apiVersion = lacks == Lacks::kVersion ? VK_API_VERSION_1_1 : properties->apiVersion;
}

VKAPI_ATTR void VKAPI_CALL poor_features(VkPhysicalDevice device,
                                         VkPhysicalDeviceFeatures2* features) {
  usual_features(device, features);
  static_cast<VkPhysicalDeviceVulkan12Features*>(features->pNext)->bufferDeviceAddress = VK_FALSE;
}

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL poor_lookup(VkInstance instance, const char* name) {
  const std::string_view asked = name;
  if (asked == "vkGetPhysicalDeviceProperties") {
    return reinterpret_cast<PFN_vkVoidFunction>(poor_properties);
  }
  if (asked == "vkGetPhysicalDeviceFeatures2") {
    return reinterpret_cast<PFN_vkVoidFunction>(poor_features);
  }
  return asked == "vkGetPhysicalDeviceMemoryProperties2" && lacks == Lacks::kFunction
             ? nullptr
             : usual_lookup(instance, name);
}

TEST_F(VulkanCaller, RefusesDriversThatLackSomething) {
  vulkan::DeviceHandles handles = program_->handles();
  usual_lookup = handles.get_instance_proc_addr;
  usual_properties = reinterpret_cast<PFN_vkGetPhysicalDeviceProperties>(
      usual_lookup(handles.instance, "vkGetPhysicalDeviceProperties"));
  usual_features = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(
      usual_lookup(handles.instance, "vkGetPhysicalDeviceFeatures2"));
  handles.get_instance_proc_addr = poor_lookup;
  const auto text = [&] {
    return refusal([&] { vulkan::Device device(handles); }, ErrorCode::kUnsupported);
  };
  lacks = Lacks::kVersion;
  EXPECT_EQ(text(),
            "vulkan: no device\n  it has no Vulkan 1.2\n  try: another device, or a newer driver");
  lacks = Lacks::kFeature;
  EXPECT_THAT(text(), HasSubstr("  it lacks the feature bufferDeviceAddress\n"));
  lacks = Lacks::kFunction;
  EXPECT_THAT(text(), HasSubstr("the Vulkan driver has no function "
                                "vkGetPhysicalDeviceMemoryProperties2\n"));
}

}  // namespace
}  // namespace sheaf
