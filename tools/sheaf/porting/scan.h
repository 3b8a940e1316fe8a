// SPDX-License-Identifier: MIT
//
// Reads a source file for what matters to a port, line by line.
#pragma once

#include <string>
#include <vector>

#include "porting/rules.h"

namespace sheaf::cli {

struct Finding {
  size_t line;  // from 1
  std::string what;
  Ruling ruling;
};

struct Scan {
  std::vector<Finding> findings;
  std::vector<std::string> lines;    // as they are
  std::vector<std::string> changed;  // as they should be; as many
};

// Of C, C++, Objective-C or Swift. Words in comments and strings do not count.
Scan scan_source(const std::string& text);

// Of CMake or make: libraries to link.
Scan scan_build_file(const std::string& text);

// The changes as `diff -u` prints them, with a and b before `name`; empty if there are none.
std::string unified_diff(const std::string& name, const Scan& scan);

}  // namespace sheaf::cli
