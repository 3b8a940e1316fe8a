// SPDX-License-Identifier: MIT
//
// Which kernel of the cpu backend would take a plan. The refusals are the backend's own; its tables
// are not linked, for they would bring the kernels along. tests/web holds names and order against a
// build that has the backend.
#include <span>

#include "answers.h"
#include "backends/cpu/gather.h"
#include "backends/cpu/scatter.h"

namespace sheaf::web {
namespace {

struct Kernel {
  const char* name;
  const char* (*refusal)(const KernelQuery& query);
};

const char* accepts_everything(const KernelQuery& /*query*/) { return nullptr; }

constexpr Kernel kGather[] = {
    {"cpu.small", cpu::small_refusal},     {"cpu.lookup", cpu::lookup_refusal},
    {"cpu.rows_wide", cpu::wide_refusal},  {"cpu.rows_narrow", cpu::narrow_refusal},
    {"cpu.columns", cpu::columns_refusal}, {"cpu.strided", accepts_everything},
};
constexpr Kernel kScatter[] = {
    {"cpu.scatter_parts", cpu::parts_refusal},
    {"cpu.scatter_cells", cpu::cells_refusal},
    {"cpu.scatter_in_order", cpu::in_order_refusal},
    {"cpu.scatter_plain", accepts_everything},
};

}  // namespace

std::vector<KernelReport> cpu_kernels(const Plan& plan) {
  const KernelQuery query{.nest = plan.nest(), .plan = &plan};
  const std::span<const Kernel> kernels =
      plan.is_scatter() ? std::span<const Kernel>(kScatter) : std::span<const Kernel>(kGather);
  std::vector<KernelReport> reports;
  for (const Kernel& kernel : kernels) {
    const char* refusal = kernel.refusal(query);
    reports.push_back({kernel.name, refusal == nullptr ? "" : refusal});
  }
  return reports;
}

}  // namespace sheaf::web
