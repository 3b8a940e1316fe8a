// SPDX-License-Identifier: MIT
//
// The steps around the updates of a scatter: the neutral element where an update will go, and the
// counts and the division of a mean. No two threads write different values to one place.
#include "backends/cuda/move_rows.cuh"
#include "backends/cuda/scatter.h"
#include "plan/reduce.h"

namespace sheaf::cuda {
namespace {

struct StepArgs {
  AnyNest nest;
  ScatterCall call;
  WideDivisor row_pieces;
  int64_t piece_bytes;
};

// Calls f(point, column) for every piece of a row that is the thread's.
template <class F>
__device__ void for_each_piece(const StepArgs& args, F f) {
  if (refused(args.call.check)) {
    return;
  }
  const auto row_pieces = static_cast<int64_t>(args.row_pieces.divisor);
  const int64_t pieces = args.nest.points * row_pieces;
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t piece = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; piece < pieces;
       piece += step) {
    const auto point = static_cast<int64_t>(args.row_pieces.quotient(static_cast<uint64_t>(piece)));
    f(point, (piece - point * row_pieces) * args.piece_bytes);
  }
}

// The same with the place in data that the point leads to, for those that lead somewhere.
template <class F>
__device__ void for_each_target(const StepArgs& args, F f) {
  for_each_piece(args, [&](int64_t point, int64_t column) {
    const Place place = locate(args.nest, point);
    const int64_t at = target_of(args.nest, args.call.indices, point, place);
    if (at != kNowhere) {
      f(args.call.output + at + column);
    }
  });
}

StepArgs step_args(const Nest& nest, const ScatterCall& call, int64_t piece_bytes) {
  return {device_nest<AnyNest>(nest), call,
          WideDivisor(static_cast<uint64_t>(nest.row_bytes / piece_bytes)), piece_bytes};
}

unsigned step_blocks(const StepArgs& args) {
  const int64_t pieces = args.nest.points * static_cast<int64_t>(args.row_pieces.divisor);
  return blocks_at_most(pieces, kBlockThreads);
}

// nest.fill_value is the neutral element.
__global__ void __launch_bounds__(kBlockThreads)
    fill_kernel(const __grid_constant__ StepArgs args) {
  for_each_target(args, [&](std::byte* cell) {
    for (int64_t i = 0; i < args.piece_bytes; ++i) {
      cell[i] = args.nest.fill_value[i];
    }
  });
}

__global__ void __launch_bounds__(kBlockThreads)
    count_kernel(const __grid_constant__ StepArgs args) {
  for_each_target(
      args, [](std::byte* cell) { atomicAdd(reinterpret_cast<unsigned long long*>(cell), 1ULL); });
}

// The nest leads from counts (as data) to the sums they divide (as output), one element per point.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    divide_kernel(const __grid_constant__ StepArgs args, const std::byte* counts, int64_t self) {
  for_each_piece(args, [&](int64_t point, int64_t) {
    const Place place = locate(args.nest, point);
    const int64_t count = *reinterpret_cast<const int64_t*>(counts + place.data);
    if (count > 0) {
      T& sum = *reinterpret_cast<T*>(args.call.output + place.output);
      sum = mean_of(sum, count + self);
    }
  });
}

// One element per point, from a narrow float type to f32 or back.
template <class T, bool kWidens>
__global__ void __launch_bounds__(kBlockThreads)
    convert_kernel(const __grid_constant__ StepArgs args, const std::byte* data) {
  for_each_piece(args, [&](int64_t point, int64_t) {
    const Place place = locate(args.nest, point);
    if constexpr (kWidens) {
      *reinterpret_cast<float*>(args.call.output + place.output) =
          widened(*reinterpret_cast<const T*>(data + place.data));
    } else {
      *reinterpret_cast<T*>(args.call.output + place.output) =
          narrowed<T>(*reinterpret_cast<const float*>(data + place.data));
    }
  });
}

}  // namespace

void fill(const Backend& /*self*/, const Nest& nest, const std::byte* element,
          const ScatterBuffers& buffers, const Launch& launch) {
  StepArgs args = step_args(nest, scatter_call(buffers, launch), nest.element_bytes);
  std::memcpy(args.nest.fill_value, element, static_cast<size_t>(nest.element_bytes));
  fill_kernel<<<step_blocks(args), kBlockThreads, 0, args.call.stream>>>(args);
}

void count(const Backend& /*self*/, const Nest& nest, const ScatterBuffers& buffers,
           const Launch& launch) {
  const StepArgs args = step_args(nest, scatter_call(buffers, launch), sizeof(int64_t));
  count_kernel<<<step_blocks(args), kBlockThreads, 0, args.call.stream>>>(args);
}

void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch) {
  const StepArgs args =
      step_args(nest, scatter_call({sums, nullptr, nullptr}, launch), nest.row_bytes);
  with_element_type(type, [&](auto zero) {
    divide_kernel<decltype(zero)>
        <<<step_blocks(args), kBlockThreads, 0, args.call.stream>>>(args, counts, self);
  });
}

void convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
             const Launch& launch) {
  const StepArgs args =
      step_args(nest, scatter_call({output, nullptr, nullptr}, launch), nest.row_bytes);
  with_small_float(from == f32 ? to : from, [&](auto zero) {
    using Narrow = decltype(zero);
    const auto kernel = from == f32 ? convert_kernel<Narrow, false> : convert_kernel<Narrow, true>;
    kernel<<<step_blocks(args), kBlockThreads, 0, args.call.stream>>>(args, data);
  });
}

}  // namespace sheaf::cuda
