// SPDX-License-Identifier: MIT
//
// A gradient as kernels take it.
#pragma once

#include "backends/cuda/bag/launch.cuh"
#include "backends/cuda/bag_gradient/bag_gradient.h"
#include "backends/cuda/tuning.h"

namespace sheaf::cuda {

struct GradientArgs {
  BagArgs bag;
  GradientWork work;
  EncodedRows gradient_rows, output_rows;
  EntryWalk places;
  DType output_type;
  const std::byte* gradient;
  int64_t* named;
  std::byte* output;
  int64_t rows;
};

inline GradientArgs gradient_args(const GradientNest& nest, const GradientBuffers& buffers,
                                  const Launch& launch) {
  GradientArgs args{};
  args.bag = bag_args({nest.bag, buffers.bag, launch});
  args.work = gradient_work(nest, launch.workspace);
  args.gradient_rows = nest.gradient;
  args.output_rows = nest.output;
  args.places = EntryWalk(nest.places, nest.bag.entries);
  args.output_type = nest.output_type;
  args.gradient = buffers.gradient;
  args.named = buffers.named;
  args.output = buffers.output;
  args.rows = nest.rows;
  return args;
}

// Calls f with a value of the type that the gradient computes in.
template <class F>
void with_computed(DType type, F f) {
  switch (type.kind()) {
    case Kind::kFloat64: return f(double{});
    case Kind::kFloat16: return f(float16{});
    case Kind::kBFloat16: return f(bfloat16{});
    default: return f(float{});
  }
}

// The row that entry p names, kFilled or kLeftOut: never one outside the table, whatever was
// promised.
__device__ inline int64_t row_of(const BagArgs& args, int64_t p) {
  const int64_t place = place_of(args, raw_entry(args, p));
  const bool inside = static_cast<uint64_t>(place) < static_cast<uint64_t>(args.nest.extent);
  return inside || place == kFilled ? place : kLeftOut;
}

// An element of a float type as a T.
template <class T>
__device__ T float_at(DType type, const std::byte* at) {
  switch (type.kind()) {
    case Kind::kFloat64: return converted<T>(read_as<double>(at));
    case Kind::kFloat16: return converted<T>(read_as<float16>(at));
    case Kind::kBFloat16: return converted<T>(read_as<bfloat16>(at));
    default: return converted<T>(read_as<float>(at));
  }
}

// execution/row_pieces.h's store_float().
template <class T>
__device__ void store_float(DType type, T value, std::byte* to) {
  const auto put = [&](auto zero) {
    using Out = decltype(zero);
    if constexpr (std::is_same_v<T, double> && SmallFloat<Out>::value) {
      *reinterpret_cast<Out*>(to) = {static_cast<decltype(Out::bits)>(
          to_float_bits(SmallFloat<Out>::kFormat, one_nan(value)))};
    } else {
      *reinterpret_cast<Out*>(to) = converted<Out>(value);
    }
  };
  switch (type.kind()) {
    case Kind::kFloat64: return put(double{});
    case Kind::kFloat16: return put(float16{});
    case Kind::kBFloat16: return put(bfloat16{});
    default: return put(float{});
  }
}

// An element of the gradient of bag s.
template <class T>
__device__ T gradient_at(const GradientArgs& args, int64_t s, int64_t element) {
  const EncodedRows& rows = args.gradient_rows;
  return float_at<T>(rows.type,
                     args.gradient + s * rows.row_stride + element * rows.element_stride);
}

// An element of the row of an entry, before it is weighted.
template <class T>
__device__ T element_of(const BagArgs& args, int64_t row, int64_t element) {
  return row == kFilled ? *reinterpret_cast<const T*>(args.nest.fill)
                        : AnyReader<T>(args, element).load(row);
}

template <class T>
__device__ T weight_of(const BagArgs& args, int64_t p) {
  return args.nest.weighted ? weight_at<T>(args, p) : converted<T>(1.0F);
}

}  // namespace sheaf::cuda
