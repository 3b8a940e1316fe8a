// SPDX-License-Identifier: MIT
//
// The text of a thread's last error, for front ends that return codes.
#pragma once

#include <cstddef>
#include <cstring>

namespace sheaf {

// To be used as `thread_local ErrorText`. It has neither constructor nor destructor and never
// allocates: a std::string in its place would have to register its destructor on a thread's first
// error, which ends the process if there is no memory left.
struct ErrorText {
  static constexpr size_t kBytes = 8192;  // longer texts are cut; shapes of rank 32 fit
  char text[kBytes];

  void keep(const char* source) noexcept {
    const size_t length = std::strlen(source);
    const size_t kept = length < kBytes ? length : kBytes - 1;
    std::memcpy(text, source, kept);
    text[kept] = '\0';
  }
  void clear() noexcept { text[0] = '\0'; }
};

}  // namespace sheaf
