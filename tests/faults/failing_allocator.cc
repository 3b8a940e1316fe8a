// SPDX-License-Identifier: MIT
#include "failing_allocator.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local int allocations_left = -1;
thread_local bool fails_once = false;
thread_local long live = 0;

void* allocate(size_t size, size_t alignment) {
  if (allocations_left == 0) {
    allocations_left = fails_once ? -1 : 0;
    return nullptr;
  }
  if (allocations_left > 0) {
    --allocations_left;
  }
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  live += memory != nullptr ? 1 : 0;
  return memory;
}

void* allocate_or_throw(size_t size, size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

void release(void* memory) {
  live -= memory != nullptr ? 1 : 0;
  std::free(memory);
}

constexpr size_t kDefault = alignof(std::max_align_t);

}  // namespace

void* operator new(size_t size) { return allocate_or_throw(size, kDefault); }
void* operator new(size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return allocate(size, kDefault); }
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { release(memory); }

void sheaf::faults::allow_allocations(int count) {
  allocations_left = count;
  fails_once = false;
}
void sheaf::faults::fail_allocation(int count) {
  allocations_left = count;
  fails_once = true;
}
long sheaf::faults::live_blocks() { return live; }
