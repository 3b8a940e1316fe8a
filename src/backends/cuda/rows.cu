// SPDX-License-Identifier: MIT
//
// Rows of any size, by words: cuda.rows and cuda.strided.
#include "backends/cuda/gather.h"
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

// A call this small is cheaper checked by every block than by a kernel of its own.
constexpr int64_t kSmallIndices = 4096;
constexpr int64_t kSmallBlocks = 128;

// The indices stand one after the other; a tuple's components are `inner` apart. count 0: nothing
// is to be checked on the way.
struct SmallCheck {
  int count = 0;
  int inner = 1;
  int components = 1;
  Verdict* verdict = nullptr;
};

// True if every index is in range. The first block writes the verdict.
template <Indices kIndices, class DeviceNest>
__device__ bool check_all(const DeviceNest& nest, const std::byte* indices,
                          const SmallCheck& check) {
  __shared__ int first;
  int bad = 0;
  int my_first = INT_MAX;
  for (int i = static_cast<int>(threadIdx.x); i < check.count; i += kBlockThreads) {
    const int component = check.components == 1 ? 0 : i / check.inner % check.components;
    const int64_t raw = load_raw<kIndices>(nest.index_kind, indices, i);
    if (entry_of(nest, raw, nest.coordinates[component].extent) == kOutside) {
      ++bad;
      my_first = min(my_first, i);
    }
  }
  const bool any_bad = __syncthreads_or(bad) != 0;
  if (blockIdx.x != 0) {
    return !any_bad;
  }
  if (threadIdx.x == 0) {
    *check.verdict = {};
    first = INT_MAX;
  }
  __syncthreads();
  if (bad != 0) {
    atomicAdd(&check.verdict->bad, static_cast<unsigned long long>(bad));
    atomicMin(&first, my_first);
  }
  __syncthreads();
  if (any_bad && threadIdx.x == 0) {
    check.verdict->not_first = ~static_cast<unsigned long long>(first);
    check.verdict->value =
        static_cast<unsigned long long>(load_raw<kIndices>(nest.index_kind, indices, first));
  }
  return !any_bad;
}

template <int kBytes, Indices kIndices, class DeviceNest>
__global__ void __launch_bounds__(kBlockThreads)
    rows_kernel(const __grid_constant__ GatherArgs<DeviceNest> args, const SmallCheck check) {
  const bool stop = check.count != 0 ? !check_all<kIndices>(args.nest, args.indices, check)
                                     : refused(args.verdict);
  move_tile<kBytes, kIndices>(args, blockIdx.x, stop);
}

template <int kBytes, Indices kIndices, class DeviceNest>
void launch(const GatherCall& call, const SmallCheck& check) {
  const GatherArgs<DeviceNest> args(call, kBytes);
  const int64_t blocks = (args.words - 1) / kTileWords<kBytes> + 1;
  rows_kernel<kBytes, kIndices, DeviceNest>
      <<<static_cast<unsigned>(blocks), kBlockThreads, 0, call.stream>>>(args, check);
}

// The shapes of gather and of gather_nd with pairs have kernels of their own; the rest shares one.
template <int kBytes, Indices kIndices>
void launch_shape(const GatherCall& call, const SmallCheck& check) {
  const int loops = call.nest.loops.size();
  const int coordinates = call.nest.coordinates.size();
  if (loops == 1 && coordinates == 1) {
    launch<kBytes, kIndices, NestOf<1, 1>>(call, check);
  } else if (loops == 2 && coordinates == 1) {
    launch<kBytes, kIndices, NestOf<2, 1>>(call, check);
  } else if (loops == 1 && coordinates == 2) {
    launch<kBytes, kIndices, NestOf<1, 2>>(call, check);
  } else {
    launch<kBytes, Indices::kAnyType, AnyNest>(call, check);
  }
}

void launch(const GatherCall& call, const SmallCheck& check) {
  with_word_bytes(word_bytes(call), [&](auto bytes) {
    if constexpr (bytes() >= 4) {
      switch (indices_of(call.nest.index_type.kind())) {
        case Indices::kInt32: return launch_shape<bytes(), Indices::kInt32>(call, check);
        case Indices::kBits64: return launch_shape<bytes(), Indices::kBits64>(call, check);
        case Indices::kAnyType: break;
      }
    }
    launch<bytes(), Indices::kAnyType, AnyNest>(call, check);
  });
}

}  // namespace

void launch_rows(const GatherCall& call) { launch(call, {}); }

bool fits_small_rows(const GatherCall& call, const CheckArgs& check) {
  const int64_t words = check.order.points == 0 ? 0 : call.nest.row_bytes / word_bytes(call);
  int64_t points = 1;
  for (const Loop& loop : call.nest.loops) {
    points *= loop.extent;
  }
  return check.in_line() && check.count <= kSmallIndices &&
         points * words <= kSmallBlocks * kTileWords<16>;
}

void launch_small_rows(const GatherCall& call, const CheckArgs& check) {
  launch(call, {static_cast<int>(check.count), static_cast<int>(check.inner),
                static_cast<int>(check.components), check.verdict});
}

}  // namespace sheaf::cuda
