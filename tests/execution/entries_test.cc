// SPDX-License-Identifier: MIT
#include "execution/entries.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(Entries, AreWhatIndicesNameUnderTheRule) {
  const std::vector<int32_t> indices = {2, -1, 7, -9};
  const auto entries = [&](OutOfRange rule, Negative negative = Negative::kFromEnd) {
    const Plan plan = plan_gather({f32, {5, 3}}, {i32, {4}},
                                  {.rule = {.negative = negative, .out_of_range = rule}});
    std::vector<int64_t> all(4, 99);
    resolve_entries(plan, indices.data(), all.data());
    return all;
  };
  EXPECT_EQ(entries(OutOfRange::kClamp), (std::vector<int64_t>{2, 4, 4, 0}));
  EXPECT_EQ(entries(OutOfRange::kWrap), (std::vector<int64_t>{2, 4, 2, 1}));
  EXPECT_EQ(entries(OutOfRange::kFill), (std::vector<int64_t>{2, 4, kNoEntry, kNoEntry}));
  EXPECT_EQ(entries(OutOfRange::kFill, Negative::kOutOfRange),
            (std::vector<int64_t>{2, kNoEntry, kNoEntry, kNoEntry}));
  EXPECT_EQ(entries(OutOfRange::kTrust, Negative::kOutOfRange),
            (std::vector<int64_t>{2, -1, 7, -9}))
      << "the caller's promise, as it is";
  EXPECT_NE(refusal([&] { entries(OutOfRange::kFail); }, ErrorCode::kIndexOutOfRange)
                .find("indices[2] = 7"),
            std::string::npos);
}

// Unsigned ones wrap by their own width, and a dimension of one index has a stride that is not
// used.
TEST(Entries, OfUnsignedIndices) {
  const std::vector<uint8_t> indices = {7, 255};
  const Plan plan = plan_gather({f32, {5}}, {u8, {2, 1}, {1, 100}},
                                {.rule = {.out_of_range = OutOfRange::kWrap}});
  std::vector<int64_t> entries(2);
  resolve_entries(plan, indices.data(), entries.data());
  EXPECT_EQ(entries, (std::vector<int64_t>{2, 0}));
}

TEST(Entries, OfNoIndicesAreNone) {
  const Plan plan = plan_gather({f32, {5}}, {i64, {0}});
  int64_t untouched = 99;
  resolve_entries(plan, nullptr, &untouched);
  EXPECT_EQ(untouched, 99);
}

// Every entry is in range, whatever the rule was: only those that stand for no place need one.
TEST(Entries, KeepARuleOnlyForNoPlace) {
  const auto rule = [](OutOfRange out_of_range) {
    const Plan plan = plan_gather({f32, {5}}, {i64, {2}}, {.rule = {.out_of_range = out_of_range}});
    return entry_plan(plan, 3).nest().out_of_range;
  };
  for (const OutOfRange moves :
       {OutOfRange::kFail, OutOfRange::kClamp, OutOfRange::kWrap, OutOfRange::kTrust}) {
    EXPECT_EQ(rule(moves), OutOfRange::kTrust);
  }
  EXPECT_EQ(rule(OutOfRange::kFill), OutOfRange::kFill);
}

// A window of an operand that no index moves.
TEST(Entries, WithoutCoordinatesThePlanStays) {
  const Plan plan = plan_xla_gather(
      {f32, {3}}, {i64, {2, 0}}, {.offset_dims = {1}, .index_vector_dim = 1, .slice_sizes = {3}});
  EXPECT_EQ(entry_plan(plan, 9).data().sizes, Dims({3}));
}

// Any gather, from entries of strided tuples, equals the plan itself.
TEST(Entries, RunTheSameOperator) {
  std::vector<float> data(2 * 5 * 3);
  std::iota(data.begin(), data.end(), 0.0F);
  const std::vector<int16_t> tuples = {1, -1, 9, 9, 0, -6, 9, 9, 0, 2, 9, 9};  // pairs, 4 apart
  const TensorSpec spec(i16, {3, 2}, {4, 1});
  const Plan plan = plan_gather_nd({f32, {2, 5, 3}}, spec,
                                   {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 7}});
  std::vector<float> wanted(9), got(9);
  plan.run(data.data(), tuples.data(), wanted.data());
  std::vector<int64_t> entries(6);
  resolve_entries(plan, tuples.data(), entries.data());
  EXPECT_EQ(entries, (std::vector<int64_t>{1, 4, 0, kNoEntry, 0, 2}));
  entry_plan(plan, 2).run(data.data(), entries.data(), got.data());
  EXPECT_EQ(got, wanted);
}

// Two halves of a table, each with the entries that lie in it.
TEST(Entries, RunOnPartOfATensor) {
  std::vector<float> data(6 * 2);
  std::iota(data.begin(), data.end(), 0.0F);
  const std::vector<int64_t> indices = {5, 0, -2, 3};
  const Plan plan = plan_gather({f32, {6, 2}}, {i64, {4}},
                                {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 0}});
  std::vector<int64_t> entries(4);
  resolve_entries(plan, indices.data(), entries.data());
  std::vector<float> sum(8, 0.0F);
  for (const int64_t first : {0, 3}) {
    std::vector<int64_t> local;
    for (const int64_t entry : entries) {
      local.push_back(entry >= first && entry < first + 3 ? entry - first : kNoEntry);
    }
    std::vector<float> part(8);
    entry_plan(plan, 3).run(data.data() + first * 2, local.data(), part.data());
    for (size_t i = 0; i < part.size(); ++i) {
      sum[i] += part[i];
    }
  }
  std::vector<float> wanted(8);
  plan.run(data.data(), indices.data(), wanted.data());
  EXPECT_EQ(sum, wanted);
}

TEST(Entries, OfScatters) {
  const std::vector<int64_t> indices = {1, -1, 8};
  const std::vector<float> updates = {1, 2, 3};
  std::vector<float> data(4, 10.0F), wanted(4), got(4);
  const Plan plan =
      plan_scatter({f32, {4}}, {i64, {3}}, {f32, {3}},
                   {.reduction = Reduction::kAdd, .rule = {.out_of_range = OutOfRange::kSkip}});
  plan.run(data.data(), indices.data(), updates.data(), wanted.data());
  std::vector<int64_t> entries(3);
  resolve_entries(plan, indices.data(), entries.data());
  entry_plan(plan, 4).run(data.data(), entries.data(), updates.data(), got.data());
  EXPECT_EQ(got, wanted);
}

}  // namespace
}  // namespace sheaf
