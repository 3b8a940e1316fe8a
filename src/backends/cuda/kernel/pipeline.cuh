// SPDX-License-Identifier: MIT
//
// A ring of stages in shared memory that some warps fill and others empty, synchronised by
// mbarriers.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/kernel/memory.cuh"

namespace sheaf::cuda {

__device__ inline uint32_t shared_address(const void* memory) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(memory));
}

struct Barrier {
  uint64_t state;

  __device__ void init(int arrivals) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&state)), "r"(arrivals));
  }
  __device__ void arrive() {
    asm volatile(
        "{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(shared_address(&state))
        : "memory");
  }
  // Waits for the end of a phase; phases have parities 0, 1, 0, 1 …
  __device__ void wait(uint32_t parity) {
    uint32_t done = 0;
    while (done == 0) {
#if __CUDA_ARCH__ >= 900
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(shared_address(&state)), "r"(parity)
          : "memory");
#else
      asm volatile(
          "{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; "
          "}"
          : "=r"(done)
          : "r"(shared_address(&state)), "r"(parity)
          : "memory");
#endif
    }
  }
};

// The barriers of a ring. Stages are numbered 0, 1, 2 … for the life of the ring; stage s is in
// slot s % kSlots.
template <int kSlots>
struct Ring {
  Barrier full[kSlots], empty[kSlots];

  // By one thread, before a barrier of all that use the ring.
  __device__ void init(int producers, int consumers) {
    for (int slot = 0; slot < kSlots; ++slot) {
      full[slot].init(producers);
      empty[slot].init(consumers);
    }
  }
  __device__ static uint32_t slot(uint32_t stage) { return stage % kSlots; }
  // Every thread that fills or reads a slot waits for itself, so that its own accesses are ordered.
  __device__ void wait_empty(uint32_t stage) {
    if (stage >= kSlots) {
      empty[slot(stage)].wait((stage / kSlots - 1) & 1);
    }
  }
  __device__ void wait_full(uint32_t stage) { full[slot(stage)].wait((stage / kSlots) & 1); }
};

// Copies a word of 4, 8 or 16 bytes from global to shared memory.
template <int kBytes>
__device__ void copy_async(std::byte* to, const std::byte* from) {
  if constexpr (kBytes == 16) {  // around L1: not read again
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(shared_address(to)), "l"(from),
                 "n"(kBytes)
                 : "memory");
  }
}

// Closes a group of the copies that the calling thread has begun since the last one.
__device__ inline void close_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Waits until at most kLater groups of the calling thread are still on their way.
template <int kLater>
__device__ void wait_for_copies_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
}

// Waits for all copies by the calling thread; others see them after a barrier.
__device__ inline void wait_for_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

}  // namespace sheaf::cuda
