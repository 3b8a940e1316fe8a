// SPDX-License-Identifier: MIT
//
// Gradients of bags: the entries ordered by row (read.cu, order.cu), the rows of max and min
// (picked.cu), the weights (weights.cu). Sums of rows are left to the kernels of bags.
#pragma once

#include "backends/cuda/device.h"
#include "execution/backend.h"
#include "execution/bag_gradient_steps.h"

namespace sheaf::cuda {

// What a gradient keeps in its workspace.
struct GradientWork {
  std::byte* segments = nullptr;  // bag.h's BagSegments
  int64_t* bag_of = nullptr;      // [entries]; -1: in none
  int64_t* counts = nullptr;      // [bags]: entries that are not left out; null: no one asks
  int64_t* picked = nullptr;      // [bags, elements], under max and min; -1: a bag without rows
  // Numbers of 4 bytes, or 8 if the gradient is wide: twice, as a sort wants them. The first keys
  // are those of the entries as they stand; the row that an entry names, or `extent`.
  std::byte* keys[2] = {};
  std::byte* entries[2] = {};
  std::byte* sorting = nullptr;  // the library's
  size_t sorting_bytes = 0;
  GradientLists lists;
  size_t bytes = 0;
};

// Whether numbers of rows and entries need 8 bytes.
bool is_wide(const GradientNest& nest);

// With null memory: only `bytes` means anything.
GradientWork gradient_work(const GradientNest& nest, std::byte* workspace);

// order.cu: what the sort wants.
size_t sorting_bytes(const GradientNest& nest);

const char* gradient_refusal(const GradientNest& nest);
size_t gradient_bytes(const GradientNest& nest);
GradientLists gradient_lists(const GradientNest& nest, std::byte* workspace);
void read_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
void order_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
void pick_entries(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
void sum_picked(const GradientNest& nest, const GradientBuffers& buffers, const Launch& launch);
void add_sums(const GradientNest& nest, const GradientBuffers& buffers, const std::byte* sums,
              const Launch& launch);
void weight_gradient(const GradientNest& nest, const GradientBuffers& buffers,
                     const Launch& launch);

}  // namespace sheaf::cuda
