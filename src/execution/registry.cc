// SPDX-License-Identifier: MIT
#include "execution/registry.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "sheaf/error.h"
#include "sheaf/queue.h"
#include "support/text.h"

namespace sheaf {

// One line per backend, fastest first. A folder that is not built has a stub that returns null.
#define SHEAF_BACKENDS(backend) backend(cuda) backend(vulkan) backend(cpu) backend(reference)

#define SHEAF_DECLARE(name) const Backend* name##_backend();
SHEAF_BACKENDS(SHEAF_DECLARE)

namespace {

// Filled from its end, so that others may read it while one is put in front.
class List {
 public:
  std::span<const Backend* const> all() const {
    const size_t first = first_.load(std::memory_order_acquire);
    return {backends_.data() + first, kMost - first};
  }
  void push_front(const Backend* backend) {
    const std::lock_guard lock(mutex_);
    const size_t first = first_.load(std::memory_order_relaxed) - 1;
    backends_.at(first) = backend;
    first_.store(first, std::memory_order_release);
  }

 private:
  static constexpr size_t kMost = 16;

  std::mutex mutex_;
  std::array<const Backend*, kMost> backends_{};
  std::atomic<size_t> first_ = kMost;
};

struct Registry {
  List host, device;

  Registry() {
#define SHEAF_CALL(name) name##_backend(),
    const std::array ordered = {SHEAF_BACKENDS(SHEAF_CALL)};
#undef SHEAF_CALL
    std::for_each(ordered.rbegin(), ordered.rend(), [this](const Backend* backend) {
      if (backend != nullptr) {
        list_of(*backend).push_front(backend);
      }
    });
  }
  List& list_of(const Backend& backend) { return backend.device != nullptr ? device : host; }
};

Registry& registry() {
  static Registry all;
  return all;
}

}  // namespace

std::span<const Backend* const> host_backends() { return registry().host.all(); }
std::span<const Backend* const> device_backends() { return registry().device.all(); }

const Backend& host_backend(std::string_view name) {
  const auto all = host_backends();
  return **std::find_if(all.begin(), all.end() - 1,
                        [name](const Backend* backend) { return backend->name == name; });
}

const Backend& device_backend(std::string_view name) {
  for (const Backend* backend : device_backends()) {
    if (backend->name == name) {
      return *backend;
    }
  }
  throw Error(Refusal{.code = ErrorCode::kUnsupported,
                      .cause = {Reason::kKernel},
                      .who = std::string(name),
                      .what = "not built",
                      .detail = cat("this build of Sheaf has no device called \"", name, "\""),
                      .next = "sheaf doctor, which lists devices and what each of them needs"});
}

const Backend* device_of_dlpack(int dlpack_type) {
  for (const Backend* backend : device_backends()) {
    if (backend->device->dlpack_type == dlpack_type) {
      return backend;
    }
  }
  return nullptr;
}

void add_backend(const Backend& backend) { registry().list_of(backend).push_front(&backend); }

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
  backend.device->prepare(nullptr);
  return backend.device->free_bytes();
}

DeviceMemory::DeviceMemory(std::string_view device, size_t bytes)
    : backend_(&device_backend(device)), bytes_(bytes) {
  if (bytes > 0) {
    backend_->device->prepare(nullptr);
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
