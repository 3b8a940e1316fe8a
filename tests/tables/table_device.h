// SPDX-License-Identifier: MIT
//
// The device that tests of tables feed: made of host memory (deferred_table_device.cc), or Vulkan's
// (vulkan_table_device.cc). A program of tests links one of them.
#pragma once

#include <gtest/gtest.h>

#include <string_view>

// Its name; it is in the registry from then on.
std::string_view table_device();

// Whether it takes copies that are enqueued, and reads locked host memory.
bool table_device_stages();

// Skipped where there is no device.
class TableTest : public testing::Test {
 protected:
  void SetUp() override;
};
