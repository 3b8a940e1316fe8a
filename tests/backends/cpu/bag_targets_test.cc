// SPDX-License-Identifier: MIT
//
// Bags on every instruction set of this machine, against the reference: every kind of row, pool and
// length around the vectors' sizes.
#include "backends/cpu/every_target.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "helpers/bag_oracle.h"
#include "helpers/bag_problem.h"
#include "helpers/guarded.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

// Indices that are listed, unless told otherwise.
BagProblem small_bags(Rng& rng, const EncodedSpec& data, Pool pool, bool weighted,
                      std::optional<DType> type, const TensorSpec& indices = {i32, {4, 5}}) {
  BagProblem problem;
  problem.specs.data = data;
  problem.specs.indices = indices;
  if (weighted) {
    problem.specs.weights = TensorSpec(f32, indices.sizes);
  }
  problem.options.pool = pool;
  problem.options.output_type = type;
  problem.make_tensors(rng);
  return problem;
}

std::vector<EncodedSpec> kinds_of_rows(int64_t rows, int64_t columns) {
  return {EncodedSpec(TensorSpec(f32, {rows, columns})),
          EncodedSpec(TensorSpec(f16, {rows, columns})),
          EncodedSpec(TensorSpec(bf16, {rows, columns})),
          encoded_rows(Encoding::kRowU8F32, {rows, columns}),
          encoded_rows(Encoding::kRowU8F16Front, {rows, columns}),
          encoded_rows(Encoding::kRowU4F16, {rows, columns})};
}

void expect_reference(const BagProblem& problem) {
  const BagResult right = problem.on_reference();
  for (const char* const kernel : {"cpu.bag", "cpu.bag_rows"}) {
    const BagResult got = problem.on_host({.threads = 1, .kernel = kernel});
    ASSERT_EQ(got.error, "");
    ASSERT_TRUE(got.output == right.output) << kernel << "\n" << problem.text();
  }
}

TEST_P(EveryTarget, PoolsRowsOfEveryKindAndLength) {
  const OnlyTarget only(GetParam());
  Rng rng(31);
  for (int64_t columns = 1; columns <= 300; columns += columns < 70 ? 1 : 23) {
    for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax, Pool::kMin, Pool::kMul}) {
      for (const EncodedSpec& data : kinds_of_rows(6, columns)) {
        // Those of the second are read where rows are joined, but for the last 32.
        for (const TensorSpec& indices : {TensorSpec(i32, {4, 5}), TensorSpec(i64, {11, 5})}) {
          expect_reference(small_bags(rng, data, pool, columns % 2 == 0, {}, indices));
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

// Bags that take two blocks: with all rows, with none in the first, and with none in the second.
TEST_P(EveryTarget, PoolsBagsThatAreLongerThanABlock) {
  const OnlyTarget only(GetParam());
  Rng rng(35);
  constexpr int64_t kEntries = 600, kInFirstBlock = 512, kPadding = 5;
  for (const int64_t columns : {3, 37, 261}) {
    for (const EncodedSpec& data : kinds_of_rows(7, columns)) {
      for (const Pool pool : {Pool::kMean, Pool::kMax}) {
        for (const auto& [first, last] :
             {std::pair<int64_t, int64_t>{0, 0}, {0, kInFirstBlock}, {kInFirstBlock, kEntries}}) {
          BagProblem problem;
          problem.specs.data = data;
          problem.specs.indices = TensorSpec(i64, {2, kEntries});
          problem.options.pool = pool;
          problem.options.padding_index = kPadding;
          problem.make_tensors(rng);
          for (int64_t p = 0; p < 2 * kEntries; ++p) {
            const bool left_out = p % kEntries >= first && p % kEntries < last;
            problem.indices.set(p, left_out ? kPadding : rng.from(0, kPadding - 1));
          }
          expect_reference(problem);
          if (HasFatalFailure()) {
            return;
          }
        }
      }
    }
  }
}

// Indices are rows as they stand until one counts from the end, or is left out.
TEST_P(EveryTarget, ResolvesFromTheFirstIndexThatIsNoRow) {
  const OnlyTarget only(GetParam());
  Rng rng(38);
  constexpr int64_t kEntries = 1200, kRows = 9, kColumns = 300;
  const std::vector<int64_t> lengths = {3, 0, 700, 1, 400, 0, 96};  // blocks of f32 have up to 873
  for (const EncodedSpec& data : {EncodedSpec(TensorSpec(f32, {kRows, kColumns})),
                                  encoded_rows(Encoding::kRowU4F16, {kRows, kColumns})}) {
    for (const int64_t at : {0, 3, 702, 703, 1168}) {
      for (const int64_t index : {int64_t{-1}, kRows, INT64_MIN}) {
        BagProblem problem;
        problem.specs.data = data;
        problem.specs.indices = TensorSpec(i64, {kEntries});
        problem.specs.segments = TensorSpec(i64, {7});
        if (index != -1) {
          problem.specs.weights = TensorSpec(index < 0 ? f16 : f32, {kEntries});
        }
        problem.options.pool = at % 3 == 0 ? Pool::kMax : Pool::kMean;
        problem.options.rule.out_of_range = OutOfRange::kSkip;
        problem.make_tensors(rng);
        problem.segments.set_all(segments_of(lengths, SegmentForm::kOffsets, false));
        problem.indices.set(at, index);
        expect_reference(problem);
        if (HasFatalFailure()) {
          return;
        }
      }
    }
  }
}

// Bags that are cut, of rows of which a block has 374, with all that follows a sum.
TEST_P(EveryTarget, PoolsCutBagsOfIndicesAsTheyStand) {
  const OnlyTarget only(GetParam());
  Rng rng(40);
  constexpr int64_t kEntries = 593, kColumns = 1401;
  const std::vector<int64_t> lengths = {500, 0, 3, 90};
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMin}) {
    for (const int64_t at : {0, 373, 374, 499, 503}) {
      BagProblem problem;
      problem.specs.data = TensorSpec(at % 2 == 0 ? f16 : bf16, {7, kColumns});
      problem.specs.indices = TensorSpec(i64, {kEntries});
      problem.specs.segments = TensorSpec(i64, {4});
      problem.specs.weights = TensorSpec(f32, {kEntries});
      problem.options.pool = pool;
      problem.make_tensors(rng);
      problem.segments.set_all(segments_of(lengths, SegmentForm::kOffsets, false));
      problem.indices.set(at, -2);
      expect_reference(problem);
      if (HasFatalFailure()) {
        return;
      }
    }
  }
}

// Indices of bags of one row up to the end of a page, behind which nothing may be read.
TEST_P(EveryTarget, ReadsNoIndexBehindTheLast) {
  const OnlyTarget only(GetParam());
  Rng rng(41);
  for (const int64_t entries : {1, 16, 31, 32, 33, 47, 48, 65, 100}) {
    for (const EncodedSpec& data : kinds_of_rows(6, 40)) {
      BagProblem problem = small_bags(rng, data, Pool::kSum, true, f32, {i64, {entries, 1}});
      const size_t bytes = static_cast<size_t>(entries) * 8;
      GuardedMemory guarded(bytes);
      std::byte* const indices = guarded.part(bytes, Flush::kBack).data();
      std::memcpy(indices, problem.indices.bytes.data() + problem.indices.first, bytes);
      const BagResult right = problem.on_reference();
      std::vector<std::byte> output(right.output.size());
      BagMemory memory = problem.memory(output.data());
      memory.indices = indices;
      problem.plan().run(memory, {.threads = 1, .kernel = "cpu.bag"});
      ASSERT_TRUE(output == right.output) << problem.text();
    }
  }
}

// A table without rows, at no address, from which all is skipped.
TEST_P(EveryTarget, SkipsAllOfATableWithoutRows) {
  const OnlyTarget only(GetParam());
  Rng rng(42);
  for (const EncodedSpec& data : kinds_of_rows(0, 40)) {
    BagProblem problem;
    problem.specs.data = data;
    problem.specs.indices = TensorSpec(i64, {20, 5});
    problem.options.rule.out_of_range = OutOfRange::kSkip;
    problem.options.empty_value = 7;
    problem.make_tensors(rng);
    const BagResult right = problem.on_reference();
    std::vector<std::byte> output(right.output.size());
    BagMemory memory = problem.memory(output.data());
    memory.stored = nullptr;
    problem.plan().run(memory, {.threads = 1, .kernel = "cpu.bag"});
    ASSERT_TRUE(output == right.output) << problem.text();
  }
}

// An index that was trusted, and should not have been, is left out.
TEST_P(EveryTarget, LeavesOutATrustedIndexThatIsNoRow) {
  const OnlyTarget only(GetParam());
  Rng rng(43);
  BagProblem problem =
      small_bags(rng, TensorSpec(f32, {6, 40}), Pool::kSum, false, {}, {i64, {20, 5}});
  BagProblem skipping = problem;
  skipping.options.rule.out_of_range = OutOfRange::kSkip;
  problem.options.rule.out_of_range = OutOfRange::kTrust;
  for (BagProblem* const each : {&problem, &skipping}) {
    each->indices.set(37, 6);
  }
  EXPECT_TRUE(problem.on_host({.threads = 1, .kernel = "cpu.bag"}).output ==
              skipping.on_reference().output);
}

TEST_P(EveryTarget, RefusesAnIndexThatIsReadWhereRowsAreJoined) {
  const OnlyTarget only(GetParam());
  Rng rng(39);
  for (const int64_t at : {0, 40, 99}) {
    BagProblem problem =
        small_bags(rng, TensorSpec(f32, {5, 40}), Pool::kSum, false, {}, TensorSpec(i64, {20, 5}));
    problem.indices.set(at, 5);
    const BagResult got =
        problem.on_host({.threads = 1, .kernel = "cpu.bag", .output_is_fresh = true});
    EXPECT_EQ(got.error, problem.on_reference().error);
    EXPECT_NE(got.error, "");
  }
}

// Tables and outputs that begin one byte behind where their elements would.
TEST_P(EveryTarget, PoolsAtOddAddresses) {
  const OnlyTarget only(GetParam());
  Rng rng(36);
  for (const EncodedSpec& data : kinds_of_rows(6, 45)) {
    for (const DType type : {f32, f16, bf16}) {
      if (data.stored.dtype == f32 && type != f32) {
        continue;  // refused
      }
      const BagProblem problem = small_bags(rng, data, Pool::kMean, true, type, {i64, {11, 5}});
      const BagResult right = problem.on_reference();
      std::vector<std::byte> stored(problem.stored.bytes.size() + 1);
      std::copy(problem.stored.bytes.begin(), problem.stored.bytes.end(), stored.begin() + 1);
      std::vector<std::byte> output(right.output.size() + 1);
      BagMemory memory = problem.memory(output.data() + 1);
      memory.stored = stored.data() + 1 + problem.stored.first;
      problem.plan().run(memory, {.threads = 1, .kernel = "cpu.bag"});
      ASSERT_TRUE(std::equal(right.output.begin(), right.output.end(), output.begin() + 1))
          << problem.text();
    }
  }
}

// Each f16 and bf16 there is, alone in its bag: read, joined with a zero, and written.
TEST_P(EveryTarget, PoolsEveryNarrowFloat) {
  const OnlyTarget only(GetParam());
  Rng rng(32);
  for (const DType type : {f16, bf16}) {
    for (const DType output : {f32, f16, bf16}) {
      BagProblem problem;
      problem.specs.data = TensorSpec(type, {1 << 10, 64});
      problem.specs.segments = TensorSpec(i64, {1 << 10});
      problem.options.output_type = output;
      problem.make_tensors(rng);
      for (int64_t i = 0; i < 1 << 16; ++i) {
        problem.stored.set(i, i);
      }
      for (int64_t s = 0; s < 1 << 10; ++s) {
        problem.segments.set(s, s);
      }
      expect_reference(problem);
      const BagResult right = problem.on_reference();
      EXPECT_TRUE(right.output == oracle::composed(problem)) << problem.text();
    }
  }
}

// Each normal f16 and half of its last place: sums that lie between two numbers go to the even one.
TEST_P(EveryTarget, RoundsSumsInTheMiddleToEven) {
  const OnlyTarget only(GetParam());
  constexpr int64_t kNumbers = 1 << 16, kColumns = 64, kRows = kNumbers / kColumns;
  Rng rng(37);
  BagProblem problem;
  problem.specs.data = TensorSpec(f16, {2 * kRows, kColumns});
  problem.specs.indices = TensorSpec(i32, {kRows, 2});
  problem.make_tensors(rng);
  for (int64_t i = 0; i < kNumbers; ++i) {
    const int64_t exponent = i >> 10 & 31;
    const bool normal = exponent > 10 && exponent < 31;  // of which the half is one, too
    problem.stored.set(i, i);
    problem.stored.set(kNumbers + i, normal ? (i & 0x8000) | (exponent - 11) << 10 : 0);
  }
  for (int64_t row = 0; row < kRows; ++row) {
    problem.indices.set(2 * row, row);
    problem.indices.set(2 * row + 1, kRows + row);
  }
  expect_reference(problem);
  EXPECT_TRUE(problem.on_reference().output == oracle::composed(problem));
}

// Every order of zeros, infinities, numbers and NaN in bags of three: of equal zeros the first
// stays.
TEST_P(EveryTarget, ComparesEveryKindOfFloat) {
  const OnlyTarget only(GetParam());
  constexpr int kKinds = 8;
  constexpr uint32_t kBits[kKinds] = {0x00000000, 0x80000000, 0x3F800000, 0xBF800000,
                                      0x7F800000, 0xFF800000, 0x7FC00001, 0xFF800001};
  Rng rng(34);
  for (const Pool pool : {Pool::kMax, Pool::kMin}) {
    BagProblem problem;
    problem.specs.data = TensorSpec(f32, {3, kKinds * kKinds * kKinds});
    problem.specs.indices = TensorSpec(i32, {1, 3});
    problem.options.pool = pool;
    problem.make_tensors(rng);
    problem.indices.set_all({0, 1, 2});
    for (int64_t i = 0; i < kKinds * kKinds * kKinds; ++i) {
      const int64_t digits[] = {i / (kKinds * kKinds), i / kKinds % kKinds, i % kKinds};
      for (int64_t row = 0; row < 3; ++row) {
        std::memcpy(problem.stored.element(row * kKinds * kKinds * kKinds + i), &kBits[digits[row]],
                    sizeof(float));
      }
    }
    expect_reference(problem);
    EXPECT_TRUE(problem.on_reference().output == oracle::composed(problem));
  }
}

// All values of a byte and of a nibble with scales that round, overflow and are no numbers.
TEST_P(EveryTarget, DecodesEveryCode) {
  const OnlyTarget only(GetParam());
  Rng rng(33);
  for (const Encoding encoding :
       {Encoding::kRowU8F32, Encoding::kRowU8F16Front, Encoding::kRowU4F16}) {
    for (int i = 0; i < 20; ++i) {
      BagProblem problem =
          small_bags(rng, encoded_rows(encoding, {40, 256}), Pool::kSum, false, f32);
      problem.stored.fill_bytes(rng);
      for (int64_t code = 0; code < 128; ++code) {
        problem.stored.set(4 + code, code * 2 + i % 2);
      }
      expect_reference(problem);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, EveryTarget, testing::ValuesIn(targets()), target_name);

}  // namespace
}  // namespace sheaf
