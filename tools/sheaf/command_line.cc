// SPDX-License-Identifier: MIT
//
// Not in main.cc: CLI11 takes seconds to compile, and the files of the subcommands are compiled as
// one.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "options.h"
#include "sheaf/version.h"
#include "support/closest.h"
#include "support/utf8.h"

namespace sheaf::cli {
namespace {

constexpr const char* kExamples = R"(Examples:
  sheaf inspect model.safetensors
  sheaf gather model.safetensors:embed 3,1,-2 -o rows.npy
  sheaf explain 'gather_elements f32[3,3] i64[2,3]={1,2,0,2,0,0} axis=0'
  sheaf explain 'gather f32[1000000,64] i64[4096] axis=0' --kernels
  sheaf check cases/*.json --op gather,gather_nd
  sheaf explain 'scatter f32[4,2] i64[3]={2,0,2} axis=0 reduction=add'
  sheaf explain 'bag f32[5,2] i64[6] offsets=i64[3] pool=mean'
  sheaf bench 'gather f32[1000000,64] i64[4096] axis=0'
  sheaf demo
  sheaf doctor --json
  sheaf help gather

Exit status: 0 all went well, 1 the data or a case is wrong, 2 the command line is wrong.)";

// Null: there is no such command.
const CLI::App* find_command(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) {
      return command;
    }
  }
  return nullptr;
}

std::vector<std::string_view> commands_of(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// `sheaf help`, `sheaf help gather`, and `sheaf` alone. Nothing where the words are others.
std::optional<int> show_help(const CLI::App& app, const std::vector<std::string>& words) {
  if (!words.empty() && words[0] != "help") {
    return std::nullopt;
  }
  const bool whole = words.size() < 2 || words[1] == "help";
  const CLI::App* const command = whole ? &app : find_command(app, words[1]);
  if (command == nullptr) {
    return std::nullopt;  // named below
  }
  std::cout << command->help(command == &app ? "" : app.get_name());
  return kSuccess;
}

// A word where a command belongs, and which is none.
std::optional<int> refuse_unknown_command(const CLI::App& app,
                                          const std::vector<std::string>& words) {
  const size_t at = words[0] == "help" ? 1 : 0;
  if (words[at].starts_with("-") || find_command(app, words[at]) != nullptr) {
    return std::nullopt;
  }
  const std::string meant = did_you_mean(words[at], commands_of(app));
  std::cerr << "\"" << printable(words[at]) << "\" is no command" << (meant.empty() ? "" : "; ")
            << meant << "\nRun with --help for more information.\n";
  return kUsageError;
}

// An option of the chosen command.
const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  return chosen.empty() || !name.starts_with("--") ? nullptr
                                                   : chosen.front()->get_option_no_throw(name);
}

// "did you mean --kernels?" for an option that the chosen command does not have.
void suggest_option(const CLI::App& app) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  for (const std::string& word : app.remaining(true)) {
    const std::string option = word.substr(0, word.find('='));
    const std::string meant = did_you_mean(option, {names.begin(), names.end()});
    if (option.starts_with("--") && !meant.empty()) {
      std::cerr << printable(option) << ": " << meant << "\n";
    }
  }
}

// "did you mean clamp?" for a value that an option of the chosen command does not take.
void suggest_value(const CLI::App& app, const std::vector<std::string>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t sign = words[i].find('=');
    const bool next = sign == std::string::npos;
    const CLI::Option* const option = find_option(app, words[i].substr(0, sign));
    const auto found = all_choices().find(option);
    if (option == nullptr || found == all_choices().end() || (next && i + 1 == words.size())) {
      continue;
    }
    const std::string value = next ? words[i + 1] : words[i].substr(sign + 1);
    const std::vector<std::string>& values = found->second;
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      const std::string meant = did_you_mean(value, {values.begin(), values.end()});
      if (!meant.empty()) {
        std::cerr << "--" << option->get_lnames().front() << ": " << meant << "\n";
      }
    }
  }
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{"Sheaf moves indexed data in tensors: gathers and scatters.", "sheaf"};
  app.footer(kExamples);
  app.set_version_flag("--version", "sheaf " SHEAF_VERSION);
  app.require_subcommand(1);
  Command chosen;
  add_operators(app, chosen);
  add_bag(app, chosen);
  add_inspect(app, chosen);
  add_head(app, chosen);
  add_convert(app, chosen);
  add_run(app, chosen);
  add_explain(app, chosen);
  add_check(app, chosen);
  add_bench(app, chosen);
  add_demo(app, chosen);
  add_port(app, chosen);
  add_doctor(app, chosen);
  add_completion(app, chosen);
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (const auto status = show_help(app, words)) {
    return *status;
  }
  if (const auto status = refuse_unknown_command(app, words)) {
    return *status;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    suggest_option(app);
    suggest_value(app, words);
    // CLI11 has a status of its own for each mistake; ours is one for all of them.
    return app.exit(error) == 0 ? kSuccess : kUsageError;
  }
  return chosen();
}

}  // namespace sheaf::cli
