// SPDX-License-Identifier: MIT
//
// What a backend is: a name, a check of all indices, and an ordered table of kernels. The first
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

struct Kernel {
  std::string_view name;
  // Why this kernel cannot run the nest; null if it can.
  const char* (*refusal)(const Nest& nest);
  // Runs a nest whose indices are in range, or whose rule needs no check.
  void (*run)(const Nest& nest, const Buffers& buffers, int threads);
};

struct Backend {
  std::string_view name;
  std::span<const Kernel> gather;
  // True if every index is in range.
  bool (*all_in_range)(const Nest& nest, const std::byte* indices, int threads);
};

const Backend& reference_backend();
const Backend* cpu_backend();  // null where the build leaves it out

}  // namespace sheaf
