// SPDX-License-Identifier: MIT
#include "backends/vulkan/kernel_cache.h"

#include "backends/vulkan/device.h"
#include "support/text.h"

namespace sheaf::vulkan {

KernelCache::KernelCache(OpenDevice& device) : device_(device) {
  VkPhysicalDeviceProperties properties{};
  device.api.GetPhysicalDeviceProperties(device.physical, &properties);
  place_ = cache_place(properties);
  CacheContent content;
  if (!place_.file.empty()) {
    content = read_cache(place_.file, properties);
  }
  trouble_ = content.trouble;
  saved_ = content.bytes.size();
  VkPipelineCacheCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
  info.initialDataSize = content.bytes.size();
  info.pInitialData = content.bytes.data();
  check_result(device.api.CreatePipelineCache(device.device, &info, nullptr, &cache_),
               "making a cache of kernels");
}

KernelCache::~KernelCache() {
  save();
  device_.api.DestroyPipelineCache(device_.device, cache_, nullptr);
}

void KernelCache::save() {
  size_t bytes = 0;
  if (place_.file.empty() ||
      device_.api.GetPipelineCacheData(device_.device, cache_, &bytes, nullptr) != VK_SUCCESS ||
      bytes <= saved_) {
    return;
  }
  std::vector<std::byte> content(bytes);
  if (device_.api.GetPipelineCacheData(device_.device, cache_, &bytes, content.data()) ==
      VK_SUCCESS) {
    content.resize(bytes);
    saved_ = write_cache(place_.file, content) ? bytes : 0;
  }
}

std::string KernelCache::describe() const {
  if (place_.file.empty()) {
    return place_.reason;
  }
  const std::string state = saved_ == 0 ? "empty" : cat((saved_ + 1023) / 1024, " KiB");
  return cat(place_.file, ", ", state, trouble_.empty() ? "" : ", ", trouble_);
}

}  // namespace sheaf::vulkan
