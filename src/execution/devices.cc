// SPDX-License-Identifier: MIT
//
// The devices of this build, and memory on them.
#include <utility>

#include "execution/registry.h"
#include "sheaf/queue.h"

namespace sheaf {

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Backend* backend : device_backends()) {
    names.emplace_back(backend->name);
  }
  return names;
}

bool device_available(std::string_view device) {
  for (const Backend* backend : device_backends()) {
    if (backend->name == device) {
      return backend->available();
    }
  }
  return false;
}

std::string device_description(std::string_view device) {
  for (const Backend* backend : device_backends()) {
    if (backend->name == device) {
      return backend->describe();
    }
  }
  return "this build of Sheaf has no device called \"" + std::string(device) + "\"";
}

size_t free_device_bytes(std::string_view device) {
  const Backend& backend = device_backend(device);
  backend.device->prepare();
  return backend.device->free_bytes();
}

DeviceMemory::DeviceMemory(std::string_view device, size_t bytes)
    : backend_(&device_backend(device)), bytes_(bytes) {
  if (bytes > 0) {
    backend_->device->prepare();
    memory_ = static_cast<std::byte*>(backend_->device->allocate(bytes));
  }
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : backend_(other.backend_),
      memory_(std::exchange(other.memory_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) {
    backend_->device->release(memory_);
  }
}

void DeviceMemory::upload(const void* from, size_t bytes, size_t at) {
  if (bytes > 0) {
    backend_->device->upload(memory_ + at, from, bytes);
  }
}

void DeviceMemory::download(void* to, size_t bytes, size_t at) const {
  if (bytes > 0) {
    backend_->device->download(to, memory_ + at, bytes);
  }
}

void DeviceMemory::fill(std::byte value, size_t bytes, size_t at) {
  if (bytes > 0) {
    backend_->device->fill(memory_ + at, value, bytes);
  }
}

}  // namespace sheaf
