// SPDX-License-Identifier: MIT
//
// Bags and gathers of encoded tables, with every allocation failing in turn.
#include "faults/each_allocation.h"
#include "sheaf/sheaf.h"

namespace sheaf::faults {
namespace {

const std::vector<float> kTable = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // 4 rows of 3
const std::vector<double> kDoubles(12, 2);
const std::vector<uint16_t> kHalves(12, 0x3C00);
const std::vector<int64_t> kEntries = {3, 0, 1, 1, 2};
const std::vector<int64_t> kBagOffsets = {0, 2, 2};
const std::vector<int64_t> kBagLengths = {2, 0, 3};
const std::vector<int64_t> kIds = {0, 0, 2, 2, 2};
const std::vector<float> kWeights = {1, 2, 3, 4, 5};
const std::vector<std::byte> kBytes(256, std::byte{0});

BagTensors tensors() {
  return {view(kTable, {4, 3}), view(kEntries), view(kBagOffsets), view(kWeights)};
}

void keep_bags(const Array& array, Output& output) {
  const auto values = array.elements<float>();
  std::copy(values.begin(), values.end(), output);
}

TEST(OutOfMemoryEverywhere, Bags) {
  for (const Pool pool :
       {Pool::kSum, Pool::kMean, Pool::kMax, Pool::kMin, Pool::kMul, Pool::kSqrtN}) {
    EXPECT_GT(fail_each_allocation("bag",
                                   [&](Output& o) {
                                     bag(tensors(), Tensor{o, {f32, {3, 3}}}, {.pool = pool});
                                   }),
              0);
    fail_each_allocation("bag, new",
                         [&](Output& o) { keep_bags(bag(tensors(), {.pool = pool}), o); });
  }
  BagTensors lengths = tensors();
  lengths.segments = view(kBagLengths);
  fail_each_allocation("bag by lengths", [&](Output& o) {
    keep_bags(bag(lengths, {.segments = SegmentForm::kLengths}), o);
  });
  BagTensors ids = tensors();
  ids.segments = view(kIds);
  fail_each_allocation("bag by ids", [&](Output& o) {
    keep_bags(bag(ids, {.segments = SegmentForm::kIds, .bags = 3}), o);
  });
}

// Sums of another type than the output's, and rows that the first kernel does not take.
TEST(OutOfMemoryEverywhere, BagsOfOtherTypes) {
  fail_each_allocation("bag of f16", [](Output& o) {
    bag({ConstTensor{kHalves.data(), {f16, {4, 3}}}, view(kEntries), view(kBagOffsets),
         std::nullopt},
        Tensor{o, {f16, {3, 3}}});
  });
  fail_each_allocation("bag of f64", [](Output& o) {
    bag({view(kDoubles, {4, 3}), view(kEntries), view(kBagOffsets), std::nullopt},
        Tensor{o, {f64, {3, 3}}});
  });
  fail_each_allocation("bag of int8 rows", [](Output& o) {
    bag({Encoded(encoded_rows(Encoding::kRowU8F32, {4, 3}), kBytes.data()), view(kEntries),
         view(kBagOffsets), std::nullopt},
        Tensor{o, {f32, {3, 3}}});
  });
  fail_each_allocation("bag with fill", [](Output& o) {
    bag(tensors(), Tensor{o, {f32, {3, 3}}}, {.rule = {.out_of_range = OutOfRange::kFill}});
  });
}

TEST(OutOfMemoryEverywhere, BagPlans) {
  const BagPlan plan = plan_bag(
      {TensorSpec(f32, {4, 3}), view(kEntries).spec, view(kBagOffsets).spec, view(kWeights).spec});
  const BagMemory memory{.stored = kTable.data(),
                         .indices = kEntries.data(),
                         .segments = kBagOffsets.data(),
                         .weights = kWeights.data()};
  for (const char* const kernel : {"reference", "cpu.bag", "cpu.bag_rows"}) {
    fail_each_allocation(kernel, [&](Output& o) {
      BagMemory to = memory;
      to.output = o;
      plan.run(to, {.threads = 2, .kernel = kernel});
    });
  }
  fail_each_allocation("str of a bag", [&](Output&) { static_cast<void>(plan.str()); });
  fail_each_allocation("json of a bag", [&](Output&) { static_cast<void>(plan.json()); });
}

TEST(OutOfMemoryEverywhere, EncodedGathers) {
  const Encoded table(encoded_rows(Encoding::kRowU8F32, {4, 3}), kBytes.data());
  EXPECT_GT(
      fail_each_allocation("gather_encoded",
                           [&](Output& o) { keep_bags(gather_encoded(table, view(kEntries)), o); }),
      0);
  const EncodedGatherPlan plan = plan_gather_encoded(table.spec, view(kEntries).spec);
  for (const char* const kernel : {"reference", "cpu"}) {
    fail_each_allocation(kernel, [&](Output& o) {
      plan.run({table.stored, nullptr, nullptr, kEntries.data(), o}, {.kernel = kernel});
    });
  }
  fail_each_allocation("str of an encoded gather", [&](Output&) { static_cast<void>(plan.str()); });
}

// Of every kind, with and without factors, of one row per element too.
TEST(OutOfMemoryEverywhere, PlannedBagGradients) {
  const std::vector<float> gradient(9, 1);
  for (const Pool pool : {Pool::kSum, Pool::kMean, Pool::kMax}) {
    const BagPlan bag = plan_bag(
        {TensorSpec(f32, {4, 3}), view(kEntries).spec, view(kBagOffsets).spec, view(kWeights).spec},
        {.pool = pool});
    const BagMemory memory{.stored = kTable.data(),
                           .indices = kEntries.data(),
                           .segments = kBagOffsets.data(),
                           .weights = kWeights.data()};
    for (const BagGradientOf of :
         {BagGradientOf::kRows, BagGradientOf::kData, BagGradientOf::kWeights}) {
      for (const bool add : {false, true}) {
        if (add && of != BagGradientOf::kData) {
          continue;
        }
        const BagGradientPlan plan = plan_bag_gradient(bag, of, {.add = add});
        EXPECT_GT(
            fail_each_allocation(
                "gradient of a bag",
                [&](Output& o) {
                  int64_t rows[5] = {};
                  const BagEntries entries = plan.entries(memory);
                  plan.run(entries,
                           {.bag = memory, .gradient = gradient.data(), .rows = rows, .output = o});
                }),
            0);
      }
    }
  }
}

TEST(OutOfMemoryEverywhere, PlannedExperts) {
  const std::vector<int64_t> experts = {1, 0, 0, 1, 2, 0, 1, 2};  // two of each of 4 tokens
  const ConstTensor chosen = view(experts, {4, 2});
  const MoePlan plan =
      plan_moe_permute(TensorSpec(f32, {4, 3}), chosen.spec, {.experts = 3, .capacity = 2});
  int64_t inverse[8], offsets[4];
  fail_each_allocation("planned experts", [&](Output& o) {
    run(plan,
        {.tokens = kTable.data(),
         .experts = experts.data(),
         .rows = o,
         .inverse = inverse,
         .offsets = offsets},
        {});
  });
}

}  // namespace
}  // namespace sheaf::faults
