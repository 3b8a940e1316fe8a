// SPDX-License-Identifier: MIT
//
// Every bag, row by row: a row of the table becomes a row of the computed type, is multiplied, and
// is reduced into the sums by the routines that scatters use.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>

#include "backends/cpu/bag/bag.h"
#include "backends/cpu/bag/decode_run.h"
#include "backends/cpu/scatter/reduce.h"
#include "execution/cancel.h"
#include "support/checked.h"

namespace sheaf::cpu {
namespace {

template <class T>
constexpr bool kIsFloat = std::is_floating_point_v<T> || SmallFloat<T>::value;

template <class T>
T load_element(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Two rows of the computed type: the sums, and the row that joins them.
template <class Computed>
class RowWalk {
 public:
  RowWalk(const BagNest& nest, const BagBuffers& buffers, const Launch& launch, Computed* memory)
      : nest_(nest),
        buffers_(buffers),
        launch_(launch),
        cancel_(launch.cancel),
        sums_(memory),
        row_(memory + nest.elements) {
    const int64_t bytes = nest.elements * static_cast<int64_t>(sizeof(Computed));
    reduce_ = reducer_for(nest.computed, reduction_of(nest.pool), bytes);
    by_definition_ = reduce_row(nest.computed, reduction_of(nest.pool));
    bytes_ = bytes;
    neutral_element(nest.computed, reduction_of(nest.pool), reinterpret_cast<std::byte*>(&start_));
    if (reduction_of(nest.pool) == Reduction::kAdd) {
      start_ = Computed{};  // a scatter onto zeros
    }
  }

  template <class Index>
  bool pool(BagRange bags) {
    const EntryReader<Index> reader(nest_, buffers_.indices);
    for (int64_t s = bags.begin; s < bags.end; ++s) {
      const EntryRange entries = entries_of(nest_, buffers_, s);
      if (cancel_.before_rows(1, bytes_)) {
        return true;
      }
      int64_t kept = 0;
      std::fill_n(sums_, nest_.elements, start_);
      for (int64_t p = entries.begin; p < entries.end; ++p) {
        if (cancel_.before_rows(1, bytes_)) {
          return true;
        }
        const int64_t row = reader.row(p);
        if (row == kOutside && launch_.check_while_moving) {
          return false;
        }
        if (row >= 0 || (row == kOutside && nest_.out_of_range == OutOfRange::kFill)) {
          join(row, p);
          ++kept;
        }
      }
      write(s, kept);
    }
    return true;
  }

 private:
  void join(int64_t entry, int64_t p) {
    const Computed* row = row_;
    const EncodedRows& rows = nest_.rows;
    const bool as_it_is = entry >= 0 && !nest_.weighted && rows.encoding == Encoding::kPlain &&
                          rows.type == nest_.computed &&
                          rows.element_stride == static_cast<int64_t>(sizeof(Computed));
    const std::byte* update = reinterpret_cast<const std::byte*>(row);
    if (as_it_is) {
      update = buffers_.data.stored + entry * rows.row_stride;
    } else {
      read_row(entry);
      if constexpr (kIsFloat<Computed>) {
        if (nest_.weighted) {
          const Computed weight = weight_of(p);
          for (int64_t e = 0; e < nest_.elements; ++e) {
            row_[e] = reduced<Reduction::kMul>(row_[e], weight);
          }
        }
      }
    }
    const int64_t to = 0;
    reduce_({.data = reinterpret_cast<std::byte*>(sums_),
             .to = &to,
             .updates = update,
             .from = nullptr,
             .update_step = bytes_,
             .count = 1,
             .row_bytes = bytes_,
             .prefetch_rows = 0,
             .reduce = by_definition_});
  }

  void read_row(int64_t entry) {
    const EncodedRows& rows = nest_.rows;
    if (entry < 0) {
      std::fill_n(row_, nest_.elements, load_element<Computed>(nest_.fill));
    } else if (rows.encoding == Encoding::kPlain) {
      read_plain(buffers_.data.stored + entry * rows.row_stride);
    } else if constexpr (kIsFloat<Computed>) {
      read_encoded(entry);
    }
  }

  void read_encoded(int64_t entry) {
    const int64_t first = entry * nest_.elements;
    if constexpr (std::is_same_v<Computed, float>) {
      decode_(nest_.rows, buffers_.data, first, nest_.elements, row_);
    } else if constexpr (kIsFloat<Computed>) {
      constexpr int64_t kPiece = 256;
      float floats[kPiece];
      for (int64_t done = 0; done < nest_.elements; done += kPiece) {
        const int64_t count = std::min(kPiece, nest_.elements - done);
        decode_(nest_.rows, buffers_.data, first + done, count, floats);
        std::transform(floats, floats + count, row_ + done, converted<Computed, float>);
      }
    }
  }

  void read_plain(const std::byte* from) {
    const EncodedRows& rows = nest_.rows;
    if (rows.type == nest_.computed) {
      for (int64_t e = 0; e < nest_.elements; ++e) {
        row_[e] = load_element<Computed>(from + e * rows.element_stride);
      }
    } else if constexpr (kIsFloat<Computed>) {
      with_small_float(rows.type, [&](auto narrow) {
        for (int64_t e = 0; e < nest_.elements; ++e) {
          row_[e] =
              converted<Computed>(load_element<decltype(narrow)>(from + e * rows.element_stride));
        }
      });
    }
  }

  Computed weight_of(int64_t p) const {
    const std::byte* const at = buffers_.weights + nest_.weights.at(p) * nest_.weight_type.bytes();
    return nest_.weight_type == f64 ? converted<Computed>(load_element<double>(at))
                                    : converted<Computed>(stored_float(nest_.weight_type, at, 0));
  }

  void write(int64_t s, int64_t kept) const {
    std::byte* const output = buffers_.output + s * nest_.bag_stride;
    const auto bytes = static_cast<size_t>(nest_.output_type.bytes());
    for (int64_t e = 0; e < nest_.elements; ++e) {
      std::byte* const to = output + e * nest_.element_stride;
      if (kept == 0) {
        std::memcpy(to, nest_.empty, bytes);
      } else {
        write_element(pooled(nest_.pool, sums_[e], kept), to);
      }
    }
  }

  void write_element(Computed value, std::byte* to) const {
    if constexpr (kIsFloat<Computed>) {
      if (nest_.output_type != nest_.computed) {
        with_small_float(nest_.output_type, [&](auto narrow) {
          const auto rounded = converted<decltype(narrow)>(value);
          std::memcpy(to, &rounded, sizeof rounded);
        });
        return;
      }
    }
    std::memcpy(to, &value, sizeof value);
  }

  const BagNest& nest_;
  const BagBuffers& buffers_;
  const Launch& launch_;
  CancelPoint cancel_;
  Computed* sums_;
  Computed* row_;
  Computed start_{};
  ReduceRows reduce_;
  ReduceRow by_definition_;
  DecodeRun decode_ = decoder_for(nest_.rows.encoding);
  int64_t bytes_;
};

template <class Computed>
BagEnd run_as(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  const int64_t row = saturating_mul(nest.elements, static_cast<int64_t>(sizeof(Computed)));
  const Threads threads = worthwhile_threads(
      saturating_mul(saturating_add(nest.entries, nest.bags), row), launch.threads);
  const int64_t pieces = std::max(threads.count, 1);
  const auto elements = checked_mul(nest.elements, 2 * pieces);
  const std::unique_ptr<Computed[]> memory(
      elements ? new (std::nothrow) Computed[static_cast<size_t>(*elements)] : nullptr);
  if (memory == nullptr) {
    return BagEnd::kNoMemory;
  }
  std::atomic<bool> good{true};
  parallel_ranges(pieces, threads, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      RowWalk<Computed> walk(nest, buffers, launch, memory.get() + 2 * piece * nest.elements);
      const BagRange bags = bags_of_piece(nest, buffers, piece, pieces);
      const bool passed = with_index_type(
          nest.index_type, [&](auto zero) { return walk.template pool<decltype(zero)>(bags); });
      if (!passed) {
        good = false;
      }
    }
  });
  return good ? BagEnd::kDone : BagEnd::kBadIndex;
}

}  // namespace

const char* bag_rows_refusal(const BagNest& /*nest*/) { return nullptr; }

BagEnd run_bag_rows(const BagNest& nest, const BagBuffers& buffers, const Launch& launch) {
  return with_element_type(
      nest.computed, [&](auto zero) { return run_as<decltype(zero)>(nest, buffers, launch); });
}

}  // namespace sheaf::cpu
