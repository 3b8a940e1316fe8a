// SPDX-License-Identifier: MIT
//
// The helper structs of Direct3D samples, for buffers: heaps, resources, barriers, ranges and
// descriptor handles under one constructor each, and the upload of a buffer.
#pragma once

#include "d3d12.h"

#if !SHEAF_OWN_D3D12
#include <directx/d3dx12.h>
#else

#include <cstring>

struct CD3DX12_HEAP_PROPERTIES : D3D12_HEAP_PROPERTIES {
  CD3DX12_HEAP_PROPERTIES() = default;
  explicit CD3DX12_HEAP_PROPERTIES(const D3D12_HEAP_PROPERTIES& from)
      : D3D12_HEAP_PROPERTIES(from) {}
  explicit CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE type, UINT creation_mask = 1,
                                   UINT visible_mask = 1)
      : D3D12_HEAP_PROPERTIES{type, D3D12_CPU_PAGE_PROPERTY_UNKNOWN, D3D12_MEMORY_POOL_UNKNOWN,
                              creation_mask, visible_mask} {}
};

struct CD3DX12_RESOURCE_DESC : D3D12_RESOURCE_DESC {
  CD3DX12_RESOURCE_DESC() = default;
  explicit CD3DX12_RESOURCE_DESC(const D3D12_RESOURCE_DESC& from) : D3D12_RESOURCE_DESC(from) {}
  static CD3DX12_RESOURCE_DESC Buffer(UINT64 width,
                                      D3D12_RESOURCE_FLAGS flags = D3D12_RESOURCE_FLAG_NONE,
                                      UINT64 alignment = 0) {
    return CD3DX12_RESOURCE_DESC(D3D12_RESOURCE_DESC{D3D12_RESOURCE_DIMENSION_BUFFER,
                                                     alignment,
                                                     width,
                                                     1,
                                                     1,
                                                     1,
                                                     DXGI_FORMAT_UNKNOWN,
                                                     {1, 0},
                                                     D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
                                                     flags});
  }
};

struct CD3DX12_RESOURCE_BARRIER : D3D12_RESOURCE_BARRIER {
  CD3DX12_RESOURCE_BARRIER() = default;
  explicit CD3DX12_RESOURCE_BARRIER(const D3D12_RESOURCE_BARRIER& from)
      : D3D12_RESOURCE_BARRIER(from) {}
  static CD3DX12_RESOURCE_BARRIER Transition(
      ID3D12Resource* resource, D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after,
      UINT subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
      D3D12_RESOURCE_BARRIER_FLAGS flags = D3D12_RESOURCE_BARRIER_FLAG_NONE) {
    CD3DX12_RESOURCE_BARRIER barrier;
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION;
    barrier.Flags = flags;
    barrier.D3D12_RESOURCE_BARRIER::Transition = {resource, subresource, before, after};
    return barrier;
  }
  static CD3DX12_RESOURCE_BARRIER Aliasing(ID3D12Resource* before, ID3D12Resource* after) {
    CD3DX12_RESOURCE_BARRIER barrier;
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_ALIASING;
    barrier.Flags = D3D12_RESOURCE_BARRIER_FLAG_NONE;
    barrier.D3D12_RESOURCE_BARRIER::Aliasing = {before, after};
    return barrier;
  }
  static CD3DX12_RESOURCE_BARRIER UAV(ID3D12Resource* resource) {
    CD3DX12_RESOURCE_BARRIER barrier;
    barrier.Type = D3D12_RESOURCE_BARRIER_TYPE_UAV;
    barrier.Flags = D3D12_RESOURCE_BARRIER_FLAG_NONE;
    barrier.D3D12_RESOURCE_BARRIER::UAV = {resource};
    return barrier;
  }
};

struct CD3DX12_RANGE : D3D12_RANGE {
  CD3DX12_RANGE() = default;
  CD3DX12_RANGE(SIZE_T begin, SIZE_T end) : D3D12_RANGE{begin, end} {}
};

// A handle some descriptors further on.
template <class Handle>
struct SheafDescriptorHandle : Handle {
  SheafDescriptorHandle() = default;
  explicit SheafDescriptorHandle(const Handle& from) : Handle(from) {}
  SheafDescriptorHandle(const Handle& from, INT count, UINT increment) : Handle(from) {
    Offset(count, increment);
  }
  SheafDescriptorHandle& Offset(INT count, UINT increment) {
    using Address = decltype(Handle::ptr);
    this->ptr = static_cast<Address>(static_cast<INT64>(this->ptr) + INT64{count} * increment);
    return *this;
  }
};
using CD3DX12_CPU_DESCRIPTOR_HANDLE = SheafDescriptorHandle<D3D12_CPU_DESCRIPTOR_HANDLE>;
using CD3DX12_GPU_DESCRIPTOR_HANDLE = SheafDescriptorHandle<D3D12_GPU_DESCRIPTOR_HANDLE>;

// Fills the buffer `to` from `data` by way of the upload buffer `intermediate`, which must hold the
// contents of `to` at `offset`. Returns the number of bytes, or 0 if it cannot be done.
inline UINT64 UpdateSubresources(ID3D12GraphicsCommandList* list, ID3D12Resource* to,
                                 ID3D12Resource* intermediate, UINT64 offset, UINT first,
                                 UINT count, const D3D12_SUBRESOURCE_DATA* data) {
  const UINT64 bytes = to->GetDesc().Width, room = intermediate->GetDesc().Width;
  void* mapped = nullptr;
  if (first != 0 || count != 1 || offset > room || bytes > room - offset ||
      FAILED(intermediate->Map(0, nullptr, &mapped))) {
    return 0;
  }
  std::memcpy(static_cast<BYTE*>(mapped) + offset, data->pData, bytes);
  intermediate->Unmap(0, nullptr);
  list->CopyBufferRegion(to, 0, intermediate, offset, bytes);
  return bytes;
}

#endif  // SHEAF_OWN_D3D12
