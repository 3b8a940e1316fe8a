// SPDX-License-Identifier: MIT
//
// What the explanations of all operators share: their options, and how kernels, rules and pictures
// are written.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "machine/terminal.h"
#include "sheaf/explain.h"
#include "sheaf/index_rule.h"

namespace sheaf::cli {

struct ExplainOptions {
  std::vector<std::string> words;
  bool json = false;
  bool map = false;
  bool kernels = false;
  bool names = false;
  std::string svg;
  int64_t limit = 64;
  ColorChoice color = ColorChoice::kAuto;
};

// One line for each kernel; `chosen` is the one that runs.
std::string lines(const std::vector<KernelReport>& reports, const std::string& chosen);
// The first that refuses nothing; empty if there is none.
std::string first_accepting(const std::vector<KernelReport>& reports);
nlohmann::ordered_json reports_json(const std::vector<KernelReport>& reports);

std::string rule_text(const IndexRule& rule);

// The text of a plan, each line two columns further to the right.
std::string plan_lines(const std::string& plan);

// "-" is standard output.
void write_svg(const std::string& svg, const std::string& path);

// explain_bag.cc: problem strings that begin with "bag".
int explain_bag(const std::string& text, const ExplainOptions& options);

// explain_table.cc: those that begin with "table".
int explain_table(const std::string& text, const ExplainOptions& options);

}  // namespace sheaf::cli
