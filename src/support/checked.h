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

// Of numbers that are not negative: the largest number instead of one beyond it. For estimates that
// are compared with what there is.
inline int64_t saturating_add(int64_t a, int64_t b) {
  return checked_add(a, b).value_or(INT64_MAX);
}

inline int64_t saturating_mul(int64_t a, int64_t b) {
  return checked_mul(a, b).value_or(INT64_MAX);
}

// How many pieces of `each` cover `total`; no sum, which could wrap.
inline int64_t pieces_of(int64_t total, int64_t each) {
  return total / each + (total % each != 0 ? 1 : 0);
}

}  // namespace sheaf
