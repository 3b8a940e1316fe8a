// SPDX-License-Identifier: MIT
//
// The steps around the updates of a scatter: the neutral element where an update will go, and the
// counts and the division of a mean. No two threads write different values to one place.
#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/tuning.h"
#include "plan/reduce.h"

namespace sheaf::cuda {
namespace {

struct StepArgs {
  AnyNest nest;
  ScatterCall call;
  WideDivisor row_pieces;
  int64_t piece_bytes;
};

// Calls f(point, column) for every piece of a row that the thread owns.
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

// mean_of() without double where a float quotient has the same bits: 53 digits are enough for
// rounding a quotient of 24 digits twice to change nothing.
template <class T>
__device__ T quotient_of(T sum, int64_t count) {
  if constexpr (std::is_same_v<T, float>) {
    constexpr int64_t kExact = int64_t{1} << 24;  // counts up to this are floats
    if (count <= kExact) {
      return one_nan(sum / static_cast<float>(count));
    }
  }
  return mean_of(sum, count);
}

// The nest leads from counts (as data) to rows of the sums they divide (as output).
template <class T, int kCount>
__global__ void __launch_bounds__(kBlockThreads)
    divide_kernel(const __grid_constant__ StepArgs args, const std::byte* counts, int64_t self) {
  for_each_piece(args, [&](int64_t point, int64_t column) {
    const Place place = locate(args.nest, point);
    const int64_t count = *reinterpret_cast<const int64_t*>(counts + place.data);
    if (count > 0) {
      auto& sums =
          *reinterpret_cast<Elements<T, kCount>*>(args.call.output + place.output + column);
      Elements<T, kCount> means = sums;
#pragma unroll
      for (T& mean : means.values) {
        mean = quotient_of(mean, count + self);
      }
      sums = means;
    }
  });
}

// Elements that follow one another and share a count become one row.
Nest rows_of_counts(Nest nest) {
  while (!nest.loops.empty() && nest.loops.back().data == 0 &&
         nest.loops.back().output == nest.row_bytes) {
    nest.row_bytes *= nest.loops.back().extent;
    nest.loops.pop_back();
  }
  return nest;
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
  const Nest rows = rows_of_counts(nest);
  const ScatterCall call = scatter_call({sums, nullptr, nullptr}, launch);
  uint64_t strides = static_cast<uint64_t>(rows.row_bytes) | reinterpret_cast<uintptr_t>(sums);
  for (const Loop& loop : rows.loops) {
    strides |= static_cast<uint64_t>(loop.output);
  }
  with_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    constexpr int kWide = std::max(16 / int{sizeof(T)}, 1);
    const bool wide = strides % (kWide * sizeof(T)) == 0;
    const StepArgs args = step_args(rows, call, int64_t{sizeof(T)} * (wide ? kWide : 1));
    const auto kernel = wide ? divide_kernel<T, kWide> : divide_kernel<T, 1>;
    kernel<<<step_blocks(args), kBlockThreads, 0, call.stream>>>(args, counts, self);
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
