// SPDX-License-Identifier: MIT
#include "sheaf/queue.h"
#include "tables/table_device.h"

std::string_view table_device() { return "cuda"; }

bool table_device_is_stand_in() { return false; }

void TableTest::SetUp() {
  if (!sheaf::device_available(table_device())) {
    GTEST_SKIP() << "needs a CUDA device: " << sheaf::device_description(table_device());
  }
}
