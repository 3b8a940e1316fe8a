// SPDX-License-Identifier: MIT
//
// Tests that run once for every instruction set that this machine has.
#pragma once

#include "backends/cpu/instruction_sets.h"

#include <gtest/gtest.h>
#include <hwy/highway.h>
#include <hwy/targets.h>

#include <string>
#include <vector>

namespace sheaf {

// Holds Highway to one target while it lives.
class OnlyTarget {
 public:
  explicit OnlyTarget(int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  ~OnlyTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

class EveryTarget : public testing::TestWithParam<int64_t> {};

inline std::vector<int64_t> targets() {
  std::vector<int64_t> list;
  for (int64_t left = hwy::SupportedTargets() & HWY_TARGETS; left != 0; left &= left - 1) {
    list.push_back(left & -left);
  }
  return list;
}

inline std::string target_name(const testing::TestParamInfo<int64_t>& target) {
  return hwy::TargetName(target.param);
}

}  // namespace sheaf
