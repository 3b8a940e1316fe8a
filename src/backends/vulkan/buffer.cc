// SPDX-License-Identifier: MIT
#include "backends/vulkan/device.h"

namespace sheaf::vulkan {

Buffer make_buffer(OpenDevice& device, VkDeviceSize bytes, bool on_host) {
  const Api& api = device.api;
  Buffer made;
  made.bytes = (bytes + 15) / 16 * 16;  // shaders read whole words
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = made.bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  check_result(api.CreateBuffer(device.device, &info, nullptr, &made.buffer), "making a buffer");
  try {
    VkMemoryRequirements needs{};
    api.GetBufferMemoryRequirements(device.device, made.buffer, &needs);
    VkMemoryAllocateFlagsInfo flags{};
    flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
    flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
    VkMemoryDedicatedAllocateInfo dedicated{};
    dedicated.sType = VK_STRUCTURE_TYPE_MEMORY_DEDICATED_ALLOCATE_INFO;
    dedicated.pNext = &flags;
    dedicated.buffer = made.buffer;
    VkMemoryAllocateInfo allocation{};
    allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
    allocation.pNext = &dedicated;
    allocation.allocationSize = needs.size;
    allocation.memoryTypeIndex = on_host ? device.host_memory_type : device.device_memory_type;
    check_result(api.AllocateMemory(device.device, &allocation, nullptr, &made.memory),
                 "allocating device memory");
    check_result(api.BindBufferMemory(device.device, made.buffer, made.memory, 0),
                 "binding device memory");
    if (on_host) {
      void* mapped = nullptr;
      check_result(api.MapMemory(device.device, made.memory, 0, VK_WHOLE_SIZE, 0, &mapped),
                   "mapping device memory");
      made.mapped = static_cast<std::byte*>(mapped);
    }
  } catch (...) {
    free_buffer(device, made);
    throw;
  }
  made.address = buffer_address(device, made.buffer);
  return made;
}

VkDeviceAddress buffer_address(const OpenDevice& device, VkBuffer buffer) {
  VkBufferDeviceAddressInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  info.buffer = buffer;
  return device.api.GetBufferDeviceAddress(device.device, &info);
}

void free_buffer(OpenDevice& device, const Buffer& buffer) {
  device.api.DestroyBuffer(device.device, buffer.buffer, nullptr);
  if (buffer.memory != VK_NULL_HANDLE) {
    device.api.FreeMemory(device.device, buffer.memory, nullptr);
  }
}

}  // namespace sheaf::vulkan
