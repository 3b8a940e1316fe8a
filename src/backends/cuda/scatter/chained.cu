// SPDX-License-Identifier: MIT
//
// cuda.chained: narrow updates of many cells, a few to each. Every tuple links itself to the others
// of its cell by one atomic exchange, which is faster than sorting them all. A chain is in any
// order; the threads that reduce it sort it. Cells whose chains are too long are left to a sort,
// and so are all cells if a sample shows a crowd at one of them.
#include <algorithm>

#include "backends/cuda/scatter/chained.h"
#include "backends/cuda/scatter/sort.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Tuning = tuning::Chained;

static_assert(Tuning::kLeastTuples >= Tuning::kSampleThreads);

struct LinkArgs {
  KeyArgs key;
  Chains chains;
  LongLists* long_state;
};

constexpr uint32_t kMix = 2654435761U;

// Counts a sample of tuples, spread over all, by a hash of their cells. By one block.
__device__ bool shows_crowd(const KeyArgs& args) {
  __shared__ uint32_t met[1 << Tuning::kHashBits];
  for (uint32_t i = threadIdx.x; i < 1 << Tuning::kHashBits; i += Tuning::kSampleThreads) {
    met[i] = 0;
  }
  const auto share = static_cast<uint32_t>(args.tuples.points / Tuning::kSampleThreads);
  const uint64_t key = key_of(args, threadIdx.x * share + (threadIdx.x * kMix >> 16) % share);
  __syncthreads();
  const uint32_t hash = static_cast<uint32_t>(key) * kMix >> (32 - Tuning::kHashBits);
  const bool crowd = key != args.skipped && atomicAdd(&met[hash], 1U) + 1 == Tuning::kCrowd;
  return __syncthreads_or(crowd) != 0;
}

// The first block takes a sample. Exchanges at one address wait for one another, so no chains are
// made if one cell has more than about one in 200 tuples. The others empty the chains.
__global__ void __launch_bounds__(Tuning::kSampleThreads)
    prepare_kernel(const __grid_constant__ LinkArgs args) {
  if (blockIdx.x == 0) {
    const bool crowded = shows_crowd(args.key);
    if (threadIdx.x == 0) {
      *args.chains.state = {static_cast<uint32_t>(crowded), 0, 0};
      *args.long_state = {};
    }
    return;
  }
  const uint32_t step = (gridDim.x - 1) * Tuning::kSampleThreads;
  for (uint32_t cell = (blockIdx.x - 1) * Tuning::kSampleThreads + threadIdx.x;
       cell < args.chains.cells; cell += step) {
    args.chains.heads[cell] = kEndOfChain;
  }
}

// One thread per tuple. Those of a warp that lead to one cell link themselves to one another, and
// only the last of them to the chain.
__global__ void __launch_bounds__(kBlockThreads)
    link_kernel(const __grid_constant__ LinkArgs args) {
  const Chains& chains = args.chains;
  if (chains.state->crowded != 0) {
    return;
  }
  const int64_t tuple = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const uint64_t key = tuple < args.key.tuples.points ? key_of(args.key, tuple) : args.key.skipped;
  const bool live = key < chains.cells;
  const unsigned lane = threadIdx.x % 32;
  const unsigned same = __match_any_sync(~0U, static_cast<uint32_t>(live ? key : UINT32_MAX));
  const unsigned before = same & ((1U << lane) - 1);
  const unsigned last = 31 - static_cast<unsigned>(__clz(static_cast<int>(same)));
  uint32_t linked = kEndOfChain;
  if (live && lane == last) {
    linked = atomicExch(chains.heads + key, static_cast<uint32_t>(tuple));
  }
  linked = __shfl_sync(~0U, linked, static_cast<int>(last));
  if (before != 0) {
    const unsigned nearest = 31 - static_cast<unsigned>(__clz(static_cast<int>(before)));
    linked = static_cast<uint32_t>(tuple) - (lane - nearest);
  }
  if (live) {
    chains.next[tuple] = linked;
  }
}

struct ChainLayout {
  size_t heads, state;
  SortLayout demand;  // its bytes are those of all
};

ChainLayout chain_layout(const ScatterNest& scatter) {
  ChainLayout layout{};
  size_t taken = 0;
  layout.heads = take(taken, sizeof(uint32_t) * static_cast<size_t>(scatter.key_count));
  layout.state = take(taken, sizeof(ChainState));
  layout.demand = demand_layout(scatter, taken);
  return layout;
}

}  // namespace

const char* chained_refusal(const KernelQuery& query) {
  if (query.nest.empty() || query.nest.reduction == Reduction::kNone) {
    return "nothing is reduced";
  }
  const DType type = query.nest.element_type;
  if (type != f16 && type != bf16 && type != f32 && type != f64) {
    return "not a type that large scatters reduce in order";
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (scatter.tuple_count < Tuning::kLeastTuples || scatter.key_count < Tuning::kLeastCells) {
    return "few updates or cells: sorting takes no longer";
  }
  if (scatter.tuples.row_bytes > Tuning::kMostBytes / scatter.slice_count) {
    return "wide updates: sorting takes little time compared with reading them";
  }
  if (scatter.tuple_count / Tuning::kMostTuplesOfCell > scatter.key_count) {
    return "many updates of each cell: chains would be long";
  }
  const int64_t numbers = current_device().l2_bytes / static_cast<int64_t>(sizeof(uint32_t));
  return !scatter.wide() && scatter.tuple_count <= numbers - scatter.key_count
             ? nullptr
             : "chains do not fit into the L2 cache: sorting is faster";
}

size_t chained_bytes(const Nest& nest, int /*threads*/) {
  return chain_layout(scatter_nest(nest)).demand.bytes;
}

bool run_chained(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const ScatterNest scatter = scatter_nest(nest);
  const ScatterCall call = scatter_call(buffers, launch);
  const ChainLayout layout = chain_layout(scatter);
  const auto at = [&](size_t offset) { return launch.workspace + offset; };
  const Chains chains{.heads = reinterpret_cast<uint32_t*>(at(layout.heads)),
                      // The sort writes there once chains are done.
                      .next = reinterpret_cast<uint32_t*>(at(layout.demand.tuples[1])),
                      .state = reinterpret_cast<ChainState*>(at(layout.state)),
                      .cells = static_cast<uint32_t>(scatter.key_count)};
  const LinkArgs args{key_args(scatter, call), chains,
                      reinterpret_cast<LongLists*>(at(layout.demand.long_state))};
  const auto few = static_cast<unsigned>(Tuning::kEmptyBlocks * current_device().multiprocessors);
  const unsigned emptying = std::min(blocks_of(scatter.key_count, Tuning::kSampleThreads), few);
  prepare_kernel<<<1 + emptying, Tuning::kSampleThreads, 0, call.stream>>>(args);
  link_kernel<<<blocks_of(scatter.tuple_count, kBlockThreads), kBlockThreads, 0, call.stream>>>(
      args);
  check_launches("linking updates");  // chains in memory that was not written would lead anywhere
  with_reduction(nest.reduction, [&](auto reduction) {
    launch_chained<reduction()>(scatter, call, chains);
    launch_sorted<reduction()>(
        scatter, call,
        launch_sort_on_demand(scatter, call, chains, launch.workspace, layout.demand));
  });
  return true;
}

}  // namespace sheaf::cuda
