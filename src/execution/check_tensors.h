// SPDX-License-Identifier: MIT
//
// The last checks before a run of many tensors: those that need the pointers. `Asked` is what is
// refused: a Request or a BagRequest.
#pragma once

#include <optional>
#include <span>

#include "plan/byte_ranges.h"
#include "plan/refuse.h"
#include "support/checked.h"
#include "support/text.h"

namespace sheaf {

struct NamedTensor {
  const char* name;
  const void* memory;
  const TensorSpec* spec;  // null: the call has no such tensor
};

inline const TensorSpec* spec_or_null(const std::optional<TensorSpec>& spec) {
  return spec ? &*spec : nullptr;
}

template <class Asked>
void check_address(const Asked& asked, const NamedTensor& tensor) {
  const ByteRange range = *byte_range(*tensor.spec);
  if (tensor.memory == nullptr && !range.empty()) {
    refuse(asked, {Reason::kNull, tensor.name}, "null pointer",
           cat(tensor.name, " has elements, but its pointer is null"), "pass the tensor's memory");
  }
  const auto address = reinterpret_cast<intptr_t>(tensor.memory);
  if (!checked_add(address, range.lo) || !checked_add(address, range.hi)) {
    refuse(asked, {Reason::kTooLarge, tensor.name}, "tensor too large",
           cat("the strides of ", tensor.name, " lead from its pointer out of the address space"),
           "check the strides; they are in elements, not in bytes");
  }
}

// Null pointers, ranges that leave the address space, an output that overlaps an input.
template <class Asked>
void check_tensors(const Asked& asked, std::span<const NamedTensor> inputs,
                   const NamedTensor& output) {
  check_address(asked, output);
  for (const NamedTensor& input : inputs) {
    if (input.spec == nullptr) {
      continue;
    }
    check_address(asked, input);
    if (may_overlap({input.memory, *input.spec}, {output.memory, *output.spec})) {
      refuse(asked, {Reason::kMemory, "output"}, "output overlaps an input",
             cat("output and ", input.name, " share memory"),
             "an output of its own, then copy it back");
    }
  }
}

}  // namespace sheaf
