// SPDX-License-Identifier: MIT
#include "distributed/board.h"

#include <algorithm>
#include <new>

namespace sheaf::distributed {
namespace {

// Two cache lines: the processor prefetches pairs of them.
constexpr int64_t kApart = 128;
constexpr int64_t kPage = 4096;

using Progress = std::atomic<int64_t>;
static_assert(Progress::is_always_lock_free, "a lock would be private to one process");

// A rank's memory: how far it is; counts of kParts rounds; cells; rows, from a page on.
constexpr int64_t kCountsAt = Board::kSteps * kApart;

int64_t counts_per_round(int ranks) { return int64_t{ranks} + 1; }

int64_t cells_at(int ranks) {
  return kCountsAt + Board::kParts * counts_per_round(ranks) * int64_t{8};
}

int64_t first_row_at(const Board::Shape& shape, int ranks) {
  const int64_t end = cells_at(ranks) + Board::kParts * shape.quota * ranks * int64_t{8};
  return (end + kPage - 1) / kPage * kPage;
}

int64_t part_of(int64_t round) { return round % Board::kParts; }

// Of each rank. Whole pages: one rank's part may follow another's, and counters are aligned.
int64_t bytes_of(const Board::Shape& shape, int ranks) {
  const int64_t end =
      first_row_at(shape, ranks) + Board::kParts * shape.quota * ranks * shape.row_bytes;
  return (end + kPage - 1) / kPage * kPage;
}

}  // namespace

std::unique_ptr<Board> Board::open(const Group& group, const Shape& shape, int64_t run_bytes) {
  std::unique_ptr<Window> window = group.with_transport([&](sharded::Transport& transport) {
    return transport.share(bytes_of(shape, group.ranks()), run_bytes);
  });
  return window ? std::make_unique<Board>(group, shape, std::move(window)) : nullptr;
}

// Other ranks may read the counters before this: a window starts as zeros, the same values.
Board::Board(const Group& group, const Shape& shape, std::unique_ptr<Window> window)
    : group_(group), shape_(shape), window_(std::move(window)) {
  for (int step = 0; step < kSteps; ++step) {
    new (memory() + step * kApart) Progress(0);
  }
}

const Progress& Board::progress(int rank, Step step) const {
  return *std::launder(reinterpret_cast<const Progress*>(window_->of(rank) + step * kApart));
}

void Board::announce(Step step, int64_t round) {
  auto& done = *std::launder(reinterpret_cast<Progress*>(memory() + step * kApart));
  done.store(round + 1, std::memory_order_release);
}

void Board::wait_for_all(Step step, int64_t round) const {
  for (int rank = 0; rank < group_.ranks(); ++rank) {
    const Progress& done = progress(rank, step);
    for (int64_t polls = 0; done.load(std::memory_order_acquire) <= round; ++polls) {
      group_.with_transport([&](sharded::Transport&) { window_->poll(polls); });
    }
  }
}

Board::Asked Board::mine(int64_t round) {
  const int ranks = group_.ranks();
  std::byte* const own = memory();
  const int64_t counts = part_of(round) * counts_per_round(ranks) * 8;
  const int64_t cells = part_of(round) * shape_.quota * ranks * 8;
  return {reinterpret_cast<int64_t*>(own + kCountsAt + counts),
          reinterpret_cast<int64_t*>(own + cells_at(ranks) + cells)};
}

const int64_t* Board::counts(int rank, int64_t round) const {
  const int64_t at = part_of(round) * counts_per_round(group_.ranks()) * 8;
  return reinterpret_cast<const int64_t*>(window_->of(rank) + kCountsAt + at);
}

int64_t Board::count(int rank, int owner, int64_t round) const {
  const volatile int64_t& count =
      counts(rank, round)[owner];  // read once: another rank may write it
  return std::clamp<int64_t>(int64_t{count}, 0, shape_.quota);
}

const int64_t* Board::cells(int rank, int owner, int64_t round) const {
  const int64_t at = (part_of(round) * group_.ranks() + owner) * shape_.quota * 8;
  return reinterpret_cast<const int64_t*>(window_->of(rank) + cells_at(group_.ranks()) + at);
}

bool Board::anyone_has_more(int64_t round) const {
  const int ranks = group_.ranks();
  for (int rank = 0; rank < ranks; ++rank) {
    if (counts(rank, round)[ranks] > 0) {
      return true;
    }
  }
  return false;
}

int64_t Board::rows_at(int64_t round) const {
  return first_row_at(shape_, group_.ranks()) +
         part_of(round) * shape_.quota * group_.ranks() * shape_.row_bytes;
}

}  // namespace sheaf::distributed
