// SPDX-License-Identifier: MIT
//
// A block of memory that heaps and resources share. Resources that are placed in one heap lie in
// one block, and may overlap.
#pragma once

#include <memory>
#include <optional>

#include "d3d12.h"
#include "sheaf/queue.h"

namespace sheaf::d3d12 {

class Memory {
 public:
  // Zeros. `device` is one of device_names(), or "" for the host, and outlives the block. Throws
  // std::bad_alloc, or sheaf::Error if the device has no memory.
  Memory(const char* device, UINT64 bytes);

  std::byte* data() const { return on_device_ ? on_device_->data() : host_.get(); }
  DeviceMemory* on_device() { return on_device_ ? &*on_device_ : nullptr; }
  const char* device() const { return device_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  const char* device_;
  std::unique_ptr<std::byte, Free> host_;
  std::optional<DeviceMemory> on_device_;
};

// Heaps that the host reads or writes; others lie where the adapter is.
bool mappable(const D3D12_HEAP_PROPERTIES& properties);

// Why Direct3D has no heap of these properties; null if it has.
const char* refusal_of(const D3D12_HEAP_PROPERTIES& properties);

}  // namespace sheaf::d3d12
