// SPDX-License-Identifier: MIT
#include "backends/vulkan/properties.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::vulkan {
namespace {

constexpr const char* kVariable = "SHEAF_VULKAN_DEVICE";

VkInstance make_instance(Api& api) {
  uint32_t version = VK_API_VERSION_1_0;
  api.EnumerateInstanceVersion(&version);
  if (version < kOldestVulkan) {
    throw_no_device("the Vulkan loader is older than 1.2", "a newer loader (libvulkan1)");
  }
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "sheaf";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  VkInstance instance = VK_NULL_HANDLE;
  const VkResult result = api.CreateInstance(&info, nullptr, &instance);
  if (result != VK_SUCCESS) {
    throw_no_device(cat("vkCreateInstance returned VkResult ", static_cast<int>(result)).c_str(),
                    "the driver of a GPU, which installs an ICD file for the Vulkan loader");
  }
  return instance;
}

struct Candidate {
  VkPhysicalDevice physical;
  VkPhysicalDeviceProperties properties;
  std::string name() const { return static_cast<const char*>(properties.deviceName); }
};

std::vector<Candidate> candidates(const Api& api, VkInstance instance) {
  uint32_t count = 0;
  check_result(api.EnumeratePhysicalDevices(instance, &count, nullptr), "listing Vulkan devices");
  std::vector<VkPhysicalDevice> devices(count);
  check_result(api.EnumeratePhysicalDevices(instance, &count, devices.data()),
               "listing Vulkan devices");
  devices.resize(count);
  std::vector<Candidate> all;
  for (VkPhysicalDevice const device : devices) {
    all.push_back({device, {}});
    api.GetPhysicalDeviceProperties(device, &all.back().properties);
  }
  return all;
}

// GPUs of their own, then those that share the host's memory.
int rank_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU: return 0;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU: return 1;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU: return 2;
    default: return 3;
  }
}

std::string names_of(const std::vector<Candidate>& all) {
  std::string names;
  for (const Candidate& candidate : all) {
    names += cat(names.empty() ? "" : ", ", candidate.name());
  }
  return names;
}

// The one whose number in the list `asked` is, or whose name it is part of.
const Candidate& asked_device(const std::vector<Candidate>& all, std::string_view asked) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(asked.data(), asked.data() + asked.size(), number);
  if (error == std::errc() && end == asked.data() + asked.size() && number < all.size()) {
    return all[number];
  }
  for (const Candidate& candidate : all) {
    if (candidate.name().find(asked) != std::string::npos) {
      return candidate;
    }
  }
  throw_no_device(cat(kVariable, " is \"", asked,
                      "\", but the Vulkan devices are: ", all.empty() ? "none" : names_of(all))
                      .c_str(),
                  "a number, from 0 on, or part of a name");
}

// Devices made of the processor are slower than the cpu backend: they have to be asked for.
const Candidate& pick(const Api& api, const std::vector<Candidate>& all) {
  const char* const asked = std::getenv(kVariable);
  if (asked != nullptr && *asked != '\0') {
    const Candidate& chosen = asked_device(all, asked);
    if (const std::string why = missing_on(api, chosen.physical); !why.empty()) {
      throw_no_device(cat(chosen.name(), ": ", why).c_str(), "another device, or a newer driver");
    }
    return chosen;
  }
  const Candidate* best = nullptr;
  for (const Candidate& candidate : all) {
    const int rank = rank_of(candidate.properties.deviceType);
    if (rank < 3 && missing_on(api, candidate.physical).empty() &&
        (best == nullptr || rank < rank_of(best->properties.deviceType))) {
      best = &candidate;
    }
  }
  if (best == nullptr) {
    throw_no_device(
        all.empty()
            ? "there is no Vulkan driver on this machine"
            : cat("no GPU that can run plans among the Vulkan devices: ", names_of(all)).c_str(),
        cat(kVariable, "=NAME for a device made of the processor, or run the plan on the CPU")
            .c_str());
  }
  return *best;
}

uint32_t compute_family(const OpenDevice& device) {
  uint32_t count = 0;
  device.api.GetPhysicalDeviceQueueFamilyProperties(device.physical, &count, nullptr);
  for (uint32_t family = 0; family < count; ++family) {
    if (computes(device.api, device.physical, family)) {
      return family;
    }
  }
  throw_no_device(cat(device.name, " has no queue for compute").c_str(), "another device");
}

bool has_extension(const OpenDevice& device, std::string_view name) {
  uint32_t count = 0;
  device.api.EnumerateDeviceExtensionProperties(device.physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  device.api.EnumerateDeviceExtensionProperties(device.physical, nullptr, &count, all.data());
  return std::any_of(all.begin(), all.end(), [&](const VkExtensionProperties& extension) {
    return name == static_cast<const char*>(extension.extensionName);
  });
}

void open_device(OpenDevice& device, bool float64) {
  const float priority = 1;
  VkDeviceQueueCreateInfo queue{};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = device.queue_family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkPhysicalDeviceVulkan12Features features{};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features.bufferDeviceAddress = VK_TRUE;
  features.timelineSemaphore = VK_TRUE;
  VkPhysicalDeviceFeatures2 older{};
  older.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  older.pNext = &features;
  older.features.shaderFloat64 = float64 ? VK_TRUE : VK_FALSE;
  const char* const budget = "VK_EXT_memory_budget";
  device.has_budget = has_extension(device, budget);
  VkDeviceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &older;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  info.enabledExtensionCount = device.has_budget ? 1 : 0;
  info.ppEnabledExtensionNames = &budget;
  check_result(device.api.CreateDevice(device.physical, &info, nullptr, &device.device),
               "opening the device");
  device.api.load_device(device.device);
  device.api.GetDeviceQueue(device.device, device.queue_family, 0, &device.queue);
}

void choose_and_open(OpenDevice& device, VkInstance instance) {
  device.instance = instance;
  device.api.load_instance(instance);
  const std::vector<Candidate> all = candidates(device.api, instance);
  const Candidate& chosen = pick(device.api, all);
  device.physical = chosen.physical;
  const bool float64 = has_float64(device.api, device.physical);
  read_properties(device, float64);
  device.queue_family = compute_family(device);
  open_device(device, float64);
}

std::unique_ptr<OpenDevice> make_device() {
  auto device = std::make_unique<OpenDevice>();
  device->api.load_library();
  VkInstance const instance = make_instance(device->api);
  try {
    choose_and_open(*device, instance);
  } catch (...) {
    if (device->device == VK_NULL_HANDLE && device->api.DestroyInstance != nullptr) {
      device->api.DestroyInstance(instance, nullptr);
    }
    throw;
  }
  return device;
}

// What the first look found, for all that follow: the device, or why there is none.
struct Found {
  OpenDevice* device = nullptr;
  std::optional<Error> refusal;

  Found() {
    try {
      device = make_device().release();
    } catch (const Error& error) {
      refusal = error;
    }
  }
};

}  // namespace

OpenDevice& own_device() {
  static const Found found;
  if (found.refusal) {
    throw Error(*found.refusal);
  }
  return *found.device;
}

bool available() {
  try {
    own_device();
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string describe(const OpenDevice& device) {
  return cat(device.name, ", Vulkan ", static_cast<int>(VK_API_VERSION_MAJOR(device.api_version)),
             ".", static_cast<int>(VK_API_VERSION_MINOR(device.api_version)), ", ",
             device.memory_bytes >> 30, " GiB");
}

std::string describe() {
  try {
    return describe(own_device());
  } catch (const Error& error) {
    return error.refusal().detail;
  }
}

}  // namespace sheaf::vulkan
