// SPDX-License-Identifier: MIT
//
// Calls made at random: all operators, ranks 0 to 6, all types, rules and layouts. One in eight has
// something changed that may make it unsound.
#pragma once

#include <cstdint>
#include <string>

#include "helpers/oracle.h"
#include "helpers/rng.h"
#include "sheaf/sheaf.h"

struct RandomProblem {
  oracle::Problem problem;
  sheaf::DType type, index_type;
  sheaf::Dims data_strides, indices_strides, output_strides;  // in elements

  std::string str() const;
};

// `most_elements`: about how many the output may have.
RandomProblem random_problem(uint64_t seed, int64_t most_elements);

// How many elements after the first the one at `point` stands.
int64_t offset_of(const oracle::Point& point, const sheaf::Dims& strides);

// The operator, shapes and attributes; no values. In random_call.cc.
oracle::Problem random_call(Rng& rng, int64_t most_elements);
void change_one_thing(oracle::Problem& problem, Rng& rng);
