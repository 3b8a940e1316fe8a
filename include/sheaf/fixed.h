// SPDX-License-Identifier: MIT
//
// Fixed<T>: a vector of up to kMaxRank values stored inline. Shapes, strides and loops are this
// small, and running a plan must not allocate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <span>

#pragma GCC visibility push(default)

namespace sheaf {

inline constexpr int kMaxRank = 32;

namespace detail {
[[noreturn]] void throw_too_many_dimensions(int64_t rank);
}

template <class T>
class Fixed {
 public:
  Fixed() = default;
  Fixed(std::initializer_list<T> values) { append(values.begin(), std::ssize(values)); }
  explicit Fixed(std::span<const T> values) { append(values.data(), std::ssize(values)); }
  Fixed(int count, const T& value) {
    check_rank(count);
    for (int i = 0; i < count; ++i) {
      push_back(value);
    }
  }
  // Only the first size() values are ever copied: the rest is uninitialised.
  Fixed(const Fixed& other) { append(other.values_, other.size_); }
  Fixed& operator=(const Fixed& other) {
    if (this != &other) {
      size_ = 0;
      append(other.values_, other.size_);
    }
    return *this;
  }

  void push_back(const T& value) {
    check_rank(int64_t{size_} + 1);
    values_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](int i) { return values_[i]; }
  const T& operator[](int i) const { return values_[i]; }
  T& back() { return values_[size_ - 1]; }
  const T& back() const { return values_[size_ - 1]; }
  T* begin() { return values_; }
  T* end() { return values_ + size_; }
  const T* begin() const { return values_; }
  const T* end() const { return values_ + size_; }

  friend bool operator==(const Fixed& a, const Fixed& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  static void check_rank(int64_t rank) {
    if (rank > kMaxRank) {
      detail::throw_too_many_dimensions(rank);
    }
  }
  void append(const T* values, int64_t count) {
    check_rank(count);
    std::copy_n(values, count, values_);
    size_ = static_cast<int>(count);
  }

  T values_[kMaxRank];
  int size_ = 0;
};

// Sizes, strides, axes: one number per dimension.
using Dims = Fixed<int64_t>;

}  // namespace sheaf

#pragma GCC visibility pop
