// SPDX-License-Identifier: MIT
#include "helpers/bag_oracle.h"

#include <algorithm>
#include <cstring>

#include "helpers/bag_steps.h"
#include "helpers/scatter_oracle.h"

namespace oracle {
namespace {

using sheaf::Pool;
using sheaf::Reduction;
using sheaf::TensorSpec;

// An entry of a bag that has a row.
struct KeptEntry {
  int64_t row;
  BagCell weight;
};

std::vector<KeptEntry> kept_entries(const BagProblem& problem, const ComputedRows& rows,
                                    const std::vector<int64_t>& entries) {
  std::vector<KeptEntry> kept;
  for (const int64_t p : entries) {
    const int64_t row = row_of_entry(problem, p);
    if (row != kNoRow) {
      kept.push_back({row, rows.weight(p)});
    }
  }
  return kept;
}

// Element `e` of the pooled rows.
BagCell pooled_element(const BagProblem& problem, const ComputedRows& rows,
                       const std::vector<KeptEntry>& entries, int64_t e) {
  if (entries.empty()) {
    return scalar_cell(rows.output(), problem.options.empty_value);
  }
  const Pool pool = problem.options.pool;
  const Reduction reduction = pool == Pool::kMax   ? Reduction::kMax
                              : pool == Pool::kMin ? Reduction::kMin
                              : pool == Pool::kMul ? Reduction::kMul
                                                   : Reduction::kAdd;
  BagCell sum;  // a sum begins with 0
  if (reduction != Reduction::kAdd) {
    put_neutral(rows.type(), reduction, sum.bytes);
  }
  for (const KeptEntry& entry : entries) {
    join(rows.type(), reduction, sum.bytes, rows.weighted(entry.row, e, entry.weight).bytes);
  }
  rows.finish(sum, static_cast<int64_t>(entries.size()));
  return converted_cell(rows.type(), sum.bytes, rows.output());
}

}  // namespace

std::vector<std::byte> composed(const BagProblem& problem) {
  const TensorSpec output = problem.plan().output();
  BagBytes result(output);
  std::fill(result.bytes.begin(), result.bytes.end(), kUntouchedBag);
  const ComputedRows rows(problem);
  int64_t at = 0;
  for (const std::vector<int64_t>& entries : entries_of_bags(problem)) {
    const std::vector<KeptEntry> kept = kept_entries(problem, rows, entries);
    for (int64_t e = 0; e < rows.elements(); ++e) {
      const BagCell cell = pooled_element(problem, rows, kept, e);
      std::memcpy(result.element(at++), cell.bytes, static_cast<size_t>(output.dtype.bytes()));
    }
  }
  return result.bytes;
}

}  // namespace oracle
