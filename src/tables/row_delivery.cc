// SPDX-License-Identifier: MIT
#include "tables/row_delivery.h"

#include <algorithm>
#include <cstring>

#include "plan/nest_shape.h"
#include "tables/piece_plan.h"
#include "tables/state.h"

namespace sheaf::tables {
namespace {

constexpr int64_t kDeliveryAlignment = 16;
constexpr int64_t kDeliveryNumber = sizeof(int32_t);

constexpr int64_t aligned_delivery(int64_t bytes) {
  return (bytes + kDeliveryAlignment - 1) / kDeliveryAlignment * kDeliveryAlignment;
}

// Rows and their points, by rising offsets: a file is read from its front to its end.
void sort_for_file(const Call& call, std::span<const int64_t> offsets,
                   std::span<const int32_t> points, FileOrder& order) {
  order.entries.resize(offsets.size());
  order.spare.resize(offsets.size());
  order.offsets.resize(offsets.size());
  order.points.resize(points.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    order.entries[i] = {offsets[i], static_cast<int64_t>(i)};
  }
  const KeyedEntry* const sorted =
      sort_by_key("gather", order.entries.data(), order.spare.data(), std::ssize(offsets),
                  call.table.info().bytes, {.threads = call.table.state().options.threads});
  for (size_t i = 0; i < offsets.size(); ++i) {
    order.offsets[i] = sorted[i].key;
    if (!points.empty()) {
      order.points[i] = points[static_cast<size_t>(sorted[i].entry)];
    }
  }
}

}  // namespace

bool has_free_order(const Call& call) {
  const Nest& nest = call.plan.nest();
  return !nest.empty() && call.encoded == nullptr && call.bag == nullptr &&
         point_count(nest) <= kMostNumberedRows &&
         is_contiguous({.loops = nest.loops, .points = 0}, nest.row_bytes);
}

RowDelivery::Layout RowDelivery::layout(int64_t rows, int64_t points) const {
  Layout at{};
  at.numbers = aligned_delivery(rows * row_bytes_);
  at.points = aligned_delivery(at.numbers + points * kDeliveryNumber);
  at.claims = aligned_delivery(at.points + points * kDeliveryNumber);
  at.bytes = aligned_delivery(at.claims + rows * KeptRows::kClaimBytes);
  return at;
}

RowDelivery::RowDelivery(const Call& call, Lane& lane)
    : call_(call),
      row_bytes_(call.plan.nest().row_bytes),
      lane_(lane),
      points_(point_count(call.plan.nest())),
      workers_(call, lane, layout(1, 1).bytes),
      most_rows_(std::max<int64_t>((lane.piece_bytes() - 4 * kDeliveryAlignment) /
                                       (row_bytes_ + 2 * kDeliveryNumber + KeptRows::kClaimBytes),
                                   1)) {}

// Calls work(desk, first row, rows) for pieces of `rows`.
template <class Work>
void RowDelivery::for_pieces(int64_t rows, const Work& work) {
  if (rows == 0) {
    return;
  }
  const int64_t each = workers_.rows_per_piece(most_rows_, rows, row_bytes_);
  workers_.run((rows - 1) / each + 1, rows * row_bytes_, [&](Desk& desk, int64_t piece) {
    const int64_t first = piece * each;
    work(desk, static_cast<size_t>(first), static_cast<size_t>(std::min(each, rows - first)));
  });
}

void RowDelivery::deliver(std::span<const int64_t> offsets, std::span<const int32_t> points,
                          KeptRows* cache, bool surely) {
  if (call_.table.place() == TablePlace::kFile) {
    sort_for_file(call_, offsets, points, lane_.file_order);
    offsets = lane_.file_order.offsets;
    points = lane_.file_order.points;
  }
  for_pieces(std::ssize(offsets), [&](Desk& desk, size_t first, size_t rows) {
    run_piece(desk, offsets.subspan(first, rows),
              points.empty() ? points : points.subspan(first, rows), cache, surely);
  });
}

void RowDelivery::deliver(std::span<const int64_t> offsets, std::byte* to) {
  for_pieces(std::ssize(offsets), [&](Desk& desk, size_t first, size_t rows) {
    std::byte* const memory = desk.begin_piece();
    desk.rows->fetch(offsets.subspan(first, rows), row_bytes_, memory);
    const int64_t bytes = static_cast<int64_t>(rows) * row_bytes_;
    desk.hand_over([&] {
      lane_.copy(to + static_cast<int64_t>(first) * row_bytes_, memory, bytes);
      stats.bytes_to_device += bytes;
    });
  });
}

void RowDelivery::run_piece(Desk& desk, std::span<const int64_t> offsets,
                            std::span<const int32_t> points, KeptRows* cache, bool surely) {
  PieceScratch& scratch = desk.scratch;
  scratch.seen.clear(std::ssize(offsets));
  scratch.numbers.clear();
  for (const int64_t offset : offsets) {
    scratch.numbers.push_back(scratch.seen.number_of(offset));
  }
  const std::span<const int64_t> distinct = scratch.seen.offsets();
  const Layout at = layout(std::ssize(distinct), std::ssize(offsets));
  std::byte* const memory = desk.begin_piece();
  desk.rows->fetch(distinct, row_bytes_, memory);
  if (!points.empty()) {
    std::memcpy(memory + at.numbers, scratch.numbers.data(), offsets.size() * kDeliveryNumber);
    std::memcpy(memory + at.points, points.data(), points.size_bytes());
  }
  if (cache != nullptr) {
    scratch.offsets.clear();
    for (const int64_t offset : distinct) {
      scratch.offsets.push_back(offset / row_bytes_);
    }
    cache->claim(scratch.offsets, surely, memory + at.claims);
  }
  desk.hand_over(
      [&] { enqueue_piece(memory, at, std::ssize(distinct), std::ssize(points), cache, surely); });
}

// One thread at a time.
void RowDelivery::enqueue_piece(const std::byte* memory, const Layout& at, int64_t rows,
                                int64_t points, KeptRows* cache, bool surely) {
  const int64_t bytes = cache == nullptr ? at.claims : at.bytes;
  std::byte* const there = lane_.staging(lane_.piece_bytes());
  lane_.copy(there, memory, bytes);
  const DType type = call_.plan.data().dtype;
  const NumberedRows all{.from = there,
                         .from_numbers = nullptr,
                         .to = nullptr,
                         .to_numbers = nullptr,
                         .count = rows,
                         .row_bytes = row_bytes_,
                         .from_rows = rows,
                         .to_rows = 0};
  if (points > 0) {
    NumberedRows placed = all;
    placed.from_numbers = reinterpret_cast<const int32_t*>(there + at.numbers);
    placed.to = static_cast<std::byte*>(call_.output);
    placed.to_numbers = reinterpret_cast<const int32_t*>(there + at.points);
    placed.count = points;
    placed.to_rows = points_;
    lane_.move_rows(placed, type);
  }
  if (cache != nullptr) {
    NumberedRows admitted = all;
    admitted.to = cache->memory();
    admitted.to_numbers = cache->claimed(lane_, there + at.claims, rows, surely);
    admitted.to_rows = cache->slots();
    lane_.move_rows(admitted, type);
  }
  stats.bytes_to_device += bytes;
  stats.rows_fetched += rows;
  ++stats.pieces;
}

}  // namespace sheaf::tables
