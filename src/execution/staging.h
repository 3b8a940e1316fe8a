// SPDX-License-Identifier: MIT
//
// What a device offers to code that feeds it from the host piece by piece, beside DeviceSteps. A
// backend without it is fed by upload(), which waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "execution/cache_sets.h"

namespace sheaf {

// Rows that move inside a device: to[to_numbers[i]] = from[from_numbers[i]], in any order. A null
// pointer to numbers stands for 0, 1, 2, …; a negative number leaves the row out. Every row is
// written once.
struct NumberedRows {
  const std::byte* from;
  const int32_t* from_numbers;
  std::byte* to;
  const int32_t* to_numbers;
  int64_t count, row_bytes;
  int64_t from_rows, to_rows;  // numbers are below them
};

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
  // A stream beside the caller's, and what is enqueued there from now on runs behind an event. Null
  // where kernels read no host memory.
  void* (*make_stream)();
  void (*free_stream)(void* stream);
  void (*follow)(void* stream, void* event);
  // Makes device `number` of the kind the calling thread's; returns which it was.
  int (*use)(int number);
  // Whether what is enqueued on the stream is recorded into a graph rather than run.
  bool (*capturing)(void* stream);
  // Null: plans do it.
  void (*move_rows)(const NumberedRows& rows, void* stream);
  // Null: rows are looked up on the host.
  const CacheSteps* cache;
};

}  // namespace sheaf
