// SPDX-License-Identifier: MIT
#include "plan/refuse.h"

#include <utility>

#include "plan/scalar.h"
#include "support/text.h"

namespace sheaf {
namespace {

std::string compact(const TensorSpec& spec) {
  std::string text = spec.dtype.name() + "[";
  for (int d = 0; d < spec.sizes.size(); ++d) {
    text += cat(d == 0 ? "" : ",", spec.sizes[d]);
  }
  return text + "]";
}

// Each attribute of the operator as name, separator, value.
std::string attributes(const Request& r, const char* gap, const char* separator) {
  const auto one = [&](const char* name, const auto& value) {
    return cat(gap, name, separator, value);
  };
  switch (r.op) {
    case Op::kGather:
    case Op::kScatter:
      return one("axis", r.axis) + (r.batch_dims != 0 ? one("batch_dims", r.batch_dims) : "");
    case Op::kGatherElements:
    case Op::kScatterElements:
      return one("axis", r.axis) + (r.broadcast ? one("broadcast", 1) : "");
    case Op::kGatherNd:
    case Op::kScatterNd: return r.batch_dims != 0 ? one("batch_dims", r.batch_dims) : "";
    case Op::kXlaScatter:
      return one("update_window_dims", bracketed(r.xla->offset_dims)) +
             one("inserted_window_dims", bracketed(r.xla->collapsed_slice_dims)) +
             one("input_batching_dims", bracketed(r.xla->operand_batching_dims)) +
             one("scatter_indices_batching_dims", bracketed(r.xla->start_indices_batching_dims)) +
             one("scatter_dims_to_operand_dims", bracketed(r.xla->start_index_map)) +
             one("index_vector_dim", r.xla->index_vector_dim) +
             (r.skip_whole_window ? one("skip_whole_window", 1) : "");
    case Op::kXlaGather: break;
  }
  return one("offset_dims", bracketed(r.xla->offset_dims)) +
         one("collapsed_slice_dims", bracketed(r.xla->collapsed_slice_dims)) +
         one("operand_batching_dims", bracketed(r.xla->operand_batching_dims)) +
         one("start_indices_batching_dims", bracketed(r.xla->start_indices_batching_dims)) +
         one("start_index_map", bracketed(r.xla->start_index_map)) +
         one("index_vector_dim", r.xla->index_vector_dim) +
         one("slice_sizes", bracketed(r.xla->slice_sizes));
}

// What only a scatter has.
std::string reduction_attributes(const Request& r, const char* gap, const char* separator) {
  std::string text;
  if (r.reduction != Reduction::kNone) {
    text += cat(gap, "reduction", separator, to_string(r.reduction));
  }
  if (!r.include_self) {
    text += cat(gap, "include_self", separator, 0);
  }
  if (r.onto_zeros) {
    text += cat(gap, "onto_zeros", separator, 1);
  }
  if (r.accumulate_f32) {
    text += cat(gap, "accumulate_f32", separator, 1);
  }
  return text;
}

// The index rule as attributes, where it is not the one that the operator has by default.
std::string rule_attributes(const Request& r) {
  const IndexRule usual = usual_rule(r.op);
  std::string text;
  if (r.rule.negative != usual.negative) {
    text += cat(" negative=", to_string(r.rule.negative));
  }
  if (r.rule.out_of_range != usual.out_of_range) {
    text += cat(" out_of_range=", to_string(r.rule.out_of_range));
  }
  if (r.rule.out_of_range == OutOfRange::kFill) {
    text += cat(" fill_value=", to_string(r.rule.fill_value));
  }
  return text;
}

std::string text_of(const Refusal& r) {
  return refusal_text(cat(r.who, ": ", r.what), r.detail, r.given,
                      r.picture.empty() ? r.next : cat(r.next, ";  picture: ", r.picture));
}

}  // namespace

std::string refusal_text(std::string_view what, std::string_view detail, std::string_view given,
                         std::string_view next) {
  return cat(what, "\n  ", detail, given.empty() ? "" : cat("\n  ", given), "\n  try: ", next);
}

std::string describe(const Request& r) {
  std::string text =
      cat("data ", r.encoded ? r.encoded->str() : r.data.str(), "   indices ", r.indices.str());
  if (is_scatter(r.op) && r.updates_given) {
    text += cat("   updates ", r.updates.str());
  }
  text += attributes(r, "   ", " ") + reduction_attributes(r, "   ", " ");
  return r.output_given ? cat(text, "   output ", r.output.str()) : text;
}

std::string explain_command(const Request& r, const std::string& values) {
  return cat("sheaf explain '", to_string(r.op), " ", compact(r.data), " ", compact(r.indices),
             values, is_scatter(r.op) && r.updates_given ? cat(" ", compact(r.updates)) : "",
             attributes(r, " ", "="), reduction_attributes(r, " ", "="), rule_attributes(r), "'");
}

Error::Error(Refusal refusal)
    : std::runtime_error(text_of(refusal)),
      refusal_(std::make_shared<const Refusal>(std::move(refusal))) {}

Refusal refusal_of(const Request& r, const Cause& cause, std::string what, std::string detail,
                   std::string next) {
  return {.cause = cause,
          .who = std::string(r.name),
          .what = std::move(what),
          .detail = std::move(detail),
          .given = describe(r),
          .next = std::move(next)};
}

void refuse(const Request& r, const Cause& cause, std::string what, std::string detail,
            std::string next) {
  throw Error(refusal_of(r, cause, std::move(what), std::move(detail), std::move(next)));
}

void refuse(const Request& r, std::string what, std::string detail, std::string next) {
  refuse(r, {}, std::move(what), std::move(detail), std::move(next));
}

void refuse_as(ErrorCode code, const Request& r, const Cause& cause, std::string what,
               std::string detail, std::string next) {
  Refusal refusal = refusal_of(r, cause, std::move(what), std::move(detail), std::move(next));
  refusal.code = code;
  throw Error(std::move(refusal));
}

void check_planned(const Plan& plan, const char* tensor, const TensorSpec& got,
                   const TensorSpec& planned) {
  if (got != planned) {
    refuse(plan.request(), {Reason::kPlan, tensor, -1, got.sizes, planned.sizes},
           cat(tensor, " differs from the plan's"),
           cat("got ", got.str(), ", planned for ", planned.str()),
           "a plan for these tensors, or these strides");
  }
}

void refuse_tensor(const Cause& cause, const std::string& what, const std::string& detail,
                   const std::string& shape, const std::string& next) {
  throw Error(Refusal{.cause = cause,
                      .who = "tensor",
                      .what = what,
                      .detail = detail,
                      .given = shape,
                      .next = next});
}

}  // namespace sheaf
