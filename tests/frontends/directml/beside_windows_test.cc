// SPDX-License-Identifier: MIT
//
// The header next to the names that <windows.h> and DirectML.h bring: as much of them as clashes
// could come from, in the order in which a program on Windows would include them.
#include "frontends/directml/windows_names.h"

#define DIRECTML_H
#define DML_TARGET_VERSION 0x6400
static const UINT DML_TENSOR_DIMENSION_COUNT_MAX = 5;
enum DML_TENSOR_DATA_TYPE { DML_TENSOR_DATA_TYPE_UNKNOWN, DML_TENSOR_DATA_TYPE_FLOAT32 };
enum DML_OPERATOR_TYPE { DML_OPERATOR_INVALID, DML_OPERATOR_GATHER = 67 };
struct DML_OPERATOR_DESC {
  DML_OPERATOR_TYPE Type;
  const void* Desc;
};
struct IDMLDevice;

#include <gtest/gtest.h>

#include <bit>

#include "sheaf/directml.h"

TEST(DirectmlBesideWindows, GlobalNamesStayTheirs) {
  static_assert(!std::is_same_v<::DML_OPERATOR_DESC, sheaf::dml::DML_OPERATOR_DESC>);
  static_assert(std::is_same_v<decltype(DML_OPERATOR_GATHER), ::DML_OPERATOR_TYPE>);
  EXPECT_EQ(DML_TENSOR_DIMENSION_COUNT_MAX, sheaf::dml::DML_TENSOR_DIMENSION_COUNT_MAX);
}

TEST(DirectmlBesideWindows, BothCanBeUsed) {
  sheaf::dml::ComPtr<sheaf::dml::IDMLDevice> device;
  ASSERT_EQ(sheaf::dml::DMLCreateDevice(sheaf::dml::DML_CREATE_DEVICE_FLAG_NONE, &device), S_OK);
  ASSERT_TRUE(SUCCEEDED(S_FALSE));
  // The descriptors have one layout, so one can be turned into the other.
  const ::DML_OPERATOR_DESC theirs{DML_OPERATOR_GATHER, nullptr};
  const auto ours = std::bit_cast<sheaf::dml::DML_OPERATOR_DESC>(theirs);
  EXPECT_EQ(ours.Type, sheaf::dml::DML_OPERATOR_GATHER);
  EXPECT_EQ(device->CreateOperator(nullptr, nullptr), E_INVALIDARG);
}
