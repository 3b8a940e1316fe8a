// SPDX-License-Identifier: MIT
#include "machine/machine.h"

#include <gtest/gtest.h>

namespace sheaf::cli {
namespace {

TEST(Machine, KeepsTheFeaturesThatMatter) {
  EXPECT_EQ(relevant_features("fpu avx2 sse avx xavx512f"),
            (std::vector<std::string>{"avx", "avx2"}));
  EXPECT_EQ(relevant_features("fp asimd sve"), (std::vector<std::string>{"asimd", "sve"}));
  EXPECT_TRUE(relevant_features("").empty());
}

TEST(Machine, IsKnown) {
  const Machine machine = this_machine();
  EXPECT_FALSE(machine.architecture.empty());
  EXPECT_FALSE(machine.system.empty());
  EXPECT_GE(machine.threads, 1);
}

}  // namespace
}  // namespace sheaf::cli
