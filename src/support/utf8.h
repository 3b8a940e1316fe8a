// SPDX-License-Identifier: MIT
//
// Text that came from outside: names in files, paths, arguments.
#pragma once

#include <string>
#include <string_view>

namespace sheaf {

// Well-formed UTF-8: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

// The columns that UTF-8 text takes, all characters being one wide.
int text_width(std::string_view text);

// For a message: control characters, which must not reach a terminal, become '?', and bytes that
// are not UTF-8, which many readers of messages refuse, become "\xff".
std::string printable(std::string_view text);

}  // namespace sheaf
