// SPDX-License-Identifier: MIT
//
// Every instruction set that this machine has, at every remainder and misalignment, against the
// reference backend bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backends/cpu/every_target.h"
#include "backends/cpu/movers/routines.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

constexpr std::byte kPoison{0xA5};

// Runs `plan` by cpu and by reference on outputs `misalign` bytes off a page's end, and compares.
void expect_same(const Plan& plan, const void* data, const void* indices, int64_t misalign) {
  const auto bytes =
      static_cast<size_t>(element_count(plan.output().sizes) * plan.output().dtype.bytes());
  std::vector<std::byte> expected(bytes, kPoison);
  std::vector<std::byte> memory(bytes + 128, kPoison);
  const uintptr_t to_line = -reinterpret_cast<uintptr_t>(memory.data()) & 63;
  std::byte* output = memory.data() + to_line + misalign;
  plan.run(data, indices, expected.data(), {.kernel = "reference"});
  plan.run(data, indices, output, {.kernel = "cpu"});
  ASSERT_EQ(std::memcmp(output, expected.data(), bytes), 0)
      << plan.str() << "misaligned by " << misalign;
  ASSERT_TRUE(std::all_of(memory.data(), output, [](std::byte b) { return b == kPoison; }));
  ASSERT_TRUE(std::all_of(output + bytes, memory.data() + memory.size(),
                          [](std::byte b) { return b == kPoison; }))
      << plan.str() << "wrote past the end";
}

template <class Index>
std::vector<Index> random_indices(int64_t count, int64_t low, int64_t high, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_int_distribution<int64_t> pick(low, high);
  std::vector<Index> indices(static_cast<size_t>(count));
  std::generate(indices.begin(), indices.end(), [&] { return static_cast<Index>(pick(rng)); });
  return indices;
}

std::vector<std::byte> pattern(int64_t bytes) {
  std::vector<std::byte> data(static_cast<size_t>(bytes));
  std::mt19937_64 rng(7);
  std::generate(data.begin(), data.end(), [&] { return static_cast<std::byte>(rng()); });
  return data;
}

TEST_P(EveryTarget, MovesRowsOfEverySize) {
  const OnlyTarget only(GetParam());
  constexpr int64_t kRows = 37;
  for (int64_t row_bytes = 1; row_bytes <= 333; row_bytes += row_bytes < 130 ? 1 : 29) {
    const std::vector<std::byte> data = pattern(kRows * row_bytes);
    for (const int64_t count : {1, 2, 15, 16, 17, 63, 64, 65, 130}) {
      const auto indices = random_indices<int64_t>(count, -kRows, kRows - 1, 1);
      const Plan plan = plan_gather(TensorSpec(u8, {kRows, row_bytes}), TensorSpec(i64, {count}));
      expect_same(plan, data.data(), indices.data(), row_bytes % 3);
    }
  }
}

// More rows than a small call has: straight from indices.
template <class Index>
void expect_narrow_rows(DType type) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kCount = 300;
  const auto indices = random_indices<Index>(kCount, -kRows, kRows - 1, 5);
  for (int64_t row_bytes = 1; row_bytes <= 65; ++row_bytes) {
    const std::vector<std::byte> data = pattern(kRows * row_bytes + 3);
    const Plan plan = plan_gather(TensorSpec(u8, {kRows, row_bytes}), TensorSpec(type, {kCount}));
    expect_same(plan, data.data() + row_bytes % 4, indices.data(), row_bytes % 5);
    const Plan gaps =
        plan_gather(TensorSpec(u8, {kRows / 2, row_bytes}, {2 * row_bytes, 1}),
                    TensorSpec(type, {kCount}), {.rule = {.out_of_range = OutOfRange::kClamp}});
    expect_same(gaps, data.data(), indices.data(), row_bytes % 3);
  }
}

TEST_P(EveryTarget, MovesManyNarrowRowsOfEverySize) {
  const OnlyTarget only(GetParam());
  expect_narrow_rows<int64_t>(i64);
  expect_narrow_rows<int32_t>(i32);
}

TEST_P(EveryTarget, MovesFromAndToAnyAddress) {
  const OnlyTarget only(GetParam());
  const std::vector<std::byte> data = pattern(int64_t{64} * 400);
  for (const int64_t row_bytes : {4, 8, 12, 64, 72, 200}) {
    const auto indices = random_indices<int32_t>(70, 0, 99, 2);
    const Plan plan = plan_gather(TensorSpec(u8, {100, row_bytes}), TensorSpec(i32, {70}));
    for (int64_t misalign = 0; misalign < 64; ++misalign) {
      expect_same(plan, data.data() + (misalign * 7) % 64, indices.data(), misalign);
    }
  }
}

// Every index type and rule at counts around the vector sizes.
template <class Index>
void check_index_type(DType type) {
  constexpr int64_t kExtent = 100;
  const std::vector<std::byte> data = pattern(kExtent * 4);
  const int64_t low = type.is_signed_integer() ? -120 : 0;
  for (const auto negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
    for (const auto rule : {OutOfRange::kClamp, OutOfRange::kFill, OutOfRange::kWrap}) {
      for (int64_t count = 1; count < 70; ++count) {
        const auto indices = random_indices<Index>(count, low, 120, static_cast<uint64_t>(count));
        const GatherOptions options{.rule = {negative, rule, 3}};
        const Plan plan =
            plan_gather(TensorSpec(i32, {kExtent}), TensorSpec(type, {count}), options);
        expect_same(plan, data.data(), indices.data(), 0);
      }
    }
  }
}

TEST_P(EveryTarget, ResolvesEveryIndexType) {
  const OnlyTarget only(GetParam());
  check_index_type<int8_t>(i8);
  check_index_type<int16_t>(i16);
  check_index_type<int32_t>(i32);
  check_index_type<int64_t>(i64);
  check_index_type<uint8_t>(u8);
  check_index_type<uint16_t>(u16);
  check_index_type<uint32_t>(u32);
  check_index_type<uint64_t>(u64);
}

// One bad index at every place of a run must be found.
TEST_P(EveryTarget, FindsABadIndexAnywhere) {
  const OnlyTarget only(GetParam());
  for (const int64_t count : {1, 7, 8, 9, 16, 31, 67}) {
    for (int64_t at = 0; at < count; ++at) {
      for (const int64_t bad : {int64_t{5}, int64_t{-6}, INT64_MAX, INT64_MIN}) {
        std::vector<int64_t> indices(static_cast<size_t>(count), -5);
        indices[static_cast<size_t>(at)] = bad;
        const Plan plan = plan_gather(TensorSpec(f32, {5}), TensorSpec(i64, {count}));
        const float data[5] = {};
        std::vector<float> output(static_cast<size_t>(count), 1.0F);
        EXPECT_THROW(plan.run(data, indices.data(), output.data(), {.kernel = "cpu"}), IndexError);
        EXPECT_EQ(output, std::vector<float>(output.size(), 1.0F));
      }
    }
  }
}

// The same in both components of a pair, whose extents differ.
TEST_P(EveryTarget, FindsABadPairAnywhere) {
  const OnlyTarget only(GetParam());
  for (const auto negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
    const int64_t lowest = negative == Negative::kFromEnd ? -5 : 0;
    for (const int64_t count : {1, 3, 4, 5, 8, 17}) {
      const Plan plan = plan_gather_nd(TensorSpec(f32, {5, 7}), TensorSpec(i64, {count, 2}),
                                       {.rule = {negative, OutOfRange::kFail}});
      const float data[35] = {};
      for (int64_t at = 0; at < 2 * count; ++at) {
        const int64_t extent = at % 2 == 0 ? 5 : 7;
        std::vector<int64_t> indices(static_cast<size_t>(2 * count), lowest);
        std::vector<float> output(static_cast<size_t>(count), 1.0F);
        indices[static_cast<size_t>(at)] = extent - 1;
        EXPECT_NO_THROW(plan.run(data, indices.data(), output.data(), {.kernel = "cpu"}));
        std::fill(output.begin(), output.end(), 1.0F);
        const int64_t below = negative == Negative::kFromEnd ? -extent - 1 : -1;
        for (const int64_t bad : {extent, below, INT64_MAX, INT64_MIN}) {
          indices[static_cast<size_t>(at)] = bad;
          EXPECT_THROW(plan.run(data, indices.data(), output.data(), {.kernel = "cpu"}),
                       IndexError);
          EXPECT_EQ(output, std::vector<float>(output.size(), 1.0F));
        }
      }
    }
  }
}

// The test harness itself: a target that was asked for is the one that runs.
TEST_P(EveryTarget, IsTheOneThatRuns) {
  const OnlyTarget only(GetParam());
#if HWY_ARCH_X86
  EXPECT_EQ(cpu::routines().gather != nullptr, GetParam() <= HWY_AVX2);
#else
  EXPECT_EQ(cpu::routines().gather, nullptr);
#endif
}

// The gather instruction and plain loads give the same bits, whichever the probe prefers.
TEST_P(EveryTarget, GatherInstructionAgreesWithLoads) {
  const OnlyTarget only(GetParam());
  const std::vector<std::byte> data = pattern(int64_t{8} * 256);
  std::mt19937_64 rng(3);
  for (const int64_t row_bytes : {4, 8}) {
    for (int64_t count = 1; count < 80; ++count) {
      std::vector<int64_t> offsets(static_cast<size_t>(count));
      std::generate(offsets.begin(), offsets.end(),
                    [&] { return static_cast<int64_t>(rng() % 256) * row_bytes; });
      std::vector<std::byte> plain(static_cast<size_t>(count * row_bytes));
      std::vector<std::byte> gathered = plain;
      cpu::RowMove rows{};
      rows.data = data.data();
      rows.offsets = offsets.data();
      rows.count = count;
      rows.output = plain.data();
      rows.output_step = rows.row_bytes = row_bytes;
      cpu::routines().copy(rows);
      rows.output = gathered.data();
      if (cpu::routines().gather != nullptr) {
        cpu::routines().gather(rows);
        EXPECT_EQ(plain, gathered);
      }
      if (cpu::routines().from_short != nullptr) {
        const std::vector<int32_t> short_offsets(offsets.begin(), offsets.end());
        std::fill(gathered.begin(), gathered.end(), kPoison);
        cpu::routines().from_short(rows, short_offsets.data());
        EXPECT_EQ(plain, gathered);
      }
    }
  }
}

// The movers of this target that take such rows straight from indices.
std::vector<cpu::MoveDirect> direct_movers(const Nest& nest, bool data_moves, int64_t misalign) {
  const cpu::Routines& routines = cpu::routines();
  std::vector<cpu::MoveDirect> movers = {routines.copy_direct};
  if (routines.gather_direct != nullptr && (nest.row_bytes == 4 || nest.row_bytes == 8)) {
    movers.push_back(routines.gather_direct);
  }
  const bool pieces = (nest.row_bytes | misalign) % cpu::kStreamPiece == 0;
  if (routines.stream_direct != nullptr && pieces && !data_moves &&
      nest.coordinates[0].stride == nest.row_bytes) {
    movers.push_back(routines.stream_direct);
  }
  return movers;
}

// One run of `count` points by each of them, against resolve and copy, with indices far outside:
// whatever they say, no address leaves data.
template <class Index>
void check_direct(const Nest& nest, int64_t count, int64_t data_step, int64_t misalign,
                  bool with_places = false) {
  constexpr int64_t kFirst = 1024;  // room for negative steps
  std::vector<int32_t> places(static_cast<size_t>(count) + 64);
  for (int64_t i = 0; i < count; ++i) {
    places[static_cast<size_t>(i)] = static_cast<int32_t>(i / 3 * 11 - i % 3 * 90);
  }
  const std::vector<std::byte> data = pattern(kFirst + 8192);
  const int64_t most = count % 2 == 0 ? 99 : 150;  // all in range, or not
  const int64_t least = nest.negative == Negative::kFromEnd ? -most : 99 - most;
  auto indices = random_indices<Index>(count, least, most, static_cast<uint64_t>(count));
  if (most > 99) {
    indices[0] = std::numeric_limits<Index>::min();
    indices.back() = std::numeric_limits<Index>::max();
  }
  std::vector<int64_t> offsets(static_cast<size_t>(count));
  const cpu::IndexRun run{reinterpret_cast<const std::byte*>(indices.data()),
                          1,
                          count,
                          data_step,
                          count % 3 == 0,
                          with_places ? places.data() : nullptr};
  const bool good = cpu::routines().resolve(nest, run, offsets.data());
  const auto bytes = static_cast<size_t>(count * nest.row_bytes);
  std::vector<std::byte> expected(bytes);
  cpu::RowMove rows{};
  rows.data = data.data() + kFirst;
  rows.offsets = offsets.data();
  rows.count = count;
  rows.output = expected.data();
  rows.output_step = rows.row_bytes = nest.row_bytes;
  cpu::routines().copy(rows);
  for (const cpu::MoveDirect move : direct_movers(nest, data_step != 0 || with_places, misalign)) {
    alignas(64) std::byte memory[64 + 80 * 64 + 64];
    std::fill(std::begin(memory), std::end(memory), kPoison);
    rows.offsets = nullptr;
    rows.output = memory + misalign;
    rows.stream = count % 4 < 2;
    rows.indices_go_on = count % 5 == 0;
    rows.output_far = count % 3 == 0;
    ASSERT_EQ(move(nest, run, rows), good) << count;
    ASSERT_EQ(std::memcmp(rows.output, expected.data(), bytes), 0) << count << ", " << misalign;
    ASSERT_TRUE(std::all_of(memory, rows.output, [](std::byte b) { return b == kPoison; }));
    ASSERT_TRUE(std::all_of(rows.output + bytes, std::end(memory),
                            [](std::byte b) { return b == kPoison; }));
  }
}

TEST_P(EveryTarget, DirectMoversAgreeWithResolveAndCopy) {
  const OnlyTarget only(GetParam());
  Nest nest;
  nest.out_of_range = OutOfRange::kFail;
  for (const int64_t row_bytes : {1, 3, 4, 8, 12, 16, 20, 32, 48, 63, 64}) {
    nest.row_bytes = row_bytes;
    for (const auto negative : {Negative::kFromEnd, Negative::kOutOfRange}) {
      nest.negative = negative;
      for (const Coordinate c : {Coordinate{100, row_bytes, 0}, Coordinate{100, -3, 0}}) {
        nest.coordinates = {c};
        for (const int64_t step : {0, 4, -7}) {
          for (int64_t count = 1; count < 80; ++count) {
            nest.index_type = i32;
            check_direct<int32_t>(nest, count, step, count * 4 % 64);
            nest.index_type = i64;
            check_direct<int64_t>(nest, count, step, count * 5 % 64);
            if (step == 0 && std::has_single_bit(static_cast<uint64_t>(row_bytes))) {
              check_direct<int64_t>(nest, count, step, count * 4 % 64, true);
              nest.index_type = i32;
              check_direct<int32_t>(nest, count, step, count * 4 % 64, true);
            }
          }
        }
      }
    }
  }
}

// Several runs in one call, against a call for each.
TEST_P(EveryTarget, DirectMoversGoThroughSteps) {
  const OnlyTarget only(GetParam());
  constexpr int64_t kSteps = 3;
  Nest nest;
  nest.out_of_range = OutOfRange::kClamp;
  nest.index_type = i64;
  const std::vector<std::byte> data = pattern(16384);
  for (const int64_t row_bytes : {1, 4, 8, 12, 16, 64}) {
    nest.row_bytes = row_bytes;
    nest.coordinates = {{100, row_bytes, 0}};
    for (const int64_t count : {1, 7, 8, 33, 64}) {
      const auto indices = random_indices<int64_t>(kSteps * (count + 2), -150, 150, 9);
      const cpu::RunSteps steps{kSteps, count + 2, 40, count * row_bytes + 24};
      for (const cpu::MoveDirect move : direct_movers(nest, true, 0)) {
        const auto bytes = static_cast<size_t>(kSteps * steps.output);
        std::vector<std::byte> expected(bytes, kPoison);
        std::vector<std::byte> output(bytes, kPoison);
        cpu::IndexRun run{reinterpret_cast<const std::byte*>(indices.data()), 1, count, 0};
        cpu::RowMove rows{};
        rows.count = count;
        rows.output_step = rows.row_bytes = row_bytes;
        rows.data = data.data();
        rows.output = output.data();
        run.steps = steps;
        move(nest, run, rows);
        run.steps = {};
        for (int64_t s = 0; s < kSteps; ++s) {
          rows.data = data.data() + s * steps.data;
          rows.output = expected.data() + s * steps.output;
          run.indices = reinterpret_cast<const std::byte*>(indices.data() + s * steps.index);
          move(nest, run, rows);
        }
        ASSERT_EQ(output, expected) << row_bytes << ", " << count;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget, testing::ValuesIn(targets()), target_name);

}  // namespace
}  // namespace sheaf
