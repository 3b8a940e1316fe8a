// SPDX-License-Identifier: MIT
//
// What a device offers to code that feeds it from the host piece by piece, beside DeviceSteps. A
// backend without it is fed by upload(), which waits.
#pragma once

#include <cstddef>

namespace sheaf {

struct StagingSteps {
  // Host memory that the device copies from by itself; null if there is none left.
  void* (*allocate)(size_t bytes);
  void (*release)(void* memory);
  // Makes the caller's memory the same kind; false if that is refused. Null: kernels read none.
  bool (*lock)(const void* memory, size_t bytes);
  void (*unlock)(const void* memory);
  // The address by which kernels read such memory; null if they cannot, or it is no such memory.
  const void* (*seen_by_device)(const void* memory);
  // Enqueued: from memory of allocate() to the device, or back.
  void (*copy)(void* to, const void* from, size_t bytes, void* stream);
  // An event marks a place in a stream; wait() returns when the stream has passed it.
  void* (*make_event)();
  void (*free_event)(void* event);
  void (*record)(void* event, void* stream);
  void (*wait)(void* event);
  // Whether what is enqueued on the stream is recorded into a graph rather than run.
  bool (*capturing)(void* stream);
};

}  // namespace sheaf
