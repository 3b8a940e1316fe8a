// SPDX-License-Identifier: MIT
//
// SHEAF_DIRECTML_NO_GLOBAL_NAMES: the program's own names stay its own.
#define SHEAF_DIRECTML_NO_GLOBAL_NAMES
#include "sheaf/directml.h"

#include <gtest/gtest.h>

using UINT = unsigned char;
using BOOL = bool;
enum class HRESULT { kFine };

TEST(DirectmlNoGlobalNames, TheProgramMayHaveItsOwn) {
  static_assert(sizeof(UINT) == 1 && sizeof(BOOL) == 1 && sizeof(sheaf::dml::UINT) == 4);
  EXPECT_EQ(HRESULT::kFine, HRESULT{});
  EXPECT_EQ(sheaf::dml::DMLCreateDevice(sheaf::dml::DML_CREATE_DEVICE_FLAG_NONE, nullptr),
            sheaf::dml::S_FALSE);
}
