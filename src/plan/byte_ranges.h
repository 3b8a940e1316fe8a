// SPDX-License-Identifier: MIT
//
// Which bytes a tensor covers, and whether two tensors can share one.
#pragma once

#include <cstdint>
#include <optional>

#include "sheaf/plan.h"
#include "sheaf/tensor.h"

namespace sheaf {

// The range that holds every element of `spec`; nothing if it leaves int64. Empty tensors cover [0,
// 0).
std::optional<ByteRange> byte_range(const TensorSpec& spec);

// True if no two elements of `spec` share a byte, as far as a look at the strides tells: each
// stride must step over all that the smaller ones span. Interleavings finer than that are refused.
bool elements_disjoint(const TensorSpec& spec);

// False only if no byte belongs to both: the ranges do not meet, or both tensors step by multiples
// of one stride and stay in different parts of it (two columns of one matrix).
bool may_overlap(const ConstTensor& a, const ConstTensor& b);

// The first half of that test: do the ranges around two pointers meet?
bool ranges_meet(const void* a, ByteRange range_a, const void* b, ByteRange range_b);

// The stride of dimension `d`; 0 where it is never used and may be anything: the dimension has at
// most one entry, or the tensor no element.
int64_t used_stride(const TensorSpec& spec, int d);
int64_t used_byte_stride(const TensorSpec& spec, int d);

}  // namespace sheaf
