// SPDX-License-Identifier: MIT
//
// Rows that are fetched in an order of their own, each for a point of the output: a kernel puts
// them there, and those that a cache admits into its slots. Rows of a file come in its order.
#pragma once

#include "tables/kept_rows.h"
#include "tables/piece_workers.h"

namespace sheaf::tables {

// Whether rows of a call can come in any order: whole rows, side by side in the output.
bool has_free_order(const Call& call);

class RowDelivery {
 public:
  RowDelivery(const Call& call, Lane& lane);

  // Rows that begin at these bytes of the table, each for one of `points`; empty: they are for the
  // cache alone. `cache` may be null, and `surely` is of its claims.
  void deliver(std::span<const int64_t> offsets, std::span<const int32_t> points, KeptRows* cache,
               bool surely);
  // Rows that begin there, side by side to memory of the device.
  void deliver(std::span<const int64_t> offsets, std::byte* to);

  PieceWorkers& workers() { return workers_; }
  TableStats stats;

 private:
  // Of a piece: rows, of each point its row and its place, and what is claimed.
  struct Layout {
    int64_t numbers, points, claims, bytes;
  };
  Layout layout(int64_t rows, int64_t points) const;
  template <class Work>
  void for_pieces(int64_t rows, const Work& work);
  void run_piece(Desk& desk, std::span<const int64_t> offsets, std::span<const int32_t> points,
                 KeptRows* cache, bool surely);
  void enqueue_piece(const std::byte* memory, const Layout& at, int64_t rows, int64_t points,
                     KeptRows* cache, bool surely);

  const Call& call_;
  const int64_t row_bytes_;
  Lane& lane_;
  const int64_t points_;  // of the call
  PieceWorkers workers_;
  int64_t most_rows_;  // of a piece
};

}  // namespace sheaf::tables
