// SPDX-License-Identifier: MIT
//
// The same tensor in memory in different ways. A gather has to give the same output in each.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "problem/problem.h"
#include "sheaf/tensor.h"

namespace sheaf::cli {

enum class Layout {
  kPacked,      // row-major, no gaps
  kPadded,      // gaps between all elements and rows; absurd strides where they do not count
  kReversed,    // negative strides
  kTransposed,  // the first dimension varies fastest
};
std::string_view to_string(Layout layout);

// A tensor in memory of its own. Bytes that belong to no element have a fixed pattern.
class Placed {
 public:
  // Sizes and type of `spec`; the elements have the pattern too.
  Placed(const TensorSpec& spec, Layout layout);

  const TensorSpec& spec() const { return spec_; }
  std::byte* data() { return memory_.data() + first_ * spec_.dtype.bytes(); }
  std::span<std::byte> memory() { return memory_; }  // the elements and what is between them

  void write(const Literal& elements);  // packed, row-major
  Literal read() const;

  // True if nothing was written since it was made; true if only elements were.
  bool untouched() const;
  bool gaps_untouched() const;

 private:
  // Calls visit(memory offset, packed offset) in bytes for each element.
  template <class Visit>
  void for_each_element(Visit visit) const;

  TensorSpec spec_;
  int64_t first_ = 0;  // the element at index 0 of every dimension, in elements
  std::vector<std::byte> memory_;
};

}  // namespace sheaf::cli
