// SPDX-License-Identifier: MIT
//
// Which bindings share memory.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "d3d12.h"

namespace sheaf::dml_com {

// The memory of one tensor or resource. Its end is inside the address space: it lies in a buffer.
struct Extent {
  const std::byte* begin;
  UINT64 bytes;
  const std::string* name;
  bool written;
};

// The names of two extents that share a byte of which one is written, the lower one first. Those
// without bytes share none. Sorts, so that a graph of 2^20 outputs takes no longer than it should.
std::optional<std::pair<std::string, std::string>> find_overlap(std::vector<Extent> extents);

}  // namespace sheaf::dml_com
