// SPDX-License-Identifier: MIT
//
// Options that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

#include "machine/terminal.h"
#include "pictures/picture.h"

namespace sheaf::cli {

// The values that an option takes, where they are few: completion offers them.
inline std::map<const CLI::Option*, std::vector<std::string>>& all_choices() {
  static std::map<const CLI::Option*, std::vector<std::string>> all;
  return all;
}

// Lets an option have one of `values`, and nothing else.
inline CLI::Option& choices(CLI::Option& option, const std::vector<std::string>& values) {
  all_choices()[&option] = values;
  option.check(CLI::IsMember(values).description(""));
  return option;
}

inline void add_color_option(CLI::App& command, ColorChoice& choice) {
  static const std::map<std::string, ColorChoice> kChoices = {{"auto", ColorChoice::kAuto},
                                                              {"always", ColorChoice::kAlways},
                                                              {"never", ColorChoice::kNever}};
  CLI::Option* const option =
      command
          .add_option("--color", choice,
                      "auto, always or never; auto colours a terminal unless NO_COLOR is set")
          ->transform(CLI::CheckedTransformer(kChoices).description(""))
          ->option_text("WHEN");
  all_choices()[option] = {"auto", "always", "never"};
}

inline void add_format_option(CLI::App& command, std::string& format) {
  choices(
      *command.add_option("--format", format,
                          "npy, npz, safetensors, onnx or raw, whatever the suffix of OUT says"),
      {"npy", "npz", "safetensors", "onnx", "raw"})
      .option_text("NAME");
}

inline pictures::Style style_for(ColorChoice choice) {
  return {use_color(choice), terminal_width()};
}

}  // namespace sheaf::cli
