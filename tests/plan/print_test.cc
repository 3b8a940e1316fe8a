// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <locale>
#include <nlohmann/json.hpp>
#include <string>

#include "helpers/problem_plan.h"
#include "helpers/random_problem.h"
#include "sheaf/sheaf.h"

namespace sheaf {
namespace {

TEST(PlanText, Rows) {
  EXPECT_EQ(plan_gather({f32, {10, 64}}, {i64, {7}}).str(),
            "gather, 256 bytes per step, i64 indices, negative from_end, out of range fail\n"
            "  for p0 in 0..7\n"
            "    i0 = indices[p0] in 0..10\n"
            "    output + p0*256 <- data + i0*256\n");
}

TEST(PlanText, TuplesAndSeveralLoops) {
  EXPECT_EQ(plan_gather_nd({u8, {3, 5, 2, 7}, {70, 14, -7, 1}}, {u16, {4, 2}},
                           {.rule = {Negative::kOutOfRange, OutOfRange::kClamp}})
                .str(),
            "gather, 7 bytes per step, u16 indices, negative out_of_range, out of range clamp\n"
            "  for p0 in 0..4\n"
            "    for p1 in 0..2\n"
            "      i0 = indices[p0*2] in 0..3\n"
            "      i1 = indices[p0*2 + 1] in 0..5\n"
            "      output + p0*14 + p1*7 <- data + p1*-7 + i0*70 + i1*14\n");
}

TEST(PlanText, OneElementAndNone) {
  EXPECT_EQ(plan_gather({u8, {3}}, {i8, {}}).str(),
            "gather, 1 byte per step, i8 indices, negative from_end, out of range fail\n"
            "  i0 = indices[0] in 0..3\n"
            "  output <- data + i0*1\n");
  EXPECT_EQ(plan_gather({u8, {3, 0}}, {i8, {4}}).str(),
            "gather, 1 byte per step, i8 indices, negative from_end, out of range fail\n"
            "  for p0 in 0..0\n"
            "    i0 = indices[0] in 0..3\n"
            "    output <- data + i0*0\n");
  EXPECT_EQ(plan_gather_nd({u8, {3}}, {i8, {4, 0}}).str(),
            "gather, 3 bytes per step, i8 indices, negative from_end, out of range fail\n"
            "  for p0 in 0..4\n"
            "    output + p0*3 <- data\n");
}

TEST(PlanJson, HoldsTensorsAndNest) {
  const auto json = nlohmann::json::parse(
      plan_gather_nd({u8, {3, 5, 7}}, {i64, {4, 2}},
                     {.rule = {.out_of_range = OutOfRange::kFill, .fill_value = 7}})
          .json());
  EXPECT_EQ(json["op"], "gather_nd");
  EXPECT_EQ(json["data"],
            (nlohmann::json{{"dtype", "u8"}, {"sizes", {3, 5, 7}}, {"strides", {35, 7, 1}}}));
  EXPECT_EQ(json["indices"],
            (nlohmann::json{{"dtype", "i64"}, {"sizes", {4, 2}}, {"strides", {2, 1}}}));
  EXPECT_EQ(json["output"],
            (nlohmann::json{{"dtype", "u8"}, {"sizes", {4, 7}}, {"strides", {7, 1}}}));
  EXPECT_EQ(json["negative"], "from_end");
  EXPECT_EQ(json["out_of_range"], "fill");
  EXPECT_EQ(json["row_bytes"], 7);
  const auto loop = nlohmann::json{{"extent", 4}, {"data", 0}, {"index", 2}, {"output", 7}};
  EXPECT_EQ(json["loops"], nlohmann::json::array({loop}));
  const auto first = nlohmann::json{{"extent", 3}, {"stride", 35}, {"offset", 0}};
  const auto second = nlohmann::json{{"extent", 5}, {"stride", 7}, {"offset", 1}};
  EXPECT_EQ(json["coordinates"], nlohmann::json::array({first, second}));
}

TEST(PlanJson, IsValidForAllKindsOfPlans) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const RandomProblem r = random_problem(seed, 100);
    try {
      const Plan plan = plan_of(
          r.problem, {.data = {r.type, as_dims(r.problem.data), r.data_strides},
                      .indices = {r.index_type, as_dims(r.problem.indices), r.indices_strides}});
      const auto json = nlohmann::json::parse(plan.json());
      EXPECT_EQ(json["loops"].size(), static_cast<size_t>(plan.nest().loops.size()));
      EXPECT_EQ(json["output"]["sizes"].get<std::vector<int64_t>>(),
                as_vector(plan.output().sizes));
    } catch (const Error&) {  // one of the unsound ones
    }
  }
}

// A program may have asked for "1.000.000".
struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  char do_decimal_point() const override { return ','; }
};

TEST(PlanText, DoesNotDependOnTheLocale) {
  const Plan plan = plan_gather({f32, {123456, 4096}}, {u64, {1234567}});
  const std::string text = plan.str();
  const std::string json = plan.json();
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  EXPECT_EQ(plan.str(), text);
  EXPECT_EQ(plan.json(), json);
  std::locale::global(before);
}

}  // namespace
}  // namespace sheaf
