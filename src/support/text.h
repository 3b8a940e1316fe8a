// SPDX-License-Identifier: MIT
//
// Small pieces of text: the core builds messages without a formatting library.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>

#include "sheaf/fixed.h"

namespace sheaf {

// All parts, one after the other, as operator<< writes them.
template <class... Parts>
std::string cat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

// "[3, 5]"
inline std::string bracketed(const Dims& dims) {
  std::string text = "[";
  for (int d = 0; d < dims.size(); ++d) {
    text += (d == 0 ? "" : ", ") + std::to_string(dims[d]);
  }
  return text + "]";
}

// "1 index", "3 indices"
inline std::string counted(int64_t count, const char* one, const char* many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

}  // namespace sheaf
