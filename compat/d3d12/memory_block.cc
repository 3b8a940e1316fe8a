// SPDX-License-Identifier: MIT
#include "memory_block.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "support/checked.h"

namespace sheaf::d3d12 {
namespace {

std::byte* allocate(UINT64 bytes) {
  // Direct3D places buffers on such boundaries; DirectML's alignments are divisors of it.
  const UINT64 alignment = bytes >= D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
                               ? D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT
                               : 256;
  const auto size = static_cast<size_t>(*checked_round_up(bytes, alignment));
  void* memory = std::aligned_alloc(static_cast<size_t>(alignment), size);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  std::memset(memory, 0, size);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void Memory::Free::operator()(std::byte* memory) const { std::free(memory); }

Memory::Memory(const char* device, UINT64 bytes) : device_(device) {
  if (bytes > SIZE_MAX / 2) {  // no allocator has more than half of all
    throw std::bad_alloc();
  }
  if (*device == 0) {
    host_.reset(allocate(bytes));
    return;
  }
  on_device_.emplace(device, static_cast<size_t>(bytes));
  on_device_->fill(std::byte{0}, static_cast<size_t>(bytes));
}

bool mappable(const D3D12_HEAP_PROPERTIES& properties) {
  return properties.Type != D3D12_HEAP_TYPE_DEFAULT &&
         (properties.Type != D3D12_HEAP_TYPE_CUSTOM ||
          properties.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE);
}

const char* refusal_of(const D3D12_HEAP_PROPERTIES& properties) {
  const bool said = properties.CPUPageProperty != D3D12_CPU_PAGE_PROPERTY_UNKNOWN &&
                    properties.MemoryPoolPreference != D3D12_MEMORY_POOL_UNKNOWN;
  const bool silent = properties.CPUPageProperty == D3D12_CPU_PAGE_PROPERTY_UNKNOWN &&
                      properties.MemoryPoolPreference == D3D12_MEMORY_POOL_UNKNOWN;
  if (properties.Type < D3D12_HEAP_TYPE_DEFAULT || properties.Type > D3D12_HEAP_TYPE_CUSTOM) {
    return "there is no heap of this Type";
  }
  if (properties.CreationNodeMask > 1 || properties.VisibleNodeMask > 1) {
    return "there is one node: the masks are 0 or 1";
  }
  if (properties.Type == D3D12_HEAP_TYPE_CUSTOM ? !said : !silent) {
    return "CPUPageProperty and MemoryPoolPreference are for D3D12_HEAP_TYPE_CUSTOM, which needs "
           "both; for other types they are 0";
  }
  return nullptr;
}

}  // namespace sheaf::d3d12
