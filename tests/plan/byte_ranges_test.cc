// SPDX-License-Identifier: MIT
#include "plan/byte_ranges.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "helpers/limits.h"
#include "helpers/rng.h"
#include "sheaf/tensor.h"

namespace sheaf {
namespace {

TEST(ByteRange, LeavesInt64) {
  EXPECT_FALSE(byte_range({u8, {2}, {kMost}}));             // hi = 2^63
  EXPECT_FALSE(byte_range({u8, {2}, {kLeast}}));            // lo = -2^63
  EXPECT_FALSE(byte_range({u8, {3}, {kMost / 2 + 1}}));     // the reach does not fit
  EXPECT_FALSE(byte_range({f64, {2}, {kMost / 8 + 1}}));    // in elements it would
  EXPECT_FALSE(byte_range({f64, {2}, {kLeast / 8}}));       // lo = -2^63 exactly
  EXPECT_FALSE(byte_range({u8, {2, 2}, {kMost - 1, 1}}));   // together they do not
  EXPECT_FALSE(byte_range({u8, {2, 2}, {-kMost, -1}}));     // nor downwards
  EXPECT_FALSE(byte_range({u8, {2, 2}, {kMost - 1, -1}}));  // hi - lo does not
  EXPECT_FALSE(byte_range({u8, {2, 2}, {kMost / 2 + 1, -(kMost / 2)}}));
}

TEST(ByteRange, JustFits) {
  const auto up = byte_range({u8, {2}, {kMost - 1}});
  ASSERT_TRUE(up);
  EXPECT_EQ(up->lo, 0);
  EXPECT_EQ(up->hi, kMost);
  const auto down = byte_range({u8, {2}, {-(kMost - 1)}});
  ASSERT_TRUE(down);
  EXPECT_EQ(down->lo, -(kMost - 1));
  EXPECT_EQ(down->hi, 1);
  EXPECT_TRUE(byte_range({u8, {2, 2}, {kMost / 2, -(kMost / 2)}}));
}

TEST(ByteRange, CountsOnlyWhatIsUsed) {
  const auto expect = [](const TensorSpec& spec, int64_t lo, int64_t hi) {
    const auto range = byte_range(spec);
    ASSERT_TRUE(range) << spec.str();
    EXPECT_EQ(range->lo, lo) << spec.str();
    EXPECT_EQ(range->hi, hi) << spec.str();
  };
  expect({f32, {}}, 0, 4);
  expect({f32, {0, 7}, {kMost, kLeast}}, 0, 0);
  expect({f32, {1, 7}, {kLeast, 1}}, 0, 28);
  expect({f32, {3, 7}}, 0, 84);
  expect({f32, {3, 7}, {-7, 1}}, -56, 28);
  expect({f32, {3, 7}, {0, -2}}, -48, 4);
  expect({opaque(24), {2, 2}, {-5, 3}}, -120, 96);
}

TEST(UsedStride, IsZeroWhereNoElementDependsOnIt) {
  EXPECT_EQ(used_stride({f32, {1, 3}, {kMost, 2}}, 0), 0);
  EXPECT_EQ(used_stride({f32, {1, 3}, {kMost, 2}}, 1), 2);
  EXPECT_EQ(used_byte_stride({f32, {1, 3}, {kMost, -2}}, 1), -8);
  // 2^62 * 4 would not fit: with no elements it is never asked for.
  EXPECT_EQ(used_byte_stride({f32, {0, 3}, {1, int64_t{1} << 62}}, 1), 0);
}

// All bytes of a tensor, by the definition.
std::vector<int64_t> bytes_of(const TensorSpec& spec, int64_t base) {
  std::vector<int64_t> starts = {base};
  for (int d = 0; d < spec.rank(); ++d) {
    std::vector<int64_t> next;
    for (const int64_t start : starts) {
      for (int64_t i = 0; i < spec.sizes[d]; ++i) {
        next.push_back(start + i * spec.strides[d] * spec.dtype.bytes());
      }
    }
    starts = next;
  }
  std::vector<int64_t> bytes;
  for (const int64_t start : starts) {
    for (int64_t b = 0; b < spec.dtype.bytes(); ++b) {
      bytes.push_back(start + b);
    }
  }
  return bytes;
}

TEST(ElementsDisjoint, NeverSaysSoWhereBytesAreShared) {
  const DType pair = opaque(2);
  int disjoint = 0;
  for (int64_t code = 0; code < 4 * 4 * 4 * 13 * 13 * 13; ++code) {
    int64_t rest = code;
    const auto digit = [&](int64_t base) {
      const int64_t value = rest % base;
      rest /= base;
      return value;
    };
    const Dims sizes = {digit(4), digit(4), digit(4)};
    const Dims strides = {digit(13) - 6, digit(13) - 6, digit(13) - 6};
    const TensorSpec spec(pair, sizes, strides);
    if (!elements_disjoint(spec)) {
      continue;
    }
    ++disjoint;
    const std::vector<int64_t> bytes = bytes_of(spec, 0);
    ASSERT_EQ(std::set<int64_t>(bytes.begin(), bytes.end()).size(), bytes.size()) << spec.str();
  }
  EXPECT_GT(disjoint, 40000);
}

TEST(ElementsDisjoint, HoldsForEveryNestedLayout) {
  EXPECT_TRUE(elements_disjoint({f32, {}}));
  EXPECT_TRUE(elements_disjoint({f32, {0, 2}, {0, 0}}));
  EXPECT_TRUE(elements_disjoint({f32, {1, 2}, {0, 1}}));
  EXPECT_TRUE(elements_disjoint({f32, {3, 5}}));
  EXPECT_TRUE(elements_disjoint({f32, {5, 3}, {1, 5}}));    // transposed
  EXPECT_TRUE(elements_disjoint({f32, {3, 5}, {-8, -1}}));  // padded and backwards
  EXPECT_TRUE(elements_disjoint({f32, {3, 5}, {5, 1}}));    // no gap
  EXPECT_FALSE(elements_disjoint({f32, {3, 5}, {4, 1}}));   // one too few
  EXPECT_FALSE(elements_disjoint({f32, {3, 5}, {1, -1}}));
  EXPECT_FALSE(elements_disjoint({f32, {2}, {0}}));
  EXPECT_FALSE(elements_disjoint({f32, {2, 3}, {3, 2}}));  // apart, but finer than we look
}

bool overlap(const TensorSpec& a, int64_t at_a, const TensorSpec& b, int64_t at_b) {
  static std::byte memory[4096];
  return may_overlap({memory + 2048 + at_a, a}, {memory + 2048 + at_b, b});
}

TEST(MayOverlap, NeighboursDoNot) {
  const TensorSpec row(f32, {4});
  EXPECT_FALSE(overlap(row, 0, row, 16));
  EXPECT_FALSE(overlap(row, 16, row, 0));
  EXPECT_TRUE(overlap(row, 0, row, 15));
  EXPECT_TRUE(overlap(row, 15, row, 0));
  EXPECT_TRUE(overlap(row, 0, row, 0));
  const TensorSpec backwards(f32, {4}, {-1});
  EXPECT_FALSE(overlap(backwards, 0, row, 4));
  EXPECT_TRUE(overlap(backwards, 0, row, 3));
  EXPECT_FALSE(overlap(backwards, 0, row, -28));
  EXPECT_TRUE(overlap(backwards, 0, row, -27));
}

TEST(MayOverlap, EmptyTensorsNever) {
  const TensorSpec none(f32, {0, 3});
  const TensorSpec row(f32, {4});
  EXPECT_FALSE(overlap(none, 0, row, 0));
  EXPECT_FALSE(overlap(row, 0, none, 4));
  EXPECT_FALSE(may_overlap({nullptr, none}, {nullptr, none}));
}

TEST(MayOverlap, ColumnsOfOneMatrixDoNot) {
  const TensorSpec column(f32, {5}, {3});
  EXPECT_FALSE(overlap(column, 0, column, 4));
  EXPECT_FALSE(overlap(column, 8, column, 0));
  EXPECT_TRUE(overlap(column, 0, column, 12));
  EXPECT_TRUE(overlap(column, 0, column, 2));
  EXPECT_TRUE(overlap(column, 0, column, 9));  // the end reaches into the next period
  EXPECT_TRUE(overlap(column, 2, column, 0));
  // Of different types, and backwards.
  EXPECT_FALSE(overlap(column, 0, {i16, {5}, {-6}}, 52));
  EXPECT_TRUE(overlap(column, 0, {i16, {5}, {-6}}, 50));
  EXPECT_FALSE(overlap({i64, {3}, {2}}, 0, {i32, {3}, {4}}, 12));
  // Single elements have no stride of their own.
  EXPECT_FALSE(overlap(column, 0, {f32, {}}, 16));
  EXPECT_TRUE(overlap(column, 0, {f32, {}}, 24));
  EXPECT_TRUE(overlap({f32, {}}, 0, {f32, {1}}, 3));
  EXPECT_FALSE(overlap({f32, {}}, 0, {f32, {1}}, 4));
}

TEST(MayOverlap, StridesMayBeAsLongAsTheyLike) {
  const int64_t far = int64_t{3} << 61;
  EXPECT_FALSE(overlap({u8, {2}, {far}}, 0, {u8, {}}, 5));
  EXPECT_FALSE(overlap({u8, {2}, {-far}}, 0, {u8, {}}, -5));
  EXPECT_FALSE(overlap({u8, {2}, {far}}, 5, {u8, {2}, {far}}, 0));
  EXPECT_TRUE(overlap({u8, {2}, {far}}, 5, {u8, {2}, {far}}, 5));
}

// Against all bytes, one by one: it may say yes too often, never no.
TEST(MayOverlap, NeverMissesOne) {
  Rng rng(7);
  int apart = 0;
  int apart_although_ranges_meet = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto random = [&] {
      const int64_t step = rng.from(1, 3);
      Dims sizes, strides;
      for (int64_t d = rng.from(0, 2); d > 0; --d) {
        sizes.push_back(rng.from(0, 4));
        strides.push_back(rng.from(-4, 4) * step);
      }
      return TensorSpec(opaque(rng.from(1, 4)), sizes, strides);
    };
    const TensorSpec a = random();
    const TensorSpec b = random();
    const int64_t at_a = rng.from(-20, 20);
    const int64_t at_b = rng.from(-20, 20);
    if (overlap(a, at_a, b, at_b)) {
      continue;
    }
    ++apart;
    const std::vector<int64_t> first = bytes_of(a, at_a);
    const std::set<int64_t> taken(first.begin(), first.end());
    const std::vector<int64_t> second = bytes_of(b, at_b);
    for (const int64_t byte : second) {
      ASSERT_EQ(taken.count(byte), 0u)
          << a.str() << " at " << at_a << ", " << b.str() << " at " << at_b;
    }
    if (!taken.empty() && !second.empty()) {
      const auto [low, high] = std::minmax_element(second.begin(), second.end());
      apart_although_ranges_meet += *taken.begin() <= *high && *low <= *taken.rbegin() ? 1 : 0;
    }
  }
  EXPECT_GT(apart, 1000);
  EXPECT_GT(apart_although_ranges_meet, 50);
}

}  // namespace
}  // namespace sheaf
