// SPDX-License-Identifier: MIT
//
// cuda.sorted: tuples sorted by cell make cells independent of one another, so that each is reduced
// in the order of its updates. Without reduction only the last update of a cell counts.
#include <bit>

#include "backends/cuda/scatter/reduce.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

// One thread per piece of a tuple; only the last tuple of a list is written.
template <int kBytes>
__global__ void __launch_bounds__(kBlockThreads)
    assign_kernel(const __grid_constant__ ReduceArgs args) {
  const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const auto at = static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
  if (at >= args.tuples.points || refused(args.check)) {
    return;
  }
  const List list(args, at, at + 1);
  const bool last = at + 1 == args.tuples.points || number_at(args, args.sorted.keys, at + 1) !=
                                                        number_at(args, args.sorted.keys, at);
  if (last && list.live) {
    const Piece piece(args, number - at * static_cast<int64_t>(args.pieces.divisor), kBytes);
    const std::byte* from = args.updates + piece.updates + update_of(args, at);
    *reinterpret_cast<Word<kBytes>*>(args.output + list.cell + piece.output) =
        load_once<Word<kBytes>>(from);
  }
}

void launch_assign(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   int word_bytes) {
  const ReduceArgs args = reduce_args(scatter, call, sorted, word_bytes);
  const unsigned blocks =
      blocks_of(scatter.tuple_count * static_cast<int64_t>(args.pieces.divisor), kBlockThreads);
  with_word_bytes(word_bytes, [&](auto bytes) {
    assign_kernel<bytes()><<<blocks, kBlockThreads, 0, call.stream>>>(args);
  });
}

// No memory has room for lists of more.
constexpr int64_t kMostTuples = int64_t{1} << 48;

}  // namespace

int scatter_word_bytes(const ScatterNest& scatter, const ScatterCall& call) {
  const auto bits = uint64_t{reinterpret_cast<uintptr_t>(call.output)} |
                    uint64_t{reinterpret_cast<uintptr_t>(call.updates)} |
                    stride_bits(scatter.tuples) | stride_bits(scatter.slices) | 16;
  return 1 << std::countr_zero(bits);
}

const char* sorted_refusal(const KernelQuery& query) {
  if (query.nest.empty()) {
    return nullptr;
  }
  const ScatterNest scatter = scatter_nest(query.nest);
  if (scatter.tuple_count > kMostTuples) {
    return "more than 2^48 updates to sort";
  }
  const int64_t pieces = scatter.tuples.row_bytes * scatter.slice_count;  // of a byte, at worst
  const int64_t blocks = (scatter.tuple_count / tuning::Lists::kLeastTile + 1) *
                         (pieces / tuning::Lists::kMostPieces + 1);
  const bool puts = query.nest.reduction == Reduction::kNone;
  const bool fits =
      puts ? fits_launch(scatter.tuple_count * pieces, kBlockThreads) : fits_launch(blocks, 1);
  return fits ? nullptr : "more blocks than one launch can have";
}

size_t sorted_bytes(const Nest& nest, int /*threads*/) {
  return sort_layout(scatter_nest(nest)).bytes;
}

bool run_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch) {
  const ScatterNest scatter = scatter_nest(nest);
  const ScatterCall call = scatter_call(buffers, launch);
  const SortedTuples sorted = launch_sort(scatter, call, launch.workspace, sort_layout(scatter));
  if (nest.reduction == Reduction::kNone) {
    launch_assign(scatter, call, sorted, scatter_word_bytes(scatter, call));
  } else {
    with_reduction(nest.reduction,
                   [&](auto reduction) { launch_sorted<reduction()>(scatter, call, sorted); });
  }
  return true;
}

}  // namespace sheaf::cuda
