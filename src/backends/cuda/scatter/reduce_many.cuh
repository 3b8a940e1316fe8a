// SPDX-License-Identifier: MIT
//
// Long lists of updates, where there are many. As for short lists, every thread has a few elements
// of one cell and walks its list. Each thread has its own ring of updates in shared memory, so many
// loads are in flight and no thread waits for another.
#pragma once

#include "backends/cuda/scatter/produce_long.cuh"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

template <class T, int kCount>
inline constexpr bool kHasMany = int{sizeof(Elements<T, kCount>)} == kWordBytes&& kCount > 1;

// One thread's list, and its elements of the cell.
template <Reduction kReduction, class T, int kCount, class Tuples>
class ManyWalk {
 public:
  using Group = Elements<T, kCount>;
  using Step = Group[tuning::Many::kStep][tuning::Many::kThreads];

  // `steps`: where the thread's updates of the first step go.
  __device__ ManyWalk(const ReduceArgs& args, const List& list, int64_t piece_number, Step* steps)
      : tuples_(args), begin_(list.begin), count_(list.end - list.begin), steps_(steps) {
    const Piece piece(args, piece_number, sizeof(Group));
    updates_ = args.updates + piece.updates;
    cell_ = reinterpret_cast<Group*>(args.output + list.cell + piece.output);
  }

  __device__ void run() {
    auto value = accumulators<kReduction, T>(*cell_, std::make_integer_sequence<int, kCount>{});
    Numbers first[tuning::Many::kSteps - 1];
#pragma unroll
    for (int step = 0; step < tuning::Many::kSteps - 1; ++step) {
      load_numbers(step, first[step]);
    }
#pragma unroll
    for (int step = 0; step < tuning::Many::kSteps - 1; ++step) {
      start(step, first[step]);
    }
    Numbers numbers;
    load_numbers(tuning::Many::kSteps - 1, numbers);
    for (int64_t step = 0; step * tuning::Many::kStep < count_; ++step) {
      start(step + tuning::Many::kSteps - 1, numbers);
      load_numbers(step + tuning::Many::kSteps, numbers);
      wait_for_copies_but<tuning::Many::kSteps - 1>();
#pragma unroll
      for (int i = 0; i < tuning::Many::kStep; ++i) {
        if (step * tuning::Many::kStep + i < count_) {
          value.add(slot(step, i));
        }
      }
    }
    *cell_ = value.result();
  }

 private:
  using Numbers = typename Tuples::Number[tuning::Many::kStep];

  __device__ Group& slot(int64_t step, int i) const {
    return steps_[step % tuning::Many::kSteps][i][threadIdx.x];
  }
  __device__ void load_numbers(int64_t step, Numbers& numbers) const {
#pragma unroll
    for (int i = 0; i < tuning::Many::kStep; ++i) {
      const int64_t at = step * tuning::Many::kStep + i;
      numbers[i] = at < count_ ? tuples_.number(begin_ + at) : 0;
    }
  }
  __device__ void start(int64_t step, const Numbers& numbers) const {
#pragma unroll
    for (int i = 0; i < tuning::Many::kStep; ++i) {
      if (step * tuning::Many::kStep + i < count_) {
        copy_async<kWordBytes>(reinterpret_cast<std::byte*>(&slot(step, i)),
                               updates_ + tuples_.update(numbers[i]));
      }
    }
    close_copies();
  }

  Tuples tuples_;
  int64_t begin_, count_;
  Step* steps_;
  const std::byte* updates_;
  Group* cell_;
};

template <class Walk>
__device__ void walk_many(const ReduceArgs& args, typename Walk::Step* steps) {
  const SortedTuples& sorted = args.sorted;
  const uint64_t items = sorted.long_state->others * args.pieces.divisor;
  for (uint64_t item = uint64_t{blockIdx.x} * tuning::Many::kThreads + threadIdx.x; item < items;
       item += uint64_t{gridDim.x} * tuning::Many::kThreads) {
    const uint64_t number = args.pieces.quotient(item);
    const LongList& list =
        sorted.long_lists[sorted.long_capacity - 1 - static_cast<int64_t>(number)];
    const auto piece = static_cast<int64_t>(item - number * args.pieces.divisor);
    Walk(args, List(args, list.begin, list.end), piece, steps).run();
  }
}

// May begin while huge lists, which are other cells, are still being reduced.
template <Reduction kReduction, class T, int kCount>
__global__ void __launch_bounds__(tuning::Many::kThreads)
    reduce_many_kernel(const __grid_constant__ ReduceArgs args) {
  __shared__ Elements<T, kCount> steps[tuning::Many::kSteps][tuning::Many::kStep]
                                      [tuning::Many::kThreads];
  let_next_launch_begin();
  if (!refused(args.check) && has_many_lists(args)) {
    if (TuplesOfOneLoop::applies_to(args)) {
      walk_many<ManyWalk<kReduction, T, kCount, TuplesOfOneLoop>>(args, steps);
    } else {
      walk_many<ManyWalk<kReduction, T, kCount, AnyTuples>>(args, steps);
    }
  }
  if (blockIdx.x == gridDim.x - 1) {  // this launch ends after the one before it
    wait_for_launch_before();
  }
}

// From how many lists on they are many (Many::kGroups). UINT64_MAX: there cannot be that many.
inline uint64_t many_lists(const ScatterNest& scatter) {
  const int64_t groups =
      scatter.slice_count * ((scatter.tuples.row_bytes - 1) / tuning::Long::kGroupBytes + 1);
  const int64_t many = (tuning::Many::kGroups * current_device().multiprocessors - 1) / groups + 1;
  return many <= scatter.tuple_count / tuning::Lists::kLong ? static_cast<uint64_t>(many)
                                                            : UINT64_MAX;
}

// As many blocks as are resident at once, at most.
template <Reduction kReduction, class T, int kCount>
void launch_many(const ReduceArgs& args, bool early, Stream stream) {
  const int64_t most = tuning::Many::kBlocks * current_device().multiprocessors;
  const int64_t blocks =
      (args.sorted.long_capacity * static_cast<int64_t>(args.pieces.divisor) - 1) /
          tuning::Many::kThreads +
      1;
  launch_early(reduce_many_kernel<kReduction, T, kCount>, args,
               static_cast<unsigned>(std::min(most, blocks)), tuning::Many::kThreads, early,
               stream);
}

}  // namespace sheaf::cuda
