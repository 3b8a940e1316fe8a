// SPDX-License-Identifier: MIT
//
// Runs the program and keeps what it says.
#pragma once

#include <string>
#include <vector>

struct Finished {
  int status = -1;  // -1: ended by a signal
  std::string out, err;
};

// `environment` is put before the command as in a shell: "NO_COLOR=1". `input` is a file for
// standard input.
Finished run_sheaf(const std::vector<std::string>& arguments, const std::string& environment = "",
                   const std::string& input = "/dev/null");

// A file below the tests' temporary directory with this content.
std::string temporary_file(const std::string& name, const std::string& content);
