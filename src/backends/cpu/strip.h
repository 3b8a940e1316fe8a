// SPDX-License-Identifier: MIT
//
// A strip of columns of data, copied side by side. Where rows of data lie a power of two apart, a
// strip in its own place falls into a few sets of the cache and evicts itself; the copy
// uses them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "sheaf/plan.h"

namespace sheaf::cpu {

class Strip {
 public:
  // Room for `bytes` of each entry that `coordinate` chooses from; data() is null if there is none.
  Strip(const Coordinate& coordinate, int64_t bytes);

  // Copies `bytes` of each entry; `first` is where the first one's begin.
  void fill(const std::byte* first, int64_t bytes);

  // The way back.
  void put_back(std::byte* first, int64_t bytes) const;

  std::byte* data() const { return memory_.get(); }
  // The coordinate that chooses from the copy.
  Coordinate coordinate() const { return {original_.extent, entry_bytes_, original_.offset}; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  Coordinate original_;
  int64_t entry_bytes_;
  std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace sheaf::cpu
