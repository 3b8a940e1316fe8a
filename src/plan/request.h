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

enum class Op {
  kGather,
  kGatherElements,
  kGatherNd,
  kXlaGather,
  kScatter,
  kScatterElements,
  kScatterNd,
  kXlaScatter,
};

constexpr bool is_scatter(Op op) { return op >= Op::kScatter; }

// The gather that visits the same elements of data, in the shape of the updates.
constexpr Op inverse_of(Op scatter) {
  return static_cast<Op>(static_cast<int>(scatter) - static_cast<int>(Op::kScatter));
}

std::string_view to_string(Op op);  // "gather", "gather_elements", …
IndexRule usual_rule(Op op);        // what an operator does where nothing else is asked

struct Request {
  Op op = Op::kGather;
  std::string_view name;  // who asks: the first word of every error. A string literal.
  TensorSpec data, indices, output;
  TensorSpec updates;         // of a scatter
  bool output_given = false;  // false: the output is contiguous, its sizes computed
  bool updates_given = true;  // false: the same for the updates (not of kXlaScatter)
  bool grid_is_padded =
      false;  // leading ones of a given grid() that the operator lacks are dropped
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool broadcast = false;
  // Dimension numbers of the general forms, by their names in a gather; a scatter has its slice
  // sizes filled in from the updates. The rule in it is not read.
  std::shared_ptr<const XlaGatherOptions> xla;
  bool skip_whole_window = false;  // kXlaScatter only
  Reduction reduction = Reduction::kNone;
  bool include_self = true;
  bool onto_zeros = false;
  bool relaxed = false;
  bool accumulate_f32 = false;
  IndexRule rule;

  // The two sides of the nest: what indices point into, and what has an element for each point.
  const TensorSpec& table() const { return is_scatter(op) ? output : data; }
  const TensorSpec& grid() const { return is_scatter(op) ? updates : output; }
  TensorSpec& grid() { return is_scatter(op) ? updates : output; }
};

// Validates, lowers and normalises. Throws Error if the request is not sound. The plan's request()
// has axis and batch_dims made non-negative and the output filled in.
Plan make_plan(const Request& request);

}  // namespace sheaf
