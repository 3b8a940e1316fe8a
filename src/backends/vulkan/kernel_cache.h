// SPDX-License-Identifier: MIT
//
// Compiled kernels that are kept between programs: what a VkPipelineCache holds, in a file per
// device and driver. A file that is damaged, of another driver or of another user counts as none,
// and failing to write one is no error: kernels are then compiled again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "backends/vulkan/api.h"

namespace sheaf::vulkan {

struct OpenDevice;

// Where the file of a device is. Empty: nowhere, for the reason given.
struct CachePlace {
  std::string file, reason;
};
CachePlace cache_place(const VkPhysicalDeviceProperties& properties);

// What the file holds, or why that is not used.
struct CacheContent {
  std::vector<std::byte> bytes;
  std::string trouble;
};
CacheContent read_cache(const std::string& file, const VkPhysicalDeviceProperties& properties);

// Replaces the file in one step. False if that cannot be done.
bool write_cache(const std::string& file, const std::vector<std::byte>& content);

class KernelCache {
 public:
  explicit KernelCache(OpenDevice& device);
  KernelCache(const KernelCache&) = delete;
  KernelCache& operator=(const KernelCache&) = delete;
  ~KernelCache();

  VkPipelineCache handle() const { return cache_; }
  // Writes what the cache holds now, if that is more than the file does.
  void save();
  std::string describe() const;

 private:
  OpenDevice& device_;
  VkPipelineCache cache_ = VK_NULL_HANDLE;
  CachePlace place_;
  std::string trouble_;
  size_t saved_ = 0;  // bytes in the file
};

}  // namespace sheaf::vulkan
