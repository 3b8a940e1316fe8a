// SPDX-License-Identifier: MIT
//
// What a front end hands over: an operator in the house's own words, nothing checked yet.
#pragma once

#include <memory>
#include <string_view>

#include "sheaf/gather.h"
#include "sheaf/index_rule.h"
#include "sheaf/plan.h"
#include "sheaf/tensor.h"

namespace sheaf {

enum class Op { kGather, kGatherElements, kGatherNd, kXlaGather };

std::string_view to_string(Op op);  // "gather", "gather_elements", …

struct Request {
  Op op = Op::kGather;
  std::string_view name;  // who asks: the first word of every error. A string literal.
  TensorSpec data, indices, output;
  bool output_given = false;  // false: the output is contiguous, its sizes computed
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool broadcast = false;
  std::shared_ptr<const XlaGatherOptions> xla;  // kXlaGather only
  IndexRule rule;
};

// Validates, lowers and normalises. Throws Error if the request is not sound. The plan's request()
// has axis and batch_dims made non-negative and the output filled in.
Plan make_plan(const Request& request);

}  // namespace sheaf
