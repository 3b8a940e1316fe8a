// SPDX-License-Identifier: MIT
#include "plan/byte_ranges.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "support/checked.h"

namespace sheaf {
namespace {

bool has_no_elements(const TensorSpec& spec) {
  return std::find(spec.sizes.begin(), spec.sizes.end(), 0) != spec.sizes.end();
}

int64_t greatest_common_stride(const TensorSpec& a, const TensorSpec& b) {
  int64_t common = 0;
  for (const TensorSpec* spec : {&a, &b}) {
    for (int d = 0; d < spec->rank(); ++d) {
      common = std::gcd(common, used_byte_stride(*spec, d));
    }
  }
  return common;
}

}  // namespace

std::optional<ByteRange> byte_range(const TensorSpec& spec) {
  if (has_no_elements(spec)) {
    return ByteRange{0, 0};
  }
  ByteRange range{0, spec.dtype.bytes()};
  for (int d = 0; d < spec.rank(); ++d) {
    if (spec.sizes[d] == 1) {
      continue;
    }
    const auto reach = checked_mul(spec.sizes[d] - 1, spec.strides[d]);
    const auto bytes = reach ? checked_mul(*reach, spec.dtype.bytes()) : std::nullopt;
    const auto moved = bytes ? checked_add(*bytes < 0 ? range.lo : range.hi, *bytes) : std::nullopt;
    if (!moved) {
      return std::nullopt;
    }
    (*bytes < 0 ? range.lo : range.hi) = *moved;
  }
  return checked_add(range.hi, range.lo == INT64_MIN ? INT64_MAX : -range.lo) ? std::optional(range)
                                                                              : std::nullopt;
}

int64_t used_stride(const TensorSpec& spec, int d) {
  return spec.sizes[d] <= 1 || has_no_elements(spec) ? 0 : spec.strides[d];
}

int64_t used_byte_stride(const TensorSpec& spec, int d) {
  return used_stride(spec, d) * spec.dtype.bytes();
}

bool elements_disjoint(const TensorSpec& spec) {
  if (has_no_elements(spec)) {
    return true;
  }
  Fixed<int> order;
  for (int d = 0; d < spec.rank(); ++d) {
    if (spec.sizes[d] > 1) {
      order.push_back(d);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::abs(spec.strides[a]) < std::abs(spec.strides[b]); });
  int64_t span = 1;  // elements covered by the dimensions seen so far
  for (const int d : order) {
    if (std::abs(spec.strides[d]) < span) {
      return false;
    }
    span += (spec.sizes[d] - 1) * std::abs(spec.strides[d]);
  }
  return true;
}

bool ranges_meet(const void* a, ByteRange range_a, const void* b, ByteRange range_b) {
  if (range_a.empty() || range_b.empty()) {
    return false;
  }
  const auto address_a = reinterpret_cast<intptr_t>(a);
  const auto address_b = reinterpret_cast<intptr_t>(b);
  return address_a + range_a.hi > address_b + range_b.lo &&
         address_b + range_b.hi > address_a + range_a.lo;
}

bool may_overlap(const ConstTensor& a, const ConstTensor& b) {
  if (!ranges_meet(a.data, *byte_range(a.spec), b.data, *byte_range(b.spec))) {
    return false;
  }
  const int64_t period = greatest_common_stride(a.spec, b.spec);
  if (period == 0) {
    return true;  // two single elements whose ranges meet
  }
  // Within a period, `a` covers [0, bytes) and `b` covers [shift, shift + bytes).
  const int64_t distance = reinterpret_cast<intptr_t>(b.data) - reinterpret_cast<intptr_t>(a.data);
  const int64_t rest = distance % period;
  const int64_t shift = rest < 0 ? rest + period : rest;
  return shift < a.spec.dtype.bytes() || shift > period - b.spec.dtype.bytes();
}

}  // namespace sheaf
