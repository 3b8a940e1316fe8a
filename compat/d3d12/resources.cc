// SPDX-License-Identifier: MIT
//
// Heaps, the buffers in them, descriptor heaps and query heaps.
#include <chrono>
#include <string>

#include "objects.h"
#include "sizes.h"

namespace sheaf::d3d12 {

Heap::Heap(DeviceState* device, const D3D12_HEAP_DESC& desc)
    : Child(device),
      desc_(desc),
      memory_(std::make_shared<Memory>(
          mappable(desc.Properties) ? "" : device->adapter().device.c_str(), desc.SizeInBytes)) {}

HRESULT Heap::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  return guid == kHeap ? give_view(this, size, data) : Child::GetPrivateData(guid, size, data);
}

Resource::Resource(DeviceState* device, Placement placement, const D3D12_RESOURCE_DESC& desc)
    : Child(device), placement_(std::move(placement)), desc_(desc) {}

HRESULT Resource::Map(UINT subresource, const D3D12_RANGE* read, void** data) {
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  // Such a heap has no address on a GPU's host; programs that map it are wrong there.
  const D3D12_HEAP_PROPERTIES& heap = placement_.heap;
  if (subresource != 0 || !mappable(heap) || (read != nullptr && read->End > desc_.Width)) {
    com::report(
        com::words({.who = "ID3D12Resource::Map",
                    .what = "cannot be mapped",
                    .detail = "the buffer lies in a default heap, the subresource is not 0, or "
                              "the range ends outside the buffer",
                    .given = "heap type " + std::to_string(heap.Type) + "   subresource " +
                             std::to_string(subresource),
                    .next = "copy it to a buffer of D3D12_HEAP_TYPE_READBACK"}),
        false);
    return E_INVALIDARG;
  }
  if (data != nullptr) {
    *data = this->data();
  }
  return S_OK;
}

void Resource::Unmap(UINT, const D3D12_RANGE*) {}

D3D12_RESOURCE_DESC1 Resource::GetDesc1() { return newer(desc_); }

D3D12_GPU_VIRTUAL_ADDRESS Resource::GetGPUVirtualAddress() {
  return reinterpret_cast<uintptr_t>(data());
}

HRESULT Resource::GetHeapProperties(D3D12_HEAP_PROPERTIES* properties, D3D12_HEAP_FLAGS* flags) {
  if (properties != nullptr) {
    *properties = placement_.heap;
  }
  if (flags != nullptr) {
    *flags = placement_.flags;
  }
  return S_OK;
}

HRESULT Resource::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  if (guid == kBufferMemory) {
    Memory& memory = *placement_.memory;
    return give_view(
        BufferMemory{this->data(), desc_.Width, placement_.heap.Type != D3D12_HEAP_TYPE_UPLOAD,
                     memory.on_device(), placement_.start, memory.device()},
        size, data);
  }
  return Child::GetPrivateData(guid, size, data);
}

DescriptorHeap::DescriptorHeap(DeviceState* device, const D3D12_DESCRIPTOR_HEAP_DESC& desc)
    : Child(device), desc_(desc), descriptors_(desc.NumDescriptors) {
  device->descriptors().add(descriptors_);
}

DescriptorHeap::~DescriptorHeap() { device().descriptors().remove(descriptors_); }

D3D12_CPU_DESCRIPTOR_HANDLE DescriptorHeap::GetCPUDescriptorHandleForHeapStart() {
  return {reinterpret_cast<SIZE_T>(descriptors_.data())};
}

D3D12_GPU_DESCRIPTOR_HANDLE DescriptorHeap::GetGPUDescriptorHandleForHeapStart() {
  return {reinterpret_cast<uintptr_t>(descriptors_.data())};
}

UINT64 clock_ticks() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<UINT64>(std::chrono::nanoseconds(now).count());
}

HRESULT QueryHeap::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  return guid == kQueryHeap ? give_view(this, size, data) : Child::GetPrivateData(guid, size, data);
}

void QueryHeap::write(size_t index) {
  const std::lock_guard lock(mutex_);
  times_[index] = clock_ticks();
}

std::vector<UINT64> QueryHeap::read(size_t first, size_t count) const {
  const std::lock_guard lock(mutex_);
  const auto begin = times_.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace sheaf::d3d12
