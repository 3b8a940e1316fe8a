// SPDX-License-Identifier: MIT
//
// Options that several subcommands share.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "picture.h"
#include "terminal.h"

namespace sheaf::cli {

inline void add_color_option(CLI::App& command, ColorChoice& choice) {
  static const std::map<std::string, ColorChoice> kChoices = {{"auto", ColorChoice::kAuto},
                                                              {"always", ColorChoice::kAlways},
                                                              {"never", ColorChoice::kNever}};
  command
      .add_option("--color", choice,
                  "auto, always or never; auto colours a terminal unless NO_COLOR is set")
      ->transform(CLI::CheckedTransformer(kChoices).description(""))
      ->option_text("WHEN");
}

inline void add_format_option(CLI::App& command, std::string& format) {
  command
      .add_option("--format", format,
                  "npy, npz, safetensors, onnx or raw, whatever the suffix of OUT says")
      ->check(CLI::IsMember({"npy", "npz", "safetensors", "onnx", "raw"}).description(""))
      ->option_text("NAME");
}

inline Style style_for(ColorChoice choice) { return {use_color(choice), terminal_width()}; }

}  // namespace sheaf::cli
