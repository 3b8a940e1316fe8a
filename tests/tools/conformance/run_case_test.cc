// SPDX-License-Identifier: MIT
#include "conformance/run_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "conformance/case.h"

namespace sheaf::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A case that passes, to be made wrong.
json sound_case() {
  return json::parse(R"({
    "name": "sound", "op": "gather", "attributes": {"axis": 0}, "expect": "ok",
    "inputs": [{"name": "data", "dtype": "int32", "shape": [2], "data": [1, 2]},
               {"name": "indices", "dtype": "int64", "shape": [1], "data": [1]}],
    "outputs": [{"name": "output", "dtype": "int32", "shape": [1], "data": [2]}]})");
}

std::string failure_of(const json& value, const CaseOptions& options = {}) {
  const Outcome outcome = run_case(value, options);
  EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(Verdict::kFailed)) << value["name"];
  return outcome.text;
}

void expect_pass(const json& value, const CaseOptions& options = {}) {
  const Outcome outcome = run_case(value, options);
  EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(Verdict::kPassed))
      << value["name"] << "\n"
      << outcome.text;
}

TEST(RunCase, EveryCaseThatMustFailDoes) {
  for (const char* file : {"tests/cases/fail.json", "tests/cases/malformed.json"}) {
    for (const json& value : load_cases(file)) {
      EXPECT_EQ(static_cast<int>(run_case(value, {}).verdict), static_cast<int>(Verdict::kFailed))
          << value;
    }
  }
}

TEST(RunCase, FailuresInAnotherLayoutNameIt) {
  json value = sound_case();
  value["outputs"][0]["data"] = {1};
  EXPECT_EQ(failure_of(value, {.backend = "", .strided = true}),
            "expected  i32[1] {1}\n"
            "got       i32[1] {2}\n"
            "first     element 0 of 1 is 2, expected 1\n"
            "repeat    sheaf explain 'gather i32[2] i64[1] axis=0'");
}

// Under UndefinedBehaviorSanitizer: no arithmetic on an axis that nobody has checked yet.
TEST(RunCase, AnAxisOfAnySizeIsRefused) {
  json value = sound_case();
  value["op"] = "gather_elements";
  for (const int64_t axis : {INT64_MAX, INT64_MIN}) {
    value["attributes"]["axis"] = axis;
    EXPECT_THAT(failure_of(value), HasSubstr("axis out of range"));
  }
}

TEST(RunCase, LongValuesAreCut) {
  json value = sound_case();
  value["inputs"][1] = {{"name", "indices"}, {"dtype", "int8"}, {"shape", {100}}};
  value["inputs"][1]["data"] = std::vector<int>(100, 0);
  value["outputs"][0]["shape"] = {100};
  value["outputs"][0]["data"] = std::vector<int>(100, 2);
  EXPECT_THAT(failure_of(value), HasSubstr("2, 2, … 76 more}"));
}

TEST(RunCase, AnErrorMustBlameTheCall) {
  json value = sound_case();
  value["expect"] = "error";
  value["outputs"] = json::array();
  EXPECT_THAT(failure_of(value), HasSubstr("expected  an error\ngot       i32[1] {2}"));
  // A backend that does not exist refuses too, but says nothing about the call.
  const Outcome outcome = run_case(value, {.backend = "no.such", .strided = false});
  EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(Verdict::kSkipped));
  EXPECT_EQ(outcome.text, "no kernel of no.such takes it");
}

TEST(RunCase, HostileShapesAreRefusedWithoutMemory) {
  for (const char* shape :
       {"[1099511627776]", "[4294967296, 4294967296]", "[9223372036854775807, 9223372036854775807]",
        "[-1]", "[-2, -1]", "[0, 4611686018427387904, 8]"}) {
    for (const size_t tensor : {0U, 1U}) {
      json value = sound_case();
      value["inputs"][tensor]["shape"] = json::parse(shape);
      failure_of(value);
    }
    json value = sound_case();
    value["outputs"][0]["shape"] = json::parse(shape);
    EXPECT_THAT(failure_of(value), HasSubstr("malformed: output")) << shape;
  }
}

TEST(RunCase, AnOutputMuchLargerThanTheFileIsNotMade) {
  json value = sound_case();
  value["op"] = "gather_nd";
  value["attributes"] = json::object();
  value["inputs"][1]["shape"] = {int64_t{1} << 50, 0};
  value["inputs"][1]["data"] = json::array();
  value["expect"] = "error";
  EXPECT_THAT(failure_of(value), HasSubstr("too large to try"));
  value["expect"] = "ok";
  EXPECT_THAT(failure_of(value), HasSubstr("got       an output i32[1125899906842624, 2]"));
}

TEST(RunCase, HostileAttributesAreRefused) {
  for (const char* attributes :
       {R"({"axis": -9223372036854775808})", R"({"axis": 9223372036854775807})",
        R"({"batch_dims": -9223372036854775808})", R"({"batch_dims": 10})"}) {
    json value = sound_case();
    value["attributes"] = json::parse(attributes);
    failure_of(value);
    value["expect"] = "error";
    expect_pass(value);
  }
}

// Any JSON at any place of a case gives a verdict.
TEST(RunCase, AnyDamageGivesAVerdict) {
  const json seeds = load_cases("tests/cases/pass.json");
  const json pieces = json::parse(
      R"([null, true, -1, 0, 3, 1e300, 0.5, 18446744073709551615, -9223372036854775808, "", "NaN",
          "string", "int4", "uint64", "complex64", [], {}, [1], [[1, 2]], {"a": 1}, [0, 4294967296],
          [1099511627776, 0], "xla_gather", "gather_nd", "fill", "wrap", "error"])");
  std::mt19937_64 random(11);
  int passed = 0;
  for (int round = 0; round < 2000; ++round) {
    json value = seeds[random() % seeds.size()];
    for (uint64_t edits = 1 + random() % 3; edits > 0; --edits) {
      json flat = value.flatten();
      if (!flat.is_object() || flat.empty()) {
        break;
      }
      auto place = flat.begin();
      std::advance(place, static_cast<int64_t>(random() % flat.size()));
      json::json_pointer pointer(place.key());
      for (uint64_t up = random() % 3; up > 0 && !pointer.parent_pointer().empty(); --up) {
        pointer = pointer.parent_pointer();
      }
      value[pointer] = pieces[random() % pieces.size()];
    }
    const Outcome outcome = run_case(value, {.backend = "", .strided = random() % 2 == 0});
    passed += outcome.verdict == Verdict::kPassed ? 1 : 0;
    EXPECT_EQ(outcome.text.empty(), outcome.verdict == Verdict::kPassed) << value;
    EXPECT_EQ(outcome.text.find("ended by"), std::string::npos) << outcome.text << "\n" << value;
  }
  EXPECT_GT(passed, 0);
  EXPECT_LT(passed, 1600);
}

TEST(RunCase, SkipsWhatIsNotBuilt) {
  for (const json& value : load_cases("tests/cases/skip.json")) {
    const Outcome outcome = run_case(value, {});
    EXPECT_EQ(static_cast<int>(outcome.verdict), static_cast<int>(Verdict::kSkipped)) << value;
    EXPECT_FALSE(outcome.text.empty());
  }
}

TEST(RunCase, EverySoundCasePassesInEveryLayout) {
  expect_pass(sound_case());
  for (const json& value : load_cases("tests/cases/pass.json")) {
    expect_pass(value);
    expect_pass(value, {.backend = "reference", .strided = true});
  }
}

}  // namespace
}  // namespace sheaf::cli
