// SPDX-License-Identifier: MIT
//
// The gradient of weights: the products of an entry's row and of its bag's gradient, summed in
// order. A warp has 32 entries: it reads a part of each row and gradient by all its lanes, and each
// lane adds up what there is of one entry.
#include "backends/cuda/bag_gradient/args.cuh"

namespace sheaf::cuda {
namespace {

constexpr int kWarpsOfBlock = 4;

template <class T>
struct ProductTile {
  T products[kWarp][kWarp + 1];  // by entry; the one more keeps lanes from meeting in a bank
};

// The products of 32 columns from `column` on, of all entries of the warp. Columns that an entry
// did not win under max and min are not added: `added` has a bit for each.
template <class T>
__device__ unsigned multiply(const GradientArgs& args, ProductTile<T>& tile, int64_t first,
                             int64_t my_bag, int64_t my_row, int64_t column) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int64_t elements = args.bag.nest.elements;
  unsigned added = 0;
  for (int i = 0; i < kWarp; ++i) {
    const int64_t bag = __shfl_sync(~0U, my_bag, i);
    const int64_t row = __shfl_sync(~0U, my_row, i);
    bool wins = bag >= 0 && row != kLeftOut && column + lane < elements;
    if (wins && args.work.picked != nullptr) {
      wins = args.work.picked[bag * elements + column + lane] == first + i;
    }
    if (wins) {
      tile.products[i][lane] = reduced<Reduction::kMul>(
          gradient_at<T>(args, bag, column + lane), element_of<T>(args.bag, row, column + lane));
    }
    const unsigned winners = __ballot_sync(~0U, wins);
    added = i == lane ? winners : added;
  }
  return added;
}

template <class T>
__global__ void __launch_bounds__(kWarpsOfBlock* kWarp)
    weight_gradient_kernel(const __grid_constant__ GradientArgs args) {
  __shared__ ProductTile<T> tiles[kWarpsOfBlock];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  ProductTile<T>& tile = tiles[threadIdx.x / kWarp];
  const int64_t first =
      (int64_t{blockIdx.x} * kWarpsOfBlock + static_cast<int>(threadIdx.x) / kWarp) * kWarp;
  const BagNest& nest = args.bag.nest;
  if (bag_refused(args.bag) || first >= nest.entries) {
    return;
  }
  const int64_t p = first + lane;
  const bool here = p < nest.entries;
  const int64_t bag = here ? args.work.bag_of[p] : -1;
  const int64_t row = here ? row_of(args.bag, p) : kLeftOut;
  T sum{};
  for (int64_t column = 0; column < nest.elements; column += kWarp) {
    unsigned added = multiply(args, tile, first, bag, row, column);
    __syncwarp();
    for (; added != 0; added &= added - 1) {
      sum = reduced<Reduction::kAdd>(sum, tile.products[lane][__ffs(static_cast<int>(added)) - 1]);
    }
    __syncwarp();
  }
  if (!here) {
    return;
  }
  T result{};
  if (bag >= 0 && row != kLeftOut) {
    result = pooled_value(nest.pool, sum, args.work.counts != nullptr ? args.work.counts[bag] : 1);
  }
  store_float(args.output_type, result, args.output + args.places.at(p) * args.output_type.bytes());
}

}  // namespace

void weight_gradient(const GradientNest& nest, const GradientBuffers& buffers,
                     const Launch& launch) {
  const GradientArgs args = gradient_args(nest, buffers, launch);
  with_computed(nest.bag.computed, [&](auto zero) {
    weight_gradient_kernel<decltype(zero)>
        <<<blocks_of(nest.bag.entries, kWarpsOfBlock * kWarp), kWarpsOfBlock * kWarp, 0,
           static_cast<Stream>(launch.stream)>>>(args);
  });
}

}  // namespace sheaf::cuda
