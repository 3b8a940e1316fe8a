// SPDX-License-Identifier: MIT
//
// Tensors on the command line: FILE, FILE:NAME, FILE:f32[1000,64]@OFFSET for raw files; indices
// also as numbers, as text and from standard input.
#pragma once

#include <optional>
#include <string>

#include "sheaf/sheaf.h"

namespace sheaf::cli {

// "model.safetensors:embed" as path and name. A path that exists as a whole has no name.
struct TensorName {
  std::string path, name;
};
TensorName split_name(const std::string& text);

Table table_argument(const std::string& text);

// Numbers and ranges ("3,1,-2", "0:10", "0:10:2", rows separated by ';'), a text file of them
// (.csv, .txt), "-" for text on standard input, or a tensor. One row or one column of text is
// one-dimensional.
Array indices_argument(const std::string& text);

// Refuses an output that is the file of the input `text`.
void refuse_input_argument(const std::string& text, const std::string& output);

// The format of that name; CLI11 has checked it. Empty: none was given.
std::optional<FileFormat> format_argument(const std::string& name);

// A tensor of a file, or as many numbers as `spec` has elements: "1.5,2,nan". One number stands for
// all of them.
Array updates_argument(const std::string& text, const TensorSpec& spec);

}  // namespace sheaf::cli
