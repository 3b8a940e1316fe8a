// SPDX-License-Identifier: MIT
#include "execution/registry.h"
#include "helpers/device.h"

namespace {

const sheaf::DeviceSteps& steps() { return *sheaf::device_backend(test_device()).device; }

}  // namespace

std::string_view test_device() { return "vulkan"; }

sheaf::Queue device_queue(sheaf::WorkspaceView workspace, const DeviceStream& stream) {
  return {.device = test_device(), .stream = stream.handle(), .workspace = workspace};
}

void DeviceTest::SetUp() {
  if (!sheaf::device_available(test_device())) {
    GTEST_SKIP() << "needs a Vulkan device: " << sheaf::device_description(test_device());
  }
}

// The stream that the backend shares among threads; transfers wait for it.
DeviceStream::DeviceStream() = default;
DeviceStream::~DeviceStream() = default;

void DeviceStream::wait() const { steps().wait(nullptr, stream_); }

void DeviceStream::upload(void* device, const void* host, size_t bytes) const {
  wait();
  steps().upload(device, host, bytes);
}

void DeviceStream::download(void* host, const void* device, size_t bytes) const {
  wait();
  steps().download(host, device, bytes);
}

PinnedMemory::PinnedMemory(size_t bytes) : memory_(new std::byte[bytes]), bytes_(bytes) {}
PinnedMemory::~PinnedMemory() { delete[] memory_; }
