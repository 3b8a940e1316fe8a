// SPDX-License-Identifier: MIT
#include "backends/cuda/device.h"
#include "backends/cuda/kernel/memory.cuh"
#include "backends/cuda/kernel/nest.h"
#include "backends/cuda/tables/tables.h"
#include "backends/cuda/tuning.h"
#include "support/divisor.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::NumberedRows;

struct MoveArgs {
  NumberedRows rows;
  WideDivisor row_words;
  int64_t words;
};

__device__ int64_t number_at(const int32_t* numbers, int64_t row) {
  return numbers == nullptr ? row : __ldg(numbers + row);
}

// A thread has some words in flight, all of them far apart, so that neighbours move neighbours.
template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    move_kernel(const __grid_constant__ MoveArgs args) {
  const NumberedRows& rows = args.rows;
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t first = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; first < args.words;
       first += step * Tuning::kInFlight) {
    Word<kBytes> words[Tuning::kInFlight];
    int64_t to[Tuning::kInFlight];
#pragma unroll
    for (int i = 0; i < Tuning::kInFlight; ++i) {
      const int64_t word = first + i * step;
      to[i] = -1;
      if (word < args.words) {
        const auto row = static_cast<int64_t>(args.row_words.quotient(static_cast<uint64_t>(word)));
        const int64_t column = (word - row * static_cast<int64_t>(args.row_words.divisor)) * kBytes;
        const int64_t source = number_at(rows.from_numbers, row);
        const int64_t target = number_at(rows.to_numbers, row);
        if (source >= 0 && target >= 0) {
          to[i] = target * rows.row_bytes + column;
          words[i] = load_once<Word<kBytes>>(rows.from + source * rows.row_bytes + column);
        }
      }
    }
#pragma unroll
    for (int i = 0; i < Tuning::kInFlight; ++i) {
      if (to[i] >= 0) {
        store_streaming(rows.to + to[i], words[i]);
      }
    }
  }
}

int word_bytes_of(const NumberedRows& rows) {
  const auto bits = reinterpret_cast<uintptr_t>(rows.from) | reinterpret_cast<uintptr_t>(rows.to) |
                    static_cast<uintptr_t>(rows.row_bytes);
  int bytes = kWordBytes;
  while (bits % static_cast<uintptr_t>(bytes) != 0) {
    bytes /= 2;
  }
  return bytes;
}

}  // namespace

void move_numbered_rows(const NumberedRows& rows, void* stream) {
  if (rows.count == 0) {
    return;
  }
  with_word_bytes(word_bytes_of(rows), [&](auto bytes) {
    MoveArgs args{rows, WideDivisor(static_cast<uint64_t>(rows.row_bytes / bytes())), 0};
    args.words = rows.count * (rows.row_bytes / bytes());
    const int64_t threads = (args.words - 1) / Tuning::kInFlight + 1;
    move_kernel<bytes()>
        <<<blocks_at_most(threads, kBlockThreads), kBlockThreads, 0, static_cast<Stream>(stream)>>>(
            args);
  });
  check_result(cudaGetLastError(), "moving rows to their places");
}

}  // namespace sheaf::cuda
