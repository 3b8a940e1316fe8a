// SPDX-License-Identifier: MIT
//
// Entries by the row that they name: a stable sort over the bits that rows need, then the bag and
// the factor of each entry, and where the entries of each row begin. Entries without a row come
// last, and are in no list.
#include <thrust/iterator/counting_iterator.h>

#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_select.cuh>

#include "backends/cuda/bag_gradient/args.cuh"
#include "backends/cuda/scatter/sort.cuh"

namespace sheaf::cuda {
namespace {

// With null memory: sets `bytes` to what it needs. The count has the type of the numbers: a count
// of 64 bits would select a slower sort.
template <class Number>
cudaError_t sort_by_row(void* memory, size_t& bytes, const GradientNest& nest,
                        cub::DoubleBuffer<Number>& keys, cub::DoubleBuffer<Number>& entries,
                        Stream stream) {
  return cub::DeviceRadixSort::SortPairs(
      memory, bytes, keys, entries, static_cast<Number>(nest.bag.entries), 0,
      std::bit_width(static_cast<uint64_t>(nest.bag.extent)), stream);
}

// Whether the entries of a row begin at k.
template <class Number>
struct BeginsRow {
  const Number* keys;
  Number extent;
  __device__ bool operator()(int64_t k) const {
    return keys[k] < extent && (k == 0 || keys[k - 1] != keys[k]);
  }
};

template <class Number>
cudaError_t select_begins(void* memory, size_t& bytes, const GradientNest& nest, const Number* keys,
                          int64_t* begins, int64_t* named, Stream stream) {
  return cub::DeviceSelect::If(
      memory, bytes, thrust::counting_iterator<int64_t>(0), begins, named, nest.bag.entries,
      BeginsRow<Number>{keys, static_cast<Number>(nest.bag.extent)}, stream);
}

template <class Number>
size_t sorting_bytes_of(const GradientNest& nest) {
  cub::DoubleBuffer<Number> keys(nullptr, nullptr), entries(nullptr, nullptr);
  size_t sort = 0, select = 0;
  check_result(sort_by_row(nullptr, sort, nest, keys, entries, nullptr), "sizing a sort");
  check_result(select_begins<Number>(nullptr, select, nest, nullptr, nullptr, nullptr, nullptr),
               "sizing a selection");
  return std::max(sort, select);
}

template <class Number>
struct SortedEntries {
  const Number* keys;
  const Number* entries;
};

// The bag and the factor of each entry. Bags are none outside the bag, whatever offsets were.
template <class T, class Number>
__global__ void __launch_bounds__(kBlockThreads)
    take_entries_kernel(const __grid_constant__ GradientArgs args, SortedEntries<Number> sorted) {
  const int64_t k = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const BagNest& nest = args.bag.nest;
  if (k >= nest.entries) {
    return;
  }
  const auto p = static_cast<int64_t>(sorted.entries[k]);
  const int64_t bag = max(args.work.bag_of[p], int64_t{0});
  args.work.lists.bags[k] = args.work.picked != nullptr ? p : bag;
  if (args.work.lists.factors != nullptr) {
    const int64_t count = args.work.counts != nullptr ? args.work.counts[bag] : 1;
    reinterpret_cast<T*>(args.work.lists.factors)[k] =
        pooled_value(nest.pool, weight_of<T>(args.bag, p), count);
  }
}

// What no offset can be: the kernels of bags refuse it, and write nothing.
__device__ int64_t refused_begin(const GradientArgs& args) { return args.bag.nest.entries + 1; }

template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    all_begins_kernel(const __grid_constant__ GradientArgs args, SortedEntries<Number> sorted) {
  const bool bad = bag_refused(args.bag);
  const int64_t row = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (row <= args.rows) {
    args.work.lists.begins[row] =
        bad ? refused_begin(args)
            : lower_bound(sorted.keys, 0, args.bag.nest.entries, static_cast<uint64_t>(row));
  }
}

// The rows that were found, and begins behind the last of them.
template <class Number>
__global__ void __launch_bounds__(kBlockThreads)
    named_rows_kernel(const __grid_constant__ GradientArgs args, SortedEntries<Number> sorted,
                      int64_t* rows) {
  const bool bad = bag_refused(args.bag);
  const int64_t i = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i > args.rows) {
    return;
  }
  const BagNest& nest = args.bag.nest;
  const bool is_named = i < *args.named;
  int64_t& begin = args.work.lists.begins[i];
  const int64_t row = is_named ? static_cast<int64_t>(sorted.keys[begin]) : -1;
  if (!is_named) {
    begin = lower_bound(sorted.keys, 0, nest.entries, static_cast<uint64_t>(nest.extent));
  }
  if (bad) {
    begin = refused_begin(args);
  }
  if (i < args.rows) {
    args.work.lists.rows[i] = bad ? -1 : row;
    if (rows != nullptr && !bad) {
      rows[i] = row;
    }
  }
}

template <class Number>
void order_by(const GradientNest& nest, const GradientBuffers& buffers, const GradientArgs& args,
              Stream stream) {
  const GradientWork& work = args.work;
  const auto numbers = [](std::byte* at) { return reinterpret_cast<Number*>(at); };
  cub::DoubleBuffer<Number> keys(numbers(work.keys[0]), numbers(work.keys[1]));
  cub::DoubleBuffer<Number> entries(numbers(work.entries[0]), numbers(work.entries[1]));
  size_t bytes = work.sorting_bytes;
  if (nest.bag.entries > 0) {
    check_result(sort_by_row(work.sorting, bytes, nest, keys, entries, stream), "starting a sort");
  }
  const SortedEntries<Number> sorted{keys.Current(), entries.Current()};
  if (work.lists.bags != nullptr && nest.bag.entries > 0) {
    with_computed(nest.bag.computed, [&](auto zero) {
      take_entries_kernel<decltype(zero), Number>
          <<<blocks_of(nest.bag.entries, kBlockThreads), kBlockThreads, 0, stream>>>(args, sorted);
    });
  }
  const unsigned blocks = blocks_of(nest.rows + 1, kBlockThreads);
  if (!nest.compressed()) {
    all_begins_kernel<Number><<<blocks, kBlockThreads, 0, stream>>>(args, sorted);
    return;
  }
  zero(args.named, sizeof(int64_t), stream);
  if (nest.bag.entries > 0) {
    bytes = work.sorting_bytes;
    check_result(select_begins(work.sorting, bytes, nest, sorted.keys, work.lists.begins,
                               args.named, stream),
                 "starting a selection");
  }
  named_rows_kernel<Number><<<blocks, kBlockThreads, 0, stream>>>(args, sorted, buffers.rows);
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    add_sums_kernel(const __grid_constant__ GradientArgs args, const T* sums) {
  const int64_t number = int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  const int64_t elements = args.bag.nest.elements;
  const int64_t i = number / elements;
  if (i >= args.rows || args.work.lists.rows[i] < 0) {
    return;
  }
  auto* const to =
      reinterpret_cast<T*>(args.output + args.work.lists.rows[i] * args.output_rows.row_stride +
                           (number - i * elements) * args.output_rows.element_stride);
  *to = reduced<Reduction::kAdd>(*to, sums[number]);
}

}  // namespace

size_t sorting_bytes(const GradientNest& nest) {
  return is_wide(nest) ? sorting_bytes_of<uint64_t>(nest) : sorting_bytes_of<uint32_t>(nest);
}

void order_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch) {
  const GradientArgs args = gradient_args(nest, buffers, launch);
  const auto stream = static_cast<Stream>(launch.stream);
  if (is_wide(nest)) {
    order_by<uint64_t>(nest, buffers, args, stream);
  } else {
    order_by<uint32_t>(nest, buffers, args, stream);
  }
}

void add_sums(const GradientNest& nest, const GradientBuffers& buffers, const std::byte* sums,
              const Launch& launch) {
  const GradientArgs args = gradient_args(nest, buffers, launch);
  with_computed(nest.output_type, [&](auto zero) {
    using T = decltype(zero);
    add_sums_kernel<T>
        <<<blocks_of(nest.rows * nest.bag.elements, kBlockThreads), kBlockThreads, 0,
           static_cast<Stream>(launch.stream)>>>(args, reinterpret_cast<const T*>(sums));
  });
}

}  // namespace sheaf::cuda
