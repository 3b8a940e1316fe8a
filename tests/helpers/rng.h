// SPDX-License-Identifier: MIT
//
// Random numbers that are the same with every compiler and library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {  // SplitMix64
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // From [low, high], both included.
  int64_t from(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(next() % (static_cast<uint64_t>(high - low) + 1));
  }

  bool one_in(int64_t n) { return from(1, n) == 1; }

  template <class T>
  const T& pick(const std::vector<T>& values) {
    return values[static_cast<size_t>(from(0, static_cast<int64_t>(values.size()) - 1))];
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[static_cast<size_t>(from(0, static_cast<int64_t>(i) - 1))]);
    }
  }

 private:
  uint64_t state_;
};
