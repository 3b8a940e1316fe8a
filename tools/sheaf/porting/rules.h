// SPDX-License-Identifier: MIT
//
// What becomes of a word of DirectML, Direct3D, Win32 or BNNS here.
#pragma once

#include <string>
#include <string_view>

namespace sheaf::cli {

enum class Fate {
  kRuns,     // as it is
  kChange,   // a line has to change
  kRefused,  // compiles, and answers an error
  kAbsent,   // does not compile or link
};

struct Ruling {
  Fate fate;
  std::string advice;  // empty for kRuns
};

// Of an identifier; false if it is none that matters.
bool rule_on_word(std::string_view word, Ruling& ruling);

// Of the name between the brackets of an #include; false if it is none that matters. `name` becomes
// what has to be written, if that is another.
bool rule_on_include(std::string& name, Ruling& ruling);

}  // namespace sheaf::cli
