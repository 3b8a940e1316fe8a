// SPDX-License-Identifier: MIT
//
// What a scatter does besides joining: zeros to start from, the neutral element where an update
// will go, and the counts of a mean. No two threads write different values to one place.
#include "backends/cuda/device.h"
#include "backends/cuda/gather.h"
#include "backends/cuda/move_rows.cuh"
#include "backends/cuda/scatter.h"
#include "backends/cuda/scatter_target.cuh"
#include "plan/reduce.h"

namespace sheaf::cuda {
namespace {

struct StepArgs {
  AnyNest nest;
  ScatterCall call;
  WideDivisor row_pieces;
  int64_t piece_bytes;
};

// A thread's point of the nest, and the piece of its row.
struct StepPiece {
  int64_t point, column;
  bool live;

  __device__ explicit StepPiece(const StepArgs& args) {
    const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
    point = static_cast<int64_t>(args.row_pieces.quotient(static_cast<uint64_t>(number)));
    column = (number - point * static_cast<int64_t>(args.row_pieces.divisor)) * args.piece_bytes;
    live = point < args.nest.points && !refused(args.call.verdict);
  }
};

StepArgs step_args(const Nest& nest, const ScatterCall& call, int64_t piece_bytes) {
  return {device_nest<AnyNest>(nest), call,
          WideDivisor(static_cast<uint64_t>(nest.row_bytes / piece_bytes)), piece_bytes};
}

unsigned step_blocks(const StepArgs& args) {
  const int64_t pieces = args.nest.points * static_cast<int64_t>(args.row_pieces.divisor);
  return blocks_of(pieces, kBlockThreads);
}

template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    zero_kernel(const __grid_constant__ StepArgs args) {
  const StepPiece piece(args);
  if (piece.live) {
    const int64_t at = locate(args.nest, piece.point).output + piece.column;
    store_streaming(args.call.output + at, Word<kBytes>{});
  }
}

// nest.fill_value is the neutral element.
__global__ void __launch_bounds__(kBlockThreads)
    start_kernel(const __grid_constant__ StepArgs args) {
  const StepPiece piece(args);
  if (!piece.live) {
    return;
  }
  const Place place = locate(args.nest, piece.point);
  const int64_t at = target_of(args.nest, args.call.indices, piece.point, place);
  if (at != kNowhere) {
    for (int64_t i = 0; i < args.piece_bytes; ++i) {
      args.call.output[at + piece.column + i] = args.nest.fill_value[i];
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    count_kernel(const __grid_constant__ StepArgs args, std::byte* counts) {
  const StepPiece piece(args);
  if (!piece.live) {
    return;
  }
  const Place place = locate(args.nest, piece.point);
  const int64_t at = target_of(args.nest, args.call.indices, piece.point, place);
  if (at != kNowhere) {
    atomicAdd(reinterpret_cast<unsigned long long*>(counts + at + piece.column), 1ULL);
  }
}

// The nest leads from counts (as data) to the sums they divide (as output), an element a point.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    divide_kernel(const __grid_constant__ StepArgs args, const std::byte* counts, int64_t self) {
  const StepPiece piece(args);
  if (!piece.live) {
    return;
  }
  const Place place = locate(args.nest, piece.point);
  const int64_t count = *reinterpret_cast<const int64_t*>(counts + place.data);
  if (count > 0) {
    T& sum = *reinterpret_cast<T*>(args.call.output + place.output);
    sum = mean_of(sum, count + self);
  }
}

}  // namespace

void launch_zero(const Nest& base, const ScatterCall& call) {
  const int word = word_bytes({base, nullptr, nullptr, call.output, nullptr, call.stream});
  with_word_bytes(word, [&](auto bytes) {
    const StepArgs args = step_args(base, call, bytes());
    zero_kernel<bytes()><<<step_blocks(args), kBlockThreads, 0, call.stream>>>(args);
  });
}

void launch_start(const Nest& start, const std::byte* neutral, const ScatterCall& call) {
  StepArgs args = step_args(start, call, start.element_bytes);
  std::memcpy(args.nest.fill_value, neutral, sizeof args.nest.fill_value);
  start_kernel<<<step_blocks(args), kBlockThreads, 0, call.stream>>>(args);
}

void launch_counts(const Nest& count, const ScatterCall& call, std::byte* counts) {
  const StepArgs args = step_args(count, call, 8);
  count_kernel<<<step_blocks(args), kBlockThreads, 0, call.stream>>>(args, counts);
}

void launch_divide(const Nest& divide, DType type, const ScatterCall& call, const std::byte* counts,
                   bool with_self) {
  const StepArgs args = step_args(divide, call, divide.row_bytes);
  with_element_type(type, [&](auto zero) {
    divide_kernel<decltype(zero)>
        <<<step_blocks(args), kBlockThreads, 0, call.stream>>>(args, counts, with_self ? 1 : 0);
  });
}

}  // namespace sheaf::cuda
