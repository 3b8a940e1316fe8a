// SPDX-License-Identifier: MIT
#include "backends/cuda/scatter_nest.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "backends/cuda/gather.h"
#include "backends/cuda/run.h"
#include "backends/cuda/scatter.h"
#include "backends/plan_parts.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf::cuda {
namespace {

// No memory has room for lists of so many.
constexpr int64_t kMostTuples = int64_t{1} << 48;

bool is_slice(const Loop& loop) { return loop.index == 0 && loop.window == 0 && loop.data != 0; }

// Whether no two of (slice, cell) meet in one byte: each stride steps over all that the smaller
// ones span. Windows that slide over one another do not pass.
bool cells_apart(const Nest& nest) {
  struct Steps {
    int64_t extent, stride;
  };
  std::vector<Steps> all;
  for (const Loop& loop : nest.loops) {
    if (loop.window != 0) {
      return false;
    }
    if (loop.data != 0) {
      all.push_back({loop.extent, std::abs(loop.data)});
    }
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    if (coordinate.extent > 1) {
      all.push_back({coordinate.extent, std::abs(coordinate.stride)});
    }
  }
  std::sort(all.begin(), all.end(), [](Steps a, Steps b) { return a.stride < b.stride; });
  int64_t span = nest.row_bytes;
  for (const Steps& steps : all) {
    if (steps.stride < span) {
      return false;
    }
    span += (steps.extent - 1) * steps.stride;
  }
  return true;
}

// Every element by itself: its tuple is the tuple of its window, and where it stands in that.
Nest by_elements(Nest nest) {
  if (nest.row_bytes > nest.element_bytes) {
    nest.loops.push_back(
        {nest.row_bytes / nest.element_bytes, nest.element_bytes, 0, nest.element_bytes, 0});
    nest.row_bytes = nest.element_bytes;
  }
  return nest;
}

int64_t point_count(const Nest& nest) {
  int64_t points = 1;
  for (const Loop& loop : nest.loops) {
    points *= loop.extent;
  }
  return points;
}

// Numbers the cells that the tuples can lead to.
void number_cells(ScatterNest& scatter) {
  int64_t lowest = 0, highest = 0, unit = 0;
  const auto add = [&](int64_t extent, int64_t stride) {
    if (extent > 1) {
      (stride < 0 ? lowest : highest) += (extent - 1) * stride;
      unit = std::gcd(unit, stride);
    }
  };
  for (const Loop& loop : scatter.tuples.loops) {
    add(loop.data == 0 ? 1 : loop.extent, loop.data);
  }
  for (const Coordinate& coordinate : scatter.tuples.coordinates) {
    add(coordinate.extent, coordinate.stride);
  }
  scatter.lowest = lowest;
  scatter.unit = std::max<int64_t>(unit, 1);
  scatter.key_count = (highest - lowest) / scatter.unit + 1;
}

size_t aligned(size_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

}  // namespace

int scatter_word_bytes(const ScatterNest& scatter, const ScatterCall& call) {
  const auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(call.output)) |
                    static_cast<uint64_t>(reinterpret_cast<uintptr_t>(call.updates)) |
                    stride_bits(scatter.tuples) | stride_bits(scatter.slices) | 16;
  return 1 << std::countr_zero(bits);
}

bool ScatterNest::wide() const {
  constexpr int64_t kNarrow = (int64_t{1} << 32) - 1;
  return tuple_count >= kNarrow || key_count >= kNarrow;
}

// One key more than there are cells: that of tuples that are skipped.
int ScatterNest::key_bits() const {
  return static_cast<int>(std::bit_width(static_cast<uint64_t>(key_count)));
}

ScatterNest scatter_nest(const Nest& nest) {
  ScatterNest scatter{};
  const bool apart = cells_apart(nest);
  scatter.tuples = apart ? nest : by_elements(nest);
  scatter.slices = scatter.tuples;
  scatter.slices.coordinates.clear();
  scatter.slices.loops.clear();
  if (apart) {
    scatter.tuples.loops.clear();
    for (const Loop& loop : nest.loops) {
      (is_slice(loop) ? scatter.slices : scatter.tuples).loops.push_back(loop);
    }
  }
  scatter.tuple_count = point_count(scatter.tuples);
  scatter.slice_count = point_count(scatter.slices);
  number_cells(scatter);
  return scatter;
}

ScatterLayout scatter_layout(const Plan& plan) {
  ScatterLayout layout{};
  if (plan.nest().empty()) {
    return layout;
  }
  const auto take = [&](size_t bytes) {
    const size_t at = layout.bytes;
    layout.bytes += aligned(bytes);
    return at;
  };
  if (!joins_by_atomics(plan)) {
    const ScatterNest scatter = scatter_nest(plan.nest());
    if (scatter.tuple_count > kMostTuples) {
      refuse(plan.request(), "too many updates to sort",
             cat("there are ", scatter.tuple_count, ", and at most ", kMostTuples, " can be"),
             "fewer updates a call");
    }
    const size_t word = scatter.wide() ? 8 : 4;
    const size_t list = word * static_cast<size_t>(scatter.tuple_count);
    for (int i = 0; i < 2; ++i) {
      layout.keys[i] = take(list);
      layout.tuples[i] = take(list);
    }
    layout.heads = take(list);
    layout.head_count = take(8);
    layout.long_lists = take(8 * static_cast<size_t>(scatter.tuple_count / kLongList + 1));
    layout.long_count = take(8);
    layout.sorting_bytes = sorting_bytes(scatter);
    layout.sorting = take(layout.sorting_bytes);
  }
  if (const auto& mean = PlanParts::scatter_steps(plan).mean) {
    layout.counts = take(8 * static_cast<size_t>(mean->count_elements));
  }
  return layout;
}

}  // namespace sheaf::cuda
