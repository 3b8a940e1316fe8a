// SPDX-License-Identifier: MIT
//
// Which kernel of the cpu backend would take a plan. The lists and refusals are the backend's own;
// its tables are not linked, for they would bring the kernels along. Movers are left out: which of
// them runs depends on the processor. tests/web compares with a build that has the backend.
#include <span>

#include "answers.h"
#include "backends/cpu/gather/kernels.h"
#include "backends/cpu/scatter/kernels.h"

namespace sheaf::web {
namespace {

struct Kernel {
  const char* name;
  const char* (*refusal)(const KernelQuery& query);
};

#define SHEAF_GATHER(name) {"cpu." #name, cpu::name##_refusal},
#define SHEAF_SCATTER(name, ...) {"cpu.scatter_" #name, cpu::name##_refusal},
constexpr Kernel kGather[] = {SHEAF_CPU_GATHER_KERNELS(SHEAF_GATHER, SHEAF_GATHER)};
constexpr Kernel kScatter[] = {SHEAF_CPU_SCATTER_KERNELS(SHEAF_SCATTER)};
#undef SHEAF_GATHER
#undef SHEAF_SCATTER

}  // namespace

std::vector<KernelReport> cpu_kernels(const Plan& plan) {
  const KernelQuery query{.nest = plan.nest(), .plan = &plan};
  const std::span<const Kernel> kernels =
      plan.is_scatter() ? std::span<const Kernel>(kScatter) : std::span<const Kernel>(kGather);
  std::vector<KernelReport> reports;
  for (const Kernel& kernel : kernels) {
    const char* refusal = kernel.refusal(query);
    reports.push_back({kernel.name, refusal == nullptr ? "" : refusal, refusal == nullptr});
  }
  return reports;
}

}  // namespace sheaf::web
