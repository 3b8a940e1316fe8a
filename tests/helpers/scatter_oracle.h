// SPDX-License-Identifier: MIT
//
// What a scatter does with its updates, a second time: one after the other, in row-major order,
// with arithmetic written apart from that in src/.
//
//   start from data, or from zeros; without include_self every element that gets an update starts
//   from the neutral element instead (-0 for add and mean, 0 for sub, 1 for mul, the largest value
//   for min, the smallest for max); mean divides by the number of summands at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sheaf/dtype.h"
#include "sheaf/reduction.h"

namespace oracle {

struct Joining {
  sheaf::Reduction reduction = sheaf::Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;

  std::string str() const;
};

// False for the pairs that a plan has to refuse.
bool joins(sheaf::DType type, sheaf::Reduction reduction);

// cell = cell (reduce) update, one element.
void join(sheaf::DType type, sheaf::Reduction reduction, std::byte* cell, const std::byte* update);

// What a reduction starts from, and how a mean ends.
void put_neutral(sheaf::DType type, sheaf::Reduction reduction, std::byte* cell);
void divide(sheaf::DType type, std::byte* cell, int64_t count);

// Packed tensors. The update with number i goes to element target[i] of data; negative: nowhere.
using Bytes = std::vector<std::byte>;
Bytes scattered(sheaf::DType type, const Joining& joining, Bytes data, const Bytes& updates,
                const std::vector<int64_t>& target);

extern const std::vector<sheaf::Reduction> kReductions;  // all of them

inline const std::vector<sheaf::DType> kNumberTypes = {
    sheaf::boolean, sheaf::i8,  sheaf::i16, sheaf::i32,    sheaf::i64,    sheaf::u8,
    sheaf::u16,     sheaf::u32, sheaf::u64, sheaf::f8e4m3, sheaf::f8e5m2, sheaf::f16,
    sheaf::bf16,    sheaf::f32, sheaf::f64, sheaf::c64,    sheaf::c128};

}  // namespace oracle
