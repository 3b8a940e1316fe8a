// SPDX-License-Identifier: MIT
//
// Whole tensors copied, or set to zero: what a scatter starts from.
#include <algorithm>
#include <cstring>

#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/scatter/kernels.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kPiece = kWalk.copy_bytes;

// The part of a tensor that is copied by one thread.
struct Copy {
  const std::byte* data;  // null: zeros
  std::byte* output;
  CancelPoint cancel;

  void bytes(int64_t from, int64_t to, int64_t count) const {
    data == nullptr ? std::memset(output + to, 0, static_cast<size_t>(count))
                    : std::memcpy(output + to, data + from, static_cast<size_t>(count));
  }

  // A long row in pieces, with a look at the cancellation before each.
  void long_row(int64_t from, int64_t to, int64_t count) {
    for (int64_t at = 0; at < count; at += kPiece) {
      const int64_t piece = std::min(kPiece, count - at);
      if (cancel.before(piece)) {
        return;
      }
      bytes(from + at, to + at, piece);
    }
  }

  bool rows(const Nest& nest, const Place& start, int64_t count) {
    const Loop& inner = innermost(nest);
    if (nest.row_bytes > kPiece) {
      for (int64_t i = 0; i < count; ++i) {
        long_row(start.data + i * inner.data, start.output + i * inner.output, nest.row_bytes);
      }
      return !cancel.stopped();
    }
    if (cancel.before_rows(count, nest.row_bytes)) {
      return false;
    }
    for (int64_t i = 0; i < count; ++i) {
      bytes(start.data + i * inner.data, start.output + i * inner.output, nest.row_bytes);
    }
    return true;
  }
};

void copy_row_in_pieces(const Nest& nest, const std::byte* data, std::byte* output, Threads threads,
                        const Launch& launch) {
  const int64_t pieces = (nest.row_bytes - 1) / kPiece + 1;
  parallel_ranges(pieces, threads, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kPiece;
    const int64_t last = std::min(end * kPiece, nest.row_bytes);
    Copy{data, output, CancelPoint(launch.cancel)}.long_row(first, first, last - first);
  });
}

}  // namespace

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  const int64_t points = point_count(nest);
  const Threads threads = worthwhile_threads(points * nest.row_bytes, launch.threads);
  if (nest.loops.empty()) {
    copy_row_in_pieces(nest, data, output, threads, launch);
    return;
  }
  const int64_t run = std::max<int64_t>(1, std::min(kWalk.copy_rows, kPiece / nest.row_bytes));
  parallel_ranges(points, threads, [&](int64_t begin, int64_t end) {
    Copy copy{data, output, CancelPoint(launch.cancel)};
    for_each_run(nest, begin, end, run,
                 [&](const Place& start, int64_t count) { return copy.rows(nest, start, count); });
  });
}

}  // namespace sheaf::cpu
