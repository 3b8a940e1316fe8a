// SPDX-License-Identifier: MIT
//
// Where rows come from, for the ways that fetch them to the host first.
#pragma once

#include <memory>
#include <span>

#include "sheaf/table.h"

namespace sheaf::tables {

class RowSource {
 public:
  virtual ~RowSource() = default;
  // Puts rows of `row_bytes` that begin at these bytes of the table side by side. All lie inside
  // the table.
  virtual void fetch(std::span<const int64_t> offsets, int64_t row_bytes, std::byte* to) = 0;
  // Of the rows that it fetches: differs for every content that a file has had.
  virtual uint64_t version() const { return 0; }
  // After the last fetch of a call: throws if what was read may be of two versions.
  virtual void check_unchanged() const {}
};

// Of a table in host memory, or in a file: in the version that is current now.
std::unique_ptr<RowSource> open_rows(const Table& table, const TableOptions& options);

// Decoded as `plan` says; offsets and bytes are those of the decoded table. Whole rows only.
std::unique_ptr<RowSource> decoded_rows(const EncodedGatherPlan& plan,
                                        std::unique_ptr<RowSource> stored);

}  // namespace sheaf::tables
