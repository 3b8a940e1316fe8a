// SPDX-License-Identifier: MIT
//
// Device memory and transfers. The steps that Backend::device names are about memory of the
// library's own device, named by its device address.
#pragma once

#include <cstddef>
#include <mutex>

#include "backends/vulkan/batches.h"

namespace sheaf::vulkan {

void* allocate(size_t bytes);
void release(void* memory);
void upload(void* to, const void* from, size_t bytes);
void download(void* to, const void* from, size_t bytes);
void fill_bytes(void* memory, std::byte value, size_t bytes);
size_t free_bytes();

// Transfers of all threads take turns.
struct Staging {
  explicit Staging(OpenDevice& on);
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { free_buffer(device, buffer); }

  std::mutex mutex;
  OpenDevice& device;
  BatchRecorder recorder;
  Buffer buffer;
};

struct Range {
  Buffer buffer;
  uint64_t offset;
};
// Of memory that allocate() returned; throws if the bytes lie outside it.
Range range_at(const void* memory, size_t bytes);
void upload_to(OpenDevice& device, const Range& to, const void* from, size_t bytes);
void download_from(OpenDevice& device, const Range& from, void* to, size_t bytes);

// Throws kOutOfMemory.
Buffer make_tensor_buffer(OpenDevice& device, size_t bytes);

[[noreturn]] void throw_outside_memory();

}  // namespace sheaf::vulkan
