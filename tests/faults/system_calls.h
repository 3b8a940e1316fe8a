// SPDX-License-Identifier: MIT
//
// A layer between the library and the system: the n-th call to it can be made to fail, to come back
// short, or to be the last thing that the process does. The functions of the C library that src/io
// calls are defined here a second time, and a program that links this file calls those.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace faults {

enum class Kind {
  kNone,
  kError,  // the call fails with `error`, and does nothing
  kShort,  // a read, write or copy moves half of what it was asked for
  kKill,   // SIGKILL, before the call
};

struct Fault {
  Kind kind = Kind::kNone;
  int error = 0;
  int64_t at = 0;  // the number of the call, counted from 1
};

std::string name_of(const Fault& fault);  // "EIO", "short", "kill"

// While it lives, calls of all threads are counted, and the fault happens.
class Armed {
 public:
  explicit Armed(const Fault& fault);
  ~Armed();
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
};

// About the last Armed.
int64_t calls();             // how many there were
bool happened();             // whether the fault had an effect: a short fstat has none
std::string faulted_call();  // "pread"; empty if `at` was never reached
std::map<std::string, int64_t> calls_by_name();

}  // namespace faults
