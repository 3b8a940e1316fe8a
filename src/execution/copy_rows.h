// SPDX-License-Identifier: MIT
//
// Rows from places that are known already: what is left of a gather once its indices are resolved.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sheaf {

struct RowCopy {
  const std::byte* data;
  const int64_t* offsets;  // bytes from data to each row
  int64_t count;
  int64_t row_bytes;  // 1 or more
  std::byte* output;  // rows side by side
  // Of all that is written before any of it is read: what does not fit the cache is written around
  // it.
  int64_t written_bytes;
};

// Copies rows on host memory, from at most `threads` threads (0: as many as pay).
void copy_rows(const RowCopy& copy, int threads);

}  // namespace sheaf
