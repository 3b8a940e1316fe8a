// SPDX-License-Identifier: MIT
//
// BNNS descriptors, read: layouts into logical sizes and strides, types into ours. docs/bnns.md has
// the table of layouts.
#pragma once

#include <string>

#include "sheaf/bnns.h"
#include "sheaf/error.h"
#include "sheaf/tensor.h"

namespace sheaf::bnns {

// One call, as it came: what a refusal shows.
struct Call {
  const char* name;
  const BNNSNDArrayDescriptor* input;
  const BNNSNDArrayDescriptor* indices;
  const BNNSNDArrayDescriptor* output;
  bool has_indices = true;
};

// A refusal whose third line shows the descriptors.
Refusal refusal_of(const Call& call, const Cause& cause, const std::string& what,
                   const std::string& detail, const std::string& next);

// Throws it.
[[noreturn]] void refuse(const Call& call, const Cause& cause, const std::string& what,
                         const std::string& detail, const std::string& next);

struct Tensors {
  Tensor input, indices, output;
};

// One of them. Refuses as below.
Tensor read_tensor(const Call& call, const char* name, const BNNSNDArrayDescriptor* descriptor);

// The three tensors in logical order. Refuses null descriptors, layouts and types that have no
// plain elements, sizes and strides that do not fit, and strides that decrease.
Tensors read_tensors(const Call& call);

}  // namespace sheaf::bnns
