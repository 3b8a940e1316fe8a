// SPDX-License-Identifier: MIT
//
// The check of all indices before anything is written. It counts the bad ones, finds the first in
// row-major order, and keeps its value: by the time somebody asks, the indices may be gone.
#include <algorithm>

#include "backends/cuda/device.h"
#include "backends/cuda/device_memory.cuh"
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kInFlight = 8;
constexpr int64_t kTile = int64_t{kBlockThreads} * kInFlight;

__device__ int64_t component_of(const CheckArgs& args, int64_t element) {
  return args.components == 1 ? 0 : element / args.inner % args.components;
}

// What one thread found.
struct Found {
  unsigned int bad = 0;
  unsigned long long not_first = 0;
};

// kInLine: the indices stand one after the other.
template <Indices kIndices, bool kInLine>
__device__ void look(const CheckArgs& args, int64_t first, Found& found) {
  int64_t raw[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int64_t element = first + threadIdx.x + i * kBlockThreads;
    if (element < args.count) {
      raw[i] = load_raw<kIndices>(args.order.index_kind, args.indices,
                                  kInLine ? element : locate(args.order, element).index);
    }
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    const int64_t element = first + threadIdx.x + i * kBlockThreads;
    if (element < args.count) {
      const int64_t extent = args.order.coordinates[component_of(args, element)].extent;
      if (entry_of(args.order, raw[i], extent) == kOutside) {
        ++found.bad;
        found.not_first = max(found.not_first, ~static_cast<unsigned long long>(element));
      }
    }
  }
}

// The block that ends last sees what all have found.
template <Indices kIndices>
__device__ void keep_value(const CheckArgs& args) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x != 0 || atomicAdd(&args.verdict->blocks_done, 1U) + 1 != gridDim.x) {
    return;
  }
  __threadfence();
  const volatile Verdict& verdict = *args.verdict;
  if (verdict.bad != 0) {
    const auto first = static_cast<int64_t>(~verdict.not_first);
    args.verdict->value = static_cast<unsigned long long>(
        load_raw<kIndices>(args.order.index_kind, args.indices, locate(args.order, first).index));
  }
}

template <Indices kIndices, bool kInLine>
__global__ void __launch_bounds__(kBlockThreads)
    check_kernel(const __grid_constant__ CheckArgs args) {
  Found found;
  for (int64_t first = blockIdx.x * kTile; first < args.count; first += gridDim.x * kTile) {
    look<kIndices, kInLine>(args, first, found);
  }
  if (found.bad != 0) {
    atomicAdd(&args.verdict->bad, static_cast<unsigned long long>(found.bad));
    atomicMax(&args.verdict->not_first, found.not_first);
  }
  keep_value<kIndices>(args);
}

}  // namespace

void launch_check(const CheckArgs& args, Stream stream) {
  cudaMemsetAsync(args.verdict, 0, sizeof(Verdict), stream);
  const int64_t tiles = (args.count - 1) / kTile + 1;
  const auto blocks = static_cast<unsigned>(
      std::min<int64_t>(tiles, int64_t{8} * current_device().multiprocessors));
  with_indices(args.order.index_kind, [&](auto indices) {
    const auto kernel =
        args.in_line() ? check_kernel<indices(), true> : check_kernel<indices(), false>;
    kernel<<<blocks, kBlockThreads, 0, stream>>>(args);
  });
}

}  // namespace sheaf::cuda
