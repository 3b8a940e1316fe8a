// SPDX-License-Identifier: MIT
//
// Three steps, for one part of the table after the other (usually there is one part):
//   mark   walk over all points, and note the blocks that hold their rows
//   read   the noted blocks, a wave at a time, in the order of the file
//   move   the rows of a wave to the output, while the next wave is read
#include "io/gather.h"

#include <algorithm>
#include <future>
#include <new>
#include <optional>
#include <system_error>

#include "execution/cancel.h"
#include "io/block_set.h"
#include "io/own_indices.h"
#include "io/points.h"
#include "io/row_cache.h"
#include "plan/index_error.h"
#include "plan/resolve.h"
#include "support/checked.h"

namespace sheaf::io {
namespace {

// Longer requests gain nothing on any disk, and shorter ones share a queue better.
constexpr int64_t kMaxRequestBytes = 128 << 10;
// Below this many blocks, starting a thread costs more than reading and moving in turns.
constexpr int64_t kMinWaveBlocks = 1024;

// Aligned as O_DIRECT wants it.
constexpr std::align_val_t kBlockAlignment{kBlockBytes};

struct FreeBlocks {
  void operator()(std::byte* memory) const { ::operator delete(memory, kBlockAlignment); }
};
using AlignedBytes = std::unique_ptr<std::byte, FreeBlocks>;

AlignedBytes allocate_blocks(int64_t blocks) {
  const auto bytes = static_cast<size_t>(blocks * kBlockBytes);
  return AlignedBytes(static_cast<std::byte*>(::operator new(bytes, kBlockAlignment)));
}

struct Part {
  int64_t first_block, end_block;
};

class Gather {
 public:
  Gather(const Plan& plan, const Table& table, ByteSpace& space, const void* indices, Sink& sink,
         const FileOptions& options)
      : own_(plan, indices),
        plan_(own_.plan()),
        nest_(plan_.nest()),
        indices_(static_cast<const std::byte*>(own_.data())),
        points_(nest_, indices_),
        space_(space),
        sink_(sink),
        options_(options),
        table_bytes_(table.info().bytes) {
    // Also where the caller vouches for the indices: a wrong one must not lead out of the file.
    if (nest_.out_of_range == OutOfRange::kTrust) {
      nest_.out_of_range = OutOfRange::kFail;
    }
    cache_ = options.cache && space_.version_number() != 0 ? &options.cache->state() : nullptr;
    total_bytes_ = nest_.empty() ? 0 : points_.count() * nest_.row_bytes;
  }

  FileStats run() {
    if (nest_.empty() || cache_) {
      check_indices();
    }
    if (nest_.empty()) {
      return stats_;
    }
    space_.check_unchanged();
    const int64_t begin = space_.table_offset() / kBlockBytes;
    const int64_t end = (space_.table_offset() + table_bytes_ - 1) / kBlockBytes + 1;
    const int64_t blocks_per_row = (nest_.row_bytes - 1) / kBlockBytes + 2;
    most_blocks_ = checked_mul(points_.count(), blocks_per_row).value_or(INT64_MAX);
    const int64_t part = blocks_of_a_part(end - begin, most_blocks_, options_.memory / 4);
    for (int64_t first = begin; first < end; first += part) {
      run_part({first, std::min(end, first + part)});
    }
    sink_.flush();
    space_.check_unchanged();
    stats_.reader = space_.reader_name();
    return stats_;
  }

 private:
  void check_indices() const {
    if (nest_.out_of_range == OutOfRange::kFail) {
      throw_first_bad_index(plan_, indices_);
    }
  }

  RowCache::State::Key key_of(int64_t row) const {
    return {space_.version_number(), row, nest_.row_bytes, space_.stream()};
  }
  int64_t first_byte(const Point& point) const { return space_.table_offset() + point.data; }

  void run_part(const Part& part) {
    BlockSet wanted(part.first_block, part.end_block, most_blocks_);
    mark(part, wanted);
    first_part_ = false;
    const int64_t blocks = wanted.count();
    stats_.blocks += blocks;
    if (blocks == 0) {
      return;
    }
    const int64_t most = std::max<int64_t>(options_.memory / 4 / kBlockBytes, 16);
    const int64_t wave_slots = std::min(std::max(blocks / 8, kMinWaveBlocks), most);
    const std::vector<Wave> waves =
        split_into_waves(wanted, part.first_block, part.end_block, blocks, wave_slots);
    sort_points(wanted, waves, wave_slots);
    run_waves(wanted, waves, std::min(wave_slots, blocks));
  }

  // Notes the blocks of every row. Rows that need no block are written here, in the first part.
  void mark(const Part& part, BlockSet& wanted) {
    points_.rewind();
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(cancel_, plan_.request());
      std::unique_lock<std::mutex> lock;
      if (cache_) {
        lock = std::unique_lock(cache_->mutex);
      }
      for (const Point& point : block) {
        if (point.data == kOutside) {
          check_indices();  // throws, if the rule is to fail
          fill(point);
        } else if (!cache_ || !copy_cached(point)) {
          const int64_t begin = first_byte(point) / kBlockBytes;
          const int64_t last = (first_byte(point) + nest_.row_bytes - 1) / kBlockBytes;
          for (int64_t b = std::max(begin, part.first_block); b <= last && b < part.end_block;
               ++b) {
            wanted.add(b);
          }
        }
      }
    }
  }

  bool copy_cached(const Point& point) {
    if (!first_part_) {
      return false;  // counted and copied then; at worst its blocks are read as well
    }
    const std::byte* row = cache_->find(key_of(first_byte(point)));
    ++(row ? stats_.cache_hits : stats_.cache_misses);
    if (row) {
      sink_.write(point.grid, row, nest_.row_bytes);
    }
    return row != nullptr;
  }

  void fill(const Point& point) {
    if (!first_part_) {
      return;
    }
    if (fill_.empty()) {
      const int64_t elements = std::min<int64_t>(nest_.row_bytes, 1 << 16) / nest_.element_bytes;
      for (int64_t e = 0; e < std::max<int64_t>(elements, 1); ++e) {
        fill_.insert(fill_.end(), nest_.fill_value, nest_.fill_value + nest_.element_bytes);
      }
    }
    for (int64_t done = 0; done < nest_.row_bytes;) {
      const int64_t bytes = std::min(std::ssize(fill_), nest_.row_bytes - done);
      sink_.write(point.grid + done, fill_.data(), bytes);
      done += bytes;
    }
  }

  // The waves, first and last, that hold a row, or nothing if it was cached.
  std::optional<std::pair<int64_t, int64_t>> waves_of(const BlockSet& wanted, const Point& point,
                                                      const std::vector<Wave>& waves,
                                                      int64_t wave_slots) const {
    if (point.data == kOutside) {
      return std::nullopt;
    }
    const int64_t begin = std::max(first_byte(point) / kBlockBytes, waves.front().first_block);
    const int64_t last = std::min((first_byte(point) + nest_.row_bytes - 1) / kBlockBytes,
                                  waves.back().end_block - 1);
    if (begin > last) {
      return std::nullopt;
    }
    for (int64_t b = begin; cache_ && b <= last; ++b) {
      if (!wanted.contains(b)) {
        return std::nullopt;
      }
    }
    return std::pair(wanted.slot_of(begin) / wave_slots, wanted.slot_of(last) / wave_slots);
  }

  // Where memory allows it, points are sorted by wave, so that a wave need not walk over all.
  void sort_points(const BlockSet& wanted, const std::vector<Wave>& waves, int64_t wave_slots) {
    sorted_.clear();
    starts_.clear();
    const int64_t room = options_.memory / 4 / static_cast<int64_t>(sizeof(Point));
    if (waves.size() == 1 || points_.count() > room) {
      return;
    }
    std::vector<int64_t> counts(waves.size() + 1);
    for_all_points([&](const Point& point) {
      if (const auto range = waves_of(wanted, point, waves, wave_slots)) {
        for (int64_t w = range->first; w <= range->second; ++w) {
          ++counts[static_cast<size_t>(w) + 1];
        }
      }
    });
    for (size_t w = 1; w < counts.size(); ++w) {
      counts[w] += counts[w - 1];
    }
    if (counts.back() > room) {
      return;  // long rows, each in many waves
    }
    starts_ = counts;
    sorted_.resize(static_cast<size_t>(counts.back()));
    for_all_points([&](const Point& point) {
      if (const auto range = waves_of(wanted, point, waves, wave_slots)) {
        for (int64_t w = range->first; w <= range->second; ++w) {
          sorted_[static_cast<size_t>(counts[static_cast<size_t>(w)]++)] = point;
        }
      }
    });
  }

  template <class F>
  void for_all_points(F f) {
    points_.rewind();
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(cancel_, plan_.request());
      for (const Point& point : block) {
        f(point);
      }
    }
  }

  void run_waves(const BlockSet& wanted, const std::vector<Wave>& waves, int64_t wave_slots) {
    AlignedBytes now = allocate_blocks(wave_slots);
    AlignedBytes ahead = waves.size() > 1 ? allocate_blocks(wave_slots) : nullptr;
    read_wave(wanted, waves[0], now.get());
    for (size_t w = 0; w < waves.size(); ++w) {
      ask_and_throw(cancel_, plan_.request());
      std::future<void> reading;  // its destructor waits: the buffer outlives the read
      if (w + 1 < waves.size()) {
        reading = start([&, w] { read_wave(wanted, waves[w + 1], ahead.get()); });
      }
      move_wave(wanted, waves[w], w, now.get());
      if (options_.progress) {
        options_.progress(std::min(moved_bytes_, total_bytes_), total_bytes_);
      }
      if (reading.valid()) {
        reading.get();
        std::swap(now, ahead);
      }
    }
  }

  // On another thread; where there is none to be had, when the result is asked for.
  template <class F>
  static std::future<void> start(F work) {
    try {
      return std::async(std::launch::async, work);
    } catch (const std::system_error&) {
      return std::async(std::launch::deferred, work);
    }
  }

  void read_wave(const BlockSet& wanted, const Wave& wave, std::byte* buffer) {
    std::vector<ReadRequest> requests;
    int64_t previous = -2;
    for (int64_t slot = 0, b = wave.first_block; slot < wave.slots; ++slot, ++b) {
      b = wanted.next(b, wave.end_block);
      const int64_t bytes = std::min(kBlockBytes, space_.size() - b * kBlockBytes);
      if (b == previous + 1 && requests.back().bytes < kMaxRequestBytes) {
        requests.back().bytes += bytes;
      } else {
        requests.push_back({b * kBlockBytes, bytes, buffer + slot * kBlockBytes});
      }
      previous = b;
      stats_.bytes_read += bytes;
    }
    stats_.requests += std::ssize(requests);
    space_.read(requests);
  }

  void move_wave(const BlockSet& wanted, const Wave& wave, size_t number, const std::byte* buffer) {
    const auto move_block = [&](std::span<const Point> block) {
      std::unique_lock<std::mutex> lock;
      if (cache_) {
        lock = std::unique_lock(cache_->mutex);
      }
      for (const Point& point : block) {
        move_row(wanted, wave, point, buffer);
      }
    };
    if (!starts_.empty()) {
      const auto begin = static_cast<size_t>(starts_[number]);
      const auto end = static_cast<size_t>(starts_[number + 1]);
      move_block(std::span(sorted_).subspan(begin, end - begin));
      return;
    }
    points_.rewind();
    for (auto block = points_.next(); !block.empty(); block = points_.next()) {
      ask_and_throw(cancel_, plan_.request());
      move_block(block);
    }
  }

  // The part of a row that lies in this wave.
  void move_row(const BlockSet& wanted, const Wave& wave, const Point& point,
                const std::byte* buffer) {
    if (point.data == kOutside) {
      return;
    }
    const int64_t row = first_byte(point);
    const int64_t begin = std::max(row, wave.first_block * kBlockBytes);
    const int64_t end = std::min(row + nest_.row_bytes, wave.end_block * kBlockBytes);
    if (begin >= end) {
      return;
    }
    for (int64_t b = begin / kBlockBytes; cache_ && b <= (end - 1) / kBlockBytes; ++b) {
      if (!wanted.contains(b)) {
        return;  // a row from the cache
      }
    }
    // Neighbouring blocks lie side by side: so do the bytes of the row.
    const int64_t slot = wanted.slot_of(begin / kBlockBytes) - wave.first_slot;
    const std::byte* from = buffer + slot * kBlockBytes + begin % kBlockBytes;
    sink_.write(point.grid + (begin - row), from, end - begin);
    moved_bytes_ += end - begin;
    if (cache_ && end - begin == nest_.row_bytes) {
      cache_->put(key_of(row), from);
    }
  }

  OwnIndices own_;
  const Plan& plan_;
  Nest nest_;
  const std::byte* indices_;
  Points points_;
  ByteSpace& space_;
  Sink& sink_;
  const FileOptions& options_;
  int64_t table_bytes_;
  int64_t most_blocks_ = 0;  // that rows can lie in, each counted once per row
  RowCache::State* cache_ = nullptr;
  const CancelScope* const cancel_ = current_cancel_scope();
  FileStats stats_;
  bool first_part_ = true;
  int64_t moved_bytes_ = 0, total_bytes_ = 0;
  std::vector<std::byte> fill_;
  std::vector<Point> sorted_;    // by wave
  std::vector<int64_t> starts_;  // of each wave in sorted_; empty: they are not sorted
};

}  // namespace

FileStats gather_blocks(const Plan& plan, const Table& table, const void* indices, Sink& sink,
                        const FileOptions& options) {
  const std::unique_ptr<ByteSpace> space = open_space(table, options);
  return gather_blocks(plan, table, *space, indices, sink, options);
}

FileStats gather_blocks(const Plan& plan, const Table& table, ByteSpace& space, const void* indices,
                        Sink& sink, const FileOptions& options) {
  return Gather(plan, table, space, indices, sink, options).run();
}

}  // namespace sheaf::io
