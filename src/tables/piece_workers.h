// SPDX-License-Identifier: MIT
//
// Threads that fill pieces of a lane's ring at the same time, each its own, and hand them to the
// stream one after the other. So nobody waits for the slowest thread of a piece, and the bus has
// always something to copy.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>

#include "tables/lane.h"
#include "tables/row_source.h"
#include "tables/ways.h"

namespace sheaf::tables {

// What one thread works with. A desk belongs to one thread at a time.
class Desk {
 public:
  Desk(Lane& ring, std::unique_ptr<RowSource> source, PieceScratch& memory, size_t first,
       size_t count, int most_threads)
      : lane(ring),
        rows(std::move(source)),
        scratch(memory),
        first_piece(first),
        pieces(count),
        threads(most_threads) {}

  // Memory for the next piece, when the device no longer copies from it.
  std::byte* begin_piece();
  // Calls enqueue() while no other thread enqueues. The piece is filled again when the device has
  // come behind what that enqueued.
  void hand_over(const std::function<void()>& enqueue, Road road = Road::kStream);

  Lane& lane;
  std::unique_ptr<RowSource> rows;
  PieceScratch& scratch;
  size_t first_piece, pieces;  // of the ring
  int threads;                 // that one piece may use; 0: as many as pay
  size_t piece = 0;            // of them, the one that is filled
};

class PieceWorkers {
 public:
  // Encoded rows as they are stored, or as they are decoded.
  enum class Fetches : uint8_t { kStored, kDecoded };
  // Pieces of the lane have room for `least_bytes`.
  PieceWorkers(const Call& call, Lane& lane, int64_t least_bytes,
               Fetches fetches = Fetches::kDecoded);

  // Rows of a piece that has room for `most`: fewer, if all threads have work with fewer.
  int64_t rows_per_piece(int64_t most, int64_t rows, int64_t row_bytes) const;

  // RowSource::begin().
  void begin() { desks_.front().rows->begin(); }

  // Calls work(desk, piece) for the pieces [0, count), which cost as much as moving `bytes`.
  // Returns when all are handed over. An exception of one ends all, and is thrown.
  void run(int64_t count, int64_t bytes, const std::function<void(Desk&, int64_t)>& work);

  // After the last piece: throws if rows of two versions may have been fetched.
  void check_unchanged() const;
  const RowSource& rows() const { return *desks_.front().rows; }

 private:
  Desk& take_desk();
  void give_back(Desk& desk);
  void run_one(int64_t piece, const std::function<void(Desk&, int64_t)>& work);

  const Plan& plan_;
  Lane& lane_;
  int threads_;
  std::vector<Desk> desks_;
  std::mutex mutex_;  // of all below
  std::condition_variable free_again_;
  std::vector<Desk*> free_;
  std::exception_ptr failure_;
};

}  // namespace sheaf::tables
