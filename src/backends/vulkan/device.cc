// SPDX-License-Identifier: MIT
#include "backends/vulkan/device.h"

#include "backends/vulkan/batches.h"
#include "backends/vulkan/memory.h"
#include "backends/vulkan/pipelines.h"

namespace sheaf::vulkan {
namespace {

template <class Made, class Part>
Part& made_once(std::mutex& mutex, std::unique_ptr<Part>& part, OpenDevice& device) {
  const std::lock_guard lock(mutex);
  if (part == nullptr) {
    part = std::make_unique<Made>(device);
  }
  return *part;
}

}  // namespace

OpenDevice::OpenDevice() = default;
OpenDevice::~OpenDevice() = default;

Pipelines& OpenDevice::pipelines() { return made_once<Pipelines>(parts_mutex_, pipelines_, *this); }

Recorder& OpenDevice::shared_recorder() {
  return made_once<BatchRecorder>(parts_mutex_, shared_recorder_, *this);
}

Staging& OpenDevice::staging() { return made_once<Staging>(parts_mutex_, staging_, *this); }

}  // namespace sheaf::vulkan
