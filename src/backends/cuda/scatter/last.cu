// SPDX-License-Identifier: MIT
//
// cuda.last: a scatter without reduction, in which the last update of a cell counts. Every tuple
// marks its cell with its number by an atomic maximum; then the winners write.
//
// With enough cells for most updates to win, the first tuple that comes to a cell writes at once,
// which one bit per cell decides. If any came later, the cells that several tuples lead to are then
// written again, by their winners.
#include <algorithm>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/tuning.h"
#include "support/checked.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Last;

struct LastArgs {
  GatherArgs<AnyNest> rows;  // the updates: from them, as data, to the cells
  int64_t lowest;
  WideDivisor unit;
  void* winners;  // by cell: the number of a tuple + 1; 0: none
  // Of tuples that write at once; else null.
  uint32_t* met = nullptr;     // a bit per cell: some tuple came to it
  uint32_t* shared = nullptr;  // a bit per cell: several did
  uint32_t* any_shared = nullptr;
};

// What a launch does: all tuples compete for their cells; or the first that come to them write at
// once; or, after that, tuples that share a cell compete for it.
enum class Writes { kWinners, kAtOnce, kShared };

// The slot of `winners` of a cell.
__device__ int64_t slot_of(const LastArgs& args, int64_t cell) {
  return static_cast<int64_t>(args.unit.quotient(static_cast<uint64_t>(cell - args.lowest)));
}

__device__ uint32_t bit_of(int64_t slot) { return 1U << (slot % 32); }

// Whether tuples compete for a cell.
template <Writes kWrites>
__device__ bool competes(const LastArgs& args, int64_t slot) {
  return kWrites == Writes::kWinners || (args.shared[slot / 32] & bit_of(slot)) != 0;
}

template <class Number, Writes kWrites>
__global__ void __launch_bounds__(kBlockThreads)
    mark_kernel(const __grid_constant__ LastArgs args) {
  if (kWrites == Writes::kShared && *args.any_shared == 0) {
    return;
  }
  const AnyNest& nest = args.rows.nest;
  auto* const winners = static_cast<Number*>(args.winners);
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t tuple = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; tuple < nest.points;
       tuple += step) {
    const int64_t cell = target_of(nest, args.rows.indices, tuple, locate(nest, tuple));
    if (cell != kNowhere) {
      const int64_t slot = slot_of(args, cell);
      if (competes<kWrites>(args, slot)) {
        atomicMax(winners + slot, static_cast<Number>(tuple + 1));
      }
    }
  }
}

// Whether the tuple is the first to come to the cell.
template <class Number>
__device__ bool comes_first(const LastArgs& args, int64_t slot) {
  const uint32_t bit = bit_of(slot);
  if ((atomicOr(args.met + slot / 32, bit) & bit) == 0) {
    return true;
  }
  atomicOr(args.shared + slot / 32, bit);
  static_cast<Number*>(args.winners)[slot] = 0;
  *args.any_shared = 1;
  return false;
}

struct UpdatePlace {
  int64_t cell;  // kNowhere: the update is not written
  int64_t update;
};

// Every row's place is found once, by one thread. Updates that are written at once follow one
// another: they are loaded before it is known which of them come first, while the indices are in
// flight.
template <class Number, int kBytes, Writes kWrites>
__device__ void write_tile(const LastArgs& args, int64_t number, UpdatePlace* places) {
  constexpr int kCount = tuning::Rows::kWordsInFlight<kBytes>;
  constexpr bool kAtOnce = kWrites == Writes::kAtOnce;
  const AnyNest& nest = args.rows.nest;
  const Tile<kBytes, AnyNest> tile(args.rows, number);
  Word<kBytes> words[kCount];
  if constexpr (kAtOnce) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint32_t mine = threadIdx.x + i * kBlockThreads;
      if (mine < tile.live) {
        words[i] = load_once<Word<kBytes>>(args.rows.data + (tile.first + mine) * kBytes);
      }
    }
  }
  const uint32_t rows = tile.word(tile.live - 1).down + 1;
  for (uint32_t row = threadIdx.x; row < rows; row += kBlockThreads) {
    const int64_t tuple = tile.first_row + row;
    const Place place = locate(nest, tuple);
    const int64_t cell = target_of(nest, args.rows.indices, tuple, place);
    bool wins = false;
    if (cell != kNowhere) {
      const int64_t slot = slot_of(args, cell);
      if constexpr (kAtOnce) {
        wins = comes_first<Number>(args, slot);
      } else {
        wins = competes<kWrites>(args, slot) &&
               static_cast<const Number*>(args.winners)[slot] == static_cast<Number>(tuple + 1);
      }
    }
    places[row] = {wins ? cell : kNowhere, place.output};
  }
  __syncthreads();
  if constexpr (!kAtOnce) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const uint32_t mine = threadIdx.x + i * kBlockThreads;
      const auto word = tile.word(mine);
      if (mine < tile.live && places[word.down].cell != kNowhere) {
        words[i] = load_once<Word<kBytes>>(args.rows.data + places[word.down].update + word.column);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const uint32_t mine = threadIdx.x + i * kBlockThreads;
    const auto word = tile.word(mine);
    if (mine < tile.live && places[word.down].cell != kNowhere) {
      store_streaming(args.rows.output + places[word.down].cell + word.column, words[i]);
    }
  }
}

template <class Number, int kBytes, Writes kWrites>
__global__ void __launch_bounds__(kBlockThreads, kWrites == Writes::kAtOnce ? Tuning::kBlocksAtOnce
                                                                            : Tuning::kBlocks)
    write_kernel(const __grid_constant__ LastArgs args) {
  __shared__ UpdatePlace places[kTileWords<kBytes> + 1];
  if (refused(args.rows.check)) {
    return;
  }
  if constexpr (kWrites != Writes::kShared) {
    write_tile<Number, kBytes, kWrites>(args, blockIdx.x, places);
  } else if (*args.any_shared != 0) {
    const int64_t tiles = (args.rows.words - 1) / kTileWords<kBytes> + 1;
    for (int64_t number = blockIdx.x; number < tiles; number += gridDim.x) {
      write_tile<Number, kBytes, kWrites>(args, number, places);
      __syncthreads();
    }
  }
}

// Whether tuples write at once: if updates follow one another, and there are enough cells for most
// to win. Updates that lose should not be loaded.
bool at_once(const ScatterNest& scatter) {
  return GatherArgs<AnyNest>::is_dense(scatter.tuples) &&
         scatter.key_count >= scatter.tuple_count / Tuning::kMostUpdates;
}

size_t number_bytes(const ScatterNest& scatter) { return scatter.wide() ? 8 : 4; }

size_t winners_bytes(const ScatterNest& scatter) {
  return (number_bytes(scatter) * static_cast<size_t>(scatter.key_count) + 15) / 16 * 16;
}

size_t bits_bytes(const ScatterNest& scatter) {
  return (static_cast<size_t>(scatter.key_count) + 31) / 32 * 4;
}

template <class Number>
void launch_winners(const ScatterNest& scatter, const LastArgs& args, int word_bytes,
                    Stream stream) {
  cudaMemsetAsync(args.winners, 0, winners_bytes(scatter), stream);
  mark_kernel<Number, Writes::kWinners>
      <<<blocks_at_most(scatter.tuple_count, kBlockThreads), kBlockThreads, 0, stream>>>(args);
  with_word_bytes(word_bytes, [&](auto bytes) {
    const unsigned tiles = blocks_of(args.rows.words, kTileWords<bytes()>);
    write_kernel<Number, bytes(), Writes::kWinners><<<tiles, kBlockThreads, 0, stream>>>(args);
  });
}

template <class Number>
void launch_at_once(const ScatterNest& scatter, const LastArgs& args, int word_bytes,
                    Stream stream) {
  cudaMemsetAsync(args.met, 0, 2 * bits_bytes(scatter) + 4, stream);
  // Few blocks for launches that usually find nothing to do.
  const auto few = static_cast<unsigned>(Tuning::kFewBlocks * current_device().multiprocessors);
  const unsigned marks = std::min(few, blocks_at_most(scatter.tuple_count, kBlockThreads));
  with_word_bytes(word_bytes, [&](auto bytes) {
    const unsigned tiles = blocks_of(args.rows.words, kTileWords<bytes()>);
    write_kernel<Number, bytes(), Writes::kAtOnce><<<tiles, kBlockThreads, 0, stream>>>(args);
    mark_kernel<Number, Writes::kShared><<<marks, kBlockThreads, 0, stream>>>(args);
    write_kernel<Number, bytes(), Writes::kShared>
        <<<std::min(few, tiles), kBlockThreads, 0, stream>>>(args);
  });
}

template <class Number>
void launch(const ScatterNest& scatter, LastArgs args, int word_bytes, Stream stream) {
  if (at_once(scatter)) {
    args.met =
        reinterpret_cast<uint32_t*>(static_cast<std::byte*>(args.winners) + winners_bytes(scatter));
    args.shared = args.met + bits_bytes(scatter) / 4;
    args.any_shared = args.shared + bits_bytes(scatter) / 4;
    launch_at_once<Number>(scatter, args, word_bytes, stream);
  } else {
    launch_winners<Number>(scatter, args, word_bytes, stream);
  }
}

}  // namespace

const char* last_refusal(const KernelQuery& query) {
  if (query.nest.reduction != Reduction::kNone || query.nest.empty()) {
    return "updates are reduced";
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (scatter.slice_count > 1) {
    return "a cell is not one piece of memory";
  }
  // Updates that repeat (a stride of 0) may be more bytes than a number holds.
  const auto bytes = checked_mul(scatter.tuple_count, scatter.tuples.row_bytes);
  if (!bytes || !fits_launch(*bytes, kTileWords<16>)) {
    return "more blocks than one launch can have";
  }
  return scatter.key_count / Tuning::kMostCells <= scatter.tuple_count
             ? nullptr
             : "far more cells than updates: sorting takes less memory";
}

size_t last_bytes(const Nest& nest, int /*threads*/) {
  const ScatterNest scatter = scatter_nest(nest);
  return winners_bytes(scatter) + (at_once(scatter) ? 2 * bits_bytes(scatter) + 4 : 0);
}

bool run_last(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const ScatterNest scatter = scatter_nest(nest);
  const ScatterCall call = scatter_call(buffers, how);
  const int word = scatter_word_bytes(scatter, call);
  const GatherCall rows{scatter.tuples, call.updates, call.indices, call.output,
                        call.check,     nullptr,      call.stream};
  const LastArgs args{GatherArgs<AnyNest>(rows, word), scatter.lowest,
                      WideDivisor(static_cast<uint64_t>(scatter.unit)), how.workspace};
  if (scatter.wide()) {
    launch<unsigned long long>(scatter, args, word, call.stream);
  } else {
    launch<unsigned int>(scatter, args, word, call.stream);
  }
  return true;
}

}  // namespace sheaf::cuda
