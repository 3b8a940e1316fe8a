// SPDX-License-Identifier: MIT
//
// One scatter of packed tensors on every kernel of a machine and every number of threads: all have
// to give the bits of the oracle, out of place and in place.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "helpers/machine.h"
#include "helpers/rng.h"
#include "helpers/scatter_oracle.h"
#include "sheaf/sheaf.h"

struct ScatterCheck {
  const sheaf::Plan& plan;
  const void* indices;
  const oracle::Bytes &data, &updates, &expected;

  // `what` says which case this is.
  void run(const std::string& what, const Machine& machine = host()) const;
};

// `count` random elements; `tame` as in random_problem.h.
oracle::Bytes random_elements(Rng& rng, sheaf::DType type, int64_t count, bool tame);

// For each element of an update row the element of data, where row i of `row_elements` elements
// goes to row rows[i].
std::vector<int64_t> row_targets(const std::vector<int64_t>& rows, int64_t row_elements);
