// SPDX-License-Identifier: MIT
#include "demo_examples.h"

#include <gtest/gtest.h>

namespace sheaf::cli {
namespace {

TEST(DemoExamples, AWrongValueIsFound) {
  Example example = demo_examples()[1];
  const Array output = run_example(parse_problem(example.problem));
  EXPECT_EQ(difference(example, output), "");
  example.expected[5] = -1;
  EXPECT_EQ(difference(example, output), "output element 5 is 4, expected -1");
  example.expected.resize(5);
  EXPECT_EQ(difference(example, output), "output element 5 is 4, expected none");
}

TEST(DemoExamples, AWrongShapeIsFound) {
  Example example = demo_examples()[1];
  example.sizes = {8};
  EXPECT_EQ(difference(example, run_example(parse_problem(example.problem))),
            "the output is [4, 2], expected [8]");
}

TEST(DemoExamples, AreAllRight) {
  EXPECT_EQ(demo_examples().size(), 14U);
  for (const Example& example : demo_examples()) {
    EXPECT_EQ(difference(example, run_example(parse_problem(example.problem))), "")
        << example.title;
  }
}

}  // namespace
}  // namespace sheaf::cli
