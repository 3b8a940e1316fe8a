// SPDX-License-Identifier: MIT
//
// The scatter kernels of this backend. As in gather.h a run launches and returns; every kernel
// writes nothing but its workspace if the verdict is bad. A scatter kernel must not refuse because
// of addresses: the next one may need a larger workspace than the plan was told.
#pragma once

#include <type_traits>

#include "backends/cuda/gather/gather.h"
#include "backends/cuda/tuning.h"
#include "plan/reductions.h"
#include "plan/scatter_nest.h"

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

// atomics.cu: in any order.
const char* atomics_refusal(const KernelQuery& query);
bool run_atomics(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// last.cu: without reduction, where the last update of a cell counts.
const char* last_refusal(const KernelQuery& query);
bool run_last(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t last_bytes(const Nest& nest, int threads);

// private.cu: one thread per column of few cells.
const char* private_refusal(const KernelQuery& query);
bool run_private(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// shared.cu: the cells of a few columns in shared memory.
const char* shared_refusal(const KernelQuery& query);
bool run_shared(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);

// turned.cu: columns turned into rows for cuda.shared, and back.
const char* turned_refusal(const KernelQuery& query);
bool run_turned(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t turned_bytes(const Nest& nest, int threads);

// chained.cu: tuples linked to others of their cell, then the updates of every cell in
// their order.
const char* chained_refusal(const KernelQuery& query);
bool run_chained(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t chained_bytes(const Nest& nest, int threads);

// sorted.cu: tuples sorted by cell, then the updates of every cell in their order.
const char* sorted_refusal(const KernelQuery& query);
bool run_sorted(const Nest& nest, const ScatterBuffers& buffers, const Launch& launch);
size_t sorted_bytes(const Nest& nest, int threads);

// steps/scatter.cu: Backend::fill, Backend::count, Backend::divide and DeviceSteps::convert
void fill(const Backend& self, const Nest& nest, const std::byte* element,
          const ScatterBuffers& buffers, const Launch& launch);
void count(const Backend& self, const Nest& nest, const ScatterBuffers& buffers,
           const Launch& launch);
void convert(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
             const Launch& launch);
void divide(const Nest& nest, DType type, const std::byte* counts, std::byte* sums, int64_t self,
            const Launch& launch);

// Lists of more than tuning::Lists::kLong tuples, found after the sort. Those of more than
// tuning::Lists::kHuge come first, so that none of them is begun late.
struct LongList {
  int64_t begin, end;  // in the sorted tuples
};
struct LongLists {
  unsigned long long huge, others;
  unsigned long long taken;  // pieces of work that blocks have taken
};

// Tuples by cell, in device memory: numbers of 4 bytes, or 8 if the scatter is wide(). A list is
// the tuples of one cell; one more may be of skipped tuples.
struct SortedTuples {
  const void* keys;
  const void* tuples;
  LongList* long_lists;  // huge lists from the front, others from the back
  int64_t long_capacity;
  LongLists* long_state;
  bool wide;
  const uint32_t* count = nullptr;  // how many, if only the device knows; null: all
};

// What a sorted scatter keeps in its workspace: byte offsets.
struct SortLayout {
  size_t keys[2], tuples[2];
  size_t long_lists, long_state;
  size_t sorting, sorting_bytes;
  size_t bytes;  // in all
};

// Takes `bytes` more of a workspace; returns where they begin.
inline size_t take(size_t& taken, size_t bytes) {
  const size_t at = taken;
  taken += (bytes + 255) / 256 * 256;
  return at;
}

// sort_counted.cu: a counting sort, for few cells. `memory` has counting_bytes(), and `keys` a
// number per tuple; fills what sort.cu left to the sort.
bool counts_cells(const ScatterNest& scatter);
size_t counting_bytes(const ScatterNest& scatter);
void launch_counting_sort(const ScatterNest& scatter, const ScatterCall& call, uint32_t* keys,
                          std::byte* memory, const SortedTuples& sorted);

// sort.cu. `which` of the two places for keys and tuples has the sorted ones.
SortLayout sort_layout(const ScatterNest& scatter);
SortLayout sort_layout(const ScatterNest& scatter, size_t sorting_bytes, size_t taken = 0);
SortedTuples sorted_tuples(const ScatterNest& scatter, std::byte* workspace,
                           const SortLayout& layout, int which);
SortedTuples launch_sort(const ScatterNest& scatter, const ScatterCall& call, std::byte* workspace,
                         const SortLayout& layout);

// Calls f(std::integral_constant<Reduction, …>) for the reduction that combines two elements; not
// for kNone. What f launches is instantiated in reductions.cu.in.
template <class F>
void with_reduction(Reduction reduction, F f) {
  switch (reduction) {
#define SHEAF_CASE(Name) \
  case Reduction::k##Name: return f(std::integral_constant<Reduction, Reduction::k##Name>{});
    SHEAF_COMBINING_REDUCTIONS(SHEAF_CASE)
#undef SHEAF_CASE
    case Reduction::kMean: return f(std::integral_constant<Reduction, Reduction::kAdd>{});
    case Reduction::kNone: return;
  }
}

// reduce_long.cuh: the updates of every cell, reduced in their order.
template <Reduction kReduction>
void launch_sorted(const ScatterNest& scatter, const ScatterCall& call, const SortedTuples& sorted);

// The widest word by which the rows of a call can be moved.
int scatter_word_bytes(const ScatterNest& scatter, const ScatterCall& call);

}  // namespace sheaf::cuda
