// SPDX-License-Identifier: MIT
#include "backends/cpu/strip.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "backends/cpu/machine.h"

namespace sheaf::cpu {

Strip::Strip(const Coordinate& coordinate, int64_t bytes)
    : original_(coordinate),
      entry_bytes_(bytes),
      memory_(static_cast<std::byte*>(::operator new (static_cast<size_t>(coordinate.extent* bytes),
                                                      std::align_val_t{kLine}, std::nothrow))) {}

void Strip::fill(const std::byte* first, int64_t bytes) {
  std::byte* to = memory_.get();
  for (int64_t entry = 0; entry < original_.extent; ++entry, to += entry_bytes_) {
    const std::byte* from = first + entry * original_.stride;
    if (entry + kPrefetch.strip_entries < original_.extent) {
      const std::byte* ahead = from + kPrefetch.strip_entries * original_.stride;
      for (int64_t at = 0; at < bytes; at += kLine) {
        prefetch_line(ahead + at);
      }
      prefetch_line(ahead + bytes - 1);
    }
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

void Strip::put_back(std::byte* first, int64_t bytes) const {
  const std::byte* from = memory_.get();
  for (int64_t entry = 0; entry < original_.extent; ++entry, from += entry_bytes_) {
    std::memcpy(first + entry * original_.stride, from, static_cast<size_t>(bytes));
  }
}

void Strip::Free::operator()(std::byte* memory) const {
  ::operator delete (memory, std::align_val_t{kLine});
}

}  // namespace sheaf::cpu
