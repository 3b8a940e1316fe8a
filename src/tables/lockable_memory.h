// SPDX-License-Identifier: MIT
//
// How much memory may be locked: the system does not refuse too much of it, it kills.
#pragma once

#include <cstdint>
#include <string>

namespace sheaf::tables {

// Bytes that tables of this process may lock together: nine tenths of what the machine has, or of
// what control groups leave it. `root` is where /proc and /sys are looked for, in tests elsewhere.
int64_t lockable_bytes(const std::string& root = "");

}  // namespace sheaf::tables
