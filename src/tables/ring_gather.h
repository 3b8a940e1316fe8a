// SPDX-License-Identifier: MIT
//
// Rows that are fetched to the host and travel to a device in pieces:
//   fetch  the rows of a piece, each once, into a piece of the ring
//   copy   that piece to the device, while others are fetched
//   place  its rows into the output; where they stand side by side there, the copy has done it
// Encoded rows travel as they are stored, where the device decodes them as it places them.
// Of a call that is split, some pieces are no more than the places of their rows: a kernel beside
// the caller's stream reads those rows from host memory, while other pieces are copied.
#pragma once

#include <atomic>

#include "tables/host_indices.h"
#include "tables/piece_plan.h"
#include "tables/piece_workers.h"
#include "tables/row_decoding.h"

namespace sheaf::tables {

class RingGather {
 public:
  RingGather(const Call& call, const HostIndices& indices, Lane& lane);

  TableStats run();
  // Every piece is fetched, or read by the device at `seen`: that part of all.
  TableStats run_split(const void* seen, double part);
  // Into the cache of the file; the output is not touched.
  TableStats prefetch();

 private:
  static constexpr int64_t kNumberBytes = sizeof(int32_t);

  void run_piece(Desk& desk, const Piece& piece);
  void run_mapped_piece(Desk& desk, const Piece& piece, const void* seen);
  bool resolve(Desk& desk, const Piece& piece) const;  // whether some are outside
  std::span<const int64_t> number_rows(Desk& desk, const Piece& piece) const;
  void place_rows(const Piece& piece, const std::byte* rows, const std::byte* numbers);
  void copy_piece(const Piece& piece, const std::byte* memory, int64_t rows_bytes, bool as_fetched);
  std::byte* output(const Piece& piece) const;

  const Call& call_;
  const Plan& plan_;
  const Nest& nest_;
  Lane& lane_;
  const std::byte* indices_;
  const std::optional<RowDecoding> decoding_;  // by the device; nothing: rows travel as they arrive
  const int64_t fetched_bytes_;                // of a row, as it travels
  PieceWorkers workers_;
  PiecePlans plans_;
  int64_t most_points_ = 1;
  std::atomic<bool> distinct_;
  TableStats stats_;  // under the lane's lock of enqueueing
};

}  // namespace sheaf::tables
