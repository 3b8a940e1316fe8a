// SPDX-License-Identifier: MIT
//
// std::bit_cast, also where the standard library has only the compiler's builtin for it (libc++ 14,
// which is Emscripten's on Debian 12).
#pragma once

#include <version>

#if defined(__cpp_lib_bit_cast)
#include <bit>
namespace sheaf {
using std::bit_cast;
}
#else
namespace sheaf {
template <class To, class From>
constexpr To bit_cast(const From& from) {
  return __builtin_bit_cast(To, from);
}
}  // namespace sheaf
#endif
