// SPDX-License-Identifier: MIT
//
// The index rule on values and extents at every limit, against whole numbers of 128 bits.
#include "plan/resolve.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "helpers/limits.h"

namespace sheaf {
namespace {

using Wide = __int128;

// At compile time: no undefined behaviour passes here.
static_assert(resolve(int8_t{-128}, 128, Negative::kFromEnd, OutOfRange::kFail) == 0);
static_assert(resolve(int8_t{-128}, 127, Negative::kFromEnd, OutOfRange::kFail) == kOutside);
static_assert(resolve(int8_t{-1}, 300, Negative::kFromEnd, OutOfRange::kFail) == 299);
static_assert(resolve(INT64_MIN, kMost, Negative::kFromEnd, OutOfRange::kFail) == kOutside);
static_assert(resolve(INT64_MIN, kMost, Negative::kFromEnd, OutOfRange::kClamp) == 0);
static_assert(resolve(INT64_MIN, kMost, Negative::kFromEnd, OutOfRange::kWrap) == kMost - 1);
static_assert(resolve(INT64_MIN, 3, Negative::kOutOfRange, OutOfRange::kWrap) == 1);
static_assert(resolve(UINT64_MAX, kMost, Negative::kFromEnd, OutOfRange::kFail) == kOutside);
static_assert(resolve(UINT64_MAX, kMost, Negative::kFromEnd, OutOfRange::kClamp) == kMost - 1);
static_assert(resolve(UINT64_MAX, kMost, Negative::kFromEnd, OutOfRange::kWrap) == 1);
static_assert(resolve(UINT64_MAX, 10, Negative::kFromEnd, OutOfRange::kWrap) == 5);
static_assert(resolve(uint64_t{1} << 63, kMost, Negative::kFromEnd, OutOfRange::kFill) == kOutside);

template <class Index>
class Resolve : public testing::Test {};
using IndexTypes =
    testing::Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
TYPED_TEST_SUITE(Resolve, IndexTypes);

const std::vector<int64_t> kExtents = {1,
                                       2,
                                       3,
                                       127,
                                       128,
                                       129,
                                       255,
                                       256,
                                       257,
                                       32767,
                                       32768,
                                       65536,
                                       (int64_t{1} << 31) - 1,
                                       int64_t{1} << 31,
                                       (int64_t{1} << 32) - 1,
                                       int64_t{1} << 32,
                                       (int64_t{1} << 32) + 1,
                                       kMost - 1,
                                       kMost};

// The values of the type that lie next to a limit of the type or of the extent.
template <class Index>
std::vector<Index> values_for(int64_t extent) {
  std::vector<Index> values;
  const Wide low = std::numeric_limits<Index>::min();
  const Wide high = std::numeric_limits<Index>::max();
  for (const Wide centre : {low, high, Wide{0}, Wide{extent}, -Wide{extent}, 2 * Wide{extent},
                            -2 * Wide{extent}, Wide{kMost}, low / 2, high / 2}) {
    for (Wide value = centre - 3; value <= centre + 3; ++value) {
      if (low <= value && value <= high) {
        values.push_back(static_cast<Index>(value));
      }
    }
  }
  return values;
}

// kOutside where the rule gives no entry.
Wide expected(Wide value, Wide extent, Negative negative, OutOfRange out_of_range) {
  Wide at = value;
  if (value < 0 && negative == Negative::kFromEnd) {
    at = value + extent;
  }
  if (0 <= at && at < extent) {
    return at;
  }
  switch (out_of_range) {
    case OutOfRange::kClamp: return at < 0 ? 0 : extent - 1;
    case OutOfRange::kWrap: return ((value % extent) + extent) % extent;
    default: return kOutside;
  }
}

TYPED_TEST(Resolve, AgreesWithWholeNumbers) {
  for (const int64_t extent : kExtents) {
    for (const TypeParam value : values_for<TypeParam>(extent)) {
      for (const Negative negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
        for (const OutOfRange rule :
             {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
          const Wide wanted = expected(Wide{value}, extent, negative, rule);
          ASSERT_TRUE(Wide{resolve(value, extent, negative, rule)} == wanted)
              << "value " << std::to_string(value) << " extent " << extent << " negative "
              << to_string(negative) << " out of range " << to_string(rule);
        }
        const Wide inside = expected(Wide{value}, extent, negative, OutOfRange::kFail);
        ASSERT_TRUE(Wide{in_range_or_outside(value, extent, negative)} == inside);
        if (inside != kOutside) {
          ASSERT_TRUE(Wide{resolve(value, extent, negative, OutOfRange::kTrust)} == inside);
        }
      }
    }
  }
}

TYPED_TEST(Resolve, LoadsFromAnyAddress) {
  std::byte memory[2 * sizeof(TypeParam) + 1] = {};
  const auto value = static_cast<TypeParam>(std::numeric_limits<TypeParam>::max() - 1);
  std::memcpy(memory + 1 + sizeof value, &value, sizeof value);
  EXPECT_EQ(load_index<TypeParam>(memory + 1, 1), value);
  EXPECT_EQ(load_index<TypeParam>(memory + 1 + sizeof value, 0), value);
  EXPECT_EQ(load_index<TypeParam>(memory + 1 + 2 * sizeof value, -1), value);
}

TEST(WithIndexType, GivesTheTypeThatTheNameSays) {
  const auto is = [](DType type, DType expected_type) {
    return with_index_type(
        type, [&](auto zero) { return zero == 0 && dtype_of<decltype(zero)>() == expected_type; });
  };
  for (const DType type : {i8, i16, i32, i64, u8, u16, u32, u64}) {
    EXPECT_TRUE(is(type, type)) << type.name();
  }
}

}  // namespace
}  // namespace sheaf
