// SPDX-License-Identifier: MIT
//
// The rows of this rank by their cell: gathers and scatters on the part, as plans on its queue.
// Cells come from other ranks, so they are checked again: a damaged one throws, it never leads
// outside the part.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "distributed/cells.h"
#include "sheaf/sharded.h"

namespace sheaf::distributed {

class LocalPart {
 public:
  // For up to `max_rows` rows per call; all memory of the host is taken here.
  LocalPart(const sharded::ShardedTensor& tensor, const Plan& whole, const CellSpace& space,
            int64_t max_rows, int64_t file_bytes);
  static int64_t bytes_per_row(const CellSpace& space);  // of what the constructor allocates

  // rows[i] = the row of cells[i].
  void gather(const int64_t* cells, int64_t count, std::byte* rows);

  // Whether rows lie in memory of this process, each in one piece: then row() is where.
  bool has_rows() const { return has_rows_; }
  const std::byte* row(int64_t cell) const {
    return static_cast<const std::byte*>(part_.tensor().data) + cell * row_stride_;
  }
  int64_t row_stride() const { return row_stride_; }  // bytes
  int threads() const;                                // of the host, for rows of this part

  // A scatter is begin(), any number of apply(), end(). Updates are applied in their order.
  void begin();
  void apply(const int64_t* cells, int64_t count, const std::byte* rows);
  void end();

 private:
  void check_cells(const int64_t* cells, int64_t count) const;
  void copy_whole_rows(const int64_t* cells, int64_t count, std::byte* rows);
  const int64_t* tuples_of(const int64_t* cells, int64_t count);
  TensorSpec rows_spec(int64_t count) const;
  bool rows_are_packed() const;
  void run_on_device(const Plan& plan, const int64_t* tuples, const std::byte* updates,
                     std::byte* rows, int64_t count);
  Plan plan_scatter_of(int64_t count, Reduction reduction, bool include_self) const;
  void start_fresh_cells(const int64_t* cells, int64_t count);

  sharded::Part part_;
  Queue queue_;  // the part's; on the host, with this rank's share of the cores
  const sharded::Split& split_;
  int rank_;
  const Plan& whole_;
  int64_t inner_, row_bytes_;
  bool whole_table_ = false;
  FileOptions file_options_;
  // The part with the axes of a cell first; those that chain are one.
  TensorSpec view_;
  int groups_ = 0;
  int64_t cells_ = 0;  // in the part
  bool has_rows_ = false;
  int64_t row_stride_ = 0;  // bytes
  std::vector<int64_t> tuples_;
  std::vector<int64_t> offsets_;  // of rows, where has_rows()
  std::optional<Plan> steps_;     // of a scatter: the steps around its updates
  std::vector<bool> seen_;        // cells that an update went to, without include_self
  std::vector<int64_t> fresh_;    // those that one went to for the first time
  std::vector<int64_t> counts_;   // updates of each cell, for a mean
};

}  // namespace sheaf::distributed
