// SPDX-License-Identifier: MIT
#include "explain.h"

#include <algorithm>
#include <fstream>
#include <iostream>

#include "plan/scalar.h"
#include "sheaf/error.h"
#include "support/text.h"

namespace sheaf::cli {

std::string lines(const std::vector<KernelReport>& reports, const std::string& chosen) {
  size_t width = 0;
  for (const KernelReport& report : reports) {
    width = std::max(width, report.name.size());
  }
  std::string text;
  for (const KernelReport& report : reports) {
    const bool runs = report.name == chosen;
    text +=
        cat(runs ? "  * " : "    ", report.name, std::string(width - report.name.size() + 3, ' '),
            runs                     ? "runs this plan"
            : report.refusal.empty() ? "could, but is asked later"
                                     : cat("refuses: ", report.refusal),
            "\n");
  }
  return text;
}

std::string first_accepting(const std::vector<KernelReport>& reports) {
  const auto first = std::find_if(reports.begin(), reports.end(),
                                  [](const KernelReport& r) { return r.refusal.empty(); });
  return first == reports.end() ? "" : first->name;
}

nlohmann::ordered_json reports_json(const std::vector<KernelReport>& reports) {
  auto list = nlohmann::ordered_json::array();
  for (const KernelReport& report : reports) {
    list.push_back({{"name", report.name}, {"refusal", report.refusal}});
  }
  return list;
}

std::string rule_text(const IndexRule& rule) {
  std::string text = rule.negative == Negative::kFromEnd ? "negative indices count from the end"
                                                         : "negative indices are out of range";
  text += cat("; out of range: ", to_string(rule.out_of_range));
  return rule.out_of_range == OutOfRange::kFill ? text + " with " + to_string(rule.fill_value)
                                                : text;
}

std::string plan_lines(const std::string& plan) {
  std::string text = cat("  ", plan);
  for (size_t at = text.find('\n'); at + 1 < text.size(); at = text.find('\n', at + 1)) {
    text.insert(at + 1, "  ");
  }
  return text;
}

void write_svg(const std::string& svg, const std::string& path) {
  if (path == "-") {
    std::cout << svg;
    return;
  }
  std::ofstream file(path);
  file << svg << std::flush;
  if (!file) {
    throw Error(Refusal{.code = ErrorCode::kFile,
                        .who = "explain",
                        .what = "cannot write",
                        .detail = cat("file \"", printable(path), "\""),
                        .next = "another path"});
  }
  std::cout << "picture in " << printable(path) << "\n";
}

}  // namespace sheaf::cli
