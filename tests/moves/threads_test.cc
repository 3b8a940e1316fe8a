// SPDX-License-Identifier: MIT
//
// Moves that compute have the same bits from one thread and from many.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <numeric>
#include <vector>

#include "execution/host_steps.h"
#include "helpers/rng.h"
#include "moves/moves.h"
#include "moves/rows.h"

namespace sheaf::moves {
namespace {

constexpr int64_t kRows = 701, kColumns = 503;  // a few threads' worth, in uneven parts

// Numbers with a fraction, as far as the type has them; one in three is 0.
std::vector<std::byte> random_elements(DType type, int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  Rng rng(7);
  for (double& number : numbers) {
    number = static_cast<double>(rng.from(-500, 500)) / 8;
    number = rng.one_in(3) ? 0 : number;
  }
  std::vector<std::byte> bytes(static_cast<size_t>(count * type.bytes()));
  const Work make = cast("make", TensorSpec(f64, {count}), TensorSpec(type, {count}));
  const void* in[] = {numbers.data()};
  void* out[] = {bytes.data()};
  make(in, out, {.threads = 1});
  return bytes;
}

// Runs on one thread and on as many as there are; each output is bytes long, and starts as ones.
void same_bits(const Work& work, const std::vector<const void*>& inputs,
               const std::vector<size_t>& output_bytes) {
  std::vector<std::vector<std::byte>> results[2];
  for (const int threads : {1, 0}) {
    auto& result = results[threads];
    std::vector<void*> outputs;
    for (const size_t bytes : output_bytes) {
      result.emplace_back(bytes, std::byte{1});
    }
    for (auto& output : result) {
      outputs.push_back(output.data());
    }
    work(inputs, outputs, {.threads = threads});
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST(Threads, Casts) {
  for (const DType from : {f32, i64, f16, u8}) {
    const auto read = random_elements(from, kRows * kColumns);
    for (const DType to : {i32, bf16, f64, i8}) {
      const TensorSpec packed(from, {kRows, kColumns}), written(to, {kRows, kColumns});
      const TensorSpec transposed(from, {kRows, kColumns}, {1, kRows});
      const size_t bytes = static_cast<size_t>(kRows * kColumns * to.bytes());
      same_bits(cast("cast", packed, written), {read.data()}, {bytes});
      same_bits(cast("cast", transposed, written), {read.data()}, {bytes});
    }
  }
}

TEST(Threads, ScalesAndSequences) {
  const TensorSpec spec(f32, {kRows, kColumns});
  const auto read = random_elements(f32, kRows * kColumns);
  same_bits(scale("scale", spec, spec, 0.3, -1.7), {read.data()}, {read.size()});
  same_bits(sequence("sequence", spec, 0.1, 0.7), {}, {read.size()});
  // Rows with a gap between them, which stays as it is.
  const TensorSpec gaps(i16, {kRows, kColumns}, {kColumns + 3, 1});
  same_bits(sequence("sequence", gaps, 5, -3), {},
            {static_cast<size_t>(kRows * (kColumns + 3) * 2)});
}

TEST(Threads, ReversedSequences) {
  const TensorSpec spec(u16, {kRows, kColumns}), lengths(i32, {kRows, 1});
  const auto read = random_elements(u16, kRows * kColumns);
  std::vector<int32_t> counts(kRows);
  std::iota(counts.begin(), counts.end(), -20);
  same_bits(reverse_subsequences("reverse", spec, lengths, spec, 1), {read.data(), counts.data()},
            {read.size()});
}

TEST(Threads, NonzeroCoordinates) {
  const int64_t elements = kRows * kColumns;
  const TensorSpec spec(f32, {kRows, kColumns}, {1, kRows});
  const auto read = random_elements(f32, elements);
  const Work work = nonzero("nonzero", spec, TensorSpec(i64, {}), TensorSpec(i32, {elements, 2}));
  same_bits(work, {read.data()}, {8, static_cast<size_t>(elements * 8)});
  // And right: the rows are those that a plain loop finds, in its order.
  std::vector<int32_t> coordinates(static_cast<size_t>(elements * 2), -1);
  int64_t count = 0;
  const void* in[] = {read.data()};
  void* out[] = {&count, coordinates.data()};
  work(in, out);
  size_t row = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      float value;
      std::memcpy(&value, read.data() + (i + j * kRows) * 4, 4);
      if (value != 0) {
        ASSERT_EQ(coordinates[2 * row], i);
        ASSERT_EQ(coordinates[2 * row + 1], j);
        ++row;
      }
    }
  }
  EXPECT_EQ(count, static_cast<int64_t>(row));
  EXPECT_EQ(coordinates[2 * row], -1) << "rows after the count are untouched";
}

TEST(Threads, TopK) {
  const TensorSpec spec(f16, {kRows, kColumns}), values(f16, {kRows, 9}), places(i32, {kRows, 9});
  const auto read = random_elements(f16, kRows * kColumns);
  same_bits(top_k("top_k", spec, values, places, 1, true), {read.data()},
            {static_cast<size_t>(kRows * 18), static_cast<size_t>(kRows * 36)});
  const TensorSpec columns(f16, {9, kColumns}), rows(i32, {9, kColumns});
  same_bits(top_k("top_k", spec, columns, rows, 0, false), {read.data()},
            {static_cast<size_t>(kColumns * 18), static_cast<size_t>(kColumns * 36)});
}

TEST(Threads, RangesCoverAllOnce) {
  for (const int64_t count : {0, 1, 5, 100000}) {
    for (const int threads : {0, 1, 3}) {
      std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
      run_ranges("test", count, int64_t{1} << 30, {.threads = threads},
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     ++calls[static_cast<size_t>(i)];
                   }
                 });
      EXPECT_TRUE(std::all_of(calls.begin(), calls.end(), [](const auto& n) { return n == 1; }));
    }
  }
}

// Every range of elements is walked through once and in order, whatever was merged.
TEST(Rows, PiecesCoverARange) {
  const TensorSpec a(i32, {3, 1, 4, 5}, {40, 7, 10, 2}), b(i8, {3, 1, 4, 5}, {20, 0, 5, 1});
  const Rows rows = rows_of(a, b);
  EXPECT_EQ(rows.sizes.size(), 1) << "all dimensions chain in both";
  const TensorSpec broadcast(i8, {3, 1, 4, 5}, {0, 0, 5, 1});
  EXPECT_EQ(rows_of(a, broadcast).sizes.size(), 2);
  for (const Rows& walked : {rows, rows_of(a, broadcast)}) {
    for (int64_t begin = 0; begin <= 60; begin += 7) {
      for (int64_t end = begin; end <= 60; end += 9) {
        int64_t next = begin;
        for_pieces(walked, begin, end, [&](int64_t at, int64_t, int64_t place, int64_t count) {
          EXPECT_EQ(place, next);
          EXPECT_EQ(at, place * 8);
          next += count;
        });
        EXPECT_EQ(next, end);
      }
    }
  }
}

}  // namespace
}  // namespace sheaf::moves
