// SPDX-License-Identifier: MIT
//
// Rows that are fetched to the host and travel to a device in pieces:
//   fetch  the rows of a piece, each once, into the next piece of the ring
//   copy   that piece to the device, while the next is fetched
//   place  its rows into the output; where they stand side by side there, the copy has done it
// With a cache, rows that are on the device already are placed by the same kernel, and rows that
// are admitted are put into the cache behind it. Of a call that is split, some pieces are no more
// than the places of their rows: a kernel reads those rows from host memory, while the host fetches
// the next piece.
#pragma once

#include "execution/cancel.h"
#include "tables/host_indices.h"
#include "tables/piece_plan.h"
#include "tables/row_source.h"

namespace sheaf::tables {

class RingGather {
 public:
  RingGather(const Call& call, const HostIndices& indices, Lane& lane);

  TableStats run();
  // Every piece is fetched, or read by the device at `seen`: that part of all.
  TableStats run_split(const void* seen, double part);
  // Into the cache of the lane or of the file; the output is not touched.
  TableStats prefetch();

 private:
  static constexpr int64_t kNumberBytes = sizeof(int32_t);

  void reserve();
  void run_pieces();
  void run_piece(const Piece& piece);
  void run_mapped_piece(const Piece& piece, const void* seen);
  bool resolve_next(int64_t count);  // whether some are outside
  std::span<const int64_t> number_rows(int64_t count);
  int32_t number_of(int64_t offset);
  void place_rows(const Piece& piece, std::byte* memory, int64_t rows_bytes);
  void gather(const Plan& plan, const Piece& piece, const void* data, const std::byte* numbers);
  void put_numbers(std::byte* to) const;
  std::byte* output(const Piece& piece) const;

  // ring_cache.cc
  template <class Work>
  void with_cache(const Work& work);
  void open_cache();
  bool follow_writes(uint64_t version);
  void fill_static_cache();
  void admit_rows(std::byte* here, std::byte* there, bool surely = false);
  void prefetch_to_device();
  void prefetch_to_host();
  template <class Use>
  void for_lacking_rows(int64_t most, const Use& use);

  const Call& call_;
  const Plan& plan_;
  const Nest& nest_;
  const TableOptions& options_;
  Lane& lane_;
  const std::byte* indices_;
  int64_t first_point_ = 0;  // of the next piece
  std::unique_ptr<RowSource> rows_;
  PiecePlans plans_;
  int64_t piece_bytes_ = 0, most_points_ = 1;
  bool distinct_ = true;
  DeviceCache* cache_ = nullptr;  // of the lane; null: this call uses none
  TableStats stats_;
  const CancelScope* const cancel_ = current_cancel_scope();
};

// Rows in a piece, and slots of a cache, are numbered in 32 bits.
inline constexpr int64_t kMostNumberedRows = int64_t{1} << 30;

// Behind the rows of a piece stand their numbers, aligned for the device.
inline constexpr int64_t kNumbersAlignment = 16;
constexpr int64_t aligned_for_numbers(int64_t bytes) {
  return (bytes + kNumbersAlignment - 1) / kNumbersAlignment * kNumbersAlignment;
}

}  // namespace sheaf::tables
