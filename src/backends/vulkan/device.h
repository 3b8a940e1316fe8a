// SPDX-License-Identifier: MIT
//
// A Vulkan device that plans run on, with what Sheaf keeps for it: the library's own, which is the
// first GPU or the one that SHEAF_VULKAN_DEVICE names, or one that the caller opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "backends/vulkan/api.h"

namespace sheaf::vulkan {

class Pipelines;
class Recorder;
struct DeviceHandles;
struct Staging;

struct OpenDevice {
  Api api;
  std::string name;
  uint32_t api_version = 0;
  bool has_budget = false;   // VK_EXT_memory_budget
  bool short_loops = false;  // tuning::kInOrderOfShortLoops
  // Whether its floats round to nearest, and keep signs of zeros, infinities and NaN.
  bool native_f32 = false, native_f64 = false;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::mutex queue_mutex;  // vkQueueSubmit wants one caller at a time
  uint32_t queue_family = 0;
  uint32_t device_memory_type = 0;  // for tensors
  uint32_t host_memory_type = 0;    // seen by host and device
  int64_t memory_bytes = 0;

  OpenDevice();
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ~OpenDevice();  // of what was made below, not of the VkDevice

  // Made when they are first asked for.
  Pipelines& pipelines();
  Recorder& shared_recorder();  // what runs without a stream of their own use
  Staging& staging();

 private:
  std::mutex parts_mutex_;
  std::unique_ptr<Pipelines> pipelines_;
  std::unique_ptr<Recorder> shared_recorder_;
  std::unique_ptr<Staging> staging_;
};

// own_device.cc. Made when it is first asked for, never destroyed: at the end of a program the
// driver may be gone first. Throws kUnsupported if there is none.
OpenDevice& own_device();
bool available();
std::string describe();
std::string describe(const OpenDevice& device);

// callers_device.cc
std::shared_ptr<OpenDevice> adopt_device(const DeviceHandles& handles);

// A buffer in an allocation of its own, which drivers place in large pages.
struct Buffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkDeviceAddress address = 0;
  std::byte* mapped = nullptr;  // of host memory
  VkDeviceSize bytes = 0;
};
Buffer make_buffer(OpenDevice& device, VkDeviceSize bytes, bool on_host);
void free_buffer(OpenDevice& device, const Buffer& buffer);
VkDeviceAddress buffer_address(const OpenDevice& device, VkBuffer buffer);

}  // namespace sheaf::vulkan
