// SPDX-License-Identifier: MIT
//
// Arithmetic on sizes that cannot wrap. Products of sizes come from outside and are hostile until
// shown otherwise.
#pragma once

#include <cstdint>
#include <optional>

namespace sheaf {

inline std::optional<int64_t> checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

inline std::optional<int64_t> checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::nullopt : std::optional(product);
}

}  // namespace sheaf
