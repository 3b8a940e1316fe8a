// SPDX-License-Identifier: MIT
//
// The worked examples of DirectML's and Apple's documentation, in our own words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "problem/problem.h"
#include "sheaf/tensor.h"

namespace sheaf::cli {

struct Example {
  const char* title;
  const char* problem;
  Dims sizes;  // of the output
  std::vector<float> expected;
};

std::span<const Example> demo_examples();

// Runs the problem through the public C++ calls. Its tensors have values.
Array run_example(const Problem& problem);

// Why `output` is not what the example expects; empty if it is.
std::string difference(const Example& example, const Array& output);

}  // namespace sheaf::cli
