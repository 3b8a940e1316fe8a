// SPDX-License-Identifier: MIT
//
// Which bytes a tensor covers, and whether two tensors can share one.
#pragma once

#include <cstdint>
#include <optional>

#include "sheaf/tensor.h"

namespace sheaf {

// Bytes [lo, hi) relative to the data pointer; lo is negative where a stride is.
struct ByteRange {
  int64_t lo = 0, hi = 0;
};

// The range that holds every element of `spec`; nothing if it leaves int64. Empty tensors cover [0,
// 0).
std::optional<ByteRange> byte_range(const TensorSpec& spec);

// True if no two elements of `spec` share a byte, as far as a look at the strides tells: each
// stride must step over all that the smaller ones span. Interleavings finer than that are refused.
bool elements_disjoint(const TensorSpec& spec);

// False only if no byte belongs to both: the ranges do not meet, or both tensors step by multiples
// of one stride and stay in different parts of it (two columns of one matrix).
bool may_overlap(const ConstTensor& a, const ConstTensor& b);

// The stride of dimension `d`, 0 where the dimension has at most one entry (its stride is never
// used, and may be anything).
inline int64_t used_stride(const TensorSpec& spec, int d) {
  return spec.sizes[d] <= 1 ? 0 : spec.strides[d];
}
inline int64_t used_byte_stride(const TensorSpec& spec, int d) {
  return used_stride(spec, d) * spec.dtype.bytes();
}

}  // namespace sheaf
