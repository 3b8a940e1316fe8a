// SPDX-License-Identifier: MIT
#include "backends/cpu/instruction_sets.h"

#include <hwy/highway.h>

#include "backends/cpu/gather.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/parallel.h"
#include "backends/cpu/scatter.h"
#include "execution/host_steps.h"
#include "support/text.h"

namespace sheaf {
namespace cpu {
namespace {

const char* accepts_every_gather(const KernelQuery& /*query*/) { return nullptr; }

// First that accepts wins.
constexpr GatherKernel kGather[] = {
    {"cpu.small", small_refusal, run_small, Checks::kFirst},
    {"cpu.lookup", lookup_refusal, run_lookup, Checks::kWhileMoving},
    {"cpu.rows_wide", wide_refusal, run_rows, Checks::kWhileMoving},
    {"cpu.rows_narrow", narrow_refusal, run_rows, Checks::kWhileMoving},
    {"cpu.columns", columns_refusal, run_columns, Checks::kWhileMoving},
    {"cpu.strided", accepts_every_gather, run_strided, Checks::kWhileMoving},
};

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
                           .gather = kGather,
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
                           .copy_rows = copy_rows};

}  // namespace
}  // namespace cpu

const Backend* cpu_backend() { return &cpu::kBackend; }

}  // namespace sheaf
