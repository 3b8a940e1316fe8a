// SPDX-License-Identifier: MIT
#include "backends/vulkan/memory.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>

#include "sheaf/error.h"

namespace sheaf::vulkan {
namespace {

// All that allocate() returned, by address.
struct Allocations {
  std::mutex mutex;
  std::map<VkDeviceAddress, Buffer> buffers;
};

Allocations& allocations() {
  static auto& all = *new Allocations;
  return all;
}

// Calls step(staging, offset, count) for each part of the bytes that fits the staging buffer.
void in_parts(OpenDevice& device, size_t bytes,
              const std::function<void(Staging&, uint64_t, uint64_t)>& step) {
  Staging& shared = device.staging();
  const std::lock_guard lock(shared.mutex);
  for (size_t at = 0; at < bytes; at += tuning::kStagingBytes) {
    step(shared, at, std::min(bytes - at, size_t{tuning::kStagingBytes}));
  }
}

}  // namespace

Range range_at(const void* memory, size_t bytes) {
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  const Address address = address_of(memory);
  const auto behind = all.buffers.upper_bound(address);
  if (behind != all.buffers.begin()) {
    const auto& [start, buffer] = *std::prev(behind);
    const uint64_t offset = address - start;
    if (offset <= buffer.bytes && bytes <= buffer.bytes - offset) {
      return {buffer, offset};
    }
  }
  throw_outside_memory();
}

Staging::Staging(OpenDevice& on)
    : device(on), recorder(on), buffer(make_buffer(on, tuning::kStagingBytes, true)) {}

void throw_outside_memory() {
  throw Error(Refusal{.code = ErrorCode::kInvalidArgument,
                      .cause = {Reason::kMemory},
                      .who = "vulkan",
                      .what = "unknown device memory",
                      .detail = "the bytes to be copied lie outside what DeviceMemory allocated",
                      .next = "DeviceMemory(\"vulkan\", bytes), or copies of your own"});
}

Buffer make_tensor_buffer(OpenDevice& device, size_t bytes) {
  if (bytes > SIZE_MAX / 2) {
    check_result(VK_ERROR_OUT_OF_DEVICE_MEMORY, "allocating device memory");
  }
  return make_buffer(device, bytes, false);
}

void upload_to(OpenDevice& device, const Range& to, const void* from, size_t bytes) {
  in_parts(device, bytes, [&](Staging& shared, uint64_t at, uint64_t count) {
    std::memcpy(shared.buffer.mapped, static_cast<const std::byte*>(from) + at, count);
    Recording(shared.recorder).copy(shared.buffer, 0, to.buffer, to.offset + at, count);
    shared.recorder.wait();
  });
}

void download_from(OpenDevice& device, const Range& from, void* to, size_t bytes) {
  in_parts(device, bytes, [&](Staging& shared, uint64_t at, uint64_t count) {
    Recording(shared.recorder).copy(from.buffer, from.offset + at, shared.buffer, 0, count);
    shared.recorder.wait();
    std::memcpy(static_cast<std::byte*>(to) + at, shared.buffer.mapped, count);
  });
}

void* allocate(size_t bytes) {
  const Buffer buffer = make_tensor_buffer(own_device(), bytes);
  Allocations& all = allocations();
  const std::lock_guard lock(all.mutex);
  all.buffers.emplace(buffer.address, buffer);
  return reinterpret_cast<void*>(buffer.address);  // NOLINT(performance-no-int-to-ptr): a name
}

void release(void* memory) {
  Buffer buffer;
  {
    Allocations& all = allocations();
    const std::lock_guard lock(all.mutex);
    const auto found = all.buffers.find(address_of(memory));
    if (found == all.buffers.end()) {
      return;
    }
    buffer = found->second;
    all.buffers.erase(found);
  }
  free_buffer(own_device(), buffer);
}

void upload(void* to, const void* from, size_t bytes) {
  upload_to(own_device(), range_at(to, bytes), from, bytes);
}

void download(void* to, const void* from, size_t bytes) {
  download_from(own_device(), range_at(from, bytes), to, bytes);
}

void fill_bytes(void* memory, std::byte value, size_t bytes) {
  const Range range = range_at(memory, bytes);
  in_parts(own_device(), bytes, [&](Staging& shared, uint64_t at, uint64_t count) {
    std::memset(shared.buffer.mapped, static_cast<int>(value), count);
    Recording(shared.recorder).copy(shared.buffer, 0, range.buffer, range.offset + at, count);
    shared.recorder.wait();
  });
}

size_t free_bytes() {
  const OpenDevice& device = own_device();
  if (!device.has_budget) {
    return static_cast<size_t>(device.memory_bytes);
  }
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{};
  budget.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT;
  VkPhysicalDeviceMemoryProperties2 properties{};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2;
  properties.pNext = &budget;
  device.api.GetPhysicalDeviceMemoryProperties2(device.physical, &properties);
  const uint32_t heap =
      properties.memoryProperties.memoryTypes[device.device_memory_type].heapIndex;
  const VkDeviceSize all = budget.heapBudget[heap];
  return all > budget.heapUsage[heap] ? all - budget.heapUsage[heap] : 0;
}

}  // namespace sheaf::vulkan
