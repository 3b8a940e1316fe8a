// SPDX-License-Identifier: MIT
#include "sheaf/move.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <vector>

#include "helpers/refusal.h"
#include "moves/moves.h"
#include "sheaf/cancel.h"
#include "sheaf/error.h"

namespace sheaf {
namespace {

std::vector<int> numbers(int count) {
  std::vector<int> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0);
  return values;
}

TEST(Move, CopyBroadcastsAndTransposes) {
  const std::vector<int> row = numbers(3);
  std::vector<int> rows(6), back(6);
  copy(view(row, {3}), view(rows, {2, 3}));
  EXPECT_EQ(rows, (std::vector<int>{0, 1, 2, 0, 1, 2}));
  copy(view(numbers(6), {3, 2}, {1, 3}), view(back, {3, 2}));
  EXPECT_EQ(back, (std::vector<int>{0, 3, 1, 4, 2, 5}));
  EXPECT_THROW(copy(view(row, {3}), view(rows, {3, 2})), Error);
  std::vector<float> floats(3);
  EXPECT_THROW(copy(view(row), view(floats)), Error);
  EXPECT_THROW(copy(view(rows, {3}), view(rows, {3})), Error);  // in place
}

TEST(Move, CastConverts) {
  const std::vector<double> from{1.9, -1.9, 300, -300};
  std::vector<int8_t> to(4);
  cast(view(from), view(to));
  EXPECT_EQ(to, (std::vector<int8_t>{1, -1, 127, -128}));
  std::vector<std::complex<float>> complex(4);
  EXPECT_THROW(cast(view(from), view(complex)), Error);
}

TEST(Move, FillAndSequence) {
  std::vector<int> to(4);
  fill(view(to), 7);
  EXPECT_EQ(to, (std::vector<int>{7, 7, 7, 7}));
  fill_sequence(view(to, {2, 2}, {1, 2}), 10, -3);
  EXPECT_EQ(to, (std::vector<int>{10, 4, 7, 1}));
  EXPECT_THROW(fill(view(to), 0.5), Error);
}

TEST(Move, JoinIsTheReverseOfSplit) {
  const std::vector<int> from = numbers(12);
  std::vector<int> left(4), right(8), back(12);
  const Tensor parts[] = {view(left, {4, 1}), view(right, {4, 2})};
  split(view(from, {4, 3}), 1, parts);
  EXPECT_EQ(left, (std::vector<int>{0, 3, 6, 9}));
  const ConstTensor again[] = {parts[0], parts[1]};
  join(again, 1, view(back, {4, 3}));
  EXPECT_EQ(back, from);
  EXPECT_THROW(join(again, 0, view(back, {4, 3})), Error);
  EXPECT_THROW(split(view(from, {4, 3}), 2, parts), Error);
}

TEST(Move, TileSliceAndPad) {
  std::vector<int> tiled(8), sliced(2), padded(6);
  tile(view(numbers(2), {1, 2}), view(tiled, {2, 4}), {2, 2});
  EXPECT_EQ(tiled, (std::vector<int>{0, 1, 0, 1, 0, 1, 0, 1}));
  slice(view(numbers(5), {5}), view(sliced, {2}), {4}, {-2});
  EXPECT_EQ(sliced, (std::vector<int>{4, 2}));
  EXPECT_THROW(slice(view(numbers(5), {5}), view(sliced, {2}), {4}, {1}), Error);
  pad(view(numbers(3), {3}), view(padded, {6}), {2}, PadMode::kReflect);
  EXPECT_EQ(padded, (std::vector<int>{2, 1, 0, 1, 2, 1}));
  EXPECT_THROW(pad(view(numbers(3), {3}), view(padded, {6}), {4}, PadMode::kEdge), Error);
}

TEST(Move, ReverseSubsequences) {
  std::vector<int> to(8);
  reverse_subsequences(view(numbers(8), {2, 4}), view(std::vector<int64_t>{3, 99}, {2, 1}),
                       view(to, {2, 4}), 1);
  EXPECT_EQ(to, (std::vector<int>{2, 1, 0, 3, 7, 6, 5, 4}));
  reverse_subsequences(view(numbers(8), {4, 2}), view(std::vector<int>{-1, 2}, {1, 2}),
                       view(to, {4, 2}), 0);
  EXPECT_EQ(to, (std::vector<int>{0, 3, 2, 1, 4, 5, 6, 7}));
}

TEST(Move, OneHotAndNonzero) {
  std::vector<float> to(6);
  one_hot(view(std::vector<int>{-1, 5}, {2, 1}), view(std::vector<float>{0, 1}), view(to, {2, 3}),
          1);
  EXPECT_EQ(to, (std::vector<float>{0, 0, 1, 0, 0, 0}));
  std::vector<int> coordinates(12, -1);
  EXPECT_EQ(nonzero(view(to, {2, 3}), view(coordinates, {6, 2})), 1);
  EXPECT_EQ(coordinates[0], 0);
  EXPECT_EQ(coordinates[1], 2);
  EXPECT_EQ(coordinates[2], -1);  // later rows are untouched
}

TEST(Move, ErrorsHaveFourLines) {
  std::vector<int> to(4);
  try {
    tile(view(numbers(2), {2}), view(to, {4}), {3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "tile: output has the wrong shape\n"
                 "  dimension 0 has 4 entries, but 2 repeated 3 times are 6\n"
                 "  from i32[2]   to i32[4]\n"
                 "  try: sizes that are multiplied by the repeats");
  }
}

TEST(Move, TopKRefusesIndicesThatDoNotHoldAPlace) {
  const std::vector<float> from(129);
  std::vector<float> value(1);
  std::vector<int8_t> place(1);
  EXPECT_THROW(top_k(view(from, {129}), view(value, {1}), view(place, {1}), 0), Error);
  EXPECT_NO_THROW(top_k(view(from.data(), {128}), view(value, {1}), view(place, {1}), 0));
}

TEST(Move, TopKOfIntegers) {
  std::vector<int64_t> places(2);
  std::vector<int64_t> large(2);
  top_k(view(std::vector<int64_t>{-5, INT64_MAX, INT64_MAX - 1}), view(large), view(places), 0);
  EXPECT_EQ(large, (std::vector<int64_t>{INT64_MAX, INT64_MAX - 1}));
  std::vector<uint64_t> small(2);
  top_k(view(std::vector<uint64_t>{UINT64_MAX, 7, 3}), view(small), view(places), 0, false);
  EXPECT_EQ(small, (std::vector<uint64_t>{3, 7}));
  EXPECT_EQ(places, (std::vector<int64_t>{2, 1}));
}

TEST(Move, ScalesIntegers) {
  const auto scaled = [](DType type, const void* from) {
    std::vector<double> to(2);
    const void* in[] = {from};
    void* out[] = {to.data()};
    moves::scale("scale", TensorSpec(type, {2}), TensorSpec(f64, {2}), 0.5, 1)(in, out);
    return to;
  };
  const int32_t negative[] = {-4, 6};
  const uint8_t positive[] = {250, 2};
  EXPECT_EQ(scaled(i32, negative), (std::vector<double>{-1, 4}));
  EXPECT_EQ(scaled(u8, positive), (std::vector<double>{126, 2}));
}

// Cancelled at each question in turn.
TEST(Move, CanBeCancelled) {
  const std::vector<int32_t> from(1 << 18, 1);
  std::vector<int32_t> coordinates(from.size()), values(from.size() / 2), places(values.size());
  const int64_t count = std::ssize(from);
  for (const bool search : {true, false}) {
    for (int64_t questions = 0; questions < 4; ++questions) {
      std::atomic<int64_t> left = questions;
      const CancelScope scope(
          {[](void* asked) { return static_cast<std::atomic<int64_t>*>(asked)->fetch_sub(1) <= 0; },
           &left});
      const auto call = [&] {
        if (search) {
          nonzero(view(from), view(coordinates, {count, 1}));
        } else {
          top_k(view(from, {256, 1024}), view(values, {256, 512}), view(places, {256, 512}), 1);
        }
      };
      EXPECT_NE(refusal(call, ErrorCode::kCancelled), "");
    }
  }
}

TEST(Move, OneHotRefusesValuesWithoutElements) {
  const std::vector<int64_t> index = {0};
  std::vector<float> to(3);
  EXPECT_THROW(one_hot(view(index, {1, 1}), view(to.data(), {0, 2}), view(to, {1, 3}), 1), Error);
}

TEST(Move, TopKKeepsTheOrderOfEqualValues) {
  const std::vector<float> from{1, 2, 2, 3, 3, NAN, 5, 5};
  std::vector<float> values(6);
  std::vector<uint32_t> places(6);
  top_k(view(from, {2, 4}), view(values, {2, 3}), view(places, {2, 3}), 1);
  EXPECT_EQ(places, (std::vector<uint32_t>{3, 1, 2, 1, 2, 3}));
  EXPECT_EQ((std::vector<float>(values.begin(), values.begin() + 3)),
            (std::vector<float>{3, 2, 2}));
  EXPECT_TRUE(std::isnan(values[3]));
  std::vector<float> lowest(4);
  std::vector<int64_t> rows(4);
  top_k(view(from, {2, 4}), view(lowest, {1, 4}), view(rows, {1, 4}), 0, false);
  EXPECT_EQ(lowest, (std::vector<float>{1, 2, 2, 3}));
  EXPECT_EQ(rows, (std::vector<int64_t>{0, 0, 0, 0}));
  EXPECT_THROW(top_k(view(from, {2, 4}), view(values, {1, 6}), view(places, {1, 6}), 1), Error);
  EXPECT_THROW(top_k(view(from, {2, 4}), view(values, {2, 3}), view(places, {3, 2}), 1), Error);
  EXPECT_THROW(top_k(view(from, {2, 4}), view(values, {2, 3}), view(places, {2, 3}), 2), Error);
}

}  // namespace
}  // namespace sheaf
