// SPDX-License-Identifier: MIT
#include "backends/cpu/instruction_sets.h"

#include <hwy/highway.h>

#include "backends/cpu/bag/bag.h"
#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter/kernels.h"
#include "execution/host_steps.h"
#include "support/text.h"

namespace sheaf {
namespace cpu {
namespace {

template <Tiling (*kCut)(const Nest&)>
bool run_tiled(const Nest& nest, const GatherBuffers& buffers, const Launch& launch) {
  return run_tiling(nest, kCut(nest), buffers, launch);
}

template <Tiling (*kCut)(const Nest&)>
std::vector<MoverReport> movers_of(const KernelQuery& query) {
  return tiling_movers(query, kCut(query.nest));
}

// First that accepts wins.
constexpr GatherKernel kGatherKernels[] = {
#define SHEAF_WHOLE(name) {"cpu." #name, name##_refusal, run_##name, Checks::kFirst},
#define SHEAF_TILED(name)                                       \
  {"cpu." #name,         name##_refusal, run_tiled<cut_##name>, \
   Checks::kWhileMoving, nullptr,        movers_of<cut_##name>},
    SHEAF_CPU_GATHER_KERNELS(SHEAF_WHOLE, SHEAF_TILED)
#undef SHEAF_WHOLE
#undef SHEAF_TILED
};
constexpr ScatterKernel kScatterKernels[] = {
#define SHEAF_KERNEL(name, ...) {"cpu.scatter_" #name, name##_refusal, scatter_##name, __VA_ARGS__},
    SHEAF_CPU_SCATTER_KERNELS(SHEAF_KERNEL)
#undef SHEAF_KERNEL
};

constexpr BagKernel kBag[] = {
    {"cpu.bag", pooled_refusal, run_pooled, Checks::kWhileMoving},
    {"cpu.bag_rows", bag_rows_refusal, run_bag_rows, Checks::kWhileMoving},
};

constexpr EncodedKernel kEncoded[] = {
    {"cpu.encoded", encoded_refusal, run_encoded, Checks::kWhileMoving}};

bool available() { return true; }

// Highway numbers its targets so that the best one is the lowest bit.
int64_t best_target() {
  const int64_t targets = hwy::SupportedTargets() & HWY_TARGETS;
  return targets & -targets;
}

std::string describe() {
  return cat(hwy::TargetName(best_target()), ", L2 ", caches().l2 >> 10, " KiB, last level ",
             caches().last >> 10, " KiB");
}

void ranges(int64_t count, int64_t bytes, int threads,
            const std::function<void(int64_t, int64_t)>& work) {
  parallel_ranges(count, worthwhile_threads(bytes, threads), work);
}

constexpr Backend kBackend{.name = "cpu",
                           .gather = kGatherKernels,
                           .scatter = kScatterKernels,
                           .device = nullptr,
                           .available = available,
                           .describe = describe,
                           .check = all_in_range,
                           .copy = copy,
                           .fill = host_fill,
                           .count = host_count,
                           .divide = host_divide,
                           .ranges = ranges,
                           .copy_rows = copy_rows,
                           .bag = kBag,
                           .encoded = kEncoded};

}  // namespace
}  // namespace cpu

const Backend* cpu_backend() { return &cpu::kBackend; }

}  // namespace sheaf
