// SPDX-License-Identifier: MIT
//
// Bags on every instruction set of this machine, against the reference: every kind of row, pool and
// length around the vectors' sizes.
#include "backends/cpu/every_target.h"

#include <cstring>
#include <vector>

#include "helpers/bag_oracle.h"
#include "helpers/bag_problem.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

BagProblem small_bags(Rng& rng, const EncodedSpec& data, Pool pool, bool weighted,
                      std::optional<DType> type) {
  BagProblem problem;
  problem.specs.data = data;
  problem.specs.indices = TensorSpec(i32, {4, 5});
  if (weighted) {
    problem.specs.weights = TensorSpec(f32, {4, 5});
  }
  problem.options.pool = pool;
  problem.options.output_type = type;
  problem.make_tensors(rng);
  return problem;
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
  for (int64_t columns = 1; columns <= 140; columns += columns < 70 ? 1 : 23) {
    for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax, Pool::kMin, Pool::kMul}) {
      for (const EncodedSpec& data :
           {EncodedSpec(TensorSpec(f32, {6, columns})), EncodedSpec(TensorSpec(f16, {6, columns})),
            EncodedSpec(TensorSpec(bf16, {6, columns})),
            encoded_rows(Encoding::kRowU8F32, {6, columns}),
            encoded_rows(Encoding::kRowU8F16Front, {6, columns}),
            encoded_rows(Encoding::kRowU4F16, {6, columns})}) {
        expect_reference(small_bags(rng, data, pool, columns % 2 == 0, {}));
        if (HasFatalFailure()) {
          return;
        }
      }
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
