// SPDX-License-Identifier: MIT
//
// Scatters whose caller lets the order go: every update is joined by atomics where it leads to.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "backends/cuda/device.h"
#include "backends/cuda/move_rows.cuh"
#include "backends/cuda/scatter.h"
#include "backends/cuda/scatter_target.cuh"

namespace sheaf::cuda {
namespace {

struct AtomicArgs {
  AnyNest nest;
  ScatterCall call;
  WideDivisor row_pieces;
  Reduction reduction;
};

// Types that the hardware joins in memory.
template <class T>
__device__ void join(T* cell, T update, Reduction reduction) {
  if constexpr (std::is_integral_v<T>) {
    switch (reduction) {
      case Reduction::kMin: atomicMin(cell, update); return;
      case Reduction::kMax: atomicMax(cell, update); return;
      default: break;
    }
  }
  if constexpr (std::is_same_v<T, long long>) {  // sums wrap: those of the unsigned
    atomicAdd(reinterpret_cast<unsigned long long*>(cell), static_cast<unsigned long long>(update));
  } else {
    atomicAdd(cell, update);
  }
}

// Four floats in one request; devices before 9.0 make four of it.
struct FourFloats {
  float4 values;
};
template <>
__device__ void join<FourFloats>(FourFloats* cell, FourFloats update, Reduction /*reduction*/) {
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
  const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const auto point = static_cast<int64_t>(args.row_pieces.quotient(static_cast<uint64_t>(number)));
  if (point >= args.nest.points || refused(args.call.verdict)) {
    return;
  }
  const int64_t column =
      (number - point * static_cast<int64_t>(args.row_pieces.divisor)) * int64_t{sizeof(T)};
  const Place place = locate(args.nest, point);
  const int64_t at = target_of(args.nest, args.call.indices, point, place);
  if (at != kNowhere) {
    join(reinterpret_cast<T*>(args.call.output + at + column),
         *reinterpret_cast<const T*>(args.call.updates + place.output + column), args.reduction);
  }
}

template <class T>
void launch(const Nest& nest, const ScatterCall& call) {
  const AtomicArgs args{device_nest<AnyNest>(nest), call,
                        WideDivisor(static_cast<uint64_t>(nest.row_bytes) / sizeof(T)),
                        nest.reduction};
  const int64_t pieces = args.nest.points * static_cast<int64_t>(args.row_pieces.divisor);
  atomic_kernel<T><<<blocks_of(pieces, kBlockThreads), kBlockThreads, 0, call.stream>>>(args);
}

}  // namespace

bool atomics_know(DType type, Reduction reduction) {
  switch (type.kind()) {
    case Kind::kInt32:
    case Kind::kUInt32:
    case Kind::kInt64:
    case Kind::kUInt64:
      return reduction == Reduction::kAdd || reduction == Reduction::kMean ||
             reduction == Reduction::kMin || reduction == Reduction::kMax;
    case Kind::kFloat16:
    case Kind::kBFloat16:
    case Kind::kFloat32:
    case Kind::kFloat64: return reduction == Reduction::kAdd || reduction == Reduction::kMean;
    default: return false;
  }
}

void launch_atomics(const Nest& nest, const ScatterCall& call) {
  switch (nest.element_type.kind()) {
    case Kind::kInt32: return launch<int>(nest, call);
    case Kind::kUInt32: return launch<unsigned int>(nest, call);
    case Kind::kInt64: return launch<long long>(nest, call);
    case Kind::kUInt64: return launch<unsigned long long>(nest, call);
    case Kind::kFloat16: return launch<__half>(nest, call);
    case Kind::kBFloat16: return launch<__nv_bfloat16>(nest, call);
    case Kind::kFloat64: return launch<double>(nest, call);
    default:
      return scatter_word_bytes(scatter_nest(nest), call) == 16 ? launch<FourFloats>(nest, call)
                                                                : launch<float>(nest, call);
  }
}

}  // namespace sheaf::cuda
