// SPDX-License-Identifier: MIT
//
// Rows that are kept on the device, looked up there: one thread per row, which reads the numbers of
// one set. Claims take places by a compare-and-swap of the round they were last taken in, so that
// within a round a place changes hands once.
#include "backends/cuda/device.h"
#include "backends/cuda/kernel/resolve.cuh"
#include "backends/cuda/tables/tables.h"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {
namespace {

using Counts = CacheLookUp::Counts;

__device__ void add_to(uint64_t& count, unsigned long long by) {
  if (by != 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&count), by);
  }
}

// The number of a thread among those of its block for which `mine` holds; of all of them, `count`.
__device__ unsigned number_in_block(bool mine, unsigned& count) {
  __shared__ unsigned before[kBlockThreads / kWarp];
  const unsigned lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const unsigned those = __ballot_sync(0xFFFFFFFF, mine);
  __syncthreads();  // the last use of `before` is over
  if (lane == 0) {
    before[warp] = __popc(those);
  }
  __syncthreads();
  unsigned first = 0;
  count = 0;
  for (unsigned w = 0; w < kBlockThreads / kWarp; ++w) {
    first += w < warp ? before[w] : 0;
    count += before[w];
  }
  return first + __popc(those & ((1U << lane) - 1));
}

struct FindArgs {
  CacheSets cache;
  CacheLookUp asked;
};

// A row that is found is marked as used. Many threads may count at once until it has been enough.
__device__ int32_t slot_for(const FindArgs& args, int64_t row) {
  const int64_t place = place_of(args.cache, row);
  if (place < 0) {
    return kNoSlot;
  }
  uint32_t* const uses = args.cache.uses + place;
  if (*static_cast<volatile uint32_t*>(uses) < kMostUses && atomicAdd(uses, 1) >= kMostUses) {
    atomicMin(uses, kMostUses);
  }
  if (args.asked.protect) {
    args.cache.taken[place] = args.asked.round;
  }
  return slot_at(args.cache, place);
}

template <Indices kIndices>
__global__ void __launch_bounds__(kBlockThreads)
    find_kernel(const __grid_constant__ FindArgs args) {
  const CacheLookUp& asked = args.asked;
  __shared__ unsigned long long base;
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  unsigned long long outside = 0;
  for (int64_t first = int64_t{blockIdx.x} * kBlockThreads; first < asked.count; first += step) {
    const int64_t point = first + threadIdx.x;
    const bool live = point < asked.count;
    const int64_t row =
        live ? entry_of(asked, load_raw_once<kIndices>(asked.index_kind, asked.indices, point),
                        asked.extent)
             : kOutside;
    const int32_t slot = row == kOutside ? kNoSlot : slot_for(args, row);
    if (live) {
      asked.slots[point] = slot;
      outside += row == kOutside ? 1 : 0;
    }
    const bool missed = row != kOutside && slot == kNoSlot;
    unsigned count = 0;
    const unsigned number = number_in_block(missed, count);
    if (threadIdx.x == 0 && count > 0) {
      base = atomicAdd(reinterpret_cast<unsigned long long*>(&asked.counts->missed), count);
    }
    __syncthreads();
    if (missed) {
      asked.missed_rows[base + number] = row;
      asked.missed_points[base + number] = static_cast<int32_t>(point);
    }
  }
  add_to(asked.counts->outside, outside);
  if (asked.out_of_range == OutOfRange::kFail) {
    add_to(asked.counts->bad, outside);
  }
}

struct ClaimArgs {
  CacheSets cache;
  CacheClaims claims;
};

// As HostKeptRows::claim_one.
__device__ int32_t claim_one(const CacheSets& cache, const CacheClaims& claims, int64_t row) {
  const int64_t first = first_place(cache, row);
  for (int tries = 0; tries < cache.ways; ++tries) {
    int64_t best = -1;
    int least = 0;
    uint32_t before = 0;
    for (int64_t place = first; place < first + cache.ways; ++place) {
      const int64_t held = *static_cast<volatile int64_t*>(cache.rows + place);
      if (held == row) {
        return kNoSlot;
      }
      const int uses = held == kNoCachedRow
                           ? -1
                           : static_cast<int>(*static_cast<volatile uint32_t*>(cache.uses + place));
      const uint32_t taken = *static_cast<volatile uint32_t*>(cache.taken + place);
      if (taken != claims.round && (best < 0 || uses < least)) {
        best = place;
        least = uses;
        before = taken;
      }
    }
    if (best < 0) {
      return kNoSlot;
    }
    if (!claims.surely && least > 0) {
      atomicCAS(cache.uses + best, static_cast<uint32_t>(least), static_cast<uint32_t>(least - 1));
      return kNoSlot;
    }
    if (atomicCAS(cache.taken + best, before, claims.round) == before) {
      *static_cast<volatile int64_t*>(cache.rows + best) = row;
      cache.uses[best] = 1;
      return static_cast<int32_t>(best);
    }
  }
  return kNoSlot;
}

__global__ void __launch_bounds__(kBlockThreads)
    claim_kernel(const __grid_constant__ ClaimArgs args) {
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < args.claims.count;
       i += step) {
    args.claims.slots[i] = claim_one(args.cache, args.claims, args.claims.rows[i]);
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    drop_kernel(const __grid_constant__ CacheSets cache, const int64_t* rows, int64_t count) {
  const int64_t step = int64_t{gridDim.x} * kBlockThreads;
  for (int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < count; i += step) {
    const int64_t first = first_place(cache, rows[i]);
    for (int64_t place = first; place < first + cache.ways; ++place) {
      if (cache.rows[place] == rows[i]) {
        cache.rows[place] = kNoCachedRow;
      }
    }
  }
}

void find(const CacheSets& cache, const CacheLookUp& asked, void* stream) {
  with_indices(asked.index_kind, [&](auto indices) {
    find_kernel<indices()><<<blocks_at_most(asked.count, kBlockThreads), kBlockThreads, 0,
                             static_cast<Stream>(stream)>>>({cache, asked});
  });
  check_result(cudaGetLastError(), "looking rows up");
}

void claim(const CacheSets& cache, const CacheClaims& claims, void* stream) {
  claim_kernel<<<blocks_at_most(claims.count, kBlockThreads), kBlockThreads, 0,
                 static_cast<Stream>(stream)>>>({cache, claims});
  check_result(cudaGetLastError(), "claiming slots for rows");
}

void drop(const CacheSets& cache, const int64_t* rows, int64_t count, void* stream) {
  drop_kernel<<<blocks_at_most(count, kBlockThreads), kBlockThreads, 0,
                static_cast<Stream>(stream)>>>(cache, rows, count);
  check_result(cudaGetLastError(), "dropping cached rows");
}

}  // namespace

const CacheSteps kCacheSteps{.find = find, .claim = claim, .drop = drop};

}  // namespace sheaf::cuda
