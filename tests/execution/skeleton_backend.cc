// SPDX-License-Identifier: MIT
#include "execution/skeleton_backend.h"

#include <atomic>
#include <cstring>
#include <optional>

#include "execution/host_steps.h"
#include "plan/reduce.h"
#include "plan/resolve.h"

namespace {

using namespace sheaf;

std::atomic<int> runs = 0;

// [example skeleton-walk]
// Calls visit(data, grid) for every point of the nest in order: the offsets of its two rows, in
// bytes. There is no data where the index rule fills or skips.
template <class Index, class Visit>
struct Walk {
  const Nest& nest;
  const std::byte* indices;
  Visit visit;
  Fixed<int64_t> window = Fixed<int64_t>(nest.coordinates.size(), 0);

  void loops(int loop, int64_t data, int64_t index, int64_t grid) {
    if (loop == nest.loops.size()) {
      visit(row(data, index), grid);
      return;
    }
    const Loop& l = nest.loops[loop];
    for (int64_t p = 0; p < l.extent; ++p) {
      if (l.window != 0) {  // a scatter's window that is cut element by element
        window[static_cast<int>(l.window) - 1] = p;
      }
      loops(loop + 1, data + p * l.data, index + p * l.index, grid + p * l.output);
    }
  }

  std::optional<int64_t> row(int64_t data, int64_t index) const {
    for (int c = 0; c < nest.coordinates.size(); ++c) {
      const auto [extent, stride, offset] = nest.coordinates[c];
      const auto value = load_index<Index>(indices, index + offset);
      const int64_t entry = window[c] != 0
                                ? in_range_or_outside(value, window[c], extent, nest.negative)
                                : resolve(value, extent, nest.negative, nest.out_of_range);
      if (entry == kOutside) {
        return std::nullopt;
      }
      data += entry * stride;
    }
    return data;
  }
};

template <class Visit>
void walk(const Nest& nest, const std::byte* indices, Visit visit) {
  with_index_type(nest.index_type, [&](auto zero) {
    Walk<decltype(zero), Visit>{nest, indices, visit}.loops(0, 0, 0, 0);
  });
}
// [/example]

// [example skeleton-kernels]
const char* takes_everything(const KernelQuery& /*query*/) { return nullptr; }

bool gather_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& /*launch*/) {
  ++runs;
  walk(nest, buffers.indices, [&](std::optional<int64_t> data, int64_t grid) {
    for (int64_t at = 0; at < nest.row_bytes; at += nest.element_bytes) {
      const std::byte* from = data ? buffers.data + *data + at : nest.fill_value;
      std::memcpy(buffers.output + grid + at, from, static_cast<size_t>(nest.element_bytes));
    }
  });
  return true;
}

bool scatter_rows(const Nest& nest, const ScatterBuffers& buffers, const Launch& /*launch*/) {
  ++runs;
  const ReduceRow reduce = reduce_row(nest.element_type, nest.reduction);
  walk(nest, buffers.indices, [&](std::optional<int64_t> data, int64_t grid) {
    if (data) {
      reduce(buffers.data + *data, buffers.updates + grid, nest.row_bytes);
    }
  });
  return true;
}

constexpr GatherKernel kGather[] = {{"skeleton.rows", takes_everything, gather_rows}};
constexpr ScatterKernel kScatter[] = {{"skeleton.rows", takes_everything, scatter_rows}};
// [/example]

// [example skeleton-steps]
// Are all indices in range? The walk of a nest whose only loops are those over index tuples.
bool check(const Plan& plan, const std::byte* indices, const Launch& /*launch*/) {
  Nest tuples = plan.nest();
  tuples.loops.clear();
  for (const IndexLoop& loop : plan.nest().index_loops) {
    tuples.loops.push_back({loop.extent, 0, loop.stride, 0, 0});
  }
  bool good = true;
  walk(tuples, indices, [&](std::optional<int64_t> data, int64_t) { good = good && data; });
  return good;
}

// The base of a scatter: a nest without coordinates.
void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& /*launch*/) {
  walk(nest, nullptr, [&](std::optional<int64_t> from, int64_t to) {
    const auto bytes = static_cast<size_t>(nest.row_bytes);
    data == nullptr ? std::memset(output + to, 0, bytes)
                    : std::memcpy(output + to, data + *from, bytes);
  });
}
// [/example]

// [example skeleton-backend]
bool available() { return true; }
std::string describe() { return "a few lines of documentation"; }

constexpr Backend kSkeleton{.name = "skeleton",
                            .gather = kGather,
                            .scatter = kScatter,
                            .device = nullptr,  // it runs on host memory
                            .available = available,
                            .describe = describe,
                            .check = check,
                            .copy = copy,
                            .fill = host_fill,
                            .count = host_count,
                            .divide = host_divide};
// [/example]

}  // namespace

const sheaf::Backend& skeleton_backend() { return kSkeleton; }

int skeleton_runs() { return runs; }
