// SPDX-License-Identifier: MIT
//
// cuda.last: a scatter without reduction, in which the last update of a cell counts. Every tuple
// puts its number to its cell by an atomic maximum; then the winners write.
#include "backends/cuda/move_rows.cuh"
#include "backends/cuda/scatter.h"

namespace sheaf::cuda {
namespace {

struct LastArgs {
  GatherArgs<AnyNest> rows;  // the updates: from them, as data, to the cells
  int64_t lowest;
  WideDivisor unit;
  void* winners;  // by cell: the number of a tuple + 1; 0: none
};

// The slot of `winners` of a cell.
__device__ int64_t slot_of(const LastArgs& args, int64_t cell) {
  return static_cast<int64_t>(args.unit.quotient(static_cast<uint64_t>(cell - args.lowest)));
}

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    mark_kernel(const __grid_constant__ LastArgs args) {
  const AnyNest& nest = args.rows.nest;
  auto* const winners = static_cast<Number*>(args.winners);
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t tuple = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; tuple < nest.points;
       tuple += step) {
    const int64_t cell = target_of(nest, args.rows.indices, tuple, locate(nest, tuple));
    if (cell != kNowhere) {
      atomicMax(winners + slot_of(args, cell), static_cast<Number>(tuple + 1));
    }
  }
}

struct UpdatePlace {
  int64_t cell;  // kNowhere: another update of the cell comes later, or this one is skipped
  int64_t update;
};

// Every row's place is found once, by one thread. kEarly: updates that follow one another are
// loaded before it is known which of them win, while indices and winners are still on their way.
template <class Number, int kBytes, bool kEarly>
__global__ void __launch_bounds__(kBlockThreads)
    write_kernel(const __grid_constant__ LastArgs args) {
  constexpr int kCount = kWordsInFlight<kBytes>;
  __shared__ UpdatePlace places[kTileWords<kBytes> + 1];
  if (refused(args.rows.check)) {
    return;
  }
  const AnyNest& nest = args.rows.nest;
  const Tile<kBytes, AnyNest> tile(args.rows, blockIdx.x);
  Word<kBytes> words[kCount];
  if constexpr (kEarly) {
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
    const bool wins =
        cell != kNowhere && static_cast<const Number*>(args.winners)[slot_of(args, cell)] ==
                                static_cast<Number>(tuple + 1);
    places[row] = {wins ? cell : kNowhere, place.output};
  }
  __syncthreads();
  if constexpr (!kEarly) {
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

template <class Number>
void launch(const ScatterNest& scatter, const LastArgs& args, int word_bytes, Stream stream) {
  cudaMemsetAsync(args.winners, 0, sizeof(Number) * static_cast<size_t>(scatter.key_count), stream);
  mark_kernel<Number>
      <<<blocks_at_most(scatter.tuple_count, kBlockThreads), kBlockThreads, 0, stream>>>(args);
  // With fewer cells most updates lose: those are better not loaded.
  const bool early = args.rows.dense && scatter.key_count >= scatter.tuple_count / 2;
  with_word_bytes(word_bytes, [&](auto bytes) {
    const unsigned blocks = blocks_of(args.rows.words, kTileWords<bytes()>);
    const auto kernel =
        early ? write_kernel<Number, bytes(), true> : write_kernel<Number, bytes(), false>;
    kernel<<<blocks, kBlockThreads, 0, stream>>>(args);
  });
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
  if (!fits_launch(scatter.tuple_count * scatter.tuples.row_bytes, kTileWords<16>)) {
    return "more blocks than one launch can have";
  }
  return scatter.key_count / 8 <= scatter.tuple_count
             ? nullptr
             : "far more cells than updates: sorting takes less memory";
}

size_t last_bytes(const Nest& nest, int /*threads*/) {
  const ScatterNest scatter = scatter_nest(nest);
  return (scatter.wide() ? 8U : 4U) * static_cast<size_t>(scatter.key_count);
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
