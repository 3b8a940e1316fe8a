// SPDX-License-Identifier: MIT
//
// A program that uses Vulkan itself, for tests: it opens the device that the library would take,
// and has buffers, command buffers and timeline semaphores of its own there.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <cstdint>
#include <vector>

#include "sheaf/vulkan.h"

class VulkanProgram {
 public:
  struct Features {
    bool addresses = true, timelines = true;
  };
  VulkanProgram() : VulkanProgram(Features{}) {}
  explicit VulkanProgram(Features features);
  VulkanProgram(const VulkanProgram&) = delete;
  VulkanProgram& operator=(const VulkanProgram&) = delete;
  ~VulkanProgram();

  const sheaf::vulkan::DeviceHandles& handles() const { return handles_; }

  // Mapped by the host, of one allocation for all.
  struct Buffer {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceMemory memory = VK_NULL_HANDLE;
    std::byte* mapped = nullptr;

    template <class T>
    T* at(size_t offset) const {
      return reinterpret_cast<T*>(mapped + offset);
    }
  };
  Buffer make_buffer(VkDeviceSize bytes);

  VkCommandBuffer begin();
  void end(VkCommandBuffer commands);
  // Submits and waits for a fence.
  void run(VkCommandBuffer commands);

  VkSemaphore make_timeline();
  void signal(VkSemaphore semaphore, uint64_t value);
  // False if it has not got there within the time.
  bool reaches(VkSemaphore semaphore, uint64_t value, uint64_t nanoseconds);

 private:
  template <class Function>
  Function find(const char* name) const;
  void open_device(Features features);
  uint32_t host_memory_type() const;

  VkInstance instance_ = VK_NULL_HANDLE;
  sheaf::vulkan::DeviceHandles handles_;
  VkPhysicalDeviceVulkan12Features features_{};
  VkDeviceCreateInfo made_{};
  VkCommandPool pool_ = VK_NULL_HANDLE;
  std::vector<Buffer> buffers_;
  std::vector<VkSemaphore> semaphores_;
};
