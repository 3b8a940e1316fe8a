// SPDX-License-Identifier: MIT
//
// Rows of floats piece by piece, as the type that a bag computes in: pieces fit the stack, whatever
// rows have.
#pragma once

#include <algorithm>
#include <cstring>

#include "plan/bag.h"

namespace sheaf {

inline constexpr int64_t kPieceColumns = 256;

// Calls f with a value of the C++ type of a float type that gradients have.
template <class F>
auto with_gradient_type(DType type, F f) {
  return type == f64    ? f(double{})
         : type == f16  ? f(float16{})
         : type == bf16 ? f(bfloat16{})
                        : f(float{});
}

template <class T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// A float of any type as another, rounded once.
template <class To, class From>
To as_float(From value) {
  if constexpr (std::is_same_v<From, double> && SmallFloat<To>::value) {
    return {
        static_cast<decltype(To::bits)>(to_float_bits(SmallFloat<To>::kFormat, one_nan(value)))};
  } else {
    return converted<To>(value);
  }
}

template <class Computed>
class RowPieces {
 public:
  RowPieces(const EncodedRows& rows, int64_t rows_per_entry, const EncodedMemory& memory)
      : rows_(rows), rows_per_entry_(rows_per_entry), memory_(memory) {}

  // Elements [begin, begin + count) of an entry.
  void read(int64_t entry, int64_t begin, int64_t count, Computed* to) const {
    if (rows_.encoding == Encoding::kPlain) {
      const std::byte* const from =
          memory_.stored + entry * rows_.row_stride + begin * rows_.element_stride;
      read_plain(from, count, to);
      return;
    }
    const int64_t row = entry * rows_per_entry_;
    with_encoding(rows_.encoding, [&]<Encoding kEncoding>() {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t e = begin + i;
        to[i] = converted<Computed>(
            decoded<kEncoding>(rows_, memory_, row + e / rows_.elements, e % rows_.elements));
      }
    });
  }

 private:
  void read_plain(const std::byte* from, int64_t count, Computed* to) const {
    const auto read_as = [&](auto zero) {
      for (int64_t i = 0; i < count; ++i) {
        to[i] = converted<Computed>(loaded<decltype(zero)>(from + i * rows_.element_stride));
      }
    };
    if (rows_.type == f32) {
      read_as(float{});
    } else if (rows_.type == f64) {
      read_as(double{});
    } else {
      with_small_float(rows_.type, read_as);
    }
  }

  const EncodedRows& rows_;
  int64_t rows_per_entry_;
  EncodedMemory memory_;
};

// The weight of entry p, as the bag computes with it; 1 where there are none.
template <class Computed>
Computed weight_of_entry(const BagNest& nest, const std::byte* weights, int64_t p) {
  if (!nest.weighted) {
    return converted<Computed>(1.0F);
  }
  const std::byte* const at = weights + nest.weights.at(p) * nest.weight_type.bytes();
  return nest.weight_type == f64 ? converted<Computed>(loaded<double>(at))
                                 : converted<Computed>(stored_float(nest.weight_type, at, 0));
}

template <class Computed>
void store_float(DType type, Computed value, std::byte* to) {
  with_gradient_type(type, [&](auto zero) {
    const auto rounded = as_float<decltype(zero)>(value);
    std::memcpy(to, &rounded, sizeof rounded);
  });
}

}  // namespace sheaf
