// SPDX-License-Identifier: MIT
//
// Gradients of random bags by plain loops: each entry's factor, each product, each sum, one after
// the other, with one rounding each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "helpers/bag_problem.h"

namespace oracle {

struct GradientProblem {
  BagProblem bag;
  BagBytes gradient;
};

// A gradient for the bag's output, in random strides.
GradientProblem random_gradient(Rng& rng, BagProblem bag);

// The rows that entries name, ascending, and their gradients side by side.
std::vector<int64_t> named_rows(const GradientProblem& problem);
std::vector<std::byte> row_gradient(const GradientProblem& problem);

// `table` with the gradients of its rows instead, or added.
BagBytes data_gradient(const GradientProblem& problem, BagBytes table, bool add);

// `result` with the gradients of weights.
BagBytes weight_gradient(const GradientProblem& problem, BagBytes result);

}  // namespace oracle
