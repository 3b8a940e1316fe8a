// SPDX-License-Identifier: MIT
//
// Vulkan's functions, looked up in the loader when the first is needed: a program that never asks
// for a Vulkan device needs no loader.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

// X(Name): vkName. The first list needs an instance, the second a device.
#define SHEAF_VULKAN_INSTANCE_FUNCTIONS(X)  \
  X(CreateDevice)                           \
  X(DestroyInstance)                        \
  X(EnumeratePhysicalDevices)               \
  X(GetDeviceProcAddr)                      \
  X(GetPhysicalDeviceFeatures2)             \
  X(GetPhysicalDeviceMemoryProperties2)     \
  X(GetPhysicalDeviceProperties)            \
  X(GetPhysicalDeviceProperties2)           \
  X(GetPhysicalDeviceQueueFamilyProperties) \
  X(EnumerateDeviceExtensionProperties)

#define SHEAF_VULKAN_DEVICE_FUNCTIONS(X) \
  X(AllocateCommandBuffers)              \
  X(AllocateMemory)                      \
  X(BeginCommandBuffer)                  \
  X(BindBufferMemory)                    \
  X(CmdBindPipeline)                     \
  X(CmdCopyBuffer)                       \
  X(CmdDispatch)                         \
  X(CmdPipelineBarrier)                  \
  X(CmdPushConstants)                    \
  X(CreateBuffer)                        \
  X(CreateCommandPool)                   \
  X(CreateComputePipelines)              \
  X(CreatePipelineCache)                 \
  X(CreatePipelineLayout)                \
  X(CreateSemaphore)                     \
  X(CreateShaderModule)                  \
  X(DestroyBuffer)                       \
  X(DestroyCommandPool)                  \
  X(DestroyPipeline)                     \
  X(DestroyPipelineCache)                \
  X(DestroyPipelineLayout)               \
  X(DestroySemaphore)                    \
  X(DestroyShaderModule)                 \
  X(EndCommandBuffer)                    \
  X(FreeMemory)                          \
  X(GetBufferDeviceAddress)              \
  X(GetBufferMemoryRequirements)         \
  X(GetDeviceQueue)                      \
  X(GetPipelineCacheData)                \
  X(MapMemory)                           \
  X(QueueSubmit)                         \
  X(ResetCommandBuffer)                  \
  X(WaitSemaphores)

namespace sheaf::vulkan {

struct Api {
  PFN_vkGetInstanceProcAddr GetInstanceProcAddr = nullptr;
  PFN_vkCreateInstance CreateInstance = nullptr;
  PFN_vkEnumerateInstanceVersion EnumerateInstanceVersion = nullptr;
#define SHEAF_MEMBER(name) PFN_vk##name name = nullptr;
  SHEAF_VULKAN_INSTANCE_FUNCTIONS(SHEAF_MEMBER)
  SHEAF_VULKAN_DEVICE_FUNCTIONS(SHEAF_MEMBER)
#undef SHEAF_MEMBER

  // Throw kUnsupported if the loader is missing, or does not know a function.
  void load_library();  // sets the next three
  void load_instance(VkInstance instance);
  void load_device(VkDevice device);
};

[[noreturn]] void throw_no_device(const char* why, const char* next);

// Throws kDevice, or kOutOfMemory, if `result` is an error. `what` was being done.
void check_result(VkResult result, const char* what);

}  // namespace sheaf::vulkan
