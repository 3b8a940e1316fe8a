// SPDX-License-Identifier: MIT
//
// cuda.small, cuda.rows and cuda.strided: rows of any size, by words.
#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/tuning.h"
#include "plan/nest_shape.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Rows;

// Indices that follow one another; the components of a tuple are `inner` apart. A count of 0: they
// are not checked here.
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
  for (int begin = static_cast<int>(threadIdx.x); begin < check.count;
       begin += Tuning::kSmallInFlight * kBlockThreads) {
    int64_t raw[Tuning::kSmallInFlight];
#pragma unroll
    for (int i = 0; i < Tuning::kSmallInFlight; ++i) {
      const int at = begin + i * kBlockThreads;
      raw[i] = at < check.count ? load_raw<kIndices>(nest.index_kind, indices, at) : 0;
    }
#pragma unroll
    for (int i = 0; i < Tuning::kSmallInFlight; ++i) {
      const int at = begin + i * kBlockThreads;
      const int component = check.components == 1 ? 0 : at / check.inner % check.components;
      if (at < check.count &&
          entry_of(nest, raw[i], nest.coordinates[component].extent) == kOutside) {
        ++bad;
        my_first = min(my_first, at);
      }
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
  const bool stop =
      check.count != 0 ? !check_all<kIndices>(args.nest, args.indices, check) : refused(args.check);
  move_tile<kBytes, kIndices>(args, blockIdx.x, stop);
}

template <int kBytes, Indices kIndices>
__global__ void __launch_bounds__(Tuning::kFewThreads)
    few_rows_kernel(const __grid_constant__ GatherArgs<NestOf<1, 1>> args) {
  const uint32_t number = blockIdx.x * Tuning::kFewThreads + threadIdx.x;
  if (number >= args.words) {
    return;
  }
  const DeviceLoop& loop = args.nest.loops[0];
  const DeviceCoordinate& coordinate = args.nest.coordinates[0];
  const uint32_t row = args.near_row_words.quotient(number);
  const int64_t column = int64_t{number - row * args.near_row_words.divisor} * kBytes;
  const int64_t raw =
      load_raw<kIndices>(args.nest.index_kind, args.indices, row * loop.index + coordinate.offset);
  const bool stop = refused(args.check);
  const int64_t entry = entry_of(args.nest, raw, coordinate.extent);
  Word<kBytes> word;
  if (entry != kOutside) {
    word = load<Word<kBytes>>(args.data + row * loop.data + entry * coordinate.stride + column);
  }
  if (!stop) {
    if (entry == kOutside) {
      word = outside_word<kBytes>(args.nest, args.report, column);
    }
    *reinterpret_cast<Word<kBytes>*>(args.output + row * loop.output + column) = word;
  }
}

// Whether launch_shape() takes few_rows_kernel, if indices are not checked here.
bool are_few_rows(const Nest& nest, int64_t row_words) {
  return nest.loops.size() == 1 && nest.coordinates.size() == 1 &&
         indices_of(nest.index_type.kind()) != Indices::kAnyType &&
         point_count(nest) * row_words <= Tuning::kFewWords;
}

// A row that has words in a tile.
struct RowPlace {
  int64_t data;  // kNowhere: filled
  int64_t output;
};

template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads, Tuning::kWideBlocks)
    wide_rows_kernel(const __grid_constant__ GatherArgs<AnyNest> args) {
  constexpr int kCount = Tuning::kWordsInFlight<kBytes>;
  __shared__ RowPlace places[kTileWords<kBytes> / Tuning::kWideRow + 2];
  const bool stop = refused(args.check);
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
        words[i] = outside_word<kBytes>(args.nest, args.report, word.column);
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
  if constexpr (std::is_same_v<DeviceNest, NestOf<1, 1>>) {
    if (check.count == 0 && args.words <= Tuning::kFewWords) {
      few_rows_kernel<kBytes, kIndices>
          <<<blocks_of(args.words, Tuning::kFewThreads), Tuning::kFewThreads, 0, call.stream>>>(
              args);
      return;
    }
  }
  const unsigned blocks = blocks_of(args.words, kTileWords<kBytes>);
  rows_kernel<kBytes, kIndices, DeviceNest><<<blocks, kBlockThreads, 0, call.stream>>>(args, check);
}

// gather, and gather_nd with pairs, have kernels specialised to their shape; the rest shares one.
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
  with_word_bytes(word_bytes(call.nest, addresses_of(call)), [&](auto bytes) {
    const int64_t row_words = call.nest.row_bytes / bytes();
    const bool wide = row_words >= static_cast<int64_t>(Tuning::kWideRow);
    if (wide && check.count == 0 && !(bytes() >= 4 && are_few_rows(call.nest, row_words))) {
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

// The tile of 16-byte words is the smallest.
const char* launch_refusal(const KernelQuery& query) {
  const int64_t words = query.nest.row_bytes / word_bytes(query.nest, query.addresses);
  return fits_launch(point_count(query.nest) * words, kTileWords<16>)
             ? nullptr
             : "more blocks than one launch can have";
}

}  // namespace

const char* small_refusal(const KernelQuery& query) {
  if (query.plan == nullptr || query.nest.out_of_range != OutOfRange::kFail) {
    return "no indices to check first";
  }
  const CheckArgs check = check_args(*query.plan, nullptr, nullptr);
  if (check.count == 0 || check.count > Tuning::kSmallIndices || check.repeats > 1 ||
      !check.in_line()) {
    return "no indices, more than 16384, or strided ones";
  }
  const int64_t words = query.nest.row_bytes / word_bytes(query.nest, query.addresses);
  return point_count(query.nest) * words <= Tuning::kSmallBlocks * kTileWords<16>
             ? nullptr
             : "too many rows for every block to check all indices";
}

const char* rows_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (!nest.loops.empty() && nest.loops.back().output != nest.row_bytes) {
    return "the output's rows do not follow one another";
  }
  return launch_refusal(query);
}

const char* strided_refusal(const KernelQuery& query) { return launch_refusal(query); }

void launch_rows(const GatherCall& call) { launch(call, {}); }

bool run_rows(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  launch_rows(gather_call(nest, buffers, how));
  return true;
}

bool run_small(const Nest& nest, const GatherBuffers& buffers, const Launch& how) {
  const CheckArgs check = check_args(*how.plan, buffers.indices, how.verdict);
  launch(gather_call(nest, buffers, how),
         {static_cast<int>(check.count), static_cast<int>(check.inner),
          static_cast<int>(check.components), check.verdict});
  return true;
}

}  // namespace sheaf::cuda
