// SPDX-License-Identifier: MIT
//
// Rows that are fetched to the host and travel to a device in pieces:
//   fetch  the rows of a piece, each once, into the next piece of the ring
//   copy   that piece to the device, while the next is fetched
//   place  its rows into the output; where they stand side by side there, the copy has done it
// With a cache, rows that are on the device already are placed by the same kernel, and rows that
// are admitted are put into the cache behind it.
#include <algorithm>

#include "execution/cancel.h"
#include "execution/run.h"
#include "io/points.h"
#include "plan/resolve.h"
#include "support/checked.h"
#include "tables/host_indices.h"
#include "tables/piece_plan.h"
#include "tables/row_source.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

// Rows in a piece are numbered in 32 bits.
constexpr int64_t kMostRows = int64_t{1} << 30;
// Behind the rows of a piece stand their numbers, aligned for the device.
constexpr int64_t kNumbersAlignment = 16;
constexpr int64_t kNumberBytes = sizeof(int32_t);
// A row that is fetched again costs less than finding that it need not be.
constexpr int64_t kDistinctRowBytes = 32;
// Unless so many of the points of a piece repeat a row, the next are not looked at: one in 16.
constexpr int64_t kWorthwhileRepeats = 16;

constexpr uint64_t kNoVersion = ~uint64_t{0};

// A cache is no larger than the table, and its slots are numbered in 32 bits as well.
int64_t slots_for(const TableOptions& options, int64_t row_bytes, int64_t rows) {
  return std::min({options.cache_bytes / row_bytes, rows, kMostRows});
}

// Bytes of a row of a table whose rows lie side by side; 0 for any other.
int64_t bytes_of_rows(const TensorSpec& spec) {
  const bool packed = spec.rank() > 0 && spec == TensorSpec(spec.dtype, spec.sizes);
  return packed && spec.sizes[0] > 0
             ? element_count(spec.sizes) / spec.sizes[0] * spec.dtype.bytes()
             : 0;
}

int64_t aligned_for_numbers(int64_t bytes) {
  return (bytes + kNumbersAlignment - 1) / kNumbersAlignment * kNumbersAlignment;
}

class RingGather {
 public:
  RingGather(const Call& call, const HostIndices& indices, Lane& lane)
      : call_(call),
        plan_(indices.plan()),
        nest_(plan_.nest()),
        options_(call.table.state().options),
        lane_(lane),
        points_(nest_, indices.data()),
        rows_(open_rows(call.table, options_)) {
    if (call.encoded != nullptr) {
      rows_ = decoded_rows(*call.encoded, std::move(rows_));
    }
  }

  TableStats run() {
    // A row, its number, and the number of the slot that it is put into.
    const int64_t per_row = nest_.row_bytes + 2 * kNumberBytes;
    piece_bytes_ = lane_.reserve(per_row + kNumbersAlignment, options_);
    most_points_ = std::clamp<int64_t>((piece_bytes_ - kNumbersAlignment) / per_row, 1, kMostRows);
    try {
      open_cache();
      run_pieces();
    } catch (...) {
      if (cache_ != nullptr) {  // rows may have been promised that never came
        cache_->clear();
        cache_->version = kNoVersion;
      }
      throw;
    }
    rows_->check_unchanged();
    return stats_;
  }

 private:
  void run_pieces() {
    distinct_ = nest_.row_bytes >= kDistinctRowBytes || cache_ != nullptr;
    Pieces pieces(nest_, most_points_);
    for (Piece piece; pieces.next(piece);) {
      ask_and_throw(cancel_, plan_.request());
      run_piece(piece);
    }
  }

  // The lane's cache, if this call can use it.
  void open_cache() {
    const int64_t slots = call_.encoded != nullptr || bytes_of_rows(plan_.data()) != nest_.row_bytes
                              ? 0
                              : slots_for(options_, nest_.row_bytes, plan_.data().sizes[0]);
    if (slots == 0) {
      return;
    }
    if (lane_.cache == nullptr) {
      lane_.cache =
          std::make_unique<DeviceCache>(lane_.backend().name, nest_.row_bytes, most_points_, slots);
      lane_.cache->version = kNoVersion;
    }
    cache_ = lane_.cache.get();
    most_points_ = std::min(most_points_, cache_->staged());
    // Both only grow: the sum tells every pair of them apart from those before.
    const uint64_t version = rows_->version() + call_.table.state().forgotten;
    if (cache_->version != version) {
      cache_->clear();
      if (!options_.cached_rows.empty()) {
        fill_static_cache();
      }
      cache_->version = version;
    }
  }

  // Slots follow one another: each piece of rows is one copy.
  void fill_static_cache() {
    cache_->is_static = true;
    const std::vector<int64_t>& ids = options_.cached_rows;
    const int64_t count = std::min(std::ssize(ids), cache_->slots());
    for (int64_t first = 0; first < count; first += most_points_) {
      lane_.offsets.clear();
      for (int64_t i = first; i < std::min(first + most_points_, count); ++i) {
        lane_.offsets.push_back(ids[static_cast<size_t>(i)] * nest_.row_bytes);
        cache_->keep(lane_.offsets.back(), static_cast<int32_t>(i));
      }
      const int64_t bytes = std::ssize(lane_.offsets) * nest_.row_bytes;
      std::byte* const memory = lane_.begin_piece();
      rows_->fetch(lane_.offsets, nest_.row_bytes, memory);
      lane_.copy(cache_->slot_memory(first), memory, bytes);
      lane_.end_piece();
      stats_.bytes_to_device += bytes;
    }
  }

  void run_piece(const Piece& piece) {
    number_rows(piece.points);
    std::byte* const memory = lane_.begin_piece();
    const std::span<const int64_t> fetched =
        distinct_ ? lane_.seen.offsets() : std::span<const int64_t>(lane_.offsets);
    const int64_t bytes = std::ssize(fetched) * nest_.row_bytes;
    if (!fetched.empty()) {
      rows_->fetch(fetched, nest_.row_bytes, memory);
    }
    const bool as_fetched = std::ssize(fetched) == piece.points && cache_ == nullptr;
    if (as_fetched && is_contiguous(piece, nest_.row_bytes)) {
      lane_.copy(output(piece), memory, bytes);
      stats_.bytes_to_device += bytes;
    } else {
      place_rows(piece, memory, bytes);
    }
    lane_.end_piece();
    stats_.rows += piece.points;
    stats_.rows_fetched += std::ssize(fetched);
    ++stats_.pieces;
    const int64_t repeats = piece.points - std::ssize(fetched);
    distinct_ = cache_ != nullptr || (distinct_ && repeats * kWorthwhileRepeats >= piece.points);
  }

  std::byte* output(const Piece& piece) const {
    return static_cast<std::byte*>(call_.output) + piece.output;
  }

  // Of the next points: which row of the piece each is, and where the rows are in the table.
  void number_rows(int64_t count) {
    lane_.numbers.clear();
    lane_.offsets.clear();
    if (distinct_) {
      lane_.seen.clear(count);
    }
    for (int64_t left = count; left > 0;) {
      if (block_.empty()) {
        block_ = points_.next();
      }
      const auto here = static_cast<size_t>(std::min(left, std::ssize(block_)));
      for (const io::Point& point : block_.first(here)) {
        lane_.numbers.push_back(number_of(point.data));
      }
      block_ = block_.subspan(here);
      left -= static_cast<int64_t>(here);
    }
  }

  int32_t number_of(int64_t offset) {
    if (offset == kOutside) {
      return kNoRow;
    }
    if (cache_ != nullptr) {
      const int32_t slot = cache_->find(offset);
      ++(slot < 0 ? stats_.cache_misses : stats_.cache_hits);
      if (slot >= 0) {
        return static_cast<int32_t>(cache_->staged()) + slot;
      }
    }
    if (distinct_) {
      return lane_.seen.number_of(offset);
    }
    lane_.offsets.push_back(offset);
    return static_cast<int32_t>(lane_.offsets.size() - 1);
  }

  // Rows that repeat, are filled, cached, or do not stand side by side: a kernel puts them in their
  // places. With a cache they arrive in front of its slots, so that one kernel reads both.
  void place_rows(const Piece& piece, std::byte* memory, int64_t rows_bytes) {
    const int64_t numbers_at = aligned_for_numbers(rows_bytes);
    const int64_t all = numbers_at + piece.points * kNumberBytes;
    put_numbers(memory + numbers_at);
    std::byte* const staging = lane_.staging(piece_bytes_);
    if (cache_ == nullptr) {
      lane_.copy(staging, memory, all);
      gather(piece, most_points_, staging, staging + numbers_at);
    } else {
      if (rows_bytes > 0) {
        lane_.copy(cache_->memory(), memory, rows_bytes);
      }
      lane_.copy(staging, memory + numbers_at, piece.points * kNumberBytes);
      gather(piece, cache_->staged() + cache_->slots(), cache_->memory(), staging);
      admit_rows(memory + all, staging + piece.points * kNumberBytes);
    }
    stats_.bytes_to_device += rows_bytes + piece.points * kNumberBytes;
  }

  void gather(const Piece& piece, int64_t rows, const std::byte* data, const std::byte* numbers) {
    const Plan& plan = plans_.get(plan_, piece, rows);
    Queue queue = lane_.queue();
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    start_gather(plan, {data, numbers, nullptr, output(piece)}, queue, {});
  }

  // The rows that were fetched are updates to the slots that take them.
  void admit_rows(std::byte* here, std::byte* there) {
    lane_.numbers.clear();
    bool any = false;
    for (const int64_t offset : lane_.seen.offsets()) {
      lane_.numbers.push_back(cache_->admit(offset));
      any = any || lane_.numbers.back() >= 0;
    }
    if (!any) {
      return;
    }
    put_numbers(here);
    const auto count = std::ssize(lane_.numbers);
    lane_.copy(there, here, count * kNumberBytes);
    const Plan plan = plan_of_admission(plan_, cache_->slots(), count);
    Queue queue = lane_.queue();
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    std::byte* const slots = cache_->slot_memory(0);
    start_scatter(plan, {slots, there, cache_->memory(), slots}, queue, {});
    stats_.bytes_to_device += count * kNumberBytes;
  }

  void put_numbers(std::byte* to) const {
    std::copy_n(reinterpret_cast<const std::byte*>(lane_.numbers.data()),
                std::ssize(lane_.numbers) * kNumberBytes, to);
  }

  const Call& call_;
  const Plan& plan_;
  const Nest& nest_;
  const TableOptions& options_;
  Lane& lane_;
  io::Points points_;
  std::span<const io::Point> block_;  // points that were resolved and not used yet
  std::unique_ptr<RowSource> rows_;
  PiecePlans plans_;
  int64_t piece_bytes_ = 0, most_points_ = 1;
  bool distinct_ = true;
  DeviceCache* cache_ = nullptr;  // of the lane; null: this call uses none
  TableStats stats_;
  const CancelScope* const cancel_ = current_cancel_scope();
};

}  // namespace

TableStats run_ring(const Call& call) {
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output},
                           call.index_place == IndexPlace::kQueue);
  const HostIndices indices(call);
  Lane& lane = call.table.state().lane(call.plan, *call.device, call.queue);
  const std::lock_guard lock(lane.mutex);
  lane.verdict_in_workspace = false;
  TableStats stats;
  if (!indices.plan().nest().empty()) {
    stats = RingGather(call, indices, lane).run();
  }
  stats.calls = 1;
  return stats;
}

}  // namespace sheaf::tables
