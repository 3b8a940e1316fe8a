// SPDX-License-Identifier: MIT
//
// Tokens to the rows of their experts: a thread reads a word of a token once, and writes it to as
// many rows as the token has.
#include "backends/cuda/kernel/launch.cuh"
#include "backends/cuda/kernel/memory.cuh"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/moe/moe.h"
#include "backends/cuda/tuning.h"
#include "support/divisor.h"

namespace sheaf::cuda {
namespace {

struct SpreadArgs {
  const std::byte* tokens;
  std::byte* rows;
  const int64_t* inverse;
  const Verdict* verdict;
  int64_t choices, row_bytes, token_stride;
  int64_t most_rows;
  int64_t words;  // of all tokens
  WideDivisor words_of_row;
};

// Writes a word of a token to its rows. Their numbers are read before the first is written to.
template <class Word>
__device__ void write_word(const SpreadArgs& args, const int64_t* numbers, int64_t column,
                           Word word) {
  constexpr int kAhead = tuning::Moe::kRowsAhead;
  for (int64_t first = 0; first < args.choices; first += kAhead) {
    int64_t rows[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      rows[i] = first + i < args.choices ? numbers[first + i] : -1;
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (static_cast<uint64_t>(rows[i]) < static_cast<uint64_t>(args.most_rows)) {
        store_streaming(args.rows + rows[i] * args.row_bytes + column, word);
      }
    }
  }
}

template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    moe_spread_kernel(const __grid_constant__ SpreadArgs args) {
  wait_for_launch_before();
  if (refused(args.verdict)) {
    return;
  }
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; number < args.words;
       number += step) {
    const auto token =
        static_cast<int64_t>(args.words_of_row.quotient(static_cast<uint64_t>(number)));
    const int64_t column =
        (number - token * static_cast<int64_t>(args.words_of_row.divisor)) * kBytes;
    const auto word = load_once<Word<kBytes>>(args.tokens + token * args.token_stride + column);
    write_word(args, args.inverse + token * args.choices, column, word);
  }
}

}  // namespace

void launch_spread(const MoeNest& nest, const MoeBuffers& buffers, const Launch& launch) {
  const int64_t tokens = nest.count / nest.choices;
  const auto address = reinterpret_cast<uintptr_t>(buffers.tokens) |
                       reinterpret_cast<uintptr_t>(buffers.rows) |
                       static_cast<uintptr_t>(nest.row_bytes | nest.token_stride);
  const int bytes = address % 16 == 0  ? 16
                    : address % 8 == 0 ? 8
                    : address % 4 == 0 ? 4
                    : address % 2 == 0 ? 2
                                       : 1;
  const int64_t words_of_row = nest.row_bytes / bytes;
  if (words_of_row == 0) {
    return;
  }
  const SpreadArgs args{buffers.tokens,        buffers.rows,
                        buffers.inverse,       launch.verdict,
                        nest.choices,          nest.row_bytes,
                        nest.token_stride,     nest.count,
                        tokens * words_of_row, WideDivisor(static_cast<uint64_t>(words_of_row))};
  with_word_bytes(bytes, [&](auto word) {
    const auto kernel = moe_spread_kernel<word.value>;
    launch_early(kernel, args, blocks_at_most(args.words, kBlockThreads), kBlockThreads,
                 waits_for_launch_before(kernel), static_cast<Stream>(launch.stream));
  });
}

}  // namespace sheaf::cuda
