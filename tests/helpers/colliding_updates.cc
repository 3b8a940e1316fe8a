// SPDX-License-Identifier: MIT
#include "helpers/colliding_updates.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "helpers/rng.h"
#include "helpers/scatter_check.h"

using oracle::Bytes;
using sheaf::DType;
using sheaf::Reduction;

namespace {

std::vector<int64_t> colliding_rows(Rng& rng, Collisions collisions, int64_t updates,
                                    int64_t cells) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < updates; ++i) {
    switch (collisions) {
      case Collisions::kOneCell: indices.push_back(cells / 2); break;
      case Collisions::kHundredCells: indices.push_back(rng.from(0, 99)); break;
      case Collisions::kZipf: {
        const double uniform = static_cast<double>(rng.from(1, 1 << 20)) / (1 << 20);
        const auto rank = static_cast<int64_t>(std::pow(static_cast<double>(cells), uniform)) - 1;
        indices.push_back(std::min(rank, cells - 1));
      }
    }
  }
  return indices;
}

constexpr int64_t kCells = 1000;

// Which cell each row of updates goes to.
struct Rows {
  std::vector<int64_t> cells;
  int64_t columns;

  void check(const Machine& machine, DType type, const oracle::Joining& joining, bool relaxed,
             const Bytes& data, const Bytes& updates) const {
    const int64_t count = std::ssize(cells);
    const sheaf::Plan plan = sheaf::plan_scatter({type, {kCells, columns}}, {sheaf::i64, {count}},
                                                 {type, {count, columns}},
                                                 {.reduction = joining.reduction,
                                                  .include_self = joining.include_self,
                                                  .onto_zeros = joining.onto_zeros,
                                                  .relaxed = relaxed});
    const Bytes expected =
        oracle::scattered(type, joining, data, updates, row_targets(cells, columns));
    ScatterCheck{plan, cells.data(), data, updates, expected}.run(
        type.name() + " " + joining.str() + (relaxed ? " relaxed" : ""), machine);
  }
};

// Whole numbers of which thousands can be added without rounding.
Bytes whole_numbers(Rng& rng, DType type, int64_t count) {
  Bytes bytes = random_elements(rng, type, count, false);
  for (int64_t e = 0; e < count; ++e) {
    const auto value = static_cast<double>(rng.from(-100, 100));
    if (type == sheaf::f32) {
      const auto narrow = static_cast<float>(value);
      std::memcpy(bytes.data() + e * 4, &narrow, sizeof narrow);
    } else if (type == sheaf::f64) {
      std::memcpy(bytes.data() + e * 8, &value, sizeof value);
    }
  }
  return bytes;
}

}  // namespace

void check_collisions(const Machine& machine, Collisions collisions, int64_t updates,
                      int64_t columns, bool tame) {
  Rng rng(static_cast<uint64_t>(updates + columns));
  const Rows rows{colliding_rows(rng, collisions, updates, kCells), columns};
  for (const DType type : oracle::kNumberTypes) {
    const Bytes data = random_elements(rng, type, kCells * columns, tame);
    const Bytes moved = random_elements(rng, type, updates * columns, tame);
    for (const Reduction reduction : oracle::kReductions) {
      if (oracle::joins(type, reduction)) {
        rows.check(machine, type, {reduction, rng.one_in(2), rng.one_in(4)}, false, data, moved);
      }
    }
  }
}

void check_relaxed_collisions(const Machine& machine, Collisions collisions, int64_t updates,
                              int64_t columns) {
  Rng rng(static_cast<uint64_t>(updates + columns));
  const Rows rows{colliding_rows(rng, collisions, updates, kCells), columns};
  for (const DType type : {sheaf::i8, sheaf::i16, sheaf::i32, sheaf::i64, sheaf::u8, sheaf::u16,
                           sheaf::u32, sheaf::u64, sheaf::f32, sheaf::f64}) {
    const Bytes data = whole_numbers(rng, type, kCells * columns);
    const Bytes moved = whole_numbers(rng, type, updates * columns);
    for (const Reduction reduction : {Reduction::kAdd, Reduction::kMin, Reduction::kMax}) {
      rows.check(machine, type, {reduction, rng.one_in(2), rng.one_in(4)}, true, data, moved);
    }
  }
}
