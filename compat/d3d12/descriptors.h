// SPDX-License-Identifier: MIT
//
// Descriptor heaps. A binding table of DirectML uses only the addresses of descriptors; a view of a
// buffer, which clears need, is written into them.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "d3d12.h"

namespace sheaf::d3d12 {

// Of one heap. Graphs of the most inputs and outputs need 2^21 and 2.
inline constexpr UINT kMostDescriptors = 1u << 22;

// What a view of a buffer says. All zero: there is none.
struct Descriptor {
  const std::byte* buffer;  // its first byte; null: no view
  UINT64 first;             // element
  UINT count;               // elements
  UINT stride;              // bytes of an element
  DXGI_FORMAT format;       // DXGI_FORMAT_UNKNOWN: raw or structured
  UINT unused;
};
static_assert(sizeof(Descriptor) == 32);

// The descriptors of all heaps of a device. A handle is an address that a program computed, so it
// is looked up before anything is read or written there.
class DescriptorPlaces {
 public:
  void add(std::vector<Descriptor>& heap);
  void remove(const std::vector<Descriptor>& heap) noexcept;
  // False if [place, place + count) is not in one heap.
  bool write(SIZE_T place, const Descriptor& descriptor);
  bool read(SIZE_T place, Descriptor& descriptor) const;
  bool copy(SIZE_T to, SIZE_T from, UINT count);

 private:
  Descriptor* find(SIZE_T place, UINT count) const;

  mutable std::mutex mutex_;
  std::map<SIZE_T, std::vector<Descriptor>*> heaps_;  // by their first address
};

}  // namespace sheaf::d3d12
