// SPDX-License-Identifier: MIT
//
// cuda.turned: scatter_elements along an outer axis, where a column's updates are a row apart and
// cuda.shared has room for too few columns to use whole sectors. Strips of columns are turned into
// rows first, reduced there by cuda.shared, and turned back.
#include <algorithm>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/scatter/shared.h"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Turned;

constexpr int kTileStep = kBlockThreads / Tuning::kTile;  // rows that it reads at once

// An element of any type: only its bytes and its alignment matter here.
template <int kBytes, int kAlign>
struct alignas(kAlign) Element {
  Word<kAlign> parts[kBytes / kAlign];
};

// A table of rows whose neighbouring columns follow one another, and the same turned: by column,
// without gaps. Strides: bytes.
struct Turn {
  std::byte* rows;
  std::byte* turned;
  int64_t count;  // of rows
  int64_t row_stride;
};

struct TurnArgs {
  AnyNest rule;  // no loops; the rule and the one coordinate
  const std::byte* indices;
  int64_t index_stride;  // elements from one row to the next
  int32_t* cells;        // the indices, resolved and turned; -1: skipped
  Turn updates, output;
  int64_t columns;
  unsigned update_tiles;  // tiles of rows of the updates; those of the output come after them
  const Verdict* check;
};

// Calls f(row of the tile, column of the tile) for the elements of a thread, neighbouring columns
// by neighbouring threads; `turned`: neighbouring rows.
template <class F>
__device__ void for_each_of_tile(bool turned, F f) {
  const int along = static_cast<int>(threadIdx.x) % Tuning::kTile;
#pragma unroll
  for (int i = 0; i < Tuning::kTile; i += kTileStep) {
    const int across = static_cast<int>(threadIdx.x) / Tuning::kTile + i;
    turned ? f(along, across) : f(across, along);
  }
}

template <class E, Indices kIndices>
__global__ void __launch_bounds__(kBlockThreads)
    turn_kernel(const __grid_constant__ TurnArgs args) {
  __shared__ E values[Tuning::kTile][Tuning::kTile + 1];
  __shared__ int32_t cells[Tuning::kTile][Tuning::kTile + 1];
  if (refused(args.check)) {
    return;
  }
  const bool of_updates = blockIdx.x < args.update_tiles;
  const Turn& turn = of_updates ? args.updates : args.output;
  const int64_t first_row =
      int64_t{of_updates ? blockIdx.x : blockIdx.x - args.update_tiles} * Tuning::kTile;
  const int64_t first_column = int64_t{blockIdx.y} * Tuning::kTile;
  const auto extent = static_cast<uint32_t>(args.rule.coordinates[0].extent);
  const auto live = [&](int row, int column) {
    return first_row + row < turn.count && first_column + column < args.columns;
  };
  for_each_of_tile(false, [&](int row, int column) {
    if (live(row, column)) {
      values[row][column] = *reinterpret_cast<const E*>(
          turn.rows + (first_row + row) * turn.row_stride + (first_column + column) * sizeof(E));
      if (of_updates) {
        const int64_t raw =
            load_raw_once<kIndices>(args.rule.index_kind, args.indices,
                                    (first_row + row) * args.index_stride + first_column + column);
        cells[row][column] = static_cast<int32_t>(narrow_entry_of(args.rule, raw, extent));
      }
    }
  });
  __syncthreads();
  for_each_of_tile(true, [&](int row, int column) {
    if (live(row, column)) {
      const int64_t to = (first_column + column) * turn.count + first_row + row;
      reinterpret_cast<E*>(turn.turned)[to] = values[row][column];
      if (of_updates) {
        args.cells[to] = cells[row][column];
      }
    }
  });
}

template <class E>
__global__ void __launch_bounds__(kBlockThreads)
    turn_back_kernel(const __grid_constant__ TurnArgs args) {
  __shared__ E values[Tuning::kTile][Tuning::kTile + 1];
  if (refused(args.check)) {
    return;
  }
  const Turn& turn = args.output;
  const int64_t first_row = int64_t{blockIdx.x} * Tuning::kTile;
  const int64_t first_column = int64_t{blockIdx.y} * Tuning::kTile;
  const auto live = [&](int row, int column) {
    return first_row + row < turn.count && first_column + column < args.columns;
  };
  for_each_of_tile(true, [&](int row, int column) {
    if (live(row, column)) {
      values[row][column] = reinterpret_cast<const E*>(
          turn.turned)[(first_column + column) * turn.count + first_row + row];
    }
  });
  __syncthreads();
  for_each_of_tile(false, [&](int row, int column) {
    if (live(row, column)) {
      *reinterpret_cast<E*>(turn.rows + (first_row + row) * turn.row_stride +
                            (first_column + column) * sizeof(E)) = values[row][column];
    }
  });
}

// The loops of a nest that this kernel takes: the innermost of the others runs over columns.
struct Loops {
  int updates = -1, column = -1;

  explicit Loops(const Nest& nest) {
    for (int l = 0; l < nest.loops.size(); ++l) {
      (nest.loops[l].data == 0 ? updates : column) = l;
    }
  }
};

// `columns` of the nest as cuda.shared finds them when they are turned.
Nest turned_nest(const Nest& nest, const Loops& loops, int64_t columns) {
  const int64_t count = nest.loops[loops.updates].extent;
  const int64_t cells = nest.coordinates[0].extent;
  Nest turned = nest;
  turned.loops = {Loop{columns, cells * nest.row_bytes, count, count * nest.row_bytes, 0},
                  Loop{count, 0, 1, nest.row_bytes, 0}};
  turned.coordinates[0].stride = nest.row_bytes;
  turned.coordinates[0].offset = 0;
  turned.index_type = i32;
  turned.negative = Negative::kOutOfRange;
  turned.out_of_range = OutOfRange::kSkip;
  return turned;
}

struct Strips {
  AnyNest outer;  // the loops around columns and updates
  int64_t columns, width, per_point;
  size_t updates_at, output_at, bytes;  // of the workspace, which begins with the cells

  Strips(const Nest& nest, const Loops& loops) {
    Nest around = nest;
    around.loops.clear();
    for (int l = 0; l < nest.loops.size(); ++l) {
      if (l != loops.updates && l != loops.column) {
        around.loops.push_back(nest.loops[l]);
      }
    }
    outer = device_nest<AnyNest>(around);
    columns = nest.loops[loops.column].extent;
    const int64_t count = nest.loops[loops.updates].extent;
    const int64_t cells = nest.coordinates[0].extent;
    const int64_t column_bytes = count * (4 + nest.row_bytes) + cells * nest.row_bytes;
    const int64_t most =
        std::clamp(Tuning::kStripBytes / column_bytes, Tuning::kLeastColumns, Tuning::kMostColumns);
    per_point = (columns - 1) / most + 1;
    width = ((columns - 1) / per_point / Tuning::kTile + 1) * Tuning::kTile;
    per_point = (columns - 1) / width + 1;
    const auto aligned = [](int64_t size) { return static_cast<size_t>((size + 255) / 256 * 256); };
    updates_at = aligned(width * count * 4);
    output_at = updates_at + aligned(width * count * nest.row_bytes);
    bytes = output_at + aligned(width * cells * nest.row_bytes);
  }
  int64_t count() const { return outer.points * per_point; }
};

// Calls f with an Element<…> as kernels find it in memory.
template <class F>
void with_element(DType type, F f) {
  const bool complex = type == c64 || type == c128;
  switch (type.bytes()) {
    case 1: return f(Element<1, 1>{});
    case 2: return f(Element<2, 2>{});
    case 4: return f(Element<4, 4>{});
    case 8: return complex ? f(Element<8, 4>{}) : f(Element<8, 8>{});
    default: return f(Element<16, 8>{});
  }
}

unsigned tiles(int64_t items) { return blocks_of(items, Tuning::kTile); }

// Strip `number` of a call.
TurnArgs turn_args(const Nest& nest, const Loops& loops, const Strips& strips,
                   const ScatterCall& call, std::byte* workspace, int64_t number) {
  const Loop& column = nest.loops[loops.column];
  const Loop& updates = nest.loops[loops.updates];
  const int64_t first = number % strips.per_point * strips.width;
  Nest rule = nest;
  rule.loops.clear();
  Place at = locate(strips.outer, number / strips.per_point);
  at.data += first * column.data;
  at.index += first + nest.coordinates[0].offset;
  at.output += first * column.output;
  TurnArgs args{};
  args.rule = device_nest<AnyNest>(rule);
  args.indices = call.indices + at.index * nest.index_type.bytes();
  args.index_stride = updates.index;
  args.cells = reinterpret_cast<int32_t*>(workspace);
  // The updates are only read.
  args.updates = {const_cast<std::byte*>(call.updates) + at.output, workspace + strips.updates_at,
                  updates.extent, updates.output};
  args.output = {call.output + at.data, workspace + strips.output_at, nest.coordinates[0].extent,
                 nest.coordinates[0].stride};
  args.columns = std::min(strips.width, strips.columns - first);
  args.update_tiles = tiles(updates.extent);
  args.check = call.check;
  return args;
}

}  // namespace

const char* turned_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (nest.empty() || nest.reduction == Reduction::kNone || nest.loops.size() < 2 ||
      shared_refusal(query) != nullptr) {
    return "not a reduction that cuda.shared takes";
  }
  const Loops loops(nest);
  const Loop& column = nest.loops[loops.column];
  if (column.data != nest.row_bytes || column.output != nest.row_bytes || column.index != 1 ||
      column.extent < Tuning::kLeastColumns) {
    return "no neighbouring columns, or few of them";
  }
  const int64_t together = shared_columns(nest);
  if (together == kMostSharedColumns || together * nest.row_bytes >= kSectorBytes) {
    return "cuda.shared takes enough neighbouring columns together";
  }
  if (nest.loops[loops.updates].extent < nest.coordinates[0].extent / Tuning::kMostCellsOfUpdate) {
    return "far fewer updates per column than cells";
  }
  const Strips strips(nest, loops);
  return strips.count() <= Tuning::kMostStrips &&
                 shared_refusal({turned_nest(nest, loops, strips.width)}) == nullptr
             ? nullptr
             : "too many strips, or strips that do not suit cuda.shared";
}

size_t turned_bytes(const Nest& nest, int /*threads*/) { return Strips(nest, Loops(nest)).bytes; }

bool run_turned(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const Loops loops(nest);
  const Strips strips(nest, loops);
  const ScatterCall call = scatter_call(buffers, how);
  for (int64_t strip = 0; strip < strips.count(); ++strip) {
    const TurnArgs args = turn_args(nest, loops, strips, call, how.workspace, strip);
    const unsigned output_tiles = tiles(args.output.count);
    const dim3 all(args.update_tiles + output_tiles, tiles(args.columns));
    const dim3 back(output_tiles, tiles(args.columns));
    with_element(nest.element_type, [&](auto element) {
      using E = decltype(element);
      with_indices(nest.index_type.kind(), [&](auto indices) {
        turn_kernel<E, indices()><<<all, kBlockThreads, 0, call.stream>>>(args);
      });
      run_shared(turned_nest(nest, loops, args.columns),
                 {args.output.turned, how.workspace, args.updates.turned}, how);
      turn_back_kernel<E><<<back, kBlockThreads, 0, call.stream>>>(args);
    });
  }
  return true;
}

}  // namespace sheaf::cuda
