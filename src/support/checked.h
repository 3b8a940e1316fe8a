// SPDX-License-Identifier: MIT
//
// Arithmetic on sizes that cannot wrap. Products of sizes come from outside and are hostile until
// shown otherwise.
#pragma once

#include <concepts>
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

// Of byte counts that are unsigned, as those of DirectML and Direct3D. Exactly that type: what else
// is mixed with a signed size counts as signed.
template <std::same_as<uint64_t> T>
std::optional<T> checked_add(T a, T b) {
  T sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::nullopt : std::optional(sum);
}

// The next multiple of `alignment`, which is not 0.
template <std::same_as<uint64_t> T>
std::optional<T> checked_round_up(T bytes, T alignment) {
  const auto padded = checked_add(bytes, alignment - 1);
  return padded ? std::optional(*padded / alignment * alignment) : std::nullopt;
}

}  // namespace sheaf
