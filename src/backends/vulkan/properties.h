// SPDX-License-Identifier: MIT
//
// What a physical device has, and whether plans can run on it.
#pragma once

#include <string>

#include "backends/vulkan/device.h"

namespace sheaf::vulkan {

inline constexpr uint32_t kOldestVulkan = VK_API_VERSION_1_2;

// Why plans cannot run there; empty if they can.
std::string missing_on(const Api& api, VkPhysicalDevice physical);

// Which of the needed features a device was made without; empty if it has them all.
std::string not_enabled(const VkDeviceCreateInfo& made);

// Whether queues of the family run compute shaders.
bool computes(const Api& api, VkPhysicalDevice physical, uint32_t family);

bool has_float64(const Api& api, VkPhysicalDevice physical);
bool enables_float64(const VkDeviceCreateInfo& made);

// Sets what can be asked of device.physical: names, limits, types of memory. `float64`: it was
// opened with shaderFloat64.
void read_properties(OpenDevice& device, bool float64);

}  // namespace sheaf::vulkan
