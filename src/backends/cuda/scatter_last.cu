// SPDX-License-Identifier: MIT
//
// cuda.last: a scatter without reduction, in which the last update of a cell counts. Every tuple
// puts its number to its cell by an atomic maximum; then the winners write.
#include "backends/cuda/move_rows.cuh"
#include "backends/cuda/scatter.h"

namespace sheaf::cuda {
namespace {

constexpr int kInFlight = 4;  // words of a thread
constexpr int64_t kTile = int64_t{kBlockThreads} * kInFlight;

struct LastArgs {
  AnyNest tuples, slices;
  ScatterCall call;
  int64_t lowest;
  WideDivisor unit;
  void* winners;  // by cell: the number of a tuple + 1; 0: none
  int64_t words;  // of all updates
  WideDivisor tuple_words, row_words;
};

// The number of the cell that a tuple leads to, or -1 if it is skipped.
__device__ int64_t cell_of(const LastArgs& args, int64_t tuple, const Place& place) {
  const int64_t at = target_of(args.tuples, args.call.indices, tuple, place);
  return at == kNowhere
             ? -1
             : static_cast<int64_t>(args.unit.quotient(static_cast<uint64_t>(at - args.lowest)));
}

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    mark_kernel(const __grid_constant__ LastArgs args) {
  auto* const winners = static_cast<Number*>(args.winners);
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t tuple = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
       tuple < args.tuples.points; tuple += step) {
    const int64_t cell = cell_of(args, tuple, locate(args.tuples, tuple));
    if (cell >= 0) {
      atomicMax(winners + cell, static_cast<Number>(tuple + 1));
    }
  }
}

// One word of one update: where it is, and where it goes if its tuple is the last of its cell.
template <class Number>
struct LastWord {
  int64_t updates, output = kNowhere;

  __device__ void find(const LastArgs& args, int64_t word, int word_bytes) {
    const auto tuple = static_cast<int64_t>(args.tuple_words.quotient(static_cast<uint64_t>(word)));
    const int64_t piece = word - tuple * static_cast<int64_t>(args.tuple_words.divisor);
    const auto slice = static_cast<int64_t>(args.row_words.quotient(static_cast<uint64_t>(piece)));
    const int64_t column =
        (piece - slice * static_cast<int64_t>(args.row_words.divisor)) * word_bytes;
    const Place place = locate(args.tuples, tuple);
    const int64_t cell = cell_of(args, tuple, place);
    if (cell >= 0 &&
        static_cast<const Number*>(args.winners)[cell] == static_cast<Number>(tuple + 1)) {
      const Place part = locate(args.slices, slice);
      updates = place.output + part.output + column;
      output = args.lowest + cell * static_cast<int64_t>(args.unit.divisor) + part.data + column;
    }
  }
};

template <class Number, int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    write_kernel(const __grid_constant__ LastArgs args) {
  if (refused(args.call.check)) {
    return;
  }
  for (int64_t first = blockIdx.x * kTile; first < args.words; first += gridDim.x * kTile) {
    LastWord<Number> words[kInFlight];
    Word<kBytes> values[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int64_t word = first + threadIdx.x + i * kBlockThreads;
      if (word < args.words) {
        words[i].find(args, word, kBytes);
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (words[i].output != kNowhere) {
        values[i] = load_once<Word<kBytes>>(args.call.updates + words[i].updates);
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (words[i].output != kNowhere) {
        store_streaming(args.call.output + words[i].output, values[i]);
      }
    }
  }
}

template <class Number>
void launch(const ScatterNest& scatter, LastArgs& args) {
  const Stream stream = args.call.stream;
  cudaMemsetAsync(args.winners, 0, sizeof(Number) * static_cast<size_t>(scatter.key_count), stream);
  mark_kernel<Number>
      <<<blocks_at_most(scatter.tuple_count, kBlockThreads), kBlockThreads, 0, stream>>>(args);
  with_word_bytes(scatter_word_bytes(scatter, args.call), [&](auto bytes) {
    const int64_t row_words = scatter.tuples.row_bytes / bytes();
    args.row_words = WideDivisor(static_cast<uint64_t>(row_words));
    args.tuple_words = WideDivisor(static_cast<uint64_t>(row_words * scatter.slice_count));
    args.words = scatter.tuple_count * row_words * scatter.slice_count;
    write_kernel<Number, bytes()>
        <<<blocks_at_most(args.words, kTile), kBlockThreads, 0, stream>>>(args);
  });
}

}  // namespace

const char* last_refusal(const KernelQuery& query) {
  if (query.nest.reduction != Reduction::kNone || query.nest.empty()) {
    return "updates are reduced";
  }
  const ScatterNest scatter = scatter_nest(query.nest);
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
  LastArgs args{device_nest<AnyNest>(scatter.tuples),
                device_nest<AnyNest>(scatter.slices),
                scatter_call(buffers, how),
                scatter.lowest,
                WideDivisor(static_cast<uint64_t>(scatter.unit)),
                how.workspace,
                0,
                {},
                {}};
  if (scatter.wide()) {
    launch<unsigned long long>(scatter, args);
  } else {
    launch<unsigned int>(scatter, args);
  }
  return true;
}

}  // namespace sheaf::cuda
