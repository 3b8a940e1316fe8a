// SPDX-License-Identifier: MIT
//
// Where and how a plan runs: on host threads, or on a device in the order of one of its streams.
//
//   sheaf::run(plan, data, indices, output, {.threads = 4});             // host memory
//
//   sheaf::Queue queue{.device = device, .stream = stream, .workspace = workspace};
//   sheaf::run(plan, data, indices, output, queue);                      // device memory; returns
//   sheaf::finish(plan, queue);                                          // waits; throws
//   IndexError
//
// On the host a run is over when run() returns, and finish() does nothing. On a device run()
// launches kernels: it allocates nothing and waits for nothing, so it can be captured in a graph.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sheaf/plan.h"

#pragma GCC visibility push(default)

namespace sheaf {

// Device memory, aligned to 256 bytes. Runs that may overlap in time need one workspace each.
struct WorkspaceView {
  void* memory = nullptr;
  size_t bytes = 0;
};

struct Queue {
  std::string_view device = {};  // empty: the host; else one of device_names()
  int threads = 0;               // host: at most this many; 0: as many as pay
  void* stream = nullptr;        // device: of its own kind; null is the default stream
  WorkspaceView workspace = {};  // device: workspace_bytes() of the plan
};

// Runs a gather, or a scatter, on memory of the queue. Throws as Plan::run does; on a device a bad
// index under kFail is reported by finish(), and until then the output is untouched.
void run(const Plan& plan, const void* data, const void* indices, void* output, const Queue& queue,
         const RunOptions& options = {});
void run(const Plan& plan, const void* data, const void* indices, const void* updates, void* output,
         const Queue& queue, const RunOptions& options = {});

// Waits for the queue's stream and throws IndexError if the last run that used its workspace met a
// bad index. Must not be called during a capture.
void finish(const Plan& plan, const Queue& queue);

// Only waits, for whatever was started on the queue.
void wait(const Queue& queue);

// Device memory that a run of `plan` needs besides its tensors: room for the verdict on the indices
// under kFail, for sorting a scatter's updates, and for kernels that rearrange data. 0 on the host,
// and for every other plan. A run with options.kernel needs what that kernel wants.
size_t workspace_bytes(const Plan& plan, const Queue& queue, const RunOptions& options = {});

// The devices that this build has code for, whether or not one is present.
std::vector<std::string> device_names();

// Whether runs on `device` can work here and now.
bool device_available(std::string_view device);

// The device that runs would use ("NVIDIA H200, compute capability 9.0, …"), or why there is none.
std::string device_description(std::string_view device);

// Memory of a device, for programs whose tensors are on the host. Throws kUnsupported where there
// is no such device, kOutOfMemory where it has no room. Transfers return when they are done; they
// do not wait for streams that use this memory.
class DeviceMemory {
 public:
  DeviceMemory(std::string_view device, size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  std::byte* data() const { return memory_; }  // null if there are no bytes
  size_t bytes() const { return bytes_; }
  operator WorkspaceView() const { return {memory_, bytes_}; }

  // Bytes [at, at + bytes) of it; at + bytes <= bytes().
  void upload(const void* from, size_t bytes, size_t at = 0);
  void download(void* to, size_t bytes, size_t at = 0) const;
  void fill(std::byte value, size_t bytes, size_t at = 0);

 private:
  const struct Backend* backend_;
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
};

// How much memory the device has left.
size_t free_device_bytes(std::string_view device);

}  // namespace sheaf

#pragma GCC visibility pop
