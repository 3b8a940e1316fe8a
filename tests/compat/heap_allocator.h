// SPDX-License-Identifier: MIT
//
// Buffers that are placed in one heap, as allocators of frameworks make them.
#pragma once

#include "compat/machine.h"

namespace compat {

// Each on a boundary of 64 KiB; after rewind() the next ones lie where the first ones lay.
class HeapAllocator {
 public:
  HeapAllocator(ID3D12Device* device, UINT64 bytes, D3D12_HEAP_TYPE type = D3D12_HEAP_TYPE_DEFAULT)
      : device_(device) {
    const D3D12_HEAP_DESC desc{bytes, CD3DX12_HEAP_PROPERTIES(type), 0,
                               D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS};
    COMPAT_CHECK(device->CreateHeap(&desc, IID_PPV_ARGS(&heap_)));
  }

  ComPtr<ID3D12Resource> allocate(UINT64 bytes) { return allocate_over(bytes, 1)[0]; }

  // Several buffers over the same bytes, one for each state that they are used in.
  std::vector<ComPtr<ID3D12Resource>> allocate_over(UINT64 bytes, size_t count) {
    const auto desc =
        CD3DX12_RESOURCE_DESC::Buffer(bytes, D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS);
    std::vector<ComPtr<ID3D12Resource>> made(count);
    for (auto& buffer : made) {
      COMPAT_CHECK(device_->CreatePlacedResource(
          heap_.Get(), next_, &desc, D3D12_RESOURCE_STATE_COMMON, nullptr, IID_PPV_ARGS(&buffer)));
    }
    next_ += device_->GetResourceAllocationInfo(0, 1, &desc).SizeInBytes;
    return made;
  }

  void rewind() { next_ = 0; }

 private:
  ID3D12Device* device_;
  ComPtr<ID3D12Heap> heap_;
  UINT64 next_ = 0;
};

}  // namespace compat
