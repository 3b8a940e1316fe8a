// SPDX-License-Identifier: MIT
#include "tables/piece_workers.h"

#include <algorithm>
#include <thread>

#include "execution/cancel.h"
#include "execution/host_steps.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// While the blocks of one piece are on their way from a disk, those of another are asked for.
constexpr int kFileThreads = 2;
// Of a thread: less is gathered before another thread has begun.
constexpr int64_t kLeastShareBytes = 128 << 10;

int most_threads(const Call& call, const TableOptions& options) {
  if (call.table.place() == TablePlace::kFile) {
    return kFileThreads;
  }
  if (call.table.place() == TablePlace::kSharded) {
    return 1;  // its rounds are taken part in by all ranks, one after the other
  }
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::max(options.threads > 0 ? options.threads : cores, 1);
}

std::unique_ptr<RowSource> rows_of(const Call& call, const TableOptions& options,
                                   PieceWorkers::Fetches fetches) {
  std::unique_ptr<RowSource> rows = open_rows(call.table, options);
  if (call.encoded == nullptr || fetches == PieceWorkers::Fetches::kStored) {
    return rows;
  }
  return decoded_rows(*call.encoded, std::move(rows));
}

}  // namespace

std::byte* Desk::begin_piece() { return lane.begin_piece_at(first_piece + piece); }

void Desk::hand_over(const std::function<void()>& enqueue, Road road) {
  const std::lock_guard lock(lane.enqueueing);
  try {
    enqueue();
  } catch (...) {  // a copy of the piece may be on its way
    lane.end_piece_at(first_piece + piece, road);
    throw;
  }
  lane.end_piece_at(first_piece + piece, road);
  piece = (piece + 1) % pieces;
}

PieceWorkers::PieceWorkers(const Call& call, Lane& lane, int64_t least_bytes, Fetches fetches)
    : plan_(call.plan), lane_(lane) {
  TableOptions options = call.table.state().options;
  threads_ = lane.reserve_for_threads(most_threads(call, options), least_bytes, options);
  if (threads_ > 1) {
    options.threads = 1;
  }
  while (std::ssize(lane.scratch) < threads_) {
    lane.scratch.push_back(std::make_unique<PieceScratch>());
  }
  const size_t pieces = lane.ring_pieces() / static_cast<size_t>(threads_);
  const auto same_version = [&](const Desk& desk) {
    return desk.rows->version() == rows().version();
  };
  desks_.reserve(static_cast<size_t>(threads_));
  do {  // again, if the table was written to meanwhile
    desks_.clear();
    for (size_t i = 0; i < static_cast<size_t>(threads_); ++i) {
      std::unique_ptr<RowSource> source = rows_of(call, options, fetches);
      desks_.emplace_back(lane, std::move(source), *lane.scratch[i], i * pieces, pieces,
                          options.threads);
    }
  } while (!std::ranges::all_of(desks_, same_version));
  for (Desk& desk : desks_) {
    free_.push_back(&desk);
  }
}

int64_t PieceWorkers::rows_per_piece(int64_t most, int64_t rows, int64_t row_bytes) const {
  const int64_t share = (rows - 1) / threads_ + 1;
  const int64_t least = std::max<int64_t>(kLeastShareBytes / row_bytes, 1);
  return threads_ == 1 ? most : std::min(most, std::max(share, least));
}

Desk& PieceWorkers::take_desk() {
  std::unique_lock lock(mutex_);
  free_again_.wait(lock, [&] { return !free_.empty(); });
  Desk* const desk = free_.back();
  free_.pop_back();
  return *desk;
}

void PieceWorkers::give_back(Desk& desk) {
  {
    const std::lock_guard lock(mutex_);
    free_.push_back(&desk);
  }
  free_again_.notify_one();
}

void PieceWorkers::run_one(int64_t piece, const std::function<void(Desk&, int64_t)>& work) {
  Desk& desk = take_desk();
  try {
    const Lane::OnDevice on_device(lane_);
    work(desk, piece);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = failure_ ? failure_ : std::current_exception();
  }
  give_back(desk);
}

void PieceWorkers::run(int64_t count, int64_t bytes,
                       const std::function<void(Desk&, int64_t)>& work) {
  const auto failed = [&] {
    const std::lock_guard lock(mutex_);
    return failure_ != nullptr;
  };
  const auto run_some = [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end && !failed(); ++piece) {
      run_one(piece, work);
    }
  };
  if (threads_ == 1) {  // which has the threads of its source
    const CancelScope* const cancel = current_cancel_scope();
    for (int64_t piece = 0; piece < count && !failed(); ++piece) {
      ask_and_throw(cancel, plan_.request());
      run_one(piece, work);
    }
  } else {
    run_ranges(plan_.request().name, count, bytes, {.threads = threads_}, std::cref(run_some));
  }
  if (failure_ != nullptr) {
    std::rethrow_exception(failure_);
  }
}

void PieceWorkers::check_unchanged() const {
  for (const Desk& desk : desks_) {
    desk.rows->check_unchanged();
  }
}

}  // namespace sheaf::tables
