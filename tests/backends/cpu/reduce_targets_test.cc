// SPDX-License-Identifier: MIT
//
// Reducing rows: every type and reduction, for every instruction set that this machine has, at
// every remainder and misalignment, against the definition in plan/reduce.h bit for bit.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "backends/cpu/every_target.h"
#include "backends/cpu/scatter/reduce.h"
#include "plan/reductions.h"
#include "sheaf/sheaf.h"
#include "support/float_bits.h"

namespace sheaf {
namespace {

constexpr DType kTypes[] = {boolean, i8,     i16, i32,  i64, u8,  u16, u32, u64,
                            f8e4m3,  f8e5m2, f16, bf16, f32, f64, c64, c128};

using Bytes = std::vector<std::byte>;

Bytes random_bytes(int64_t bytes, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Bytes data(static_cast<size_t>(bytes));
  for (std::byte& byte : data) {
    byte = static_cast<std::byte>(rng());
  }
  return data;
}

// Random bits are NaN too seldom, and equal never: values that matter, at every third place.
void plant_special_values(DType type, Bytes& data) {
  constexpr double kSpecial[] = {0.0,  -0.0, 1.0, -1.0,    INFINITY, -INFINITY, NAN,
                                 -NAN, 6e-8, 3e4, 65504.0, 65520.0,  3.39e38,   1e-40};
  size_t next = 0;
  const auto step = static_cast<size_t>(type.bytes());
  for (size_t at = 0; at + step <= data.size(); at += 3 * step) {
    const double value = kSpecial[next++ % std::size(kSpecial)];
    const auto single = static_cast<float>(value);
    const uint16_t half = to_float_bits(type == f16 ? kFormatF16 : kFormatBF16, value);
    if (type == f32 || type == c64) {
      std::memcpy(&data[at], &single, sizeof single);
    } else if (type == f64 || type == c128) {
      std::memcpy(&data[at], &value, sizeof value);
    } else if (type == f16 || type == bf16) {
      std::memcpy(&data[at], &half, sizeof half);
    }
  }
}

class EveryReduction : public EveryTarget {
 protected:
  // `count` updates of `elements` each, to 5 rows, listed or one after the other.
  static void expect_defined(DType type, Reduction reduction, int64_t elements, int64_t count,
                             int64_t misalign, bool listed) {
    const int64_t bytes = elements * type.bytes();
    Bytes data = random_bytes(5 * bytes + misalign, 1);
    Bytes updates = random_bytes(count * bytes + misalign, 2);
    if (misalign == 0) {
      plant_special_values(type, data);
      plant_special_values(type, updates);
    }
    std::vector<int64_t> to, from;
    for (int64_t i = 0; i < count; ++i) {
      to.push_back(i * i % 5 * bytes);
      from.push_back((listed ? count - 1 - i : i) * bytes);
    }
    Bytes expected = data;
    for (size_t i = 0; i < to.size(); ++i) {
      reduce_row(type, reduction)(expected.data() + misalign + to[i],
                                  updates.data() + misalign + from[i], bytes);
    }
    cpu::reducer_for(type, reduction, bytes)({.data = data.data() + misalign,
                                              .to = to.data(),
                                              .updates = updates.data() + misalign,
                                              .from = listed ? from.data() : nullptr,
                                              .update_step = bytes,
                                              .count = count,
                                              .row_bytes = bytes,
                                              .prefetch_rows = count % 3,
                                              .reduce = reduce_row(type, reduction)});
    ASSERT_EQ(data, expected) << type.name() << " " << to_string(reduction) << ", rows of "
                              << elements << ", " << count << " updates, misaligned by "
                              << misalign;
  }
};

TEST_P(EveryReduction, IsAsDefined) {
  const OnlyTarget only(GetParam());
  for (const DType type : kTypes) {
    for (const ReductionRow& row : kReductions) {
      const Reduction reduction = row.value;
      if (reduce_row(type, reduction) == nullptr) {
        continue;
      }
      for (const int64_t elements : {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 67, 130}) {
        for (const bool listed : {false, true}) {
          expect_defined(type, reduction, elements, 23, 0, listed);
        }
      }
      for (int64_t misalign = 1; misalign < 17; ++misalign) {
        expect_defined(type, reduction, 19, 7, misalign, false);
        expect_defined(type, reduction, 1, 31, misalign, false);
      }
    }
  }
}

// Each pattern of a 16-bit float reduced into some others: no rounding is missed.
TEST_P(EveryReduction, RoundsEverySmallFloat) {
  const OnlyTarget only(GetParam());
  std::vector<uint16_t> all(65536);
  std::iota(all.begin(), all.end(), uint16_t{0});
  const int64_t bytes = 2 * std::ssize(all);
  const int64_t to = 0;
  for (const DType type : {f16, bf16}) {
    for (const ReductionRow& row : kReductions) {
      const Reduction reduction = row.value;
      for (const uint32_t turn : {1U, 0x1234U, 0x8001U, 0x3C01U}) {
        std::vector<uint16_t> cells = all;
        for (uint16_t& cell : cells) {
          cell = static_cast<uint16_t>(cell * 40503U + turn);
        }
        std::vector<uint16_t> expected = cells;
        reduce_row(type, reduction)(reinterpret_cast<std::byte*>(expected.data()),
                                    reinterpret_cast<const std::byte*>(all.data()), bytes);
        cpu::reducer_for(type, reduction,
                         bytes)({.data = reinterpret_cast<std::byte*>(cells.data()),
                                 .to = &to,
                                 .updates = reinterpret_cast<std::byte*>(all.data()),
                                 .from = nullptr,
                                 .update_step = bytes,
                                 .count = 1,
                                 .row_bytes = bytes,
                                 .prefetch_rows = 0,
                                 .reduce = nullptr});
        ASSERT_EQ(cells, expected) << type.name() << " " << to_string(reduction);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryReduction, testing::ValuesIn(targets()), target_name);

}  // namespace
}  // namespace sheaf
