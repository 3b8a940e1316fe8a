// SPDX-License-Identifier: MIT
#include "descriptors.h"

#include <cstring>
#include <iterator>

namespace sheaf::d3d12 {
namespace {

SIZE_T start_of(const std::vector<Descriptor>& heap) {
  return reinterpret_cast<SIZE_T>(heap.data());
}

}  // namespace

void DescriptorPlaces::add(std::vector<Descriptor>& heap) {
  const std::lock_guard lock(mutex_);
  heaps_.emplace(start_of(heap), &heap);
}

void DescriptorPlaces::remove(const std::vector<Descriptor>& heap) noexcept {
  const std::lock_guard lock(mutex_);
  heaps_.erase(start_of(heap));
}

Descriptor* DescriptorPlaces::find(SIZE_T place, UINT count) const {
  auto next = heaps_.upper_bound(place);
  if (next == heaps_.begin()) {
    return nullptr;
  }
  const auto& [start, heap] = *std::prev(next);
  const SIZE_T bytes = place - start, index = bytes / sizeof(Descriptor);
  const bool inside =
      bytes % sizeof(Descriptor) == 0 && index < heap->size() && count <= heap->size() - index;
  return inside ? heap->data() + index : nullptr;
}

bool DescriptorPlaces::write(SIZE_T place, const Descriptor& descriptor) {
  const std::lock_guard lock(mutex_);
  Descriptor* found = find(place, 1);
  if (found != nullptr) {
    *found = descriptor;
  }
  return found != nullptr;
}

bool DescriptorPlaces::read(SIZE_T place, Descriptor& descriptor) const {
  const std::lock_guard lock(mutex_);
  const Descriptor* found = find(place, 1);
  if (found != nullptr) {
    descriptor = *found;
  }
  return found != nullptr;
}

bool DescriptorPlaces::copy(SIZE_T to, SIZE_T from, UINT count) {
  const std::lock_guard lock(mutex_);
  Descriptor* target = find(to, count);
  const Descriptor* source = find(from, count);
  if (target == nullptr || source == nullptr) {
    return false;
  }
  std::memmove(target, source, count * sizeof(Descriptor));
  return true;
}

}  // namespace sheaf::d3d12
