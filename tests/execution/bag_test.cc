// SPDX-License-Identifier: MIT
//
// Bags: fused has the bits of composed, on every kernel of the host, from any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "helpers/bag_oracle.h"
#include "helpers/decode_oracle.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using testing::HasSubstr;

void expect_composed(const BagProblem& problem) {
  const std::vector<std::byte> expected = oracle::composed(problem);
  for (const std::string_view kernel : bag_kernels(problem.plan())) {
    for (const int threads : {1, 3}) {
      const BagResult got = problem.on_host({.threads = threads, .kernel = kernel});
      ASSERT_EQ(got.error, "") << problem.text();
      ASSERT_EQ(first_difference(got.output, expected), "") << kernel << "\n" << problem.text();
    }
  }
}

TEST(Bag, PlainRowsHaveTheBitsOfTheComposition) {
  Rng rng(1);
  for (int i = 0; i < 1500; ++i) {
    expect_composed(random_bag(rng));
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(Bag, EncodedRowsHaveTheBitsOfTheComposition) {
  Rng rng(2);
  for (const Encoding encoding : oracle::all_encodings()) {
    for (int i = 0; i < 60 && !HasFatalFailure(); ++i) {
      expect_composed(random_encoded_bag(rng, encoding));
    }
  }
}

// One bag of 100,000 among bags of one and none, on several threads: shared by columns.
TEST(Bag, OneLongBagIsSharedInOrder) {
  const int64_t rows = 50;
  const int64_t elements = 96;
  std::vector<float> table(static_cast<size_t>(rows * elements));
  Rng rng(3);
  for (float& value : table) {
    value = static_cast<float>(rng.from(-1000, 1000)) / 7;
  }
  std::vector<int64_t> indices(100'010);
  for (int64_t& index : indices) {
    index = rng.from(0, rows - 1);
  }
  std::vector<int64_t> offsets{0, 1, 2, 2, 100'002, 100'003};
  for (const auto pool : {Pool::kSum, Pool::kMax}) {
    const BagTensors tensors{view(table, {rows, elements}), view(indices), view(offsets),
                             std::nullopt};
    const BagPlan plan = plan_bag(
        {tensors.data.spec, tensors.indices->spec, tensors.segments->spec}, {.pool = pool});
    std::vector<float> expected(static_cast<size_t>(6 * elements)), got = expected;
    BagMemory memory{.stored = table.data(), .indices = indices.data(), .segments = offsets.data()};
    memory.output = expected.data();
    plan.run(memory, {.kernel = "reference"});
    memory.output = got.data();
    for (const int threads : {1, 2, 4}) {
      std::fill(got.begin(), got.end(), -1.0F);
      plan.run(memory, {.threads = threads, .kernel = "cpu.bag"});
      EXPECT_EQ(std::memcmp(got.data(), expected.data(), got.size() * 4), 0) << threads;
    }
  }
}

struct SmallBag {
  std::vector<float> table{1, 2, 3, 4, 5, 6};
  std::vector<int64_t> indices{0, 2, 1, 1};
  std::vector<int64_t> offsets{0, 2};
  std::vector<float> output = std::vector<float>(4, -1);

  std::string refused(const BagOptions& options = {}) {
    const std::string text = refusal([&] {
      bag({view(table, {3, 2}), view(indices), view(offsets), std::nullopt},
          view(output, {static_cast<int64_t>(output.size()) / 2, 2}), options);
    });
    EXPECT_EQ(output, std::vector<float>(output.size(), -1)) << "the output is untouched";
    return text;
  }
};

TEST(Bag, SumsRowsByOffsets) {
  SmallBag b;
  bag({view(b.table, {3, 2}), view(b.indices), view(b.offsets), std::nullopt},
      view(b.output, {2, 2}));
  EXPECT_EQ(b.output, (std::vector<float>{6, 8, 6, 8}));
}

TEST(Bag, SegmentsAreRefusedBeforeAnythingIsWritten) {
  SmallBag b;
  b.offsets = {1, 2};
  EXPECT_EQ(b.refused(),
            "bag: segments do not fit\n"
            "  offsets[0] = 1, but the first bag begins at 0 (there are 4 entries in 2 bags)\n"
            "  data f32[3, 2]   indices i64[4]   offsets i64[2]   output f32[2, 2]   pool sum\n"
            "  try: segments that cover the entries in order");
  b.offsets = {0, 5};
  EXPECT_NE(b.refused().find("offsets[1] = 5, but no bag begins behind the last entry"),
            std::string::npos);
  b.offsets = {0, INT64_MIN};
  EXPECT_NE(b.refused().find("bags begin in order"), std::string::npos);
  b.offsets = {3, INT64_MAX};
  EXPECT_NE(b.refused({.segments = SegmentForm::kLengths}).find("lengths[1] = "),
            std::string::npos);
  b.offsets = {1, 1};
  EXPECT_NE(b.refused({.segments = SegmentForm::kLengths})
                .find("  the lengths add up to 2 (there are 4 entries"),
            std::string::npos);
  b.offsets = {-1, 5};  // which add up
  EXPECT_NE(b.refused({.segments = SegmentForm::kLengths}).find("lengths[0] = -1"),
            std::string::npos);
  b.offsets = {-1, 0, 1, 1};
  EXPECT_NE(b.refused({.segments = SegmentForm::kIds, .bags = 2}).find("ids[0] = -1, but ids are"),
            std::string::npos);
  b.offsets = {0, 2, 1, 1};
  EXPECT_NE(b.refused({.segments = SegmentForm::kIds, .bags = 2}).find("ids[1] = 2, but ids are"),
            std::string::npos);
  b.offsets = {0, 1, 0, 1};
  EXPECT_NE(
      b.refused({.segments = SegmentForm::kIds, .bags = 2}).find("ids[2] = 0, but ids ascend"),
      std::string::npos);
}

// Offsets are looked at some hundred at a time: the first of the next ones follows the last.
TEST(Bag, ManyOffsetsAscend) {
  const std::vector<int64_t> indices(600, 0);
  for (const int64_t columns : {2, 0}) {
    const std::vector<float> table(static_cast<size_t>(3 * columns), 1);
    std::vector<float> output(static_cast<size_t>(600 * columns), -1);
    const auto refused = [&](std::vector<int64_t> offsets) {
      return refusal([&] {
        bag({view(table, {3, columns}), view(indices), view(offsets), std::nullopt},
            view(output, {600, columns}));
      });
    };
    std::vector<int64_t> offsets(600, 7);
    offsets[0] = 0;
    offsets[512] = 6;
    EXPECT_THAT(refused(offsets), HasSubstr("offsets[512] = 6, but bags begin in order"));
    offsets[512] = 8;
    EXPECT_THAT(refused(offsets), HasSubstr("offsets[513] = 7, but bags begin in order"));
    std::fill(offsets.begin() + 513, offsets.end(), 8);
    offsets[599] = 601;
    EXPECT_THAT(refused(offsets), HasSubstr("offsets[599] = 601, but no bag begins behind"));
    EXPECT_THAT(output, testing::Each(-1));
  }
}

TEST(Bag, ABadIndexIsNamedAndNothingIsWritten) {
  SmallBag b;
  b.indices[3] = 7;
  const IndexError error = index_error([&] {
    bag({view(b.table, {3, 2}), view(b.indices), view(b.offsets), std::nullopt},
        view(b.output, {2, 2}));
  });
  EXPECT_EQ(error.position(), Dims{3});
  EXPECT_EQ(std::string(error.what()).substr(0, 23), "bag: index out of range");
  EXPECT_EQ(b.output, std::vector<float>(4, -1));
}

// While rows are moved into an output that nobody has seen, on every kernel.
TEST(Bag, ABadIndexIsNamedInFreshOutputs) {
  SmallBag b;
  b.indices[3] = -4;
  EXPECT_EQ(index_error([&] {
              bag({view(b.table, {3, 2}), view(b.indices), view(b.offsets), std::nullopt});
            }).position(),
            Dims{3});
  const BagPlan plan =
      plan_bag({TensorSpec(f32, {3, 2}), view(b.indices).spec, view(b.offsets).spec, std::nullopt});
  for (const char* const kernel : {"reference", "cpu.bag", "cpu.bag_rows"}) {
    EXPECT_EQ(index_error([&] {
                plan.run({.stored = b.table.data(),
                          .indices = b.indices.data(),
                          .segments = b.offsets.data(),
                          .output = b.output.data()},
                         {.kernel = kernel, .output_is_fresh = true});
              }).position(),
              Dims{3})
        << kernel;
  }
}

// Each row of the matrix is the same four indices, of which there are four in memory.
TEST(Bag, RepeatsRowsOfAMatrix) {
  const std::vector<float> table{1, 2, 3};
  const std::vector<int64_t> indices{0, 1, 2, 2};
  const ConstTensor repeated{indices.data(), TensorSpec(i64, {3, 4}, {0, 1})};
  for (const char* const kernel : {"reference", "cpu.bag", "cpu.bag_rows"}) {
    std::vector<float> output(3);
    plan_bag({TensorSpec(f32, {3, 1}), repeated.spec, std::nullopt, std::nullopt})
        .run({.stored = table.data(), .indices = indices.data(), .output = output.data()},
             {.kernel = kernel});
    EXPECT_EQ(output, (std::vector<float>{9, 9, 9})) << kernel;
  }
}

TEST(Bag, EmptyTensorsAreTensors) {
  const std::vector<int64_t> none;
  const std::vector<int64_t> zeros{0, 0};
  EXPECT_EQ(plan_bag({TensorSpec(f32, {3, 2, 0}), view(none).spec, view(zeros).spec, std::nullopt})
                .output()
                .sizes,
            (Dims{2, 2, 0}));
  std::vector<float> output{7, 7};
  bag({Tensor{nullptr, TensorSpec(f32, {0, 1})}, view(none), view(zeros), std::nullopt},
      view(output, {2, 1}));
  EXPECT_EQ(output, (std::vector<float>{0, 0}));
  std::vector<float> nothing;
  bag({Tensor{nullptr, TensorSpec(f32, {0, 1})}, view(none), view(none), std::nullopt},
      view(nothing, {0, 1}));
  EXPECT_EQ(encoded_rows(Encoding::kRowU8F32, {3, 0, 4}).stored.sizes, (Dims{3, 0, 12}));
}

TEST(Bag, SizesThatOverflowAreRefused) {
  const std::vector<int64_t> ids{0};
  const auto planned = [&](const TensorSpec& data, int64_t bags) {
    return refusal([&] {
      plan_bag({data, std::nullopt, view(ids).spec, std::nullopt},
               {.segments = SegmentForm::kIds, .bags = bags});
    });
  };
  EXPECT_NE(planned(TensorSpec(f32, {1, 0}), INT64_MAX).find("tensor too large"),
            std::string::npos);
  EXPECT_NE(planned(TensorSpec(f32, {1, 4}), INT64_MAX / 8).find("tensor too large"),
            std::string::npos);
  TensorSpec wraps;
  wraps.sizes = {0, int64_t{1} << 62, 3};
  wraps.strides = {1, 1, 1};
  EXPECT_NE(planned(wraps, 1).find("malformed tensor"), std::string::npos);
  EXPECT_NE(refusal([] {
              encoded_row_bytes(static_cast<Encoding>(200), 64);
            }).find("has no rows of 64 elements"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
