// SPDX-License-Identifier: MIT
//
// The index rule of the CPU's loops, for every instruction set that this machine has, against its
// definition in plan/resolve.h.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "backends/cpu/every_target.h"
#include "backends/cpu/movers/routines.h"
#include "plan/resolve.h"

namespace sheaf {
namespace {

class EveryRule : public EveryTarget {};

// Values around every border that a type has, and around those of the extent.
template <class Index>
std::vector<Index> values_around(int64_t extent) {
  using Limits = std::numeric_limits<Index>;
  std::vector<Index> values = {Limits::min(), Limits::max(), Index(Limits::max() - 1), 0, 1, 2};
  for (const int64_t border : {extent, -extent, int64_t{0}, extent / 2, 2 * (extent / 2)}) {
    for (int64_t near = -2; near <= 2; ++near) {
      // In unsigned numbers, where a sum past the end is one more value to try.
      values.push_back(static_cast<Index>(uint64_t(border) + uint64_t(near)));
    }
  }
  return values;
}

Nest nest_of(DType index, int64_t extent, Negative negative, OutOfRange rule) {
  Nest nest;
  nest.coordinates = {Coordinate{extent, 1, 0}};
  nest.row_bytes = 1;
  nest.index_type = index;
  nest.negative = negative;
  nest.out_of_range = rule;
  return nest;
}

template <class Index>
void expect_entries(const Nest& nest, const std::vector<Index>& values, bool check) {
  const auto count = static_cast<int64_t>(values.size());
  std::vector<int64_t> offsets(values.size());
  const cpu::IndexRun run{reinterpret_cast<const std::byte*>(values.data()), 1, count, 0, check};
  const bool good = cpu::routines().resolve(nest, run, offsets.data());
  const int64_t extent = nest.coordinates[0].extent;
  // Under fail a bad index is clamped, whatever is reported.
  const OutOfRange rule =
      nest.out_of_range == OutOfRange::kFail ? OutOfRange::kClamp : nest.out_of_range;
  bool all_in_range = true;
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t entry = resolve(values[i], extent, nest.negative, rule);
    ASSERT_EQ(offsets[i], entry == kOutside ? cpu::kFillRow : entry)
        << +values[i] << " of " << extent << ", " << to_string(nest.negative) << ", "
        << to_string(nest.out_of_range);
    all_in_range &= in_range_or_outside(values[i], extent, nest.negative) != kOutside;
  }
  const bool reports = check && nest.out_of_range == OutOfRange::kFail;
  ASSERT_EQ(good, all_in_range || !reports);
  ASSERT_EQ(cpu::routines().check(nest, run.indices, 1, count), all_in_range);
}

template <class Index>
void check_rules_for(DType type) {
  for (const int64_t extent :
       {int64_t{1}, int64_t{2}, int64_t{100}, int64_t{127}, int64_t{128}, int64_t{255},
        int64_t{1} << 31, (int64_t{1} << 32) + 1, INT64_MAX / 2, INT64_MAX}) {
    for (const auto negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
      for (const auto rule :
           {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
        const Nest nest = nest_of(type, extent, negative, rule);
        const std::vector<Index> values = values_around<Index>(extent);
        expect_entries(nest, values, true);
        expect_entries(nest, values, false);
        for (const Index value : values) {  // alone, so that each is seen to be reported
          expect_entries(nest, std::vector<Index>{value}, true);
          expect_entries(nest, std::vector<Index>(9, value), true);
        }
      }
    }
  }
}

TEST_P(EveryRule, IsAsDefined) {
  const OnlyTarget only(GetParam());
  check_rules_for<int8_t>(i8);
  check_rules_for<int16_t>(i16);
  check_rules_for<int32_t>(i32);
  check_rules_for<int64_t>(i64);
  check_rules_for<uint8_t>(u8);
  check_rules_for<uint16_t>(u16);
  check_rules_for<uint32_t>(u32);
  check_rules_for<uint64_t>(u64);
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryRule, testing::ValuesIn(targets()), target_name);

}  // namespace
}  // namespace sheaf
