// SPDX-License-Identifier: MIT
//
// Whole tensors copied, or set to zero: what a scatter starts from.
#include <algorithm>
#include <cstring>

#include "backends/cpu/parallel.h"
#include "backends/cpu/points.h"
#include "backends/cpu/scatter.h"

namespace sheaf::cpu {
namespace {

constexpr int64_t kPiece = int64_t{1} << 20;  // bytes

void copy_bytes(const std::byte* data, std::byte* output, int64_t bytes) {
  const auto count = static_cast<size_t>(bytes);
  data == nullptr ? std::memset(output, 0, count) : std::memcpy(output, data, count);
}

void copy_row_in_pieces(const Nest& nest, const std::byte* data, std::byte* output,
                        Threads threads) {
  const int64_t pieces = (nest.row_bytes - 1) / kPiece + 1;
  parallel_ranges(pieces, threads, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kPiece;
    const int64_t last = std::min(end * kPiece, nest.row_bytes);
    copy_bytes(data == nullptr ? nullptr : data + first, output + first, last - first);
  });
}

}  // namespace

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  const int64_t points = point_count(nest);
  const Threads threads = worthwhile_threads(points * nest.row_bytes, launch.threads);
  if (nest.loops.empty()) {
    copy_row_in_pieces(nest, data, output, threads);
    return;
  }
  const Loop& inner = innermost(nest);
  parallel_ranges(points, threads, [&](int64_t begin, int64_t end) {
    for_each_run(nest, begin, end, end - begin, [&](const Place& start, int64_t count) {
      for (int64_t i = 0; i < count; ++i) {
        copy_bytes(data == nullptr ? nullptr : data + start.data + i * inner.data,
                   output + start.output + i * inner.output, nest.row_bytes);
      }
    });
  });
}

}  // namespace sheaf::cpu
