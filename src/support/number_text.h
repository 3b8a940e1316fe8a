// SPDX-License-Identifier: MIT
//
// Floats as text and back: the shortest digits that read back as the same number. std::to_chars and
// std::from_chars where the standard library has them for floats; libc++ 14 does not.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace sheaf {

// "0.1", "1e+20": fixed or scientific, whichever is shorter; fixed if both are.
std::string shortest_text(float value);
std::string shortest_text(double value);

// Reads [begin, end) as std::from_chars does: no spaces, no leading '+', and value is untouched
// unless the result has no error.
std::from_chars_result read_double(const char* begin, const char* end, double& value);

// std::from_chars for every number type.
template <class T>
std::from_chars_result read_number(std::string_view text, T& value) {
  if constexpr (std::is_floating_point_v<T>) {
    return read_double(text.data(), text.data() + text.size(), value);
  } else {
    return std::from_chars(text.data(), text.data() + text.size(), value);
  }
}

// What shortest_text and read_double are without the standard library's help. Here for the tests,
// which hold them against it.
namespace without_charconv {
std::string shortest_text(float value);
std::string shortest_text(double value);
std::from_chars_result read_double(const char* begin, const char* end, double& value);
}  // namespace without_charconv

// 1234567 as "1,234,567".
std::string grouped(int64_t number);

}  // namespace sheaf
