// SPDX-License-Identifier: MIT
//
// What gradients know about entries: the bag of each, the row that it names, and how many entries a
// bag has.
#include "backends/cuda/bag_gradient/args.cuh"
#include "backends/cuda/scatter/scatter.h"

namespace sheaf::cuda {
namespace {

bool counts_entries(const BagNest& nest) {
  return nest.pool == Pool::kMean || nest.pool == Pool::kSqrtN;
}

// The bag of entry p; -1 if it is in none. Offsets may be in any order where they are refused.
__device__ int64_t find_bag(const BagArgs& args, int64_t p) {
  if (args.segments.offsets == nullptr) {
    return p / args.nest.per_bag;
  }
  int64_t low = 0;  // offsets up to p
  int64_t count = args.nest.bags + 1;
  while (count > 0) {
    const int64_t half = count / 2;
    const bool up_to = args.segments.offsets[low + half] <= p;
    low = up_to ? low + half + 1 : low;
    count = up_to ? count - half - 1 : half;
  }
  return low > args.nest.bags ? -1 : low - 1;
}

// Adds 1 to the count of a bag for each thread that joins: neighbours mostly have the same one.
__device__ void count_entry(int64_t* counts, int64_t bag, bool joins) {
  const unsigned joining = __ballot_sync(__activemask(), joins);
  if (joins) {
    const unsigned same = __match_any_sync(joining, static_cast<unsigned long long>(bag));
    if (__ffs(static_cast<int>(same)) - 1 == static_cast<int>(threadIdx.x) % kWarp) {
      atomicAdd(reinterpret_cast<unsigned long long*>(counts + bag),
                static_cast<unsigned long long>(__popc(same)));
    }
  }
}

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    read_entries_kernel(const __grid_constant__ GradientArgs args) {
  const int64_t p = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const BagNest& nest = args.bag.nest;
  const bool here = p < nest.entries;
  const int64_t bag = here ? find_bag(args.bag, p) : -1;
  const int64_t row = here ? row_of(args.bag, p) : kLeftOut;
  if (args.work.counts != nullptr) {
    count_entry(args.work.counts, bag, bag >= 0 && row != kLeftOut);
  }
  if (!here) {
    return;
  }
  args.work.bag_of[p] = bag;
  if (args.work.keys[0] != nullptr) {
    reinterpret_cast<Number*>(args.work.keys[0])[p] =
        static_cast<Number>(has_row(row) && bag >= 0 ? row : nest.extent);
    reinterpret_cast<Number*>(args.work.entries[0])[p] = static_cast<Number>(p);
  }
}

}  // namespace

bool is_wide(const GradientNest& nest) {
  return nest.bag.entries >= INT64_C(0xFFFF'FFFF) || nest.bag.extent >= INT64_C(0xFFFF'FFFF);
}

GradientWork gradient_work(const GradientNest& nest, std::byte* workspace) {
  const BagNest& bag = nest.bag;
  GradientWork work;
  const auto part = [&](int64_t count, size_t each) {
    return workspace + take(work.bytes, static_cast<size_t>(count) * each);
  };
  const auto numbers = [&](int64_t count) {
    return reinterpret_cast<int64_t*>(part(count, sizeof(int64_t)));
  };
  work.segments = part(1, bag_bytes(bag));
  work.bag_of = numbers(bag.entries);
  work.counts = counts_entries(bag) ? numbers(bag.bags) : nullptr;
  work.picked = picks_one(bag.pool) ? numbers(bag.bags * bag.elements) : nullptr;
  if (nest.of == BagGradientOf::kWeights) {
    return work;
  }
  const size_t number = is_wide(nest) ? sizeof(uint64_t) : sizeof(uint32_t);
  for (int i = 0; i < 2; ++i) {
    work.keys[i] = part(bag.entries, number);
    work.entries[i] = part(bag.entries, number);
  }
  work.sorting_bytes = sorting_bytes(nest);
  work.sorting = part(1, work.sorting_bytes);
  work.lists.begins = numbers(nest.rows + 1);
  work.lists.rows = nest.compressed() ? numbers(nest.rows) : nullptr;
  work.lists.bags = numbers(bag.entries);
  if (has_factors(bag) && !picks_one(bag.pool)) {
    work.lists.factors = part(bag.entries, static_cast<size_t>(bag.computed.bytes()));
  }
  return work;
}

const char* gradient_refusal(const GradientNest& nest) {
  const BagNest& bag = nest.bag;
  const bool fits = fits_launch(bag.entries, kBlockThreads) &&
                    fits_launch(nest.rows + 1, kBlockThreads) &&
                    (bag.elements == 0 || (bag.bags <= INT64_MAX / 8 / bag.elements &&
                                           nest.rows <= INT64_MAX / 8 / bag.elements &&
                                           fits_launch(bag.bags * bag.elements, kBlockThreads) &&
                                           fits_launch(nest.rows * bag.elements, kBlockThreads)));
  return fits ? nullptr : "more entries or rows than one launch can have";
}

size_t gradient_bytes(const GradientNest& nest) { return gradient_work(nest, nullptr).bytes; }

GradientLists gradient_lists(const GradientNest& nest, std::byte* workspace) {
  return gradient_work(nest, workspace).lists;
}

void read_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch) {
  const BagNest& bag = nest.bag;
  const auto stream = static_cast<Stream>(launch.stream);
  const GradientArgs args = gradient_args(nest, buffers, launch);
  if (bag.per_bag < 0) {
    launch_segments(bag, buffers.bag, args.bag.segments, INT64_MAX, stream);
  }
  if (args.work.counts != nullptr) {
    zero(args.work.counts, static_cast<size_t>(bag.bags) * sizeof(int64_t), stream);
  }
  if (bag.entries > 0) {
    const unsigned blocks = blocks_of(bag.entries, kBlockThreads);
    if (is_wide(nest)) {
      read_entries_kernel<uint64_t><<<blocks, kBlockThreads, 0, stream>>>(args);
    } else {
      read_entries_kernel<uint32_t><<<blocks, kBlockThreads, 0, stream>>>(args);
    }
  }
  if (args.work.picked != nullptr) {
    pick_entries(nest, buffers, launch);
  }
}

}  // namespace sheaf::cuda
