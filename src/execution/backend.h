// SPDX-License-Identifier: MIT
//
// What a backend is: a few steps on its own memory, and ordered tables of kernels. The drivers of
// this folder validate, choose and call; a backend does neither of the first two and knows no
// dialect. docs/extending.md adds one step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "execution/bag_gradient_steps.h"
#include "execution/bag_kernel.h"
#include "execution/cancel.h"
#include "execution/checks.h"
#include "execution/encoded_kernel.h"
#include "execution/moe_steps.h"
#include "execution/staging.h"
#include "sheaf/plan.h"

namespace sheaf {

struct GatherBuffers {
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
};

struct ScatterBuffers {
  std::byte* data;  // the plan's output, which holds the base already
  const std::byte* indices;
  const std::byte* updates;
};

// Rows from places that are known already: what is left of a gather once its indices are resolved.
struct RowCopy {
  const std::byte* data;
  const int64_t* offsets;  // bytes from data to each row
  int64_t count;
  int64_t row_bytes;  // 1 or more
  std::byte* output;  // rows side by side
  // Of all that is written before any of it is read: what does not fit the cache is written around
  // it.
  int64_t written_bytes;
};

// What the check of the indices found: in device memory, at the head of a workspace, or on the
// host. All zeros: nothing found yet.
struct Verdict {
  unsigned long long bad;        // how many
  unsigned long long not_first;  // ~(row-major number of the first), so that the largest wins
  unsigned long long value;      // the bits of the first, as int64
  unsigned int blocks_done;      // of the check
  unsigned int met;              // not 0: a kernel that checks while it moves met a bad index
};

// How a step runs.
struct Launch {
  const CancelScope* cancel = nullptr;  // host: steps end early if it is cancelled
  void* stream = nullptr;               // device
  Verdict* verdict = nullptr;           // device: steps write nothing if it names a bad index
  std::byte* workspace = nullptr;  // of the kernel; null on the host if there was no memory for it
  const Plan* plan = nullptr;      // a gather's, whose indices a kernel with Checks::kFirst checks
  int threads = 0;                 // host: at most this many; 0: as many as pay
  std::string_view mover = {};     // the kernel's mover that was asked for; empty: any
  // The output is fresh, and nothing was checked before: a kernel reports bad indices that it meets
  // and may leave anything in the output. Only set for kernels with Checks::kWhileMoving.
  bool check_while_moving = false;
};

// What a kernel is asked about.
struct KernelQuery {
  const Nest& nest;
  // Addresses of data, output and updates, or-ed: what a kernel may infer alignment from. 0 where
  // there are no pointers yet: a plan that is explained is taken to run on aligned memory.
  uintptr_t addresses = 0;
  bool relaxed = false;        // the order of a scatter's updates is free
  const Plan* plan = nullptr;  // whose nest it is; null for the nest of a step
  uintptr_t output = 0;        // a gather's output alone
  int threads = 0;             // as in Launch
  void* stream = nullptr;      // device: what fits may depend on which of them it is
};

// What a mover, one of a kernel's ways to move rows, says to a nest that the kernel accepts.
struct MoverReport {
  std::string_view name;
  const char* refusal;  // why it cannot move the rows, or is not worth it; null if it does
  bool can_run;         // if it is asked for
};

template <class Buffers>
struct KernelOn {
  std::string_view name;
  // Why this kernel cannot run the nest, or is not worth it; null if it can.
  const char* (*refusal)(const KernelQuery& query);
  // Runs a nest that is not empty. Never leaves data, whatever the indices are or become while it
  // runs, unless the rule is kTrust. False if it checked and met a bad index; on a device the
  // verdict says so instead.
  bool (*run)(const Nest& nest, const Buffers& buffers, const Launch& launch);
  Checks checks = Checks::kNever;
  // Bytes of Launch::workspace that it wants for this nest; null: none.
  size_t (*workspace_bytes)(const Nest& nest, int threads) = nullptr;
  // Its movers, the first without a refusal being the one that runs; null: it has but one way.
  // "KERNEL/MOVER" asks for one (Launch::mover).
  std::vector<MoverReport> (*movers)(const KernelQuery& query) = nullptr;
};
using GatherKernel = KernelOn<GatherBuffers>;
using ScatterKernel = KernelOn<ScatterBuffers>;

// Memory that is not the host's, and what runs there.
struct DeviceSteps {
  void* (*allocate)(size_t bytes);  // throws kOutOfMemory
  void (*release)(void* memory);
  // Return when they are done.
  void (*upload)(void* to, const void* from, size_t bytes);
  void (*download)(void* to, const void* from, size_t bytes);
  void (*fill)(void* memory, std::byte value, size_t bytes);
  size_t (*free_bytes)();
  // Enqueued.
  void (*zero)(void* memory, size_t bytes, void* stream);
  // Makes ready for a run on the calling thread, in the order of `stream`; throws kUnsupported if
  // there is no device.
  void (*prepare)(void* stream);
  // Enqueued behind a kernel that ran with check_while_moving: if that met a bad index, completes
  // the verdict as check() would have.
  void (*complete_verdict)(const Plan& plan, const std::byte* indices, const Launch& launch);
  // Enqueued: between a float type narrower than f32 and f32, as host_convert() of host_steps.h.
  void (*convert)(const Nest& nest, DType from, DType to, const std::byte* data, std::byte* output,
                  const Launch& launch);
  // Waits for the stream and copies the verdict; null: only waits.
  Verdict (*wait)(const Verdict* verdict, void* stream);
  // Throws kDevice if a launch failed since the last call. `what` was being started.
  void (*check_launches)(const char* what);
  // An element of `type` that kernels compute with stands at a multiple of this many bytes.
  int64_t (*alignment)(DType type);
  // Steps of a run may be collected; this, at its end, sends them to the device. Null: each step
  // was sent when it was enqueued.
  void (*submit)(void* stream) = nullptr;
  // What the check of a bag's segments found, after wait() on the stream. Null: download() does.
  SegmentFaults (*read_faults)(const SegmentFaults* faults, void* stream) = nullptr;
  int dlpack_type;   // DLPack's number for this kind of device
  int (*current)();  // which device of that kind the calling thread uses
  // Null: transfers that return when they are done are all it has.
  const StagingSteps* staging = nullptr;
};

struct Backend {
  std::string_view name;
  std::span<const GatherKernel> gather;
  std::span<const ScatterKernel> scatter;
  const DeviceSteps* device;  // null: runs on host memory, and is done when a step returns
  bool (*available)();
  std::string (*describe)();  // the machine it runs on, or why it is not available

  // Are all indices in range? On a device the answer is in launch.verdict, and true means nothing.
  bool (*check)(const Plan& plan, const std::byte* indices, const Launch& launch);
  // Copies a whole tensor (a nest without coordinates), or writes zeros if data is null.
  void (*copy)(const Nest& nest, const std::byte* data, std::byte* output, const Launch& launch);
  // Writes one element to every place that the nest leads to. The nest has no reduction. This and
  // the next are handed their own backend: on the host they are made of its scatter kernels
  // (host_steps.h).
  void (*fill)(const Backend& self, const Nest& nest, const std::byte* element,
               const ScatterBuffers& buffers, const Launch& launch);
  // Adds 1 to the int64 count (buffers.data) of every place that the nest leads to.
  void (*count)(const Backend& self, const Nest& nest, const ScatterBuffers& buffers,
                const Launch& launch);
  // Divides sums by counts + self where a count is not 0. The nest leads from counts (as data) to
  // sums (as output).
  void (*divide)(const Nest& nest, DType type, const std::byte* counts, std::byte* sums,
                 int64_t self, const Launch& launch);
  // Host: run_ranges() of host_steps.h, from at most `threads`. Null: it has no threads.
  void (*ranges)(int64_t count, int64_t bytes, int threads,
                 const std::function<void(int64_t, int64_t)>& work) = nullptr;
  // Host: copy_rows() of host_steps.h. Null: plain loops do.
  void (*copy_rows)(const RowCopy& copy, int threads) = nullptr;
  // Kernels for bags. Empty: other backends run them, or on a device nobody does.
  std::span<const BagKernel> bag = {};
  // The same for gathers of encoded tables.
  std::span<const EncodedKernel> encoded = {};
  // Device, enqueued: checks the segments of a bag without output, in the workspace of its kernel.
  void (*check_segments)(const BagNest& nest, const BagBuffers& buffers,
                         const Launch& launch) = nullptr;
  // Device: mixtures of experts. Null: it has none.
  const MoeSteps* moe = nullptr;
  // Device: gradients of bags. Null: it has none.
  const BagGradientSteps* bag_gradient = nullptr;
};

}  // namespace sheaf
