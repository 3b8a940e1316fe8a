// SPDX-License-Identifier: MIT
//
// The fuzzer's bytes as numbers, and memory that a call may touch and nothing beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <span>
#include <type_traits>

#include "helpers/guarded.h"

namespace fuzz {

class Input {
 public:
  Input(const uint8_t* bytes, size_t count) : bytes_(bytes), count_(count) {}

  // After the end: zeros.
  uint8_t byte() { return at_ < count_ ? bytes_[at_++] : uint8_t{0}; }
  bool one_in(int n) { return byte() % n == 1; }
  int64_t below(int64_t n) { return byte() % n; }
  uint64_t wide() {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
      value = value << 8 | byte();
    }
    return value;
  }
  // Mostly from [low, high]; one time in eight a number near a border of its type, or any.
  int64_t number(int64_t low, int64_t high) {
    const uint8_t choice = byte();
    if (choice < 224) {
      return low + choice % (high - low + 1);
    }
    constexpr int64_t kBorders[] = {
        INT64_MAX,        INT64_MIN,        INT64_MAX / 2,       int64_t{1} << 62,
        int64_t{1} << 32, int64_t{1} << 31, -(int64_t{1} << 31), (int64_t{1} << 31) - 1};
    return choice < 250 ? near(kBorders[choice % std::size(kBorders)])
                        : static_cast<int64_t>(wide());
  }
  // Mostly one of 0 to `last`; now and then any number of the enumeration's type.
  template <class Enum>
  Enum enumerator(int64_t last) {
    return static_cast<Enum>(static_cast<std::underlying_type_t<Enum>>(number(0, last)));
  }
  template <class Table>
  const auto& pick(const Table& values) {
    return values[byte() % std::size(values)];
  }
  void fill(std::span<std::byte> memory) {
    for (std::byte& place : memory) {
      place = std::byte{byte()};
    }
  }

 private:
  // One of the three numbers around it that are of the type.
  int64_t near(int64_t border) {
    const int64_t step = below(3) - 1;
    const bool leaves = (step > 0 && border == INT64_MAX) || (step < 0 && border == INT64_MIN);
    return leaves ? border : border + step;
  }

  const uint8_t* bytes_;
  size_t count_;
  size_t at_ = 0;
};

inline constexpr int64_t kMostBytes = 4096;  // of one tensor; larger ones are planned, and not run

// One tensor's memory: `bytes` of them, right before a page that may not be touched.
inline std::span<std::byte> memory_for(int which, int64_t bytes) {
  static const GuardedMemory memory[] = {GuardedMemory(kMostBytes), GuardedMemory(kMostBytes),
                                         GuardedMemory(kMostBytes), GuardedMemory(kMostBytes)};
  return memory[which].part(static_cast<size_t>(bytes), Flush::kBack);
}

// Ends the run: libFuzzer keeps the input.
inline void require(bool holds, const char* what) {
  if (!holds) {
    std::fprintf(stderr, "broken: %s\n", what);
    std::abort();
  }
}

}  // namespace fuzz
