// SPDX-License-Identifier: MIT
//
// Memory of the current CUDA device, for programs whose tensors are in host memory. Where the build
// has no CUDA, everything here throws kUnsupported.
#pragma once

#include <cstddef>

namespace sheaf {

class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes);
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  ~DeviceMemory();

  std::byte* data() const { return memory_; }  // null if there are no bytes
  size_t bytes() const { return bytes_; }

  // Bytes [at, at + bytes) of it. All three wait until it is done, but not for what other streams
  // are doing with this memory.
  void upload(const void* from, size_t bytes, size_t at = 0);
  void download(void* to, size_t bytes, size_t at = 0) const;
  void fill(std::byte value, size_t bytes, size_t at = 0);

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
};

// How much the current device has left.
size_t free_device_bytes();

}  // namespace sheaf
