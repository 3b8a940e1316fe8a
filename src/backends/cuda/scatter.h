// SPDX-License-Identifier: MIT
//
// The scatter kernels of this backend. As in gather.h a run launches and returns; every kernel
// writes nothing but its workspace if the verdict is bad. A scatter kernel must not refuse for the
// sake of addresses: the workspace of the next one may be larger than what the plan was told.
#pragma once

#include "backends/cuda/gather.h"
#include "backends/cuda/scatter_nest.h"

namespace sheaf::cuda {

// A scatter on device pointers.
struct ScatterCall {
  const std::byte* indices;
  const std::byte* updates;
  std::byte* output;
  const Verdict* check;
  Stream stream;
};

inline ScatterCall scatter_call(const ScatterBuffers& buffers, const Launch& launch) {
  return {buffers.indices, buffers.updates, buffers.data, launch.verdict,
          static_cast<Stream>(launch.stream)};
}

// scatter_atomics.cu: in any order.
const char* atomics_refusal(const KernelQuery& query);
bool run_atomics(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// scatter_sorted.cu: tuples sorted by cell, then the updates of every cell in their order.
const char* sorted_refusal(const KernelQuery& query);
bool run_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t sorted_bytes(const Nest& nest, int threads);

// scatter_steps.cu: Backend::fill, Backend::count and Backend::divide
void fill(const Nest& nest, const std::byte* element, const ScatterBuffers& buffers,
          const Launch& launch);
void count(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch);

// Tuples by cell, in device memory: words of 4 bytes, or 8 if the scatter is wide().
struct SortedTuples {
  const void* keys;
  const void* tuples;
  const void* heads;       // where in the two each cell's list begins
  const void* head_count;  // how many lists there are; one may be of skipped tuples
  // Numbers of long lists, appended by the first kernel for the second.
  unsigned long long* long_lists;
  unsigned long long* long_count;
  bool wide;
};

// A list of more tuples is a long one.
inline constexpr int64_t kLongList = 512;

// What a sorted scatter keeps in its workspace: byte offsets.
struct SortLayout {
  size_t keys[2], tuples[2];
  size_t heads, head_count;
  size_t long_lists, long_count;
  size_t sorting, sorting_bytes;
  size_t bytes;  // in all
};

// scatter_sort.cu
SortLayout sort_layout(const ScatterNest& scatter);
SortedTuples launch_sort(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                         const SortLayout& layout);

// reduce_*.cu: the updates of every cell, reduced in their order. `together`: rows may be moved 16
// bytes at a time.
void reduce_floats(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted,
                   bool together);
void reduce_small_floats(const ScatterNest& scatter, const ScatterCall& call,
                         const SortedTuples& sorted, bool together);
void reduce_integers(const ScatterNest& scatter, const ScatterCall& call,
                     const SortedTuples& sorted, bool together);

// The widest word by which the rows of a call can be moved.
int scatter_word_bytes(const ScatterNest& scatter, const ScatterCall& call);

}  // namespace sheaf::cuda
