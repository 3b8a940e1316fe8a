// SPDX-License-Identifier: MIT
//
// Where dispatches go, in order: what Queue::stream points to. batches.h sends them to a queue,
// commands.h leaves them in a command buffer of the caller.
#pragma once

#include <cstdint>
#include <mutex>

#include "backends/vulkan/device.h"
#include "backends/vulkan/nest.h"
#include "backends/vulkan/pipelines.h"

namespace sheaf::vulkan {

class Recorder {
 public:
  explicit Recorder(OpenDevice& device) : device_(device) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  virtual ~Recorder() = default;

  OpenDevice& device() const { return device_; }

  // The run that is being recorded leaves a verdict there, on indices or on segments.
  virtual void note_verdict(const Verdict* /*verdict*/) {}
  // The run is recorded.
  virtual void end_run() = 0;
  // Returns when the device has done all that was recorded so far, where that can be waited for.
  virtual void wait() = 0;
  // wait(), and the verdict that lies at this address.
  virtual Verdict read_verdict(const Verdict* verdict) = 0;

 protected:
  friend class Recording;

  struct Room {
    std::byte* mapped;
    Address address;
  };
  // With the mutex held: a command buffer that takes commands, with tuning::kArgumentsOfOneStep of
  // room for arguments; and a part of that.
  virtual VkCommandBuffer begin_step() = 0;
  virtual Room take(size_t bytes) = 0;

  OpenDevice& device_;
  std::mutex mutex_;
};

// One step: what it records stays together.
class Recording {
 public:
  explicit Recording(Recorder& recorder);

  OpenDevice& device() const { return recorder_.device_; }

  // A copy of an argument that the device can read until the step is done.
  template <class T>
  Address put(const T& argument) {
    return put_bytes(&argument, sizeof argument);
  }

  void dispatch(const Pipeline& pipeline, const Push& push, int64_t groups);

  // Between buffers; the ranges lie inside them.
  void copy(const Buffer& from, uint64_t from_offset, const Buffer& to, uint64_t to_offset,
            uint64_t bytes);

 private:
  Address put_bytes(const void* bytes, size_t count);

  Recorder& recorder_;
  std::lock_guard<std::mutex> lock_;
  VkCommandBuffer commands_;
};

// Whatever follows sees what was written before, and does not overtake what was read. `also`: the
// host's reads too.
enum class ForHost : bool { kNo, kYes };
void order_after_all(const Api& api, VkCommandBuffer commands, ForHost also);

// The one that a queue names: null is the one that all threads share.
Recorder& recorder_of(void* stream);
OpenDevice& device_of(void* stream);

}  // namespace sheaf::vulkan
