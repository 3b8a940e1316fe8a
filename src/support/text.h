// SPDX-License-Identifier: MIT
//
// Small pieces of text: the core builds messages without a formatting library.
#pragma once

#include <cstdint>
#include <locale>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>

#include "sheaf/fixed.h"

namespace sheaf {

namespace detail {

template <class Part>
void append(std::string& text, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    text += std::string_view(part);
  } else if constexpr (std::is_same_v<Part, int> || std::is_same_v<Part, int64_t>) {
    text += std::to_string(part);
  } else {
    std::ostringstream out;
    // A program may set a global locale that writes 1000 as "1,000": that would break our JSON.
    out.imbue(std::locale::classic());
    out << part;
    text += out.str();
  }
}

}  // namespace detail

// All parts, one after the other, as operator<< writes them in the "C" locale.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::string text;
  (detail::append(text, parts), ...);
  return text;
}

// "[3, 5]"
inline std::string bracketed(const Dims& dims) {
  std::string text = "[";
  for (int d = 0; d < dims.size(); ++d) {
    text += cat(d == 0 ? "" : ", ", dims[d]);
  }
  return text + "]";
}

// "1 index", "3 indices"
inline std::string counted(int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace sheaf
