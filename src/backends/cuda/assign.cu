// SPDX-License-Identifier: MIT
//
// A scatter without reduction: of each cell's list the last counts. Rows are moved by words.
#include "backends/cuda/join.cuh"
#include "backends/cuda/join.h"
#include "backends/cuda/move_rows.cuh"

namespace sheaf::cuda {
namespace {

template <int kBytes>
__global__ void __launch_bounds__(kJoinThreads)
    assign_kernel(const __grid_constant__ JoinArgs args) {
  const int64_t number = int64_t{blockIdx.x} * kJoinThreads + threadIdx.x;
  const auto list_number =
      static_cast<int64_t>(args.pieces.quotient(static_cast<uint64_t>(number)));
  const int64_t lists = list_count(args);
  if (list_number >= lists || refused(args.verdict)) {
    return;
  }
  const List list(args, list_number, lists);
  if (list.live) {
    const Piece piece(args, number - list_number * static_cast<int64_t>(args.pieces.divisor),
                      kBytes);
    const std::byte* from = args.updates + piece.updates + update_of(args, list.end - 1);
    *reinterpret_cast<Word<kBytes>*>(args.output + list.cell + piece.output) =
        load_once<Word<kBytes>>(from);
  }
}

void launch_assign(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   int word_bytes) {
  const JoinArgs args = join_args(scatter, call, sorted, word_bytes);
  const unsigned blocks = join_blocks(scatter, args);
  with_word_bytes(word_bytes, [&](auto bytes) {
    assign_kernel<bytes()><<<blocks, kJoinThreads, 0, call.stream>>>(args);
  });
}

}  // namespace

void launch_join(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted) {
  const int word = scatter_word_bytes(scatter, call);
  if (scatter.tuples.reduction == Reduction::kNone) {
    return launch_assign(scatter, call, sorted, word);
  }
  const Kind kind = scatter.tuples.element_type.kind();
  if (kind >= Kind::kFloat32) {
    join_floats(scatter, call, sorted, word == 16);
  } else if (kind >= Kind::kFloat8E4M3) {
    join_small_floats(scatter, call, sorted, word == 16);
  } else {
    join_integers(scatter, call, sorted, word == 16);
  }
}

}  // namespace sheaf::cuda
