// SPDX-License-Identifier: MIT
//
// Memory between two pages that may not be touched: a read or write outside crashes on the spot.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

enum class Flush {
  kFront,  // begins right behind the page in front
  kBack,   // ends right before the page behind
};

class GuardedMemory {
 public:
  explicit GuardedMemory(size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // All that may be touched: at least the bytes asked for, rounded up to whole pages.
  std::span<std::byte> all() const { return {first_, bytes_}; }

  // A part of `bytes` bytes at one of the two ends.
  std::span<std::byte> part(size_t bytes, Flush flush) const;

  // From now on writing to it crashes as well, or no longer does.
  void set_writable(bool writable) const;

 private:
  std::byte* first_ = nullptr;
  size_t bytes_ = 0;
};

// Address space whose pages cost memory only when written to: for tensors larger than the machine.
class SparseMemory {
 public:
  explicit SparseMemory(int64_t bytes);
  ~SparseMemory();
  SparseMemory(const SparseMemory&) = delete;
  SparseMemory& operator=(const SparseMemory&) = delete;

  uint8_t* data() const { return data_; }

 private:
  uint8_t* data_ = nullptr;
  size_t bytes_ = 0;
};
