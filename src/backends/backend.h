// SPDX-License-Identifier: MIT
//
// What a backend is: a name, a check of all indices, and ordered tables of kernels. The first
// kernel that accepts a plan runs it; each refusal says why.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "sheaf/plan.h"

namespace sheaf {

struct Buffers {
  const std::byte* data;
  const std::byte* indices;
  std::byte* output;
};

struct ScatterBuffers {
  std::byte* data;  // the plan's output, which holds the base already
  const std::byte* indices;
  const std::byte* updates;
};

template <class Memory>
struct KernelOn {
  std::string_view name;
  // Why this kernel cannot run the nest; null if it can.
  const char* (*refusal)(const Nest& nest);
  // Runs a nest whose indices are in range, or whose rule needs no check.
  void (*run)(const Nest& nest, const Memory& memory, int threads);
};
using Kernel = KernelOn<Buffers>;
using ScatterKernel = KernelOn<ScatterBuffers>;

struct Backend {
  std::string_view name;
  std::span<const Kernel> gather;
  std::span<const ScatterKernel> scatter;
  // True if every index is in range.
  bool (*all_in_range)(const Nest& nest, const std::byte* indices, int threads);
  // Copies a whole tensor (a nest without coordinates), or writes zeros if data is null.
  void (*copy)(const Nest& nest, const std::byte* data, std::byte* output, int threads);
};

const Backend& reference_backend();
const Backend* cpu_backend();  // null where the build leaves it out

}  // namespace sheaf
