// SPDX-License-Identifier: MIT
//
// Encoded rows that a device decodes while it places them.
#pragma once

#include <optional>

#include "tables/ways.h"

namespace sheaf::tables {

class RowDecoding {
 public:
  // Nothing if the rows of the call are plain, or have to be decoded on the host: the device has no
  // kernel for them, or they do not stand side by side in the output.
  static std::optional<RowDecoding> on_device(const Call& call);

  // Of what one index names.
  int64_t stored_bytes() const { return stored_bytes_; }

  // data: `rows` of them as they are stored, side by side. indices: i32, for each of `points`, the
  // number of its row, or -1 for one that is filled. output: side by side.
  EncodedGatherPlan plan_of(int64_t points, int64_t rows) const;

 private:
  explicit RowDecoding(const Call& call);

  Encoding encoding_;
  DType type_;
  Scalar fill_value_;
  int64_t elements_, rows_per_index_, stored_bytes_;
};

}  // namespace sheaf::tables
