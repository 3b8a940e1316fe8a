// SPDX-License-Identifier: MIT
//
// Rows of a device's table, for the host: gathered on the device a piece at a time, and downloaded.
#include <algorithm>
#include <cstring>

#include "execution/cancel.h"
#include "execution/launch.h"
#include "execution/run.h"
#include "io/points.h"
#include "io/source.h"
#include "plan/resolve.h"
#include "tables/host_indices.h"
#include "tables/runs.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr int64_t kOffsetBytes = sizeof(int64_t);

// Every element of the table may begin a row: rows are named by the number of their first element.
Plan plan_of_rows(const Plan& plan, int64_t rows) {
  const Nest& nest = plan.nest();
  const int64_t elements = nest.row_bytes / nest.element_bytes;
  const int64_t all = plan.ranges().data.hi / nest.element_bytes;
  const TensorSpec windows(plan.data().dtype, {all - elements + 1, elements}, {1, 1});
  return plan_gather(
      windows, TensorSpec(i64, {rows}),
      {.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kClamp}});
}

class DownloadGather {
 public:
  DownloadGather(const Call& call, const HostIndices& indices, Lane& lane)
      : plan_(indices.plan()),
        nest_(plan_.nest()),
        options_(call.table.state().options),
        table_(call.table.source()->memory->data),
        output_(static_cast<std::byte*>(call.output)),
        lane_(lane),
        points_(nest_, indices.data()) {}

  TableStats run() {
    const int64_t bytes = lane_.reserve(nest_.row_bytes + kOffsetBytes, options_);
    most_rows_ = std::max<int64_t>(bytes / (nest_.row_bytes + kOffsetBytes), 1);
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(cancel_, plan_.request());
      for (const io::Point& point : block) {
        point.data == kOutside ? fill(point.grid) : add(point);
      }
    }
    flush();
    return stats_;
  }

 private:
  void fill(int64_t grid) {
    for (int64_t at = 0; at < nest_.row_bytes; at += nest_.element_bytes) {
      std::copy_n(nest_.fill_value, nest_.element_bytes, output_ + grid + at);
    }
    ++stats_.rows;
  }

  void add(const io::Point& point) {
    lane_.offsets.push_back(point.data / nest_.element_bytes);
    places_.push_back(point.grid);
    if (std::ssize(places_) == most_rows_) {
      flush();
    }
  }

  void flush() {
    const int64_t rows = std::ssize(places_);
    if (rows == 0) {
      return;
    }
    std::byte* const piece = lane_.begin_piece();
    std::memcpy(piece, lane_.offsets.data(), static_cast<size_t>(rows * kOffsetBytes));
    std::byte* const there = lane_.staging(most_rows_ * (nest_.row_bytes + kOffsetBytes));
    std::byte* const gathered = there + most_rows_ * kOffsetBytes;
    lane_.copy(there, piece, rows * kOffsetBytes);
    const Plan plan = plan_of_rows(plan_, rows);
    Queue queue = lane_.queue();
    queue.workspace = lane_.workspace(workspace_bytes(plan, queue));
    start_gather(plan, {table_, there, nullptr, gathered}, queue, {});
    lane_.end_piece();
    lane_.backend().device->wait(nullptr, queue.stream);
    lane_.backend().device->download(lane_.begin_piece(), gathered,
                                     static_cast<size_t>(rows * nest_.row_bytes));
    const std::byte* const from = lane_.begin_piece();
    for (int64_t r = 0; r < rows; ++r) {
      std::copy_n(from + r * nest_.row_bytes, nest_.row_bytes,
                  output_ + places_[static_cast<size_t>(r)]);
    }
    stats_.rows += rows;
    stats_.rows_fetched += rows;
    stats_.bytes_to_device += rows * kOffsetBytes;
    ++stats_.pieces;
    places_.clear();
    lane_.offsets.clear();
  }

  const Plan& plan_;
  const Nest& nest_;
  const TableOptions& options_;
  const std::byte* table_;
  std::byte* output_;
  Lane& lane_;
  io::Points points_;
  std::vector<int64_t> places_;  // of the rows of a piece, in the output
  int64_t most_rows_ = 1;
  TableStats stats_;
  const CancelScope* const cancel_ = current_cancel_scope();
};

}  // namespace

TableStats run_download(const Call& call) {
  check_indices_and_output(call.plan, {nullptr, call.indices, nullptr, call.output}, true);
  const Queue there{.device = call.table.source()->memory->device};
  const Backend& device = *prepared_device(there);
  Lane& lane = call.table.state().lane(call.plan, device, there);
  const std::lock_guard lock(lane.mutex);
  lane.begin_call();
  const HostIndices indices(call, lane);
  TableStats stats;
  if (!indices.plan().nest().empty()) {
    lane.offsets.clear();
    stats = DownloadGather(call, indices, lane).run();
  }
  stats.calls = 1;
  return stats;
}

}  // namespace sheaf::tables
