// SPDX-License-Identifier: MIT
//
// Many updates of one element, reduced in order: the bits of plan/reduce.h's reduced(), applied one
// after the other. What does not depend on the order of operations is left to the end, so that the
// chain from one update to the next is one instruction for float and double.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "plan/reduce.h"

namespace sheaf::cuda {

template <Reduction kReduction, class T>
struct Accumulator {
  static constexpr bool kFast = !SmallFloat<T>::value;
  T value;

  __device__ explicit Accumulator(T cell) : value(cell) {}
  __device__ void add(T update) { value = reduced<kReduction>(value, update); }
  __device__ T result() const { return value; }
};

// A NaN stays a NaN whatever is reduced into it, so it becomes the library's NaN once, at the end.
template <Reduction kReduction, class Float>
struct FloatAccumulator {
  static constexpr bool kFast = true;
  static constexpr bool kSelects = kReduction == Reduction::kMin || kReduction == Reduction::kMax;
  Float value;
  bool met_nan = false;  // kMin and kMax pass over the NaN of an update

  __device__ explicit FloatAccumulator(Float cell) : value(cell) {}
  __device__ void add(Float update) {
    if constexpr (kReduction == Reduction::kAdd) {
      value = value + update;
    } else if constexpr (kReduction == Reduction::kSub) {
      value = value - update;
    } else if constexpr (kReduction == Reduction::kMul) {
      value = value * update;
    } else {
      const bool better = kReduction == Reduction::kMin ? update < value : update > value;
      value = better ? update : value;
      met_nan = met_nan || update != update;
    }
  }
  __device__ Float result() const {
    return kSelects && met_nan ? std::numeric_limits<Float>::quiet_NaN() : one_nan(value);
  }
};
template <Reduction kReduction, class Float>
requires std::is_floating_point_v<Float>
struct Accumulator<kReduction, Float> : FloatAccumulator<kReduction, Float> {
  using FloatAccumulator<kReduction, Float>::FloatAccumulator;
};

// Sums and differences of the 16-bit formats: a float sum, rounded once more, is correctly rounded:
// float has more than twice their digits.
template <Reduction kReduction, class Small>
struct SmallSum {
  static constexpr bool kFast = true;
  float value;

  __device__ explicit SmallSum(Small cell) : value(wide(cell)) {}
  __device__ void add(Small update) {
    value =
        wide(narrow(kReduction == Reduction::kAdd ? value + wide(update) : value - wide(update)));
  }
  __device__ Small result() const {
    if (value != value) {
      constexpr FloatFormat kFormat = SmallFloat<Small>::kFormat;
      return {
          static_cast<uint16_t>(to_float_bits(kFormat, std::numeric_limits<double>::quiet_NaN()))};
    }
    return narrow(value);
  }

 private:
  static __device__ float wide(float16 x) { return __half2float(__ushort_as_half(x.bits)); }
  static __device__ float wide(bfloat16 x) {
    return __bfloat162float(__ushort_as_bfloat16(x.bits));
  }
  static __device__ Small narrow(float x) {
    if constexpr (std::is_same_v<Small, float16>) {
      return {__half_as_ushort(__float2half_rn(x))};
    } else {
      return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
    }
  }
};
template <Reduction kReduction, class Small>
requires((kReduction == Reduction::kAdd || kReduction == Reduction::kSub) &&
         (std::is_same_v<Small, float16> ||
          std::is_same_v<Small, bfloat16>)) struct Accumulator<kReduction, Small>
    : SmallSum<kReduction, Small> {
  using SmallSum<kReduction, Small>::SmallSum;
};

}  // namespace sheaf::cuda
