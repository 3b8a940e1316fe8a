// SPDX-License-Identifier: MIT
#include "backends/vulkan/pipelines.h"

#include <chrono>

#include "backends/vulkan/nest.h"
#include "support/text.h"

namespace sheaf::vulkan {
namespace {

VkPipelineLayout make_layout(const OpenDevice& device) {
  const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof(Push)};
  VkPipelineLayoutCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  check_result(device.api.CreatePipelineLayout(device.device, &info, nullptr, &layout),
               "making a pipeline layout");
  return layout;
}

struct Named {
  Shader shader;
  const char* name;
};
constexpr Named kShaders[] = {
#define SHEAF_NAMED(name) {Shader::name, #name},
    SHEAF_VULKAN_SHADERS(SHEAF_NAMED)
#undef SHEAF_NAMED
};

// The constants that launches give them.
std::vector<int64_t> units_of(Shader shader) {
  switch (shader) {
    case Shader::gather_lines:
    case Shader::gather_words: return {1, 2, 4};
    case Shader::gather_units: return {1, 2};
    case Shader::assign: return {1, 2, 4, 8, 16};
    case Shader::reduce_f32: return {0, 1};
    default: return {0};
  }
}

bool is_used(const OpenDevice& device, Shader shader) {
  switch (shader) {
    case Shader::reduce_f32:
    case Shader::bag_f32:
    case Shader::bag_encoded_f32:
    case Shader::gather_encoded_f32: return device.native_f32;
    case Shader::reduce_f64:
    case Shader::bag_f64: return device.native_f64;
    default: return true;
  }
}

}  // namespace

Pipelines::Pipelines(OpenDevice& device)
    : device_(device), cache_(device), layout_(make_layout(device)) {}

Pipelines::~Pipelines() {
  for (const auto& [key, pipeline] : made_) {
    device_.api.DestroyPipeline(device_.device, pipeline.pipeline, nullptr);
  }
  device_.api.DestroyPipelineLayout(device_.device, layout_, nullptr);
}

VkPipeline Pipelines::make(Shader shader, uint32_t unit) const {
  const std::span<const uint32_t> words = spirv_of(shader);
  VkShaderModuleCreateInfo code{};
  code.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
  code.codeSize = words.size_bytes();
  code.pCode = words.data();
  VkShaderModule module = VK_NULL_HANDLE;
  check_result(device_.api.CreateShaderModule(device_.device, &code, nullptr, &module),
               "making a shader module");
  const VkSpecializationMapEntry entry{0, 0, sizeof unit};
  const VkSpecializationInfo special{1, &entry, sizeof unit, &unit};
  VkComputePipelineCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = module;
  info.stage.pName = "main";
  info.stage.pSpecializationInfo = &special;
  info.layout = layout_;
  VkPipeline pipeline = VK_NULL_HANDLE;
  const VkResult result = device_.api.CreateComputePipelines(device_.device, cache_.handle(), 1,
                                                             &info, nullptr, &pipeline);
  device_.api.DestroyShaderModule(device_.device, module, nullptr);
  check_result(result, "compiling a kernel");
  return pipeline;
}

const Pipeline& Pipelines::of(Shader shader, int64_t unit) {
  const std::lock_guard lock(mutex_);
  Pipeline& pipeline = made_[{shader, unit}];
  if (pipeline.pipeline == VK_NULL_HANDLE) {
    pipeline = {make(shader, static_cast<uint32_t>(unit)), layout_};
    unsaved_ = true;
  }
  return pipeline;
}

void Pipelines::save() {
  const std::lock_guard lock(mutex_);
  if (unsaved_) {
    unsaved_ = false;
    cache_.save();
  }
}

std::string Pipelines::describe_cache() {
  const std::lock_guard lock(mutex_);
  return cache_.describe();
}

std::vector<CompiledKernel> Pipelines::compile_all() {
  std::vector<CompiledKernel> all;
  for (const Named& kernel : kShaders) {
    if (!is_used(device_, kernel.shader)) {
      continue;
    }
    for (const int64_t unit : units_of(kernel.shader)) {
      const auto start = std::chrono::steady_clock::now();
      of(kernel.shader, unit);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      all.push_back({unit == 0 ? kernel.name : cat(kernel.name, " ", unit),
                     spirv_of(kernel.shader).size_bytes(), took.count()});
    }
  }
  save();
  return all;
}

}  // namespace sheaf::vulkan
