// SPDX-License-Identifier: MIT
//
// Blocks that updates go to are fetched, a wave at a time; an ordinary scatter plan on the fetched
// blocks applies the updates; the blocks are written back. Each element sees its updates in their
// order, so the bits are those of a scatter in memory.
#include "io/scatter.h"

#include <algorithm>
#include <span>

#include "execution/cancel.h"
#include "io/block_set.h"
#include "io/byte_space.h"
#include "io/points.h"
#include "plan/refuse.h"
#include "plan/request.h"
#include "plan/resolve.h"
#include "support/text.h"

namespace sheaf::io {
namespace {

// What an update takes in the list of places.
constexpr int64_t kPlaceBytes = 8;

// What an update is moved by: a row of the nest where rows never overlap in part, else an element.
int64_t unit_bytes(const Nest& nest, int64_t most) {
  bool whole_rows = nest.row_bytes <= most;
  for (const Loop& loop : nest.loops) {
    whole_rows = whole_rows && loop.data % nest.row_bytes == 0;
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    whole_rows = whole_rows && coordinate.stride % nest.row_bytes == 0;
  }
  return whole_rows ? nest.row_bytes : nest.element_bytes;
}

class Scatter {
 public:
  Scatter(const Plan& plan, NewFile& file, int64_t start, const void* indices, const void* updates,
          const FileOptions& options)
      : plan_(plan),
        points_(plan.nest(), static_cast<const std::byte*>(indices)),
        file_(file),
        start_(start),
        updates_(static_cast<const std::byte*>(updates)),
        options_(options) {
    const Nest& nest = plan.nest();
    const int64_t buffer = options.memory / 4;
    unit_ = unit_bytes(nest, buffer / 16);
    per_point_ = nest.row_bytes / unit_;
    block_units_ = std::max<int64_t>(kBlockBytes / unit_, 1);
    table_units_ = element_count(plan.output().sizes) * plan.output().dtype.bytes() / unit_;
    wave_blocks_ = std::max<int64_t>(buffer / (block_units_ * unit_), 1);
    chunk_units_ =
        std::min(points_.count() * per_point_, std::max(buffer / kPlaceBytes, per_point_));
    check_one_chunk();
    stats_.reader = "pread";
  }

  FileStats run() {
    // Chunks are whole points, save where one point is longer than a chunk.
    std::vector<int64_t> units;
    int64_t first = 0;
    const auto flush = [&] {
      if (!units.empty()) {
        run_chunk(units, first);
        first += std::ssize(units);
        units.clear();
      }
    };
    units.reserve(static_cast<size_t>(chunk_units_));
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(current_cancel_scope(), plan_.request());
      for (const Point& point : block) {
        for (int64_t u = 0; u < per_point_; ++u) {
          units.push_back(point.data == kOutside ? kOutside : point.data / unit_ + u);
          if (std::ssize(units) == chunk_units_) {
            flush();
          }
        }
      }
    }
    flush();
    return stats_;
  }

 private:
  // A mean needs all updates of an element at once, and so do a start from nothing and a sum that
  // is rounded once.
  void check_one_chunk() const {
    const Request& request = plan_.request();
    const int64_t units = points_.count() * per_point_;
    const bool splits =
        request.reduction == Reduction::kNone ||
        (request.include_self && request.reduction != Reduction::kMean && !request.accumulate_f32);
    if (splits || units <= chunk_units_) {
      return;
    }
    const int64_t needed =
        units <= INT64_MAX / (4 * kPlaceBytes) ? units * 4 * kPlaceBytes : INT64_MAX;
    refuse(request, "memory too small",
           cat(units,
               " updates have to be applied at once, because the reduction is a mean, leaves the "
               "table's own values out or rounds once; memory is ",
               options_.memory, " bytes"),
           cat("memory of ", needed, " bytes or more"));
  }

  // `units` are the places of the updates from number `first` on.
  void run_chunk(const std::vector<int64_t>& units, int64_t first) {
    const int64_t blocks_in_all = (table_units_ + block_units_ - 1) / block_units_;
    const int64_t part = blocks_of_a_part(blocks_in_all, std::ssize(units), options_.memory / 4);
    for (int64_t begin = 0; begin < blocks_in_all; begin += part) {
      const int64_t end = std::min(blocks_in_all, begin + part);
      BlockSet wanted(begin, end, std::ssize(units));
      for (const int64_t unit : units) {
        const int64_t block = unit / block_units_;
        if (unit != kOutside && block >= begin && block < end) {
          wanted.add(block);
        }
      }
      const int64_t count = wanted.count();
      for (const Wave& wave : split_into_waves(wanted, begin, end, count, wave_blocks_)) {
        ask_and_throw(current_cancel_scope(), plan_.request());
        run_wave(wanted, wave, units, first);
      }
      stats_.blocks += count;
    }
  }

  void run_wave(const BlockSet& wanted, const Wave& wave, const std::vector<int64_t>& units,
                int64_t first) {
    const DType type = plan_.output().dtype;
    const int64_t rows = wave.slots * block_units_;
    const int64_t elements = unit_ / type.bytes();
    Array compact(TensorSpec(type, {rows, elements}));
    Array places(TensorSpec(i64, {std::ssize(units)}));
    int64_t* place = places.elements<int64_t>().data();
    for (size_t i = 0; i < units.size(); ++i) {
      const int64_t block = units[i] / block_units_;
      const bool here = units[i] != kOutside && block >= wave.first_block && block < wave.end_block;
      place[i] =
          here ? (wanted.slot_of(block) - wave.first_slot) * block_units_ + units[i] % block_units_
               : -1;
    }
    auto* bytes = static_cast<std::byte*>(compact.tensor().data);
    transfer(wanted, wave, bytes, false);
    const Request& request = plan_.request();
    const ScatterOptions options{
        .reduction = request.reduction,
        .include_self = request.include_self,
        .accumulate_f32 = request.accumulate_f32,
        .rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kSkip}};
    const TensorSpec updates(type, {std::ssize(units), elements});
    plan_scatter(compact.spec(), places.spec(), updates, options)
        .run(bytes, place, updates_ + first * unit_, bytes, {.threads = options_.threads});
    transfer(wanted, wave, bytes, true);
    if (options_.progress) {
      options_.progress(std::min(first + std::ssize(units), points_.count() * per_point_) * unit_,
                        points_.count() * per_point_ * unit_);
    }
  }

  // Runs of neighbouring blocks between the file and `bytes`.
  void transfer(const BlockSet& wanted, const Wave& wave, std::byte* bytes, bool write) {
    const int64_t block_bytes = block_units_ * unit_;
    int64_t slot = 0;
    for (int64_t b = wave.first_block; slot < wave.slots;) {
      b = wanted.next(b, wave.end_block);
      int64_t run = 1;
      while (slot + run < wave.slots && wanted.next(b + run, wave.end_block) == b + run) {
        ++run;
      }
      const int64_t begin = b * block_bytes;
      const int64_t length = std::min(run * block_bytes, table_units_ * unit_ - begin);
      std::byte* at = bytes + slot * block_bytes;
      if (write) {
        file_.write(start_ + begin, at, length);
      } else {
        file_.read(start_ + begin, at, length);
        stats_.bytes_read += length;
        ++stats_.requests;
      }
      slot += run;
      b += run;
    }
  }

  const Plan& plan_;
  Points points_;
  NewFile& file_;
  int64_t start_;
  const std::byte* updates_;
  const FileOptions& options_;
  int64_t unit_ = 1;         // bytes
  int64_t per_point_ = 1;    // units
  int64_t block_units_ = 1;  // units of a block
  int64_t table_units_ = 0;
  int64_t wave_blocks_ = 1;
  int64_t chunk_units_ = 0;  // updates that are applied together
  FileStats stats_;
};

}  // namespace

FileStats scatter_blocks(const Plan& plan, NewFile& file, int64_t start, const void* indices,
                         const void* updates, const FileOptions& options) {
  if (plan.nest().empty()) {
    return {};
  }
  return Scatter(plan, file, start, indices, updates, options).run();
}

}  // namespace sheaf::io
