// SPDX-License-Identifier: MIT
//
// cuda.chained: narrow updates of many cells, a few to each. Every tuple links itself to the others
// of its cell by one atomic exchange, which takes less time than to sort them all. Chains come in
// any order, and the threads of a cell sort its own. Cells with many tuples, whose chains would be
// too long to follow, are left to a sort; all cells, if a sample shows a crowd at one of them.
#include <algorithm>

#include "backends/cuda/scatter_chained.h"
#include "backends/cuda/scatter_sort.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kSampleThreads = 1024;  // one sample each
constexpr int64_t kLeastTuples = 4096;
static_assert(kLeastTuples >= kSampleThreads);

struct LinkArgs {
  KeyArgs key;
  Chains chains;
  LongLists* long_state;
};

constexpr uint32_t kMix = 2654435761U;

// Counts some tuples, each somewhere in its share of all, by a hash of their cells. By one block.
__device__ bool shows_crowd(const KeyArgs& args) {
  constexpr uint32_t kHashBits = 13, kCrowd = 6;
  __shared__ uint32_t met[1 << kHashBits];
  for (uint32_t i = threadIdx.x; i < 1 << kHashBits; i += kSampleThreads) {
    met[i] = 0;
  }
  const auto share = static_cast<uint32_t>(args.tuples.points / kSampleThreads);
  const uint64_t key = key_of(args, threadIdx.x * share + (threadIdx.x * kMix >> 16) % share);
  __syncthreads();
  const uint32_t hash = static_cast<uint32_t>(key) * kMix >> (32 - kHashBits);
  const bool crowd = key != args.skipped && atomicAdd(&met[hash], 1U) + 1 == kCrowd;
  return __syncthreads_or(crowd) != 0;
}

// The first block takes a sample. Exchanges at one address wait for one another, so no chains are
// made if one cell has more than about one in 200 tuples. The others empty the chains.
__global__ void __launch_bounds__(kSampleThreads)
    prepare_kernel(const __grid_constant__ LinkArgs args) {
  if (blockIdx.x == 0) {
    const bool crowded = shows_crowd(args.key);
    if (threadIdx.x == 0) {
      *args.chains.state = {static_cast<uint32_t>(crowded), 0, 0};
      *args.long_state = {};
    }
    return;
  }
  const uint32_t step = (gridDim.x - 1) * kSampleThreads;
  for (uint32_t cell = (blockIdx.x - 1) * kSampleThreads + threadIdx.x; cell < args.chains.cells;
       cell += step) {
    args.chains.heads[cell] = kEndOfChain;
  }
}

// A thread per tuple. Those of a warp that lead to one cell link themselves to one another, and
// only the last of them to the chain.
__global__ void __launch_bounds__(kThreads) link_kernel(const __grid_constant__ LinkArgs args) {
  const Chains& chains = args.chains;
  if (chains.state->crowded != 0) {
    return;
  }
  const int64_t tuple = int64_t{blockIdx.x} * kThreads + threadIdx.x;
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
  DemandLayout demand;
  size_t bytes;  // in all
};

ChainLayout chain_layout(const ScatterNest& scatter) {
  ChainLayout layout{};
  layout.heads = take(layout.bytes, sizeof(uint32_t) * static_cast<size_t>(scatter.key_count));
  layout.state = take(layout.bytes, sizeof(ChainState));
  layout.demand = demand_layout(scatter, layout.bytes);
  return layout;
}

void launch_chains(const ScatterNest& scatter, const ScatterCall& call, const Chains& chains) {
  switch (scatter.tuples.reduction) {
    case Reduction::kAdd:
    case Reduction::kMean: return chained_add(scatter, call, chains);
    case Reduction::kSub: return chained_sub(scatter, call, chains);
    case Reduction::kMul: return chained_mul(scatter, call, chains);
    case Reduction::kMin: return chained_min(scatter, call, chains);
    case Reduction::kMax: return chained_max(scatter, call, chains);
    case Reduction::kNone: return;  // refused
  }
}

}  // namespace

const char* chained_refusal(const KernelQuery& query) {
  constexpr int64_t kMostBytes = 64, kMostTuplesOfCell = 8;
  constexpr int64_t kLeastCells = 4096;  // with fewer, a sample meets some cell often by chance
  if (query.nest.empty() || query.nest.reduction == Reduction::kNone) {
    return "nothing is reduced";
  }
  const DType type = query.nest.element_type;
  if (type != f16 && type != bf16 && type != f32 && type != f64) {
    return "not a type that large scatters reduce in order";
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (scatter.tuple_count < kLeastTuples || scatter.key_count < kLeastCells) {
    return "few updates or cells: sorting takes no longer";
  }
  if (scatter.tuples.row_bytes > kMostBytes / scatter.slice_count) {
    return "wide updates: to sort takes little time beside reading them";
  }
  if (scatter.tuple_count / kMostTuplesOfCell > scatter.key_count) {
    return "many updates of each cell: chains would be long";
  }
  const int64_t numbers = current_device().l2_bytes / static_cast<int64_t>(sizeof(uint32_t));
  return !scatter.wide() && scatter.tuple_count <= numbers - scatter.key_count
             ? nullptr
             : "chains do not fit into the L2 cache: sorting is faster";
}

size_t chained_bytes(const Nest& nest, int /*threads*/) {
  return chain_layout(scatter_nest(nest)).bytes;
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
  const auto few = static_cast<unsigned>(2 * current_device().multiprocessors);
  const unsigned emptying = std::min(blocks_of(scatter.key_count, kSampleThreads), few);
  prepare_kernel<<<1 + emptying, kSampleThreads, 0, call.stream>>>(args);
  link_kernel<<<blocks_of(scatter.tuple_count, kThreads), kThreads, 0, call.stream>>>(args);
  check_launches("linking updates");  // chains of any other memory would lead anywhere
  launch_chains(scatter, call, chains);
  launch_reduction(scatter, call,
                   launch_sort_on_demand(scatter, call, chains, launch.workspace, layout.demand));
  return true;
}

}  // namespace sheaf::cuda
