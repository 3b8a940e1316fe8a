// SPDX-License-Identifier: MIT
//
// Scatters that are large enough for every backend to use its threads, tiles and vectors. The bits
// are those of the oracle on every backend and from any number of threads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/rng.h"
#include "helpers/scatter_check.h"

namespace sheaf {
namespace {

// Rows at random: inside, or one in 50 outside where updates may be skipped (target -1).
struct Rows {
  std::vector<std::byte> indices;
  std::vector<int64_t> rows;
};

Rows random_rows(Rng& rng, DType type, int64_t count, int64_t extent, bool outside) {
  Rows made;
  const auto bytes = static_cast<size_t>(type.bytes());
  made.indices.resize(static_cast<size_t>(count) * bytes);
  for (int64_t i = 0; i < count; ++i) {
    const bool skip = outside && rng.one_in(50);
    const int64_t row = rng.from(0, extent - 1);
    write_index(type, skip ? extent : row, made.indices.data() + static_cast<size_t>(i) * bytes);
    made.rows.push_back(skip ? -1 : row);
  }
  return made;
}

void check_rows(DType type, int64_t columns, int64_t updates, int64_t extent, DType index_type) {
  Rng rng(static_cast<uint64_t>(columns * updates));
  const bool skips = columns % 2 == 1;
  const Rows rows = random_rows(rng, index_type, updates, extent, skips);
  const std::vector<int64_t> targets = row_targets(rows.rows, columns);
  const oracle::Bytes data = random_elements(rng, type, extent * columns, true);
  const oracle::Bytes moved = random_elements(rng, type, updates * columns, true);
  for (const oracle::Joining& joining : {oracle::Joining{Reduction::kNone, true, true},
                                         {Reduction::kAdd, true, false},
                                         {Reduction::kMax, false, false},
                                         {Reduction::kMean, false, true}}) {
    const Plan plan =
        plan_scatter({type, {extent, columns}}, {index_type, {updates}}, {type, {updates, columns}},
                     {.reduction = joining.reduction,
                      .include_self = joining.include_self,
                      .onto_zeros = joining.onto_zeros,
                      .rule = {.out_of_range = skips ? OutOfRange::kSkip : OutOfRange::kFail}});
    const oracle::Bytes expected = oracle::scattered(type, joining, data, moved, targets);
    ScatterCheck{plan, rows.indices.data(), data, moved, expected}.run(
        type.name() + " columns " + std::to_string(columns) + ", " + joining.str());
  }
}

TEST(LargeScatter, RowsOf1Byte) { check_rows(u8, 1, 100000, 30000, i32); }
TEST(LargeScatter, RowsOf4Bytes) { check_rows(f32, 1, 100000, 30000, i64); }
TEST(LargeScatter, RowsOf4BytesIntoALargeTable) { check_rows(i32, 1, 100000, 1000000, i64); }
TEST(LargeScatter, RowsOf64Bytes) { check_rows(f32, 16, 100000, 5000, i32); }
TEST(LargeScatter, RowsOf320Bytes) { check_rows(f64, 40, 20000, 1000, u16); }
TEST(LargeScatter, RowsOfHalfs) { check_rows(f16, 33, 20000, 3000, i64); }
TEST(LargeScatter, WideRows) { check_rows(f32, 5000, 150, 40, i64); }

// [300, 500] updates to [200, 500] or [300, 400] cells.
void check_elements(int64_t axis, DType type) {
  const Dims sizes = axis == 0 ? Dims{200, 500} : Dims{300, 400};
  const Dims grid{300, 500};
  Rng rng(static_cast<uint64_t>(axis + 7));
  const Rows rows = random_rows(rng, i32, 300 * 500, sizes[axis == 0 ? 0 : 1], false);
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < 300 * 500; ++i) {
    const int64_t at = rows.rows[static_cast<size_t>(i)];
    targets.push_back(axis == 0 ? at * sizes[1] + i % 500 : i / 500 * sizes[1] + at);
  }
  const oracle::Bytes data = random_elements(rng, type, sizes[0] * sizes[1], true);
  const oracle::Bytes moved = random_elements(rng, type, 300 * 500, true);
  for (const oracle::Joining& joining : {oracle::Joining{Reduction::kNone, true, false},
                                         {Reduction::kAdd, false, false},
                                         {Reduction::kMin, true, false},
                                         {Reduction::kMul, true, false},
                                         {Reduction::kMean, true, false}}) {
    const Plan plan = plan_scatter_elements(
        {type, sizes}, {i32, grid}, {type, grid},
        {.axis = axis, .reduction = joining.reduction, .include_self = joining.include_self});
    const oracle::Bytes expected = oracle::scattered(type, joining, data, moved, targets);
    ScatterCheck{plan, rows.indices.data(), data, moved, expected}.run(joining.str());
  }
}

TEST(LargeScatterElements, Axis0) { check_elements(0, f32); }
TEST(LargeScatterElements, LastAxis) { check_elements(-1, f32); }
TEST(LargeScatterElements, OfSmallTypes) {
  check_elements(0, u8);
  check_elements(-1, bf16);
}

// An index per update along the middle axis, with fewer elements behind it than a line holds.
TEST(LargeScatterElements, MiddleAxisOfNarrowRows) {
  constexpr int64_t kOuter = 1000, kExtent = 5, kInner = 3;
  const Dims sizes{kOuter, kExtent, kInner};
  Rng rng(8);
  const int64_t count = element_count(sizes);
  const Rows rows = random_rows(rng, i64, count, kExtent, false);
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t outer = i / (kExtent * kInner);
    targets.push_back((outer * kExtent + rows.rows[static_cast<size_t>(i)]) * kInner + i % kInner);
  }
  const oracle::Bytes data = random_elements(rng, f32, count, true);
  const oracle::Bytes moved = random_elements(rng, f32, count, true);
  const Plan plan = plan_scatter_elements({f32, sizes}, {i64, sizes}, {f32, sizes},
                                          {.axis = 1, .reduction = Reduction::kAdd});
  const oracle::Bytes expected = oracle::scattered(f32, {Reduction::kAdd}, data, moved, targets);
  ScatterCheck{plan, rows.indices.data(), data, moved, expected}.run("middle axis");
}

TEST(LargeScatterNd, SingleElementsByPairs) {
  constexpr int64_t kCount = 100000;
  Rng rng(3);
  std::vector<int64_t> indices, targets;
  for (int64_t i = 0; i < kCount; ++i) {
    indices.insert(indices.end(), {rng.from(-300, 299), rng.from(-200, 199)});
    const int64_t row = indices[indices.size() - 2], column = indices.back();
    targets.push_back((row < 0 ? row + 300 : row) * 200 + (column < 0 ? column + 200 : column));
  }
  const oracle::Bytes data = random_elements(rng, f32, 300 * 200, true);
  const oracle::Bytes moved = random_elements(rng, f32, kCount, true);
  for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd, Reduction::kSub}) {
    const Plan plan = plan_scatter_nd({f32, {300, 200}}, {i64, {kCount, 2}}, {f32, {kCount}},
                                      {.reduction = reduction});
    const oracle::Bytes expected = oracle::scattered(f32, {reduction}, data, moved, targets);
    ScatterCheck{plan, indices.data(), data, moved, expected}.run("nd");
  }
}

// Outer loops in front of the axis: a thread may take some of them.
TEST(LargeScatter, AlongTheMiddleAxis) {
  constexpr int64_t kOuter = 64, kExtent = 50, kInner = 6, kCount = 300;
  Rng rng(4);
  const Rows rows = random_rows(rng, u8, kCount, kExtent, false);
  std::vector<int64_t> targets;
  for (int64_t o = 0; o < kOuter; ++o) {
    for (const int64_t row : rows.rows) {
      for (int64_t k = 0; k < kInner; ++k) {
        targets.push_back((o * kExtent + row) * kInner + k);
      }
    }
  }
  const oracle::Bytes data = random_elements(rng, f32, kOuter * kExtent * kInner, true);
  const oracle::Bytes moved = random_elements(rng, f32, kOuter * kCount * kInner, true);
  for (const Reduction reduction : {Reduction::kNone, Reduction::kAdd}) {
    const Plan plan =
        plan_scatter({f32, {kOuter, kExtent, kInner}}, {u8, {kCount}},
                     {f32, {kOuter, kCount, kInner}}, {.axis = 1, .reduction = reduction});
    const oracle::Bytes expected = oracle::scattered(f32, {reduction}, data, moved, targets);
    ScatterCheck{plan, rows.indices.data(), data, moved, expected}.run("middle axis");
  }
}

}  // namespace
}  // namespace sheaf
