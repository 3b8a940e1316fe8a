// SPDX-License-Identifier: MIT
//
// Bags of floats, and of rows with scales in them. A thread takes a range of bags, a block of them
// at a time, so that rows of the next bags are on their way while one is summed. Indices that are
// rows as they stand are read where the rows are joined; others are resolved to a list before. A
// bag that is longer than a thread's share is shared by columns: each sum stays in order.
#include "backends/cpu/bag/bag.h"

#include <algorithm>
#include <memory>
#include <new>

#include "backends/cpu/bag/pool_rows.h"
#include "execution/cancel.h"
#include "support/checked.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kBlock = 512;         // bags, and entries that are listed, at a time
constexpr int64_t kStackFloats = 1024;  // sums of a bag that need no memory from the heap
// A cache line of f32: threads that share a bag own columns of whole lines.
constexpr int64_t kColumnsPerLine = 16;

float weight_at(const BagNest& nest, const std::byte* weights, int64_t p) {
  const std::byte* const at = weights + nest.weights.at(p) * nest.weight_type.bytes();
  return stored_float(nest.weight_type, at, 0);
}

int64_t row_bytes(const BagNest& nest) {
  return nest.rows.encoding == Encoding::kPlain
             ? nest.elements * nest.rows.type.bytes()
             : encoded_row_bytes(nest.rows.encoding, nest.elements);
}

// Pools the bags of a range, columns [begin, end) of each.
template <class Index>
class PoolWalk {
 public:
  PoolWalk(const BagNest& nest, const BagBuffers& buffers, const Launch& launch, PoolBlock routine,
           float* scratch)
      : nest_(nest),
        buffers_(buffers),
        launch_(launch),
        cancel_(launch.cancel),
        reader_(nest, buffers.indices),
        routine_(routine),
        direct_(reads_directly(nest)),
        block_{.table = buffers.data.stored,
               .extent = nest.extent,
               .row_stride = nest.rows.row_stride,
               .rows = rows_,
               .weights = weights_,
               .offsets = offsets_,
               .bags = 0,
               .before = 0,
               .ends = true,
               .elements = nest.elements,
               .begin = 0,
               .end = nest.elements,
               .pool = nest.pool,
               .output_type = nest.output_type,
               .output = buffers.output,
               .bag_stride = nest.bag_stride,
               .sums = scratch} {
    if (!nest.weighted && nest.pool == Pool::kMul) {
      std::fill_n(weights_, kBlock, 1.0F);
    }
  }

  // False if an index was out of range where that is looked for.
  bool pool(BagRange bags, int64_t begin, int64_t end) {
    block_.begin = begin;
    block_.end = end;
    int64_t s = bags.begin;
    int64_t p = s < bags.end ? entries_of(nest_, buffers_, s).begin : 0;
    while (s < bags.end) {
      const int64_t first = s;
      const int64_t work = fill_block(s, p, bags.end);
      if (!good_ || cancel_.before_rows(work, nest_.elements * 4)) {
        return good_;
      }
      const int64_t pooled = routine_(block_);
      if (pooled < block_.bags) {  // an index is no row as it stands; all that are listed are
        direct_ = false;
        s = first + pooled;
        p = offsets_[pooled];
        before_ = pooled == 0 ? block_.before : 0;
      }
    }
    return good_;
  }

 private:
  // Whether indices and weights lie as the routine reads them.
  static bool reads_directly(const BagNest& nest) {
    const bool rows =
        nest.indexed && nest.index_type == i64 && is_packed(nest.indices, nest.entries);
    const bool weights = nest.weighted
                             ? nest.weight_type == f32 && is_packed(nest.weights, nest.entries)
                             : nest.pool != Pool::kMul;
    return rows && weights && nest.padding < 0 && nest.extent > 0;
  }

  // From entry p of bag s on; leaves both behind the last entry of the block. A bag that fits into
  // a block is not cut. Returns the number of rows and bags.
  int64_t fill_block(int64_t& s, int64_t& p, int64_t last_bag) {
    // The last indices are listed: behind a list there is something to read.
    direct_ = direct_ && std::min(end_of(s) - p, most_) <= nest_.entries - kMostAhead - p;
    const int64_t most =
        direct_ ? std::min(most_, nest_.entries - kMostAhead - p) : std::min(most_, kBlock);
    const int64_t first = p;
    block_.bags = 0;
    block_.before = before_;
    block_.output = buffers_.output + s * nest_.bag_stride;
    offsets_[0] = direct_ ? p : 0;
    int64_t* filled = offsets_;
    while (s < last_bag && block_.bags < std::min(most_, kBlock)) {
      const int64_t end = end_of(s);
      if (block_.bags > 0 && end - first > most) {
        break;
      }
      const int64_t until = end - first > most ? first + most : end;
      filled[1] = direct_ ? until : *filled + list_rows(p, until, *filled);
      ++filled;
      ++block_.bags;
      p = until;
      before_ += *filled - filled[-1];
      block_.ends = until == end;
      if (!block_.ends) {
        break;
      }
      if (before_ == 0) {
        write_empty(s);
      }
      before_ = 0;
      ++s;
    }
    set_rows(*filled);
    return *filled - offsets_[0] + block_.bags;
  }

  int64_t end_of(int64_t s) const { return entries_of(nest_, buffers_, s).end; }

  // The rows that the block's offsets count: `listed` of a list, or all indices.
  void set_rows(int64_t listed) {
    block_.rows = direct_ ? reinterpret_cast<const LooseRow*>(buffers_.indices) : rows_;
    block_.weights = direct_ ? reinterpret_cast<const LooseFloat*>(buffers_.weights) : weights_;
    if (!direct_) {
      std::fill_n(rows_ + listed, kMostAhead, listed > 0 ? rows_[listed - 1] : 0);
    }
  }

  // Lists the rows of entries [p, until) from rows_[first] on: how many there are.
  int64_t list_rows(int64_t p, int64_t until, int64_t first) {
    const EntryReader<Index> reader = reader_;
    int64_t filled = first;
    while (true) {
      const int64_t simple = reader.simple_rows(p, until, rows_ + filled);
      read_weights(p, filled, simple);
      p += simple;
      filled += simple;
      if (p == until) {
        return filled - first;
      }
      const int64_t row = reader.row(p);
      if (row >= 0 && row < nest_.extent) {  // one that was trusted may be none
        rows_[filled] = row;
        read_weights(p, filled++, 1);
      } else if (row == kOutside && launch_.check_while_moving) {
        good_ = false;
      }
      ++p;
    }
  }

  // Those of entries from p on, for rows_[first] and what follows.
  void read_weights(int64_t p, int64_t first, int64_t count) {
    for (int64_t i = 0; nest_.weighted && i < count; ++i) {
      weights_[first + i] = weight_at(nest_, buffers_.weights, p + i);
    }
  }

  void write_empty(int64_t bag) const {
    const int64_t bytes = nest_.output_type.bytes();
    std::byte* const output = buffers_.output + bag * nest_.bag_stride;
    for (int64_t e = block_.begin; e < block_.end; ++e) {
      std::copy_n(nest_.empty, bytes, output + e * bytes);
    }
  }

  const BagNest& nest_;
  const BagBuffers& buffers_;
  const Launch& launch_;
  CancelPoint cancel_;
  const EntryReader<Index> reader_;
  PoolBlock routine_;
  bool direct_;  // indices are rows as they stand, so far
  BagBlock block_;
  // Entries, and bags, of a block: so many that a cancelled run ends soon.
  const int64_t most_ = std::max<int64_t>(
      CancelPoint::kPieceBytes / std::max(row_bytes(nest_), CancelPoint::kRowCost), 1);
  int64_t before_ = 0;  // rows of the current bag in earlier blocks
  bool good_ = true;
  int64_t offsets_[kBlock + 1];
  int64_t rows_[kBlock + kMostAhead];
  float weights_[kBlock];
};

// The run as a whole: who pools which bags.
template <class Index>
class PooledRun {
 public:
  PooledRun(const BagNest& nest, const BagBuffers& buffers, const Launch& launch)
      : nest_(nest), buffers_(buffers), launch_(launch), routine_(pooler_for(nest)) {}

  BagEnd run() {
    const int64_t row = nest_.rows.row_stride < 0 ? -nest_.rows.row_stride : nest_.rows.row_stride;
    const int64_t bytes =
        saturating_add(saturating_mul(nest_.entries, std::max<int64_t>(row, 64)),
                       saturating_mul(nest_.bags, saturating_mul(nest_.elements, 4)));
    const Threads threads = worthwhile_threads(bytes, launch_.threads);
    if (threads.count <= 1) {
      return alone();
    }
    set_share(threads.count);
    const int64_t pieces = int64_t{threads.count} * kPiecesPerThread;
    if (!take_scratch(pieces)) {
      return BagEnd::kNoMemory;
    }
    run_on_threads(pieces, threads, [&](int64_t begin, int64_t end) {
      for (int64_t piece = begin; piece < end; ++piece) {
        pool_piece(piece, pieces);
      }
    });
    for (int64_t s = 0; any_long_ && s < nest_.bags; ++s) {
      if (is_long(s)) {
        share_bag(s, threads);
      }
    }
    return good_ ? BagEnd::kDone : BagEnd::kBadIndex;
  }

 private:
  static constexpr int64_t kPiecesPerThread = 4;

  bool needs_scratch() const {
    const bool in_place = nest_.output_type == f32 &&
                          reinterpret_cast<uintptr_t>(buffers_.output) % 4 == 0 &&
                          nest_.bag_stride % 4 == 0;
    return !in_place;
  }

  bool take_scratch(int64_t pieces) {
    if (!needs_scratch()) {
      return true;
    }
    const auto floats = checked_mul(pieces, nest_.elements);
    if (!floats) {
      return false;
    }
    scratch_.reset(new (std::nothrow) float[static_cast<size_t>(*floats)]);
    return scratch_ != nullptr;
  }

  float* scratch_of(int64_t piece) const {
    return scratch_ == nullptr ? nullptr : scratch_.get() + piece * nest_.elements;
  }

  BagEnd alone() {
    float stack[kStackFloats];
    float* scratch = needs_scratch() ? stack : nullptr;
    if (scratch != nullptr && nest_.elements > kStackFloats) {
      if (!take_scratch(1)) {
        return BagEnd::kNoMemory;
      }
      scratch = scratch_.get();
    }
    PoolWalk<Index> walk(nest_, buffers_, launch_, routine_, scratch);
    return walk.pool({0, nest_.bags}, 0, nest_.elements) ? BagEnd::kDone : BagEnd::kBadIndex;
  }

  // Bags with more entries than a thread's share are shared, if their columns can be.
  void set_share(int threads) {
    constexpr int64_t kLongBag = 4096;  // below this a bag takes less than waking threads
    if (nest_.per_bag < 0 && nest_.elements >= 2 * kColumnsPerLine) {
      share_ = std::max(nest_.entries / threads, kLongBag);
    }
  }
  bool is_long(int64_t s) const {
    const EntryRange entries = entries_of(nest_, buffers_, s);
    return entries.end - entries.begin > share_;
  }

  void pool_piece(int64_t piece, int64_t pieces) {
    BagRange bags = bags_of_piece(nest_, buffers_, piece, pieces);
    PoolWalk<Index> walk(nest_, buffers_, launch_, routine_, scratch_of(piece));
    for (int64_t s = bags.begin; s < bags.end; ++s) {
      if (is_long(s)) {
        any_long_ = true;
        note(walk.pool({bags.begin, s}, 0, nest_.elements));
        bags.begin = s + 1;
      }
    }
    note(walk.pool(bags, 0, nest_.elements));
  }

  // Columns of one bag on many threads; each reads all of its indices.
  void share_bag(int64_t bag, Threads threads) {
    const int64_t lines = pieces_of(nest_.elements, kColumnsPerLine);
    float* const scratch = scratch_of(0);
    parallel_ranges(lines, threads, [&](int64_t begin, int64_t end) {
      PoolWalk<Index> walk(nest_, buffers_, launch_, routine_, scratch);
      note(walk.pool({bag, bag + 1}, begin * kColumnsPerLine,
                     std::min(end * kColumnsPerLine, nest_.elements)));
    });
  }

  void note(bool good) {
    if (!good) {
      good_ = false;
    }
  }

  const BagNest& nest_;
  const BagBuffers& buffers_;
  const Launch& launch_;
  PoolBlock routine_;
  std::unique_ptr<float[]> scratch_;
  int64_t share_ = INT64_MAX;  // entries of a bag that one thread pools
  std::atomic<bool> any_long_{false};
  std::atomic<bool> good_{true};
};

}  // namespace

BagRange bags_of_piece(const BagNest& nest, const BagBuffers& buffers, int64_t piece,
                       int64_t pieces) {
  // The first bag whose entries and bags before it are at least this share of all.
  const auto first = [&](int64_t number) {
    if (number >= pieces) {
      return nest.bags;
    }
    const double share = static_cast<double>(number) / static_cast<double>(pieces);
    const double wanted =
        share * (static_cast<double>(nest.entries) + static_cast<double>(nest.bags));
    int64_t low = 0;
    int64_t high = nest.bags;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      const double before = static_cast<double>(entries_of(nest, buffers, middle).begin) +
                            static_cast<double>(middle);
      if (before < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  return {piece == 0 ? 0 : first(piece), first(piece + 1)};
}

const char* pooled_refusal(const BagNest& nest) {
  if (nest.out_of_range == OutOfRange::kFill) {
    return "rows of a fill value are in no table";
  }
  if (nest.element_stride != nest.output_type.bytes() ||
      (nest.output_type != f32 && nest.output_type != f16 && nest.output_type != bf16)) {
    return "the output is no run of f32, f16 or bf16";
  }
  return pooler_for(nest) == nullptr ? "sums are not of f32, or rows of another kind" : nullptr;
}

BagEnd run_pooled(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  return with_index_type(nest.index_type, [&](auto zero) {
    return PooledRun<decltype(zero)>(nest, buffers, launch).run();
  });
}

}  // namespace sheaf::cpu
