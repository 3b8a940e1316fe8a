// SPDX-License-Identifier: MIT
#include "helpers/crowd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "helpers/rng.h"
#include "helpers/scatter_check.h"

using sheaf::DType;
using sheaf::Reduction;

namespace {

std::vector<int64_t> crowded(Rng& rng, Crowd crowd, int64_t updates, int64_t cells) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < updates; ++i) {
    switch (crowd) {
      case Crowd::kOneCell: indices.push_back(cells / 2); break;
      case Crowd::kHundredCells: indices.push_back(rng.from(0, 99)); break;
      case Crowd::kZipf: {
        const double uniform = static_cast<double>(rng.from(1, 1 << 20)) / (1 << 20);
        const auto rank = static_cast<int64_t>(std::pow(static_cast<double>(cells), uniform)) - 1;
        indices.push_back(std::min(rank, cells - 1));
      }
    }
  }
  return indices;
}

}  // namespace

void check_crowd(const Machine& machine, Crowd crowd, int64_t updates, int64_t columns, bool tame) {
  constexpr int64_t kCells = 1000;
  Rng rng(static_cast<uint64_t>(updates + columns));
  const std::vector<int64_t> indices = crowded(rng, crowd, updates, kCells);
  const std::vector<int64_t> targets = row_targets(indices, columns);
  for (const DType type : oracle::kNumberTypes) {
    const oracle::Bytes data = random_elements(rng, type, kCells * columns, tame);
    const oracle::Bytes moved = random_elements(rng, type, updates * columns, tame);
    for (const Reduction reduction : oracle::kReductions) {
      if (!oracle::joins(type, reduction)) {
        continue;
      }
      const oracle::Joining joining{reduction, rng.one_in(2), rng.one_in(4)};
      const sheaf::Plan plan = sheaf::plan_scatter(
          {type, {kCells, columns}}, {sheaf::i64, {updates}}, {type, {updates, columns}},
          {.reduction = reduction,
           .include_self = joining.include_self,
           .onto_zeros = joining.onto_zeros});
      const oracle::Bytes expected = oracle::scattered(type, joining, data, moved, targets);
      ScatterCheck{plan, indices.data(), data, moved, expected}.run(
          type.name() + " " + joining.str(), machine);
    }
  }
}
