// SPDX-License-Identifier: MIT
//
// The device that tests of tables feed: made of host memory (deferred_table_device.cc), or Vulkan's
// (vulkan_table_device.cc). A program of tests links one of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

// Its name; it is in the registry from then on.
std::string_view table_device();

// Whether it is the one made of host memory: its kernels read the host's, and waits cost nothing.
bool table_device_is_stand_in();

// The smallest pieces of rows that are worth a test: of one row, unless each piece is waited for,
// which a GPU takes half a millisecond for.
inline int64_t smallest_piece() { return table_device_is_stand_in() ? 1 : 1 << 10; }

// Skipped where there is no device.
class TableTest : public testing::Test {
 protected:
  void SetUp() override;
};
