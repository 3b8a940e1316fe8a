// SPDX-License-Identifier: MIT
//
// DLPack tensors in one line.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sheaf/c.h>

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sheaf::capi_tests {

struct Destroy {
  void operator()(sheaf_plan* plan) const { sheaf_plan_destroy(plan); }
};
using PlanPtr = std::unique_ptr<sheaf_plan, Destroy>;

template <class T>
constexpr DLDataType type_of() {
  constexpr uint8_t bits = 8 * sizeof(T);
  if constexpr (std::is_floating_point_v<T>) {
    return {kDLFloat, bits, 1};
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool>);
    return {std::is_signed_v<T> ? kDLInt : kDLUInt, bits, 1};
  }
}

// Values with a shape, and optionally with strides.
template <class T>
struct Values {
  std::vector<T> values;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;
  DLTensor tensor = {};

  Values(std::vector<T> values_given, std::vector<int64_t> shape_given,
         std::vector<int64_t> strides_given = {})
      : values(std::move(values_given)),
        shape(std::move(shape_given)),
        strides(std::move(strides_given)) {
    tensor.data = values.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.dtype = type_of<T>();
    tensor.shape = shape.data();
    tensor.strides = strides.empty() ? nullptr : strides.data();
  }
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;

  operator const DLTensor*() const { return &tensor; }
};

}  // namespace sheaf::capi_tests
