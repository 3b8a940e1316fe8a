// SPDX-License-Identifier: MIT
#include "conformance/webnn_rules.h"

#include <gtest/gtest.h>

#include "problem/problem.h"

namespace sheaf::cli {
namespace {

std::string refusal_of(const char* problem) {
  return webnn_refusal(parse_problem(problem).request);
}

TEST(WebnnRules, RefuseOtherIndexTypes) {
  for (const char* type : {"i8", "i16", "u8", "u16", "u64", "f32"}) {
    const std::string problem = std::string("gather f32[2] ") + type + "[1]";
    EXPECT_EQ(refusal_of(problem.c_str()),
              std::string("WebNN: indices may be i32, u32 or i64, not ") + type);
  }
}

TEST(WebnnRules, RefuseOtherSizesOffTheAxis) {
  EXPECT_EQ(refusal_of("gather_elements f32[3,4] i32[2,4] axis=1"),
            "WebNN: dimension 0 of indices has 2 entries, but data has 3");
  EXPECT_EQ(refusal_of("gather_elements f32[3,4] i32[3,1] axis=-2"),
            "WebNN: dimension 1 of indices has 1 entries, but data has 4");
}

TEST(WebnnRules, LeaveTheRestToTheLibrary) {
  EXPECT_EQ(refusal_of("gather_elements f32[3,4] i32[9,4] axis=0"), "");
  EXPECT_EQ(refusal_of("gather_elements f32[3,4] i32[3,9] axis=-1"), "");
  EXPECT_EQ(refusal_of("gather_elements f32[3,4] i32[3]"), "");
  EXPECT_EQ(refusal_of("gather f32[3,4] u32[3]"), "");
  EXPECT_EQ(refusal_of("gather_nd f32[3,4] i64[3,9]"), "");
}

}  // namespace
}  // namespace sheaf::cli
