// SPDX-License-Identifier: MIT
//
// Gathers on tables, for the random and exhaustive tests: every way stands for a kernel.
#pragma once

#include "helpers/machine.h"

// "host", "download", "device", "mapped", "ring", "file", and the same with a remark: "/rows" for
// pieces of one row, "/host indices", "/again" for a second call on the same table, "/cached" for
// that with a small cache.
const Machine& table_machine();
