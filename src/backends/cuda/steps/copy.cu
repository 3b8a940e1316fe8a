// SPDX-License-Identifier: MIT
//
// Whole tensors: a copy, by the kernels of cuda.rows, or zeros; and the alignment of rows.
#include <bit>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

struct ZeroArgs {
  AnyNest nest;
  std::byte* output;
  const Verdict* check;
  WideDivisor row_words;
  int64_t words;
};

template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    zero_kernel(const __grid_constant__ ZeroArgs args) {
  if (refused(args.check)) {
    return;
  }
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t word = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; word < args.words;
       word += step) {
    const auto row = static_cast<int64_t>(args.row_words.quotient(static_cast<uint64_t>(word)));
    const int64_t column = (word - row * static_cast<int64_t>(args.row_words.divisor)) * kBytes;
    store_streaming(args.output + locate(args.nest, row).output + column, Word<kBytes>{});
  }
}

}  // namespace

void copy(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch) {
  const GatherCall call{
      nest, data, nullptr, output, launch.verdict, nullptr, static_cast<Stream>(launch.stream)};
  if (data != nullptr) {
    launch_rows(call);
    return;
  }
  with_word_bytes(word_bytes(nest, addresses_of(call)), [&](auto bytes) {
    ZeroArgs args{device_nest<AnyNest>(nest), output, launch.verdict,
                  WideDivisor(static_cast<uint64_t>(nest.row_bytes / bytes())), 0};
    args.words = args.nest.points * static_cast<int64_t>(args.row_words.divisor);
    zero_kernel<bytes()>
        <<<blocks_at_most(args.words, kBlockThreads), kBlockThreads, 0, call.stream>>>(args);
  });
}

uint64_t stride_bits(const Nest& nest) {
  auto bits = static_cast<uint64_t>(nest.row_bytes);
  for (const Loop& loop : nest.loops) {
    bits |= static_cast<uint64_t>(loop.data) | static_cast<uint64_t>(loop.output);
  }
  for (const Coordinate& coordinate : nest.coordinates) {
    bits |= static_cast<uint64_t>(coordinate.stride);
  }
  return bits;
}

int word_bytes(const Nest& nest, uintptr_t addresses) {
  return 1 << std::countr_zero(uint64_t{addresses} | stride_bits(nest) | 16);
}

}  // namespace sheaf::cuda
