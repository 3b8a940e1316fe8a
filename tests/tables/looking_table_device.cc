// SPDX-License-Identifier: MIT
//
// The device made of host memory, with steps that look cached rows up.
#include "helpers/deferred_device.h"
#include "tables/table_device.h"

std::string_view table_device() {
  add_deferred_device();
  set_looks_up_rows(true);
  return kDeferred;
}

bool table_device_is_stand_in() { return true; }

void TableTest::SetUp() { table_device(); }
