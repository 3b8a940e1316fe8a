// SPDX-License-Identifier: MIT
//
// The header first, the names of <windows.h> after it.
#include <gtest/gtest.h>

#include "sheaf/directml.h"

#include "frontends/directml/windows_names.h"  // after it

// UINT and HRESULT are said twice now, and mean the same.
TEST(DirectmlBeforeWindows, NamesAreUsable) {
  const UINT sizes[] = {3};
  EXPECT_EQ(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_UINT8, 1, sizes, nullptr), 4u);
  IDMLDevice* device = nullptr;
  const HRESULT result = DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device);
  ASSERT_EQ(result, S_OK);
  ASSERT_FALSE(FAILED(result));
  EXPECT_EQ(device->CreateOperator(nullptr, nullptr), E_INVALIDARG);
  device->Release();
}
