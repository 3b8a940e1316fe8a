// SPDX-License-Identifier: MIT
//
// A bag as it was asked for, and as kernels see it.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "plan/encoded_rows.h"
#include "sheaf/bag.h"
#include "sheaf/error.h"

namespace sheaf {

struct BagRequest {
  std::string_view name = "bag";  // who asks: the first word of every error. A string literal.
  BagSpecs specs;
  std::optional<TensorSpec> output = {};  // nothing: contiguous
  BagOptions options = {};
};

struct PoolRow {
  Pool value;
  std::string_view name;
  Reduction reduction;  // how a row joins those before it
  bool divides;         // by a function of the number of rows, at the end
};
inline constexpr std::array<PoolRow, 6> kPools = {{
    {Pool::kSum, "sum", Reduction::kAdd, false},
    {Pool::kMean, "mean", Reduction::kAdd, true},
    {Pool::kMax, "max", Reduction::kMax, false},
    {Pool::kMin, "min", Reduction::kMin, false},
    {Pool::kMul, "mul", Reduction::kMul, false},
    {Pool::kSqrtN, "sqrtn", Reduction::kAdd, true},
}};
constexpr Reduction reduction_of(Pool pool) { return kPools[static_cast<size_t>(pool)].reduction; }
constexpr bool divides(Pool pool) { return kPools[static_cast<size_t>(pool)].divides; }

struct SegmentFormRow {
  SegmentForm value;
  std::string_view name;
};
inline constexpr std::array<SegmentFormRow, 3> kSegmentForms = {{
    {SegmentForm::kOffsets, "offsets"},
    {SegmentForm::kLengths, "lengths"},
    {SegmentForm::kIds, "ids"},
}};

// Elements of a tensor that has one for each entry: entry p is at p / columns * outer + p % columns
// * inner, in elements.
struct EntryPlaces {
  int64_t columns = 1, outer = 0, inner = 0;
  constexpr int64_t at(int64_t p) const { return p / columns * outer + p % columns * inner; }
  friend bool operator==(const EntryPlaces&, const EntryPlaces&) = default;
};

// Of a list or matrix with an element for each entry.
EntryPlaces entry_places(const TensorSpec& spec);

// A plain tensor as rows along its first dimension; nothing where the elements of a row are no run.
// Its sizes have been checked.
std::optional<EncodedRows> plain_rows(const TensorSpec& spec);

// Everything a kernel needs. The computed type is that of products and sums: f32, or the output's.
struct BagNest {
  EncodedRows rows;
  int64_t extent = 0;  // entries that an index can name
  int64_t rows_per_entry =
      1;                 // of `rows`; 1 for all but encoded tables of more than two dimensions
  int64_t elements = 0;  // of an entry, and of a bag
  int64_t entries = 0;   // indices in all
  int64_t bags = 0;
  int64_t per_bag = -1;  // entries of every bag; -1: segments say
  bool indexed = true;   // false: entry p is row p
  DType index_type = i64;
  EntryPlaces indices, weights;
  Negative negative = Negative::kFromEnd;
  OutOfRange out_of_range = OutOfRange::kFail;
  int64_t padding = -1;  // the entry that is left out
  SegmentForm form = SegmentForm::kOffsets;
  DType segment_type = i64;
  int64_t segments = 0;        // elements of the segments tensor
  int64_t segment_stride = 1;  // in elements
  Pool pool = Pool::kSum;
  bool weighted = false;
  DType weight_type = f32;
  DType computed = f32;
  DType output_type = f32;
  std::byte fill[16] = {};                     // under kFill: an element of the computed type
  std::byte empty[16] = {};                    // an element of the output type
  int64_t bag_stride = 0, element_stride = 0;  // of the output, in bytes

  bool has_output() const { return bags > 0 && elements > 0; }
};

// Validates and decides. Throws Error if the request is not sound.
BagPlan make_bag_plan(const BagRequest& request);

// "data row_u8_f32[1000, 64]   indices i64[300]   offsets i64[20]   weights f32[300]   pool sum"
std::string describe(const BagRequest& request);

[[noreturn]] void refuse(const BagRequest& request, const Cause& cause, std::string what,
                         std::string detail, std::string next);
[[noreturn]] void refuse_as(ErrorCode code, const BagRequest& request, const Cause& cause,
                            std::string what, std::string detail, std::string next);

// What becomes of the rows of a bag that were joined: their sum, mean, …
template <class T>
T pooled(Pool pool, T joined, int64_t count) {
  if (pool == Pool::kMean) {
    return mean_of(joined, count);
  }
  if (pool == Pool::kSqrtN) {  // in double, as a mean is
    const double root = std::sqrt(static_cast<double>(count));
    if constexpr (SmallFloat<T>::value) {
      const double value = from_float_bits(SmallFloat<T>::kFormat, joined.bits);
      return {static_cast<decltype(T::bits)>(
          to_float_bits(SmallFloat<T>::kFormat, one_nan(value / root)))};
    } else if constexpr (std::is_floating_point_v<T>) {
      return one_nan(static_cast<T>(joined / root));
    }
  }
  return joined;
}

// An element of one float type as another: exactly, or rounded once to nearest, ties to even.
template <class To, class From>
constexpr To converted(From value) {
  if constexpr (std::is_same_v<To, From>) {
    return value;
  } else if constexpr (SmallFloat<From>::value) {
    return converted<To>(widened(value));
  } else if constexpr (SmallFloat<To>::value) {
    return narrowed<To>(static_cast<float>(value));
  } else {
    return static_cast<To>(value);
  }
}

}  // namespace sheaf
