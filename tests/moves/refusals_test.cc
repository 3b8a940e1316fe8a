// SPDX-License-Identifier: MIT
//
// The whole texts of refusals: each check speaks for itself, and is not left to what comes after.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "helpers/refusal.h"
#include "moves/moves.h"
#include "sheaf/move.h"

namespace sheaf {
namespace {

using testing::StartsWith;

std::vector<int32_t> written(64);

Tensor target(const Dims& sizes) { return {written.data(), TensorSpec(i32, sizes)}; }
Tensor target(DType type, const Dims& sizes) { return {written.data(), TensorSpec(type, sizes)}; }
ConstTensor source(DType type, const Dims& sizes) {
  static const std::vector<int64_t> numbers(64, 1);
  return {numbers.data(), TensorSpec(type, sizes)};
}
ConstTensor source(const Dims& sizes) { return source(i32, sizes); }

TEST(MoveRefusals, OfTensors) {
  const DType unknown(static_cast<Kind>(77), 4);
  EXPECT_EQ(refusal([&] {
              cast({written.data(), TensorSpec(unknown, {3})}, target({3}));
            }),
            "cast: unknown element type\n"
            "  from has elements of kind 77\n"
            "  from " +
                TensorSpec(unknown, {3}).str() +
                "\n  try: one of the named types, or opaque elements of 1 to 64 bytes");
  TensorSpec negative(i32, {2, 3});
  negative.sizes[0] = -2;
  EXPECT_EQ(refusal([&] {
              copy({written.data(), negative}, target({2, 3}));
            }),
            "copy: negative size\n"
            "  from has size -2, but sizes are 0 or more\n"
            "  from i32[-2, 3]\n"
            "  try: check how the shape was computed");
  const TensorSpec huge(u8, {0, int64_t{1} << 40}, {1, 1});
  TensorSpec larger = huge;
  larger.sizes.push_back(int64_t{1} << 30);
  larger.strides.push_back(1);
  EXPECT_EQ(refusal([&] {
              copy({nullptr, huge}, {nullptr, larger});
            }),
            "copy: tensor too large\n"
            "  the sizes of to multiply to more than 2^63 - 1\n"
            "  to u8[0, 1099511627776, 1073741824] strides [1, 1, 1]\n"
            "  try: check how the shape was computed");
  // In front of the first address.
  const TensorSpec backwards(u8, {2}, {-int64_t{1} << 62});
  const void* first = reinterpret_cast<const void*>((uintptr_t{1} << 63) + 8);
  EXPECT_EQ(refusal([&] {
              cast({first, backwards}, target(u8, {2}));
            }),
            "cast: tensor too large\n"
            "  the strides of from lead from its pointer out of the address space\n"
            "  from u8[2] strides [-4611686018427387904]\n"
            "  try: check the strides; they are in elements, not in bytes");
}

TEST(MoveRefusals, OfShapesAndTypes) {
  EXPECT_EQ(refusal([] { cast(source({3}), target({4})); }),
            "cast: shapes differ\n"
            "  from is [3], but to is [4]\n"
            "  from i32[3]   to i32[4]\n"
            "  try: equal shapes");
  EXPECT_EQ(refusal([] { cast(source(c64, {3}), target({3})); }),
            "cast: not a number\n"
            "  c64 has no value to convert\n"
            "  c64[3]\n"
            "  try: an integer, a float or a bool");
  EXPECT_THAT(refusal([] { cast(source({3}), target(c64, {3})); }),
              StartsWith("cast: not a number\n"));
  EXPECT_EQ(refusal([] { copy(source(i64, {3}), target({3})); }),
            "copy: types differ\n"
            "  from is i64, but to is i32\n"
            "  from i64[3]   to i32[3]\n"
            "  try: cast, which converts");
  EXPECT_EQ(refusal([] {
              copy(source({2, 3}), target({3}));
            }),
            "copy: shapes do not fit\n"
            "  from has more dimensions than to\n"
            "  from i32[2, 3]   to i32[3]\n"
            "  try: reshape from");
  EXPECT_EQ(refusal([] { copy(source({2}), target({3})); }),
            "copy: shapes do not fit\n"
            "  dimension 0 has 2 entries in from, but 3 in to\n"
            "  from i32[2]   to i32[3]\n"
            "  try: equal sizes, or size 1 in from");
}

TEST(MoveRefusals, OfAxes) {
  const std::vector<ConstTensor> parts = {source({3})};
  for (const int64_t axis : {int64_t{-1}, int64_t{1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(refusal([&] { join(parts, axis, target({3})); }),
              "join: axis out of range\n"
              "  axis = " +
                  std::to_string(axis) +
                  ", but there are 1 dimensions\n"
                  "  i32[3]\n"
                  "  try: an axis from 0 to 0");
    const std::vector<Tensor> to = {target({3})};
    EXPECT_THAT(refusal([&] { split(source({3}), axis, to); }),
                StartsWith("split: axis out of range\n"));
    EXPECT_THAT(refusal([&] { one_hot(source({1}), source({2}), target({3}), axis); }),
                StartsWith("one_hot: axis out of range\n"));
    EXPECT_THAT(refusal([&] { reverse_subsequences(source({3}), source({1}), target({3}), axis); }),
                StartsWith("reverse_subsequences: axis out of range\n"));
    EXPECT_THAT(refusal([&] { top_k(source({3}), target({3}), target(i64, {3}), axis); }),
                StartsWith("top_k: axis out of range\n"));
  }
}

TEST(MoveRefusals, OfLengthsAndIndices) {
  EXPECT_EQ(refusal([] {
              reverse_subsequences(source({2, 3}), source({2, 2}), target({2, 3}), 1);
            }),
            "reverse_subsequences: lengths does not fit\n"
            "  lengths is i32[2, 2], but integers of shape [2, 1] are needed\n"
            "  i32[2, 3]\n"
            "  try: lengths of size 1 along the axis");
  EXPECT_THAT(refusal([] {
                reverse_subsequences(source({2, 3}), source(f32, {2, 1}), target({2, 3}), 1);
              }),
              StartsWith("reverse_subsequences: lengths does not fit\n"));
  EXPECT_THAT(refusal([] {
                one_hot(source(f32, {2, 1}), source({2}), target({2, 3}), 1);
              }),
              StartsWith("one_hot: indices does not fit\n"));
  EXPECT_THAT(refusal([] {
                one_hot(source({2, 2}), source({2}), target({2, 3}), 1);
              }),
              StartsWith("one_hot: indices does not fit\n"));
  for (const ConstTensor& values : {source({1}), source({}), source({0, 2}), source(i64, {2})}) {
    EXPECT_THAT(refusal([&] {
                  one_hot(source({2, 1}), values, target({2, 3}), 1);
                }),
                StartsWith("one_hot: values do not fit\n"));
  }
}

TEST(MoveRefusals, OfRanks) {
  EXPECT_EQ(refusal([] {
              tile(source({3}), target({1, 3}), {1});
            }),
            "tile: ranks differ\n"
            "  from has 1 dimensions, to has 2 and repeats has 1 entries\n"
            "  from i32[3]   to i32[1, 3]\n"
            "  try: one entry for each dimension");
  EXPECT_THAT(refusal([] {
                tile(source({3}), target({3}), {1, 1});
              }),
              StartsWith("tile: ranks differ\n"));
  EXPECT_THAT(refusal([] {
                slice(source({3}), target({3}), {0, 0}, {1});
              }),
              StartsWith("slice: ranks differ\n"));
  EXPECT_THAT(refusal([] { slice(source({3}), target({3}), {0}, {}); }),
              StartsWith("slice: ranks differ\n"));
  EXPECT_EQ(refusal([] {
              pad(source({3}), target({1, 3}), {0}, PadMode::kEdge);
            }),
            "pad: ranks differ\n"
            "  from has 1 dimensions, to has 2 and before has 1 entries\n"
            "  from i32[3]   to i32[1, 3]\n"
            "  try: one entry for each dimension");
  EXPECT_THAT(refusal([] { pad(source({3}), target({3}), {}, PadMode::kEdge); }),
              StartsWith("pad: ranks differ\n"));
}

TEST(MoveRefusals, OfRepeats) {
  EXPECT_THAT(refusal([] { tile(source({0}), target({0}), {0}); }),
              StartsWith("tile: output has the wrong shape\n"));
  EXPECT_THAT(refusal([] { tile(source({0}), target({0}), {-3}); }),
              StartsWith("tile: output has the wrong shape\n"));
  // 2^63, which wraps around to what a careless product has.
  EXPECT_THAT(refusal([] { tile(source({4}), target({0}), {int64_t{1} << 62}); }),
              StartsWith("tile: output has the wrong shape\n"));
}

TEST(MoveRefusals, OfValues) {
  EXPECT_EQ(refusal([] { fill(target(u8, {3}), 256); }).find("fill: value does not fit\n"), 0u);
  EXPECT_EQ(refusal([] {
              fill_sequence(target(u8, {3}), 256, 1);
            }).find("fill_sequence: value does not fit\n"),
            0u);
  EXPECT_EQ(refusal([] {
              fill_sequence(target(u8, {3}), 1, -1);
            }).find("fill_sequence: value does not fit\n"),
            0u);
  EXPECT_THAT(refusal([] { fill_sequence(target(c64, {3}), 1, 1); }),
              StartsWith("fill_sequence: not a number\n"));
}

TEST(MoveRefusals, OfPadding) {
  EXPECT_EQ(refusal([] {
              pad(source({2}), {written.data(), TensorSpec(i32, {int64_t{1} << 40})}, {0},
                  PadMode::kWrap);
            }),
            "pad: too much padding\n"
            "  the padding repeats the tensor in more than 100000 pieces\n"
            "  from i32[2]   to i32[1099511627776]\n"
            "  try: less padding, or tile");
}

TEST(MoveRefusals, OfCoordinates) {
  const auto made = [](const TensorSpec& from, const TensorSpec& count,
                       const TensorSpec& coordinates) {
    return refusal([&] { moves::nonzero("nonzero", from, count, coordinates); });
  };
  const TensorSpec from(i32, {2, 3}), count(i64, {}), one(i64, {1, 1});
  EXPECT_EQ(made(from, count, TensorSpec(i32, {6, 3})),
            "nonzero: coordinates do not fit\n"
            "  coordinates is i32[6, 3], but integers of shape [6, rank] are needed\n"
            "  from i32[2, 3]   count i64[]\n"
            "  try: one row for each element and one column for each dimension");
  for (const TensorSpec& bad :
       {TensorSpec(i32, {6}), TensorSpec(i32, {}), TensorSpec(i32, {5, 2}), TensorSpec(i32, {6, 1}),
        TensorSpec(f32, {6, 2}), TensorSpec(i32, {2, 6, 2}), TensorSpec(i32, {6, 0})}) {
    EXPECT_THAT(made(from, count, bad), StartsWith("nonzero: coordinates do not fit\n"))
        << bad.str();
  }
  const TensorSpec good(i32, {6, 2});
  EXPECT_THAT(made(from, TensorSpec(f64, {}), good), StartsWith("nonzero: coordinates do not fit"));
  EXPECT_THAT(made(from, TensorSpec(i64, {2}), good),
              StartsWith("nonzero: coordinates do not fit"));
  EXPECT_THAT(made(from, TensorSpec(i64, {0}), good),
              StartsWith("nonzero: coordinates do not fit"));
  EXPECT_THAT(made(TensorSpec(c64, {2, 3}), count, good), StartsWith("nonzero: not a number\n"));
  EXPECT_THAT(made(from, count, TensorSpec(i32, {6, 2}, {1, 1})),
              StartsWith("nonzero: output overlaps itself\n"));
  EXPECT_NO_THROW(
      moves::nonzero("nonzero", TensorSpec(i32, {1, 6}), one, TensorSpec(i32, {1, 6, 1})));
}

TEST(MoveRefusals, OfTopK) {
  const auto top = [](const TensorSpec& values, const TensorSpec& places) {
    return refusal([&] {
      moves::top_k("top_k", TensorSpec(f32, {2, 4}), values, places, 1, true);
    });
  };
  const TensorSpec values(f32, {2, 3}), places(i64, {2, 3});
  EXPECT_EQ(top(TensorSpec(f64, {2, 3}), places),
            "top_k: types do not fit\n"
            "  from is f32, values f64 and indices i64\n"
            "  from f32[2, 4]   values f64[2, 3]   indices i64[2, 3]\n"
            "  try: numbers, values of the same type, and indices of an integer type");
  EXPECT_THAT(top(values, TensorSpec(f32, {2, 3})), StartsWith("top_k: types do not fit\n"));
  EXPECT_THAT(refusal([] {
                const TensorSpec complex(c64, {3});
                moves::top_k("top_k", complex, complex, TensorSpec(i64, {3}), 0, true);
              }),
              StartsWith("top_k: types do not fit\n"));
  EXPECT_EQ(top(values, TensorSpec(i64, {2, 2})),
            "top_k: shapes do not fit\n"
            "  values is [2, 3] and indices [2, 2]\n"
            "  from f32[2, 4]   values f32[2, 3]   indices i64[2, 2]\n"
            "  try: equal shapes: that of from, with no more entries along the axis");
  EXPECT_THAT(top(TensorSpec(f32, {1, 3}), TensorSpec(i64, {1, 3})),
              StartsWith("top_k: shapes do not fit\n"));
  EXPECT_THAT(top(TensorSpec(f32, {1, 3}), places), StartsWith("top_k: shapes do not fit\n"));
  EXPECT_THAT(top(TensorSpec(f32, {3}), places), StartsWith("top_k: shapes do not fit\n"));
  EXPECT_THAT(top(TensorSpec(f32, {2, 5}), TensorSpec(i64, {2, 5})),
              StartsWith("top_k: shapes do not fit\n"));
  EXPECT_THAT(top(TensorSpec(f32, {2, 3}, {1, 1}), places),
              StartsWith("top_k: output overlaps itself\n"));
  EXPECT_THAT(top(values, TensorSpec(i64, {2, 3}, {1, 1})),
              StartsWith("top_k: output overlaps itself\n"));
}

TEST(MoveRefusals, OfUnslice) {
  const auto unsliced = [](const TensorSpec& from, const TensorSpec& to, const Dims& start,
                           const Dims& steps) {
    return refusal([&] { moves::unslice("unslice", from, to, start, steps, 0); });
  };
  const TensorSpec part(i32, {2}), whole(i32, {5});
  EXPECT_THAT(unsliced(TensorSpec(i64, {2}), whole, {0}, {1}), StartsWith("unslice: types differ"));
  EXPECT_THAT(unsliced(part, TensorSpec(i32, {1, 5}), {0}, {1}),
              StartsWith("unslice: ranks differ"));
  EXPECT_THAT(unsliced(part, whole, {}, {1}), StartsWith("unslice: ranks differ"));
  EXPECT_THAT(unsliced(part, whole, {0}, {}), StartsWith("unslice: ranks differ"));
  EXPECT_THAT(unsliced(part, whole, {4}, {1}), StartsWith("unslice: slice outside the tensor"));
}

}  // namespace
}  // namespace sheaf
