// SPDX-License-Identifier: MIT
//
// Calls made at random: all operators, ranks 0 to 6, all types, rules and layouts. One in eight has
// something changed that may make it unsound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "helpers/oracle.h"
#include "helpers/rng.h"
#include "helpers/scatter_oracle.h"
#include "sheaf/sheaf.h"

struct RandomProblem {
  oracle::Problem problem;
  sheaf::DType type, index_type;
  sheaf::Dims data_strides, indices_strides, output_strides;  // in elements
  sheaf::Dims updates_strides;                                // of a scatter
  oracle::Joining joining;                                    // of a scatter
  bool in_place = false;                                      // data is the output

  std::string str() const;
};

// `most_elements`: about how many the output, or the updates, may have.
RandomProblem random_problem(uint64_t seed, int64_t most_elements);
RandomProblem random_scatter(uint64_t seed, int64_t most_elements);

// Writes an element: any bits, or (`tame`) a number of which sums and products stay near.
void write_random_element(Rng& rng, sheaf::DType type, bool tame, std::byte* element);

// How many elements after the first the one at `point` stands.
int64_t offset_of(const oracle::Point& point, const sheaf::Dims& strides);

// The operator, shapes and attributes; no values. In random_call.cc.
oracle::Problem random_call(Rng& rng, int64_t most_elements, bool scatters = false);
void change_one_thing(oracle::Problem& problem, Rng& rng);
