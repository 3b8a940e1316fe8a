// SPDX-License-Identifier: MIT
//
// What the moves that look at values ask of their tensors. Each throws kInvalidArgument.
#pragma once

#include <cstdint>

#include "sheaf/tensor.h"

namespace sheaf::moves {

void check_numbers(const char* who, const TensorSpec& spec);
void check_written(const char* who, const TensorSpec& to);  // its elements do not overlap
void check_same_sizes(const char* who, const TensorSpec& from, const TensorSpec& to);

// Refuses a tensor that is not one of integers, `whole` with size 1 at the axis.
void check_reduced(const char* who, const char* name, const TensorSpec& spec,
                   const TensorSpec& whole, int64_t axis);

// Memory that is read while other memory is written must be apart from it.
void check_apart(const char* who, const void* from, const TensorSpec& from_spec, const void* to,
                 const TensorSpec& to_spec);

}  // namespace sheaf::moves
