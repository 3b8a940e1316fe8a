// SPDX-License-Identifier: MIT
#include "explain_kernels.h"

#include <algorithm>

#include "sheaf/cuda.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

std::string lines(const std::vector<KernelReport>& reports, const std::string& chosen, bool all) {
  size_t width = 0;
  for (const KernelReport& report : reports) {
    width = std::max(width, report.name.size());
  }
  std::string text;
  bool asked = true;
  for (const KernelReport& report : reports) {
    const bool runs = report.name == chosen;
    if (asked || all) {
      text +=
          cat(runs ? "  * " : "    ", report.name, std::string(width - report.name.size() + 3, ' '),
              runs                     ? "runs this plan"
              : report.refusal.empty() ? "could, but is asked later"
                                       : cat("refuses: ", report.refusal),
              "\n");
    }
    asked = asked && !runs;
  }
  return text;
}

}  // namespace

std::vector<KernelReport> device_kernels(const Plan& plan) {
  return cuda::available() ? cuda::kernels_for(plan) : std::vector<KernelReport>();
}

std::string first_accepting(const std::vector<KernelReport>& reports) {
  const auto first = std::find_if(reports.begin(), reports.end(),
                                  [](const KernelReport& r) { return r.refusal.empty(); });
  return first == reports.end() ? "" : first->name;
}

std::string kernel_lines(const Plan& plan, bool all) {
  std::string text = cat("kernel\n", lines(kernels_for(plan), kernel_name(plan), all));
  const std::vector<KernelReport> on_device = device_kernels(plan);
  if (all && !on_device.empty()) {
    text += cat("\nkernel of cuda::run\n", lines(on_device, first_accepting(on_device), true));
  }
  return text;
}

}  // namespace sheaf::cli
