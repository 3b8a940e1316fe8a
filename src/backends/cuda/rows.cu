// SPDX-License-Identifier: MIT
//
// Rows of any size, by words: cuda.rows and cuda.strided.
#include "backends/cuda/device.h"
#include "backends/cuda/gather.h"
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

// A call this small is cheaper checked by every block than by a kernel of its own.
constexpr int64_t kSmallIndices = 4096;
constexpr int64_t kSmallBlocks = 128;

// The indices stand one after the other; a tuple's components are `inner` apart. count 0: nothing
// is to be checked on the way.
struct SmallCheck {
  int count = 0;
  int inner = 1;
  int components = 1;
  Verdict* verdict = nullptr;
};

// True if every index is in range. The first block writes the verdict.
template <Indices kIndices, class DeviceNest>
__device__ bool check_all(const DeviceNest& nest, const std::byte* indices,
                          const SmallCheck& check) {
  __shared__ int first;
  int bad = 0;
  int my_first = INT_MAX;
  for (int i = static_cast<int>(threadIdx.x); i < check.count; i += kBlockThreads) {
    const int component = check.components == 1 ? 0 : i / check.inner % check.components;
    const int64_t raw = load_raw<kIndices>(nest.index_kind, indices, i);
    if (entry_of(nest, raw, nest.coordinates[component].extent) == kOutside) {
      ++bad;
      my_first = min(my_first, i);
    }
  }
  const bool any_bad = __syncthreads_or(bad) != 0;
  if (blockIdx.x != 0) {
    return !any_bad;
  }
  if (threadIdx.x == 0) {
    *check.verdict = {};
    first = INT_MAX;
  }
  __syncthreads();
  if (bad != 0) {
    atomicAdd(&check.verdict->bad, static_cast<unsigned long long>(bad));
    atomicMin(&first, my_first);
  }
  __syncthreads();
  if (any_bad && threadIdx.x == 0) {
    check.verdict->not_first = ~static_cast<unsigned long long>(first);
    check.verdict->value =
        static_cast<unsigned long long>(load_raw<kIndices>(nest.index_kind, indices, first));
  }
  return !any_bad;
}

template <int kBytes, Indices kIndices, class DeviceNest>
__global__ void __launch_bounds__(kBlockThreads)
    rows_kernel(const __grid_constant__ GatherArgs<DeviceNest> args, const SmallCheck check) {
  const bool stop = check.count != 0 ? !check_all<kIndices>(args.nest, args.indices, check)
                                     : refused(args.verdict);
  move_tile<kBytes, kIndices>(args, blockIdx.x, stop);
}

// Rows of this many words and more have their places computed once for all of them.
constexpr uint64_t kWideRow = 8;

// A row that has words in a tile.
struct RowPlace {
  int64_t data;  // kNowhere: filled
  int64_t output;
};

template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads, 5)
    wide_rows_kernel(const __grid_constant__ GatherArgs<AnyNest> args) {
  constexpr int kCount = kWordsInFlight<kBytes>;
  __shared__ RowPlace places[kTileWords<kBytes> / kWideRow + 2];
  const bool stop = refused(args.verdict);
  const Tile<kBytes, AnyNest> tile(args, blockIdx.x);
  const uint32_t rows = tile.word(tile.live - 1).down + 1;
  for (uint32_t row = threadIdx.x; row < rows; row += kBlockThreads) {
    const Place place = locate(args.nest, tile.first_row + row);
    const int64_t tuple[1] = {place.index};
    int64_t at[1] = {place.data};
    resolve_tuples<Indices::kAnyType>(args.nest, args.indices, tuple, at);
    places[row] = {at[0], place.output};
  }
  __syncthreads();
  Word<kBytes> words[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const uint32_t mine = threadIdx.x + i * kBlockThreads;
    const auto word = tile.word(mine);
    if (mine < tile.live && places[word.down].data != kNowhere) {
      words[i] = load<Word<kBytes>>(args.data + places[word.down].data + word.column);
    }
  }
  if (stop) {
    return;
  }
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    const uint32_t mine = threadIdx.x + i * kBlockThreads;
    if (mine < tile.live) {
      const auto word = tile.word(mine);
      if (places[word.down].data == kNowhere) {
        words[i] = fill_word<kBytes>(args.nest, word.column);
      }
      store_streaming(args.output + places[word.down].output + word.column, words[i]);
    }
  }
}

template <int kBytes>
void launch_wide(const GatherCall& call) {
  const GatherArgs<AnyNest> args(call, kBytes);
  const unsigned blocks = blocks_of(args.words, kTileWords<kBytes>);
  wide_rows_kernel<kBytes><<<blocks, kBlockThreads, 0, call.stream>>>(args);
}

template <int kBytes, Indices kIndices, class DeviceNest>
void launch(const GatherCall& call, const SmallCheck& check) {
  const GatherArgs<DeviceNest> args(call, kBytes);
  const unsigned blocks = blocks_of(args.words, kTileWords<kBytes>);
  rows_kernel<kBytes, kIndices, DeviceNest><<<blocks, kBlockThreads, 0, call.stream>>>(args, check);
}

// The shapes of gather and of gather_nd with pairs have kernels of their own; the rest shares one.
template <int kBytes, Indices kIndices>
void launch_shape(const GatherCall& call, const SmallCheck& check) {
  const int loops = call.nest.loops.size();
  const int coordinates = call.nest.coordinates.size();
  if (loops == 1 && coordinates == 1) {
    launch<kBytes, kIndices, NestOf<1, 1>>(call, check);
  } else if (loops == 2 && coordinates == 1) {
    launch<kBytes, kIndices, NestOf<2, 1>>(call, check);
  } else if (loops == 1 && coordinates == 2) {
    launch<kBytes, kIndices, NestOf<1, 2>>(call, check);
  } else {
    launch<kBytes, Indices::kAnyType, AnyNest>(call, check);
  }
}

void launch(const GatherCall& call, const SmallCheck& check) {
  with_word_bytes(word_bytes(call), [&](auto bytes) {
    const bool wide = call.nest.row_bytes / bytes() >= static_cast<int64_t>(kWideRow);
    if (wide && check.count == 0) {
      return launch_wide<bytes()>(call);
    }
    if constexpr (bytes() >= 4) {
      switch (indices_of(call.nest.index_type.kind())) {
        case Indices::kInt32: return launch_shape<bytes(), Indices::kInt32>(call, check);
        case Indices::kBits64: return launch_shape<bytes(), Indices::kBits64>(call, check);
        case Indices::kAnyType: break;
      }
    }
    launch<bytes(), Indices::kAnyType, AnyNest>(call, check);
  });
}

}  // namespace

void launch_rows(const GatherCall& call) { launch(call, {}); }

bool fits_small_rows(const GatherCall& call, const CheckArgs& check) {
  const int64_t words = check.order.points == 0 ? 0 : call.nest.row_bytes / word_bytes(call);
  int64_t points = 1;
  for (const Loop& loop : call.nest.loops) {
    points *= loop.extent;
  }
  return check.in_line() && check.count <= kSmallIndices &&
         points * words <= kSmallBlocks * kTileWords<16>;
}

void launch_small_rows(const GatherCall& call, const CheckArgs& check) {
  launch(call, {static_cast<int>(check.count), static_cast<int>(check.inner),
                static_cast<int>(check.components), check.verdict});
}

}  // namespace sheaf::cuda
