// SPDX-License-Identifier: MIT
//
// What the ranks of one node publish in a window, for kParts rounds of a gather at a time: the
// cells that a rank requests from every other, the rows that it serves to them, and its progress.
//
// Rounds are counted from the first run of a plan on. A rank announces a step of a round after its
// last access to what others write next, so nothing is written while it may be read. Counts and
// cells of other ranks are checked by the rank that reads them.
#pragma once

#include <atomic>
#include <memory>

#include "distributed/group.h"
#include "distributed/window.h"

namespace sheaf::distributed {

class Board {
 public:
  static constexpr int kParts = 3;

  struct Shape {
    int64_t quota;  // rows per round and pair of ranks
    int64_t row_bytes;
  };
  // Collective; the same on every rank. Null where the transport shares no memory; see
  // Transport::share() for `run_bytes`.
  static std::unique_ptr<Board> open(const Group& group, const Shape& shape, int64_t run_bytes);

  Board(const Group& group, const Shape& shape, std::unique_ptr<Window> window);

  // Steps of a round: its cells can be read, its rows can be read (and its cells are no longer),
  // its rows are no longer.
  enum Step : int { kAsked, kServed, kTaken };
  static constexpr int kSteps = 3;
  void announce(Step step, int64_t round);
  // Until every rank has announced it. Rounds before the first are over.
  void wait_for_all(Step step, int64_t round) const;

  struct Asked {
    int64_t* counts;  // rows by owner; then how many tuples are left for later rounds
    int64_t* cells;   // `quota` per owner
  };
  Asked mine(int64_t round);
  // How many rows `rank` asks `owner` for: clamped to [0, quota].
  int64_t count(int rank, int owner, int64_t round) const;
  const int64_t* cells(int rank, int owner, int64_t round) const;
  bool anyone_has_more(int64_t round) const;

  std::byte* my_rows(int64_t round) { return memory() + rows_at(round); }
  const std::byte* rows(int rank, int64_t round) const {
    return window_->of(rank) + rows_at(round);
  }

 private:
  std::byte* memory() const { return window_->of(group_.rank()); }
  const std::atomic<int64_t>& progress(int rank, Step step) const;
  const int64_t* counts(int rank, int64_t round) const;
  int64_t rows_at(int64_t round) const;

  const Group& group_;
  Shape shape_;
  std::unique_ptr<Window> window_;
};

}  // namespace sheaf::distributed
