// SPDX-License-Identifier: MIT
//
// An embedding lookup over a table in memory, timed beside a plain copy of as many bytes.
#pragma once

#include <cstdint>
#include <string>

namespace sheaf::cli {

struct EmbeddingReport {
  int64_t rows, row_bytes;  // of the table
  int64_t lookups;
  int64_t bytes_moved;                  // what the lookups wrote; as much was read
  double gather_seconds, copy_seconds;  // of the fastest round
  std::string kernel;
  std::string trouble;  // the first wrong element; empty: all were checked and right

  double gather_bytes_per_second() const {
    return static_cast<double>(bytes_moved) / gather_seconds;
  }
  double copy_bytes_per_second() const { return static_cast<double>(bytes_moved) / copy_seconds; }
};

// `table_bytes` is rounded down to whole rows. Shows its progress on a terminal. Throws Error if
// table and output would fill the machine's memory.
EmbeddingReport run_embedding(int64_t table_bytes);

}  // namespace sheaf::cli
