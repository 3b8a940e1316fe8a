// SPDX-License-Identifier: MIT
//
// What a front end hands over: an operator in Sheaf's own words, nothing checked yet.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "sheaf/encoding.h"
#include "sheaf/gather.h"
#include "sheaf/index_rule.h"
#include "sheaf/plan.h"
#include "sheaf/scatter.h"
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
IndexRule usual_rule(Op op);        // the default of an operator

struct Request {
  Op op = Op::kGather;
  std::string_view name;  // who asks: the first word of every error. A string literal.
  TensorSpec data, indices, output;
  std::shared_ptr<const EncodedSpec> encoded;  // what data is decoded from; null: it is plain
  TensorSpec updates;                          // of a scatter
  bool output_given = false;  // false: the output is contiguous, its sizes computed
  bool updates_given = true;  // false: the same for the updates (not of kXlaScatter)
  // true: leading ones of a given grid() that the operator lacks are dropped.
  bool grid_is_padded = false;
  int64_t axis = 0;
  int64_t batch_dims = 0;
  bool broadcast = false;
  // Dimension numbers of the general forms, by their names in a gather; a scatter has its slice
  // sizes filled in from the updates. The rule in it is not read.
  std::optional<XlaGatherOptions> xla;
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

  void set_output(const TensorSpec& spec) {
    output = spec;
    output_given = true;
  }

  // Equal requests have the same plan: caches of plans compare whole requests.
  friend bool operator==(const Request&, const Request&) = default;
};

// The one builder of requests: the operator, its name and its options; the tensors are left to the
// caller. The first has every option at its default, for front ends that read options by name.
Request request_from(Op op);
Request request_from(const GatherOptions& options);
Request request_from(const GatherElementsOptions& options);
Request request_from(const GatherNdOptions& options);
Request request_from(const XlaGatherOptions& options);
Request request_from(const ScatterOptions& options);
Request request_from(const ScatterElementsOptions& options);
Request request_from(const ScatterNdOptions& options);
Request request_from(const XlaScatterOptions& options);

// Validates, lowers and normalises. Throws Error if the request is not sound. The plan's request()
// has axis and batch_dims made non-negative and the output filled in.
Plan make_plan(const Request& request);

}  // namespace sheaf
