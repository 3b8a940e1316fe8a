// SPDX-License-Identifier: MIT
//
// What moves ask of their tensors before they touch them. Each check throws kInvalidArgument.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "moves/moves.h"
#include "sheaf/tensor.h"

namespace sheaf::moves {

// A tensor of a call, by the name that refusals give it.
struct Named {
  const char* name;
  TensorSpec spec;
};

// Refuses unknown types, strides that do not belong to the sizes, and sizes or strides that lead
// out of int64. Every offset inside a tensor that passes can be computed without overflow.
void check_tensor(const char* who, const char* name, const TensorSpec& spec);
void check_tensors(const char* who, std::initializer_list<Named> tensors);

void check_numbers(const char* who, const TensorSpec& spec);
void check_written(const char* who, const TensorSpec& to);  // its elements do not overlap
void check_same_sizes(const char* who, const TensorSpec& from, const TensorSpec& to);
void check_types(const char* who, const TensorSpec& from, const TensorSpec& to);  // equal
void check_axis(const char* who, const TensorSpec& whole, int64_t axis);

// Refuses a tensor that is not one of integers, `whole` with size 1 at the axis.
void check_reduced(const char* who, const char* name, const TensorSpec& spec,
                   const TensorSpec& whole, int64_t axis);

// Refuses integers that do not hold `largest`. `what` is what is too narrow.
void check_holds(const char* who, const char* what, DType type, int64_t largest,
                 const std::string& given, const char* next);

// "from f32[3]   to f32[4]"
std::string described(std::initializer_list<Named> tensors);

enum class InPlace : uint8_t {
  kRefused,
  kAllowed,  // an input and an output may be the same tensor
};

// The same work, which looks at all of its memory before any of it is written: null is fine for
// tensors without elements only, and no output may share bytes with another tensor.
Work checked(const char* who, std::vector<Named> inputs, std::vector<Named> outputs, Work work,
             InPlace in_place = InPlace::kRefused);

}  // namespace sheaf::moves
