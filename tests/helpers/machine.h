// SPDX-License-Identifier: MIT
//
// Where a test runs a plan: on this processor, or on a GPU (device.h). The tensors are in host
// memory either way, so that one test serves both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sheaf/sheaf.h"

// A tensor in memory. Bytes of `around` that belong to no element have to stay as they are.
struct Memory {
  std::byte* first = nullptr;  // the element [0, 0, ...]; null: nothing is passed
  std::span<std::byte> around = {};
};

// A packed tensor that is only read.
inline Memory readable(const void* first, size_t bytes) {
  auto* memory = static_cast<std::byte*>(const_cast<void*>(first));
  return {memory, {memory, bytes}};
}

// A scatter in place has the output as data.
struct Memories {
  Memory data, indices, output;
  Memory updates = {};
};

class Machine {
 public:
  virtual ~Machine() = default;

  // The names of all kernels that accept the plan.
  virtual std::vector<std::string> kernels(const sheaf::Plan& plan) const = 0;

  // The numbers of threads worth a try.
  virtual std::vector<int> threads() const = 0;

  // Of the fillings of an exhaustive test one in so many is run; SHEAF_TEST_ONE_IN sets it.
  virtual uint64_t one_in() const { return 1; }

  // Plan::run, or what stands for it: the same result in memory, the same errors.
  virtual void run(const sheaf::Plan& plan, const Memories& memories,
                   const sheaf::RunOptions& options) const = 0;
};

// Every kernel of every backend that Plan::run knows.
const Machine& host();
