// SPDX-License-Identifier: MIT
//
// Where rows come from, for the ways that fetch them to the host first.
#pragma once

#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "sheaf/table.h"

namespace sheaf::tables {

class RowSource {
 public:
  virtual ~RowSource() = default;
  // When the indices of a call are known to be good, before anything is written. Throws if others
  // who take part in the call have failed.
  virtual void begin() {}
  // Puts rows of `row_bytes` that begin at these bytes of the table side by side. All lie inside
  // the table.
  virtual void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) = 0;
  // Of the rows that it fetches: differs for every content that a table has had.
  virtual uint64_t version() const { return 0; }
  // Where the rows begin that a later version changed; nothing if that is not known.
  virtual std::optional<std::vector<int64_t>> written_since(uint64_t /*version*/) const {
    return std::nullopt;
  }
  // After the last fetch of a call: throws if what was read may be of two versions.
  virtual void check_unchanged() const {}
};

// Of a table in host memory, on ranks, or in a file: in the version that is current now.
std::unique_ptr<RowSource> open_rows(const Table& table, const TableOptions& options);

// While it lives, scatters of this table into host memory wait.
std::shared_lock<std::shared_mutex> reading_rows(const Table& table);

// Bytes of a row of a table whose rows lie side by side; 0 for any other.
int64_t bytes_of_rows(const TensorSpec& spec);

// Decoded as `plan` says; offsets and bytes are those of the decoded table. Whole rows only.
std::unique_ptr<RowSource> decoded_rows(const EncodedGatherPlan& plan,
                                        std::unique_ptr<RowSource> stored);

}  // namespace sheaf::tables
