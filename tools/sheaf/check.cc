// SPDX-License-Identifier: MIT
//
// sheaf check: runs conformance cases and says which fail.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"
#include "conformance/case.h"
#include "conformance/onnx_folder.h"
#include "conformance/run_case.h"
#include "machine/terminal.h"
#include "options.h"
#include "sheaf/explain.h"
#include "support/text.h"

namespace sheaf::cli {
namespace {

constexpr const char* kCheckExamples =
    R"(Each file is a JSON list of cases; docs/cli.md describes them. A folder is searched for
backend tests of ONNX (model.onnx beside test_data_set_0). The last line is
"N passed, N failed", with ", N skipped" where some were; the status is 1 if any failed.

Examples:
  sheaf check cases/*.json
  sheaf check cases/*.json --op gather,gather_nd --layout strided
  sheaf check cases/onnx.json --name negative --verbose
  sheaf check cases/*.json --backend reference
  sheaf check onnx/backend/test/data/node --name gather)";

struct CheckOptions {
  std::vector<std::string> files, ops;
  std::string name, layout = "packed";
  CaseOptions run;
  bool verbose = false;
};

struct Tally {
  int64_t passed = 0, failed = 0;
  std::map<std::string, int64_t> skipped;  // by reason
  bool bad_file = false;

  int64_t skipped_count() const {
    int64_t count = 0;
    for (const auto& [reason, cases] : skipped) {
      count += cases;
    }
    return count;
  }
};

// The lines of `text`, which may quote the file, each four columns to the right.
std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string indented;
  for (std::string line; std::getline(lines, line);) {
    indented += cat("    ", printable(line), "\n");
  }
  return indented;
}

bool wanted(const nlohmann::json& json, const CheckOptions& options) {
  const bool has_op = options.ops.empty() ||
                      std::find(options.ops.begin(), options.ops.end(), text_member(json, "op")) !=
                          options.ops.end();
  return has_op && text_member(json, "name").find(options.name) != std::string::npos;
}

void report(const std::string& title, const Outcome& outcome, bool verbose, Tally& tally) {
  switch (outcome.verdict) {
    case Verdict::kPassed:
      ++tally.passed;
      std::cout << (verbose ? cat("passed   ", title, "\n") : "");
      break;
    case Verdict::kFailed:
      ++tally.failed;
      std::cout << "FAILED   " << title << "\n" << indented(outcome.text);
      break;
    case Verdict::kSkipped:
      ++tally.skipped[outcome.text];
      std::cout << (verbose ? cat("skipped  ", title, ": ", outcome.text, "\n") : "");
      break;
  }
}

// A folder of ONNX's backend tests, or of many of them.
void check_folder(const std::string& path, const CheckOptions& options, Tally& tally) {
  for (const std::string& folder : onnx_folders(path)) {
    const std::string name = std::filesystem::path(folder).filename().string();
    if (name.find(options.name) != std::string::npos) {
      report(printable(folder), run_onnx_folder(folder), options.verbose, tally);
    }
  }
}

void check_file(const std::string& path, const CheckOptions& options, Tally& tally) {
  const nlohmann::json cases = load_cases(path);
  int64_t number = 0;
  for (const nlohmann::json& json : cases) {
    ++number;
    if (wanted(json, options)) {
      const std::string title = printable(cat(path, " #", number, "  ", text_member(json, "name")));
      report(title, run_case(json, options.run), options.verbose, tally);
    }
  }
}

int check(const CheckOptions& options) {
  Tally tally;
  for (const std::string& path : options.files) {
    try {
      if (std::filesystem::is_directory(path)) {
        check_folder(path, options, tally);
      } else {
        check_file(path, options, tally);
      }
    } catch (const BadFile& error) {
      std::cout << std::flush;
      std::cerr << "sheaf check: " << printable(error.what()) << "\n";
      tally.bad_file = true;
    }
  }
  for (const auto& [reason, count] : tally.skipped) {
    std::cout << "skipped " << count << ": " << reason << "\n";
  }
  const int64_t skipped = tally.skipped_count();
  const bool nothing = tally.passed + tally.failed + skipped == 0 && !tally.bad_file;
  if (nothing) {
    std::cout << std::flush;
    std::cerr << "sheaf check: there is no such case in these files\n";
  }
  std::cout << tally.passed << " passed, " << tally.failed << " failed"
            << (skipped > 0 ? cat(", ", skipped, " skipped") : "") << "\n";
  return tally.failed > 0 || tally.bad_file || nothing ? kDataError : kSuccess;
}

std::string check_op_name(const std::string& name) {
  return is_case_op(name) ? "" : cat("\"", name, "\" names no operator");
}

std::string check_backend_name(const std::string& name) {
  std::string known;
  for (const std::string& device : device_names()) {
    if (name == device) {
      return device_available(device)
                 ? ""
                 : cat(device, " cannot be used: ", device_description(device));
    }
    known += device + ", ";
  }
  if (!known.empty()) {
    known.erase(known.size() - 2);
  }
  for (const std::string& backend : backend_names()) {
    if (name == backend) {
      return "";
    }
    known += (known.empty() ? "" : ", ") + backend;
  }
  return cat("\"", name, "\" is no backend of this build; there is ", known);
}

}  // namespace

void add_check(CLI::App& app, Command& chosen) {
  static CheckOptions options;
  CLI::App* command = app.add_subcommand("check", "Run conformance cases");
  command->footer(kCheckExamples);
  command
      ->add_option("files", options.files, "JSON files of cases, or folders of ONNX backend tests")
      ->required()
      ->option_text("FILE...");
  command->add_option("--op", options.ops, "Run these operators only, separated by commas")
      ->delimiter(',')
      ->check(CLI::Validator(check_op_name, ""))
      ->option_text("OP,...");
  command->add_option("--name", options.name, "Run only the cases whose name contains TEXT")
      ->option_text("TEXT");
  command
      ->add_option("--backend", options.run.backend,
                   "Run on this backend only; sheaf doctor lists them")
      ->check(CLI::Validator(check_backend_name, ""))
      ->option_text("NAME");
  choices(*command->add_option(
              "--layout", options.layout,
              "packed; or strided, to also run each case on padded, reversed and transposed "
              "tensors"),
          {"packed", "strided"})
      .option_text("LAYOUT");
  command->add_flag("--verbose", options.verbose, "Also list the cases that pass or are skipped");
  command->callback([&chosen] {
    options.run.strided = options.layout == "strided";
    chosen = [] { return check(options); };
  });
}

}  // namespace sheaf::cli
