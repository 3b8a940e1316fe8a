// SPDX-License-Identifier: MIT
//
// The steps of which the oracles of bags and of their gradients are composed: which row an entry
// names, which bag it is in, and elements in the type that the bag computes in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "helpers/bag_problem.h"

namespace oracle {

// One element of any type.
struct BagCell {
  std::byte bytes[16] = {};
};

// A number of a float type.
long double bag_number(sheaf::DType type, const BagCell& cell);
// Rounded once; a NaN is the one.
BagCell converted_cell(sheaf::DType from, const std::byte* element, sheaf::DType to);
// A small number as any type.
BagCell scalar_cell(sheaf::DType type, const sheaf::Scalar& scalar);

int64_t entries_of(const BagProblem& problem);
// The row of entry p, or one of these: it is left out, or is a row of the fill value.
inline constexpr int64_t kNoRow = -1, kFilledRow = -2;
int64_t row_of_entry(const BagProblem& problem, int64_t p);
// The entries of each bag, ascending.
std::vector<std::vector<int64_t>> entries_of_bags(const BagProblem& problem);

// The rows and weights of a bag in the type that it computes in.
class ComputedRows {
 public:
  explicit ComputedRows(const BagProblem& problem);

  sheaf::DType type() const { return computed_; }
  sheaf::DType output() const { return output_; }
  int64_t elements() const { return elements_; }  // of a row

  // 1 if there are no weights.
  BagCell weight(int64_t entry) const;
  // `row` is that of an entry: one of data, or kFilledRow.
  BagCell element(int64_t row, int64_t e) const;
  BagCell weighted(int64_t row, int64_t e, const BagCell& weight) const;
  // What mean and sqrtn do with the sum of `count` rows; other pools leave it as it is.
  void finish(BagCell& sum, int64_t count) const;

 private:
  void convert_table();

  const BagProblem& problem_;
  sheaf::DType output_ = sheaf::f32, computed_ = sheaf::f32;
  int64_t elements_ = 1;
  std::vector<BagCell> table_;
};

}  // namespace oracle
