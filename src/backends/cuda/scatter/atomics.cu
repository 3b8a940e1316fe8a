// SPDX-License-Identifier: MIT
//
// cuda.atomics: updates in any order, each reduced into memory by an atomic. For relaxed scatters,
// and for integers, whose bits do not depend on the order.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/scatter/scatter.h"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Atomics;

struct AtomicArgs {
  AnyNest nest;
  ScatterCall call;
  WideDivisor row_pieces;
  Reduction reduction;
};

// For types that the hardware has atomics for.
template <class T>
__device__ void reduce_atomically(T* cell, T update, Reduction reduction) {
  if constexpr (std::is_integral_v<T>) {
    if (reduction == Reduction::kMin) {
      atomicMin(cell, update);
      return;
    }
    if (reduction == Reduction::kMax) {
      atomicMax(cell, update);
      return;
    }
  }
  if constexpr (std::is_same_v<T, long long>) {  // sums wrap: those of the unsigned
    atomicAdd(reinterpret_cast<unsigned long long*>(cell), static_cast<unsigned long long>(update));
  } else {
    atomicAdd(cell, update);
  }
}

// Four floats in one request; four requests before compute capability 9.0.
struct FourFloats {
  float4 values;
};
template <>
__device__ void reduce_atomically<FourFloats>(FourFloats* cell, FourFloats update,
                                              Reduction /*reduction*/) {
#if __CUDA_ARCH__ >= 900
  atomicAdd(&cell->values, update.values);
#else
  atomicAdd(&cell->values.x, update.values.x);
  atomicAdd(&cell->values.y, update.values.y);
  atomicAdd(&cell->values.z, update.values.z);
  atomicAdd(&cell->values.w, update.values.w);
#endif
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    atomic_kernel(const __grid_constant__ AtomicArgs args) {
  if (refused(args.call.check)) {
    return;
  }
  const auto row_pieces = static_cast<int64_t>(args.row_pieces.divisor);
  const int64_t pieces = args.nest.points * row_pieces;
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t piece = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; piece < pieces;
       piece += step) {
    const auto point = static_cast<int64_t>(args.row_pieces.quotient(static_cast<uint64_t>(piece)));
    const int64_t column = (piece - point * row_pieces) * int64_t{sizeof(T)};
    const Place place = locate(args.nest, point);
    const int64_t at = target_of(args.nest, args.call.indices, point, place);
    if (at != kNowhere) {
      reduce_atomically(reinterpret_cast<T*>(args.call.output + at + column),
                        *reinterpret_cast<const T*>(args.call.updates + place.output + column),
                        args.reduction);
    }
  }
}

template <class T>
void launch(const Nest& nest, const ScatterCall& call) {
  const AtomicArgs args{device_nest<AnyNest>(nest), call,
                        WideDivisor(static_cast<uint64_t>(nest.row_bytes) / sizeof(T)),
                        nest.reduction};
  const int64_t pieces = args.nest.points * static_cast<int64_t>(args.row_pieces.divisor);
  atomic_kernel<T><<<blocks_at_most(pieces, kBlockThreads), kBlockThreads, 0, call.stream>>>(args);
}

bool adds(Reduction reduction) {
  return reduction == Reduction::kAdd || reduction == Reduction::kMean;
}

bool has_atomics(DType type, Reduction reduction) {
  if (type == i32 || type == u32 || type == i64 || type == u64) {
    return adds(reduction) || reduction == Reduction::kMin || reduction == Reduction::kMax;
  }
  return (type == f16 || type == bf16 || type == f32 || type == f64) && adds(reduction);
}

bool waits_at_few_cells(const Nest& nest) {
  if (nest.element_type != f32 || nest.row_bytes < Tuning::kLeastRow || nest.empty()) {
    return false;
  }
  const ScatterNest scatter = scatter_nest(nest);
  const int64_t updates = scatter.tuple_count / scatter.key_count;
  return scatter.slice_count == 1 && scatter.key_count >= Tuning::kFewestCells &&
         scatter.key_count <= Tuning::kMostCells && updates >= Tuning::kLeastUpdates &&
         updates <= Tuning::kMostUpdates;
}

}  // namespace

const char* atomics_refusal(const KernelQuery& query) {
  const Nest& nest = query.nest;
  if (!query.relaxed && !nest.element_type.is_integer()) {
    return "the order of the updates shows in the bits";
  }
  if (!has_atomics(nest.element_type, nest.reduction)) {
    return "there are no atomics for this type and reduction";
  }
  if (waits_at_few_cells(nest)) {
    return "many updates of few cells: sorting is faster";
  }
  const int64_t request_bytes = nest.element_type == f32 ? 16 : nest.element_bytes;
  return nest.row_bytes <= Tuning::kMostRequests * request_bytes ? nullptr
                                                                 : "wide rows: sorting is faster";
}

bool run_atomics(const Nest& nest, const ScatterBuffers& buffers, const Launch& how) {
  const ScatterCall call = scatter_call(buffers, how);
  const DType type = nest.element_type;
  if (type == i32) {
    launch<int>(nest, call);
  } else if (type == u32) {
    launch<unsigned int>(nest, call);
  } else if (type == i64) {
    launch<long long>(nest, call);
  } else if (type == u64) {
    launch<unsigned long long>(nest, call);
  } else if (type == f16) {
    launch<__half>(nest, call);
  } else if (type == bf16) {
    launch<__nv_bfloat16>(nest, call);
  } else if (type == f64) {
    launch<double>(nest, call);
  } else if (scatter_word_bytes(scatter_nest(nest), call) == 16) {
    launch<FourFloats>(nest, call);
  } else {
    launch<float>(nest, call);
  }
  return true;
}

}  // namespace sheaf::cuda
