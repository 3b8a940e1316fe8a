// SPDX-License-Identifier: MIT
#include "backends/vulkan/recorder.h"

#include <cstring>

namespace sheaf::vulkan {

void order_after_all(const Api& api, VkCommandBuffer commands, ForHost also) {
  const bool host = also == ForHost::kYes;
  VkMemoryBarrier barrier{};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                          VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                          (host ? VkAccessFlags{VK_ACCESS_HOST_READ_BIT} : 0);
  const VkPipelineStageFlags device =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  api.CmdPipelineBarrier(commands, device,
                         device | (host ? VkPipelineStageFlags{VK_PIPELINE_STAGE_HOST_BIT} : 0), 0,
                         1, &barrier, 0, nullptr, 0, nullptr);
}

Recording::Recording(Recorder& recorder)
    : recorder_(recorder), lock_(recorder.mutex_), commands_(recorder.begin_step()) {}

Address Recording::put_bytes(const void* bytes, size_t count) {
  const Recorder::Room room = recorder_.take(count);
  std::memcpy(room.mapped, bytes, count);
  return room.address;
}

void Recording::dispatch(const Pipeline& pipeline, const Push& push, int64_t groups) {
  constexpr int64_t kMostGroups = 65535;  // in one dimension, on every device
  const Api& api = device().api;
  const int64_t rows = (groups - 1) / kMostGroups + 1;
  order_after_all(api, commands_, ForHost::kNo);
  api.CmdBindPipeline(commands_, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
  api.CmdPushConstants(commands_, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push,
                       &push);
  api.CmdDispatch(commands_, static_cast<uint32_t>((groups - 1) / rows + 1),
                  static_cast<uint32_t>(rows), 1);
}

void Recording::copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
                     uint64_t bytes) {
  const Api& api = device().api;
  order_after_all(api, commands_, ForHost::kNo);
  const VkBufferCopy region{from_offset, to_offset, bytes};
  api.CmdCopyBuffer(commands_, from.buffer, to.buffer, 1, &region);
}

Recorder& recorder_of(void* stream) {
  return stream == nullptr ? own_device().shared_recorder() : *static_cast<Recorder*>(stream);
}

OpenDevice& device_of(void* stream) {
  return stream == nullptr ? own_device() : static_cast<Recorder*>(stream)->device();
}

}  // namespace sheaf::vulkan
