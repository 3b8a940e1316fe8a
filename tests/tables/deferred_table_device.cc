// SPDX-License-Identifier: MIT
#include "helpers/deferred_device.h"
#include "tables/table_device.h"

std::string_view table_device() {
  add_deferred_device();
  return kDeferred;
}

bool table_device_is_stand_in() { return true; }

void TableTest::SetUp() { table_device(); }
