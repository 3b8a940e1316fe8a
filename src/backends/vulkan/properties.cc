// SPDX-License-Identifier: MIT
#include "backends/vulkan/properties.h"

#include <optional>
#include <vector>

#include "support/text.h"

namespace sheaf::vulkan {
namespace {

struct Needed {
  bool addresses = false, timelines = false;

  std::string missing() const {
    if (!addresses) {
      return "the feature bufferDeviceAddress";
    }
    return timelines ? "" : "the feature timelineSemaphore";
  }
};

// The first type with these properties: drivers list the faster ones first.
std::optional<uint32_t> memory_type(const VkPhysicalDeviceMemoryProperties& memory,
                                    VkMemoryPropertyFlags wanted) {
  for (uint32_t t = 0; t < memory.memoryTypeCount; ++t) {
    if ((memory.memoryTypes[t].propertyFlags & wanted) == wanted) {
      return t;
    }
  }
  return std::nullopt;
}

void find_memory(OpenDevice& device) {
  VkPhysicalDeviceMemoryProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  device.api.GetPhysicalDeviceMemoryProperties2(device.physical, &properties);
  const VkPhysicalDeviceMemoryProperties& memory = properties.memoryProperties;
  const auto on_device = memory_type(memory, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT);
  const VkMemoryPropertyFlags seen =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  const auto cached = memory_type(memory, seen | VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
  const auto on_host = cached ? cached : memory_type(memory, seen);
  if (!on_device || !on_host) {  // Vulkan promises both
    throw_no_device(cat(device.name, " has no memory that plans can use").c_str(),
                    "another device");
  }
  device.device_memory_type = *on_device;
  device.host_memory_type = *on_host;
  const uint32_t heap = memory.memoryTypes[*on_device].heapIndex;
  device.memory_bytes = static_cast<int64_t>(memory.memoryHeaps[heap].size);
}

}  // namespace

std::string missing_on(const Api& api, VkPhysicalDevice physical) {
  VkPhysicalDeviceProperties properties{};
  api.GetPhysicalDeviceProperties(physical, &properties);
  if (properties.apiVersion < kOldestVulkan) {
    return "it has no Vulkan 1.2";
  }
  VkPhysicalDeviceVulkan12Features newer{};
  newer.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &newer;
  api.GetPhysicalDeviceFeatures2(physical, &features);
  const Needed needed{newer.bufferDeviceAddress == VK_TRUE, newer.timelineSemaphore == VK_TRUE};
  return needed.missing().empty() ? "" : cat("it lacks ", needed.missing());
}

std::string not_enabled(const VkDeviceCreateInfo& made) {
  Needed needed;
  const auto* next = static_cast<const VkBaseInStructure*>(made.pNext);
  for (; next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES) {
      const auto* all = reinterpret_cast<const VkPhysicalDeviceVulkan12Features*>(next);
      needed = {all->bufferDeviceAddress == VK_TRUE, all->timelineSemaphore == VK_TRUE};
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES) {
      const auto* one = reinterpret_cast<const VkPhysicalDeviceBufferDeviceAddressFeatures*>(next);
      needed.addresses = one->bufferDeviceAddress == VK_TRUE;
    } else if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES) {
      const auto* one = reinterpret_cast<const VkPhysicalDeviceTimelineSemaphoreFeatures*>(next);
      needed.timelines = one->timelineSemaphore == VK_TRUE;
    }
  }
  return needed.missing();
}

bool computes(const Api& api, VkPhysicalDevice physical, uint32_t family) {
  uint32_t count = 0;
  api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  api.GetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
  return family < count && (families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0;
}

bool has_float64(const Api& api, VkPhysicalDevice physical) {
  VkPhysicalDeviceFeatures2 features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  api.GetPhysicalDeviceFeatures2(physical, &features);
  return features.features.shaderFloat64 == VK_TRUE;
}

bool enables_float64(const VkDeviceCreateInfo& made) {
  bool enabled =
      made.pEnabledFeatures != nullptr && made.pEnabledFeatures->shaderFloat64 == VK_TRUE;
  const auto* next = static_cast<const VkBaseInStructure*>(made.pNext);
  for (; next != nullptr; next = next->pNext) {
    if (next->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) {
      const auto* all = reinterpret_cast<const VkPhysicalDeviceFeatures2*>(next);
      enabled = enabled || all->features.shaderFloat64 == VK_TRUE;
    }
  }
  return enabled;
}

void read_properties(OpenDevice& device, bool float64) {
  VkPhysicalDeviceVulkan12Properties driver{};
  driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES;
  VkPhysicalDeviceProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &driver;
  device.api.GetPhysicalDeviceProperties2(device.physical, &properties);
  device.name = static_cast<const char*>(properties.properties.deviceName);
  device.api_version = properties.properties.apiVersion;
  device.short_loops = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  const VkShaderFloatControlsIndependence alone = driver.roundingModeIndependence;
  device.native_f32 = driver.shaderRoundingModeRTEFloat32 == VK_TRUE &&
                      driver.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE &&
                      alone != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  device.native_f64 = float64 && driver.shaderRoundingModeRTEFloat64 == VK_TRUE &&
                      driver.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE &&
                      alone == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  find_memory(device);
}

}  // namespace sheaf::vulkan
