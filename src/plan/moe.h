// SPDX-License-Identifier: MIT
//
// A permutation of a mixture of experts: what was asked for, what is refused, and what a device
// sees of it.
#pragma once

#include <string>
#include <string_view>

#include "sheaf/error.h"
#include "sheaf/moe.h"

namespace sheaf {

inline constexpr std::string_view kMoePermute = "moe.permute";
inline constexpr int64_t kMostExperts = int64_t{1} << 48;  // more than any memory has offsets for

struct MoeRequest {
  TensorSpec experts;
  MoeOptions options;
};

Refusal refusal_of(const MoeRequest& request, ErrorCode code, const Cause& cause, std::string what,
                   std::string detail, std::string next);
[[noreturn]] void refuse(const MoeRequest& request, const Cause& cause, std::string what,
                         std::string detail, std::string next);

// Refuses experts that are no matrix of integers, and options out of range.
void check_request(const MoeRequest& request);

// Throws IndexError for choice `at`, the first of `bad` whose expert is not one of `number`.
[[noreturn]] void throw_bad_expert(const MoeRequest& request, int64_t number, int64_t at,
                                   const std::string& value, int64_t bad);

// Throws what is wrong if the tokens are not as many as the experts have rows.
void check_tokens(const TensorSpec& tokens, const TensorSpec& experts);

// Choice i is that of token i / choices. Strides are in elements of experts, and in bytes of
// tokens, whose rows are without gaps.
struct MoeNest {
  int64_t choices = 1, count = 0;  // of a token, and in all
  int64_t experts = 0, capacity = 0;
  DType index_type;
  int64_t outer = 0, inner = 0;
  int64_t row_bytes = 0, token_stride = 0;
};

}  // namespace sheaf
