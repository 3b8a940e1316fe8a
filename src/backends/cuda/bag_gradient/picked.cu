// SPDX-License-Identifier: MIT
//
// max and min: an element of a bag's gradient goes to the entry that the element came from. A
// thread has one element, of a bag and then of a row.
#include "backends/cuda/bag_gradient/args.cuh"

namespace sheaf::cuda {
namespace {

template <class T>
__device__ auto comparable(T value) {
  if constexpr (SmallFloat<T>::value) {
    return widened(value);
  } else {
    return value;
  }
}

// execution/picked_rows.cc's: of equals, and of NaNs, the first stays.
template <class T>
__device__ bool takes_place(Pool pool, T value, T best) {
  const auto v = comparable(value);
  const auto b = comparable(best);
  if (b != b || v != v) {
    return b == b;
  }
  return pool == Pool::kMax ? v > b : v < b;
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    pick_kernel(const __grid_constant__ GradientArgs args) {
  const bool bad = bag_refused(args.bag);
  const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const BagNest& nest = args.bag.nest;
  const int64_t bag = number / nest.elements;
  if (bad || bag >= nest.bags) {
    return;
  }
  const int64_t element = number - bag * nest.elements;
  const int64_t end = bag_begin(args.bag, bag + 1);
  int64_t picked = -1;
  T best{};
  for (int64_t p = bag_begin(args.bag, bag); p < end; ++p) {
    const int64_t row = row_of(args.bag, p);
    if (row == kLeftOut) {
      continue;
    }
    T value = element_of<T>(args.bag, row, element);
    if (nest.weighted) {
      value = reduced<Reduction::kMul>(value, weight_at<T>(args.bag, p));
    }
    if (picked < 0 || takes_place(nest.pool, value, best)) {
      best = value;
      picked = p;
    }
  }
  args.work.picked[number] = picked;
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    sum_picked_kernel(const __grid_constant__ GradientArgs args) {
  const bool bad = bag_refused(args.bag);
  const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const BagNest& nest = args.bag.nest;
  const int64_t row = number / nest.elements;
  if (bad || row >= args.rows) {
    return;
  }
  const int64_t element = number - row * nest.elements;
  const int64_t end = args.work.lists.begins[row + 1];
  T sum{};
  for (int64_t k = args.work.lists.begins[row]; k < end; ++k) {
    const int64_t p = args.work.lists.bags[k];
    const int64_t bag = args.work.bag_of[p];
    if (args.work.picked[bag * nest.elements + element] == p) {
      const T value = gradient_at<T>(args, bag, element);
      sum = reduced<Reduction::kAdd>(
          sum, nest.weighted ? reduced<Reduction::kMul>(value, weight_at<T>(args.bag, p)) : value);
    }
  }
  store_float(
      args.output_type, sum,
      args.output + row * args.output_rows.row_stride + element * args.output_rows.element_stride);
}

}  // namespace

void pick_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch) {
  const int64_t elements = nest.bag.bags * nest.bag.elements;
  if (elements == 0) {
    return;
  }
  const GradientArgs args = gradient_args(nest, buffers, launch);
  with_computed(nest.bag.computed, [&](auto zero) {
    pick_kernel<decltype(zero)><<<blocks_of(elements, kBlockThreads), kBlockThreads, 0,
                                  static_cast<Stream>(launch.stream)>>>(args);
  });
}

void sum_picked(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch) {
  const GradientArgs args = gradient_args(nest, buffers, launch);
  with_computed(nest.bag.computed, [&](auto zero) {
    sum_picked_kernel<decltype(zero)>
        <<<blocks_of(nest.rows * nest.bag.elements, kBlockThreads), kBlockThreads, 0,
           static_cast<Stream>(launch.stream)>>>(args);
  });
}

}  // namespace sheaf::cuda
