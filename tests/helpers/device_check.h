// SPDX-License-Identifier: MIT
//
// One plan on every kernel of a device, held against the reference backend: the same bits, or the
// same refusal word for word with the output untouched.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "helpers/machine.h"
#include "helpers/oracle.h"
#include "sheaf/sheaf.h"

// The memory of one tensor of any strides, filled with a pattern, its first byte `shift` bytes
// after a multiple of 16.
class Slab {
 public:
  Slab(const sheaf::TensorSpec& spec, size_t shift);

  Memory memory();
  std::byte* element(int64_t number);  // counted row-major

  // Any bits; or, where a reduction computes with them, numbers of the type.
  void write_random(uint64_t seed, bool numbers);
  void write_indices(const std::function<oracle::Wide(int64_t)>& value);

  friend bool operator==(const Slab& a, const Slab& b);

 private:
  std::span<std::byte> used();

  sheaf::TensorSpec spec_;
  size_t shift_, first_;
  bool packed_;
  std::vector<std::byte> bytes_;
};

struct DeviceCheck {
  sheaf::Plan plan;
  // The value of the index element with this row-major number.
  std::function<oracle::Wide(int64_t)> index;
  size_t shift = 0;  // of every pointer

  void run() const;
};
void run_all(const std::vector<DeviceCheck>& checks);

// Names of the kernels that take none of the plans, though they are asked.
std::set<std::string> untried_kernels(const std::vector<std::vector<DeviceCheck>>& checks);

// Values spread over the `extent` entries of an axis, from the end as well where the type is
// signed.
std::function<oracle::Wide(int64_t)> spread(int64_t extent, sheaf::DType index_type);
