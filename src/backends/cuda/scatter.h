// SPDX-License-Identifier: MIT
//
// What the host side asks the kernels of scatters for. As in launch.h, each function launches and
// returns, and writes nothing but its workspace if the verdict is bad.
#pragma once

#include "backends/cuda/launch.h"
#include "backends/cuda/scatter_nest.h"

namespace sheaf::cuda {

// A scatter, on device pointers.
struct ScatterCall {
  const std::byte* indices;
  const std::byte* updates;
  std::byte* output;
  const Verdict* verdict;
  Stream stream;
};

// Tuples by cell, in device memory: words of 4 bytes, or 8 if the scatter is wide().
struct SortedTuples {
  const void* keys;
  const void* tuples;
  const void* heads;       // where in the two each cell's list begins
  const void* head_count;  // how many lists there are; one may be of skipped tuples
  // Lists that are left to join_long_lists: noted down by number, by whoever meets them.
  unsigned long long* long_lists;
  unsigned long long* long_count;
  bool wide;
};

// A list of more tuples is a long one.
inline constexpr int64_t kLongList = 512;

// sort.cu
size_t sorting_bytes(const ScatterNest& scatter);
SortedTuples launch_sort(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                         const ScatterLayout& layout);

// The widest word by which the rows of a call can be moved.
int scatter_word_bytes(const ScatterNest& scatter, const ScatterCall& call);

// assign.cu, join_*.cu: the updates of every cell in their order, or the last of them for kNone.
void launch_join(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted);

// relaxed.cu: in any order. For plans that joins_by_atomics() says yes to.
bool atomics_know(DType type, Reduction reduction);
void launch_atomics(const Nest& nest, const ScatterCall& call);

// steps.cu: what else a scatter does (plan/scatter_steps.h).
void launch_zero(const Nest& base, const ScatterCall& call);
void launch_start(const Nest& start, const std::byte* neutral, const ScatterCall& call);
void launch_counts(const Nest& count, const ScatterCall& call, std::byte* counts);
void launch_divide(const Nest& divide, DType type, const ScatterCall& call, const std::byte* counts,
                   bool with_self);

}  // namespace sheaf::cuda
