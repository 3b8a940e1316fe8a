// SPDX-License-Identifier: MIT
#include "explain_kernels.h"

#include <algorithm>

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

std::string first_accepting(const std::vector<KernelReport>& reports) {
  const auto first = std::find_if(reports.begin(), reports.end(),
                                  [](const KernelReport& r) { return r.refusal.empty(); });
  return first == reports.end() ? "" : first->name;
}

std::string kernel_lines(const Plan& plan, bool all) {
  std::string text = cat("kernel\n", lines(kernels_for(plan), kernel_name(plan), all));
  for (const std::string& device : all ? device_names() : std::vector<std::string>()) {
    const std::vector<KernelReport> reports = kernels_for(plan, {.device = device});
    if (!reports.empty()) {
      text += cat("\nkernel on ", device, "\n", lines(reports, first_accepting(reports), true));
    }
  }
  return text;
}

}  // namespace sheaf::cli
