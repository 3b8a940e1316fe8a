// SPDX-License-Identifier: MIT
//
// The check of all indices. It counts the bad ones, finds the first in row-major order, and keeps
// its value: when the verdict is read, the indices may be gone.
#include <algorithm>

#include "backends/cuda/gather/move_rows.cuh"
#include "backends/cuda/tuning.h"
#include "plan/index_order.h"

namespace sheaf::cuda {
namespace {

constexpr int64_t kTile = int64_t{kBlockThreads} * tuning::Check::kInFlight;

__device__ int64_t component_of(const CheckArgs& args, int64_t element) {
  return args.components == 1 ? 0 : element / args.inner % args.components;
}

// What one thread found.
struct Found {
  unsigned int bad = 0;
  unsigned long long not_first = 0;
};

// kInLine: the indices follow one another in memory.
template <Indices kIndices, bool kInLine>
__device__ void look(const CheckArgs& args, int64_t first, Found& found) {
  int64_t raw[tuning::Check::kInFlight];
#pragma unroll
  for (int i = 0; i < tuning::Check::kInFlight; ++i) {
    const int64_t element = first + threadIdx.x + i * kBlockThreads;
    if (element < args.count) {
      raw[i] = load_raw<kIndices>(args.order.index_kind, args.indices,
                                  kInLine ? element : locate(args.order, element).index);
    }
  }
#pragma unroll
  for (int i = 0; i < tuning::Check::kInFlight; ++i) {
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

// The last block to end sees what all found, and counts repeated indices as often as they repeat.
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
    const Place first = locate(args.order, static_cast<int64_t>(~verdict.not_first));
    args.verdict->value = static_cast<unsigned long long>(
        load_raw<kIndices>(args.order.index_kind, args.indices, first.index));
    args.verdict->not_first = ~static_cast<unsigned long long>(first.output);
    args.verdict->bad = verdict.bad * static_cast<unsigned long long>(args.repeats);
  }
}

template <Indices kIndices, bool kInLine>
__global__ void __launch_bounds__(kBlockThreads)
    check_kernel(const __grid_constant__ CheckArgs args) {
  if (args.only_if_met && args.verdict->met == 0) {
    return;
  }
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

void launch_check(const CheckArgs& args, int blocks_per_multiprocessor, Stream stream) {
  const int64_t tiles = (args.count - 1) / kTile + 1;
  const auto blocks = static_cast<unsigned>(std::min<int64_t>(
      tiles, int64_t{blocks_per_multiprocessor} * current_device().multiprocessors));
  with_indices(args.order.index_kind, [&](auto indices) {
    const auto kernel =
        args.in_line() ? check_kernel<indices(), true> : check_kernel<indices(), false>;
    kernel<<<blocks, kBlockThreads, 0, stream>>>(args);
  });
}

}  // namespace

CheckArgs check_args(const Plan& plan, const std::byte* indices, Verdict* verdict) {
  const IndexOrder order = index_order(plan);
  CheckArgs args{};
  args.order = device_nest<AnyNest>(order.nest);
  args.indices = indices;
  args.count = order.count;
  args.repeats = order.repeats;
  args.inner = order.inner;
  args.components = order.components;
  args.verdict = verdict;
  return args;
}

bool check(const Plan& plan, const std::byte* indices, const Launch& launch) {
  const auto stream = static_cast<Stream>(launch.stream);
  cudaMemsetAsync(launch.verdict, 0, sizeof(Verdict), stream);
  const CheckArgs args = check_args(plan, indices, launch.verdict);
  if (args.count > 0) {
    launch_check(args, tuning::Check::kBlocksEach, stream);
  }
  return true;
}

// Few blocks: usually they end at once.
void complete_verdict(const Plan& plan, const std::byte* indices, const Launch& launch) {
  CheckArgs args = check_args(plan, indices, launch.verdict);
  args.only_if_met = true;
  if (args.count > 0) {
    launch_check(args, 1, static_cast<Stream>(launch.stream));
  }
}

Verdict wait(const Verdict* verdict, void* stream) {
  Verdict found{};
  if (verdict != nullptr) {
    check_result(cudaMemcpyAsync(&found, verdict, sizeof found, cudaMemcpyDeviceToHost,
                                 static_cast<Stream>(stream)),
                 "reading the verdict on the indices");
  }
  check_result(cudaStreamSynchronize(static_cast<Stream>(stream)), "waiting for a stream");
  return found;
}

}  // namespace sheaf::cuda
