// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "helpers/problem_plan.h"
#include "helpers/random_problem.h"
#include "helpers/refusal.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;  // data element, index element

Pairs pairs(const Plan& plan, const ConstTensor& indices) {
  Pairs all;
  for (const ElementSource& source : element_map(plan, indices)) {
    all.emplace_back(source.data, source.index);
  }
  return all;
}

TEST(ElementMap, RefusesOtherIndices) {
  const Plan plan = plan_gather({f32, {3}}, {i64, {2}});
  const std::vector<int32_t> other = {0, 1};
  EXPECT_EQ(refusal([&] { element_map(plan, view(other)); }),
            "gather: indices differ from the plan's\n"
            "  got i32[2], planned for i64[2]\n"
            "  data f32[3]   indices i64[2]   axis 0   output f32[2]\n"
            "  try: the indices the plan was made for");
  EXPECT_EQ(refusal([&] {
              element_map(plan, {nullptr, plan.indices()});
            }),
            "gather: null pointer\n"
            "  indices has elements, but its pointer is null\n"
            "  data f32[3]   indices i64[2]   axis 0   output f32[2]\n"
            "  try: pass the tensor's memory");
}

TEST(ElementMap, RefusesBadIndicesAsARunDoes) {
  const std::vector<int64_t> bad = {0, 3};
  for (const OutOfRange rule : {OutOfRange::kFail, OutOfRange::kTrust}) {
    const Plan plan = plan_gather({f32, {3}}, {i64, {2}}, {.rule = {.out_of_range = rule}});
    EXPECT_EQ(index_error([&] { element_map(plan, view(bad)); }).position(), (Dims{1}));
  }
}

TEST(ElementMap, RefusesMoreElementsThanMemoryHolds) {
  const Plan plan = plan_gather({u8, {3}}, {u8, {int64_t{1} << 59}, {0}});
  const uint8_t zero = 0;
  EXPECT_EQ(refusal(
                [&] {
                  element_map(plan, {&zero, plan.indices()});
                },
                ErrorCode::kOutOfMemory),
            "gather: out of memory\n"
            "  the map of 576460752303423488 output elements does not fit into memory\n"
            "  data u8[3]   indices u8[576460752303423488] strides [0]   axis 0   output "
            "u8[576460752303423488]\n"
            "  try: a smaller problem of the same kind");
}

TEST(ElementMap, CountsElementsNotBytes) {
  // data [2, 3] transposed in memory; indices backwards.
  const std::vector<int64_t> indices = {1, 2};
  const Plan plan = plan_gather({f64, {2, 3}, {1, 2}}, {i64, {2}, {-1}}, {.axis = 1});
  EXPECT_EQ(pairs(plan, {indices.data() + 1, plan.indices()}),
            (Pairs{{2, 0}, {1, 1}, {5, 0}, {4, 1}}));
}

TEST(ElementMap, FilledAndWithoutIndex) {
  const std::vector<int64_t> tuples = {0, 9, 1, -1};
  const Plan fill = plan_gather_nd({u8, {2, 2}}, {i64, {2, 2}},
                                   {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 5}});
  EXPECT_EQ(pairs(fill, view(tuples, {2, 2})), (Pairs{{kFilled, 0}, {3, 2}}));
  const Plan none = plan_gather_nd({u8, {2}}, {i64, {2, 0}});
  EXPECT_EQ(pairs(none, {nullptr, none.indices()}),
            (Pairs{{0, kNoIndex}, {1, kNoIndex}, {0, kNoIndex}, {1, kNoIndex}}));
  const Plan empty = plan_gather({u8, {2, 0}}, {i64, {1}});
  const std::vector<int64_t> one = {1};
  EXPECT_TRUE(pairs(empty, view(one)).empty());
}

TEST(ElementMap, AgreesWithTheOracle) {
  int answered = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomProblem r = random_problem(seed, 200);
    const oracle::Answer answer = oracle::answer(r.problem);
    if (answer.verdict != oracle::Verdict::kAnswered || r.type.kind() == Kind::kOpaque) {
      continue;
    }
    const auto bytes = static_cast<size_t>(r.index_type.bytes());
    std::vector<std::byte> indices(r.problem.values.size() * bytes);
    for (size_t i = 0; i < r.problem.values.size(); ++i) {
      write_index(r.index_type, r.problem.values[i], indices.data() + i * bytes);
    }
    const Plan plan = plan_of(r.problem, {.data = {r.type, as_dims(r.problem.data), r.data_strides},
                                          .indices = {r.index_type, as_dims(r.problem.indices)},
                                          .fill_value = 1});
    std::vector<int64_t> sources;
    for (const ElementSource& source : element_map(plan, {indices.data(), plan.indices()})) {
      sources.push_back(source.data);
    }
    ASSERT_EQ(sources, answer.source) << r.str();
    ++answered;
  }
  EXPECT_GT(answered, 500);
}

TEST(ElementMap, OfAScatterAgreesWithTheOracle) {
  int answered = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const RandomProblem r = random_scatter(seed, 200);
    const oracle::Answer answer = oracle::answer(r.problem);
    if (answer.verdict != oracle::Verdict::kAnswered) {
      continue;
    }
    const auto bytes = static_cast<size_t>(r.index_type.bytes());
    std::vector<std::byte> indices(r.problem.values.size() * bytes);
    for (size_t i = 0; i < r.problem.values.size(); ++i) {
      write_index(r.index_type, r.problem.values[i], indices.data() + i * bytes);
    }
    const Plan plan =
        scatter_plan_of(r.problem,
                        {.data = {r.type, as_dims(r.problem.data), r.data_strides},
                         .indices = {r.index_type, as_dims(r.problem.indices)},
                         .updates = {r.type, as_dims(answer.shape), r.updates_strides}},
                        {});
    std::vector<int64_t> targets;
    for (const ElementSource& source : element_map(plan, {indices.data(), plan.indices()})) {
      targets.push_back(source.data);
    }
    ASSERT_EQ(targets, answer.source) << r.str();
    ++answered;
  }
  EXPECT_GT(answered, 500);
}

// Loops around an empty one are not walked: this would take a day.
TEST(ElementMap, OfAnEmptyOutputIsEmptyAtOnce) {
  const Plan plan = plan_gather({f32, {int64_t{1} << 50, 3, 0}}, {i64, {1}}, {.axis = 1});
  const int64_t first = 0;
  EXPECT_TRUE(element_map(plan, {&first, plan.indices()}).empty());
}

TEST(ElementMap, OfAScatterThatIsTooLarge) {
  const Plan plan =
      plan_scatter({u8, {3}}, {u8, {int64_t{1} << 59}, {0}}, {u8, {int64_t{1} << 59}, {0}});
  const uint8_t zero = 0;
  EXPECT_NE(refusal(
                [&] {
                  element_map(plan, {&zero, plan.indices()});
                },
                ErrorCode::kOutOfMemory)
                .find("  the map of 576460752303423488 updates does not fit into memory\n"),
            std::string::npos);
}

}  // namespace
}  // namespace sheaf
