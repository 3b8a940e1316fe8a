// SPDX-License-Identifier: MIT
//
// The functions of sheaf/vulkan.h.
#include <utility>

#include "backends/vulkan/batches.h"
#include "backends/vulkan/commands.h"
#include "backends/vulkan/memory.h"
#include "sheaf/error.h"
#include "sheaf/vulkan.h"

namespace sheaf::vulkan {

Device::Device(const DeviceHandles& handles) : opened_(adopt_device(handles)) {}

// Not owned: it is never destroyed.
Device Device::own() { return Device({std::shared_ptr<OpenDevice>(), &own_device()}); }

DeviceHandles Device::handles() const {
  return {.instance = opened_->instance,
          .physical_device = opened_->physical,
          .device = opened_->device,
          .queue_family = opened_->queue_family,
          .queue = opened_->queue,
          .get_instance_proc_addr = opened_->api.GetInstanceProcAddr};
}

std::string Device::description() const { return describe(*opened_); }

std::string Device::kernel_cache() const { return opened_->pipelines().describe_cache(); }

std::vector<CompiledKernel> Device::compile_kernels() const {
  return opened_->pipelines().compile_all();
}

void* Device::address(VkBuffer_T* buffer, uint64_t offset) const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a name
  return reinterpret_cast<void*>(buffer_address(*opened_, buffer) + offset);
}

struct Memory::Parts {
  Device device;
  Buffer buffer;
  size_t bytes;

  Parts(const Device& on, size_t size)
      : device(on), buffer(make_tensor_buffer(*on.opened_, size)), bytes(size) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { free_buffer(*device.opened_, buffer); }

  // Of a Memory that may have none.
  static Range range(const Parts* parts, size_t at, size_t count) {
    if (parts == nullptr || at > parts->bytes || count > parts->bytes - at) {
      throw_outside_memory();
    }
    return {parts->buffer, at};
  }
};

namespace {

size_t workspace_on(OpenDevice& device, const Plan& plan) {
  return workspace_bytes(plan, {.device = kDevice, .stream = &device.shared_recorder()});
}

}  // namespace

Memory::Memory(const Device& device, size_t bytes)
    : parts_(bytes > 0 ? std::make_unique<Parts>(device, bytes) : nullptr) {}
Memory::Memory(const Device& device, const Plan& plan)
    : Memory(device, workspace_on(*device.opened_, plan)) {}
Memory::Memory(Memory&& other) noexcept = default;
Memory& Memory::operator=(Memory&& other) noexcept = default;
Memory::~Memory() = default;

std::byte* Memory::data() const {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a name
  return parts_ == nullptr ? nullptr : reinterpret_cast<std::byte*>(parts_->buffer.address);
}

size_t Memory::bytes() const { return parts_ == nullptr ? 0 : parts_->bytes; }

VkBuffer_T* Memory::buffer() const {
  return parts_ == nullptr ? VK_NULL_HANDLE : parts_->buffer.buffer;
}

void Memory::upload(const void* from, size_t bytes, size_t at) {
  if (bytes > 0) {
    const Range range = Parts::range(parts_.get(), at, bytes);
    upload_to(*parts_->device.opened_, range, from, bytes);
  }
}

void Memory::download(void* to, size_t bytes, size_t at) const {
  if (bytes > 0) {
    const Range range = Parts::range(parts_.get(), at, bytes);
    download_from(*parts_->device.opened_, range, to, bytes);
  }
}

Commands::Commands(const Device& device, VkCommandBuffer_T* commands)
    : device_(device), recorder_(std::make_unique<CommandRecorder>(*device.opened_, commands)) {}
Commands::Commands(Commands&& other) noexcept = default;
Commands& Commands::operator=(Commands&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(recorder_, other.recorder_);
  return *this;
}
Commands::~Commands() = default;

Queue Commands::queue(WorkspaceView workspace) const {
  return {
      .device = kDevice, .stream = static_cast<Recorder*>(recorder_.get()), .workspace = workspace};
}

Stream::Stream(const Device& device)
    : device_(device), recorder_(std::make_unique<BatchRecorder>(*device.opened_)) {}
Stream::Stream(Stream&& other) noexcept = default;
Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(recorder_, other.recorder_);
  return *this;
}
Stream::~Stream() = default;

void Stream::wait_for(VkSemaphore_T* semaphore, uint64_t value) {
  recorder_->wait_for(semaphore, value);
}

void Stream::signal(VkSemaphore_T* semaphore, uint64_t value) {
  recorder_->signal(semaphore, value);
}

Queue Stream::queue(WorkspaceView workspace) const {
  return {
      .device = kDevice, .stream = static_cast<Recorder*>(recorder_.get()), .workspace = workspace};
}

}  // namespace sheaf::vulkan
