// SPDX-License-Identifier: MIT
//
// Compiled kernels: a shader and the bytes of its words, made when it is first needed.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/device.h"
#include "backends/vulkan/kernel_cache.h"
#include "sheaf/vulkan.h"

namespace sheaf::vulkan {

// X(name): shaders/name.comp. CMake reads this list.
#define SHEAF_VULKAN_SHADERS(X) \
  X(gather_lines)               \
  X(gather_words)               \
  X(gather_units)               \
  X(gather_packed)              \
  X(check)                      \
  X(verdict)                    \
  X(keys)                       \
  X(sort_count)                 \
  X(sort_scan)                  \
  X(sort_place)                 \
  X(assign)                     \
  X(reduce_integers)            \
  X(reduce_floats)              \
  X(reduce_f32)                 \
  X(reduce_f64)                 \
  X(fill)                       \
  X(count)                      \
  X(divide)                     \
  X(convert)                    \
  X(gather_encoded)             \
  X(gather_encoded_f32)         \
  X(segments)                   \
  X(bag_integers)               \
  X(bag_floats)                 \
  X(bag_f32)                    \
  X(bag_f64)                    \
  X(bag_encoded)                \
  X(bag_encoded_f32)

enum class Shader : uint8_t {
#define SHEAF_NAME(name) name,
  SHEAF_VULKAN_SHADERS(SHEAF_NAME)
#undef SHEAF_NAME
};

// shaders.cc.in
std::span<const uint32_t> spirv_of(Shader shader);

struct Pipeline {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
};

class Pipelines {
 public:
  explicit Pipelines(OpenDevice& device);
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;
  ~Pipelines();

  const Pipeline& of(Shader shader, int64_t unit);

  // Keeps what was compiled since the last time for other programs.
  void save();
  std::string describe_cache();

  // All that the device uses, for all their units.
  std::vector<CompiledKernel> compile_all();

 private:
  VkPipeline make(Shader shader, uint32_t unit) const;

  OpenDevice& device_;
  std::mutex mutex_;
  KernelCache cache_;
  VkPipelineLayout layout_;
  bool unsaved_ = false;
  std::map<std::pair<Shader, int64_t>, Pipeline> made_;
};

// `unit`: the constant that some shaders have.
inline const Pipeline& pipeline_of(OpenDevice& device, Shader shader, int64_t unit = 0) {
  return device.pipelines().of(shader, unit);
}

}  // namespace sheaf::vulkan
