// SPDX-License-Identifier: MIT
//
// A bag's plan for the eye (str) and for programs (json).
#include <string>

#include "plan/bag.h"
#include "support/text.h"

namespace sheaf {
namespace {

std::string segment_text(const BagNest& nest) {
  if (nest.per_bag >= 0) {
    return cat("for p in s*", nest.per_bag, "..(s + 1)*", nest.per_bag);
  }
  switch (nest.form) {
    case SegmentForm::kOffsets: return "for p in offsets[s]..offsets[s + 1]";
    case SegmentForm::kLengths: return "for the next lengths[s] p";
    case SegmentForm::kIds: break;
  }
  return "for p with ids[p] = s";
}

std::string json_spec(const std::optional<TensorSpec>& spec) {
  return spec ? cat(R"({"dtype": ")", spec->dtype.name(), R"(", "sizes": )", bracketed(spec->sizes),
                    R"(, "strides": )", bracketed(spec->strides), "}")
              : "null";
}

}  // namespace

// bag sum in f32, rows of 64 row_u8_f32, i64 indices, negative from_end, out of range fail
//   for s in 0..131072
//     for p in offsets[s]..offsets[s + 1]
//       i = indices[p] in 0..1000000
//       row = data[i] * weights[p]
//     output + s*256 <- sum of rows
std::string BagPlan::str() const {
  const BagNest& nest = *nest_;
  const bool plain = nest.rows.encoding == Encoding::kPlain;
  std::string text =
      cat("bag ", to_string(nest.pool), " in ", nest.computed.name(), ", rows of ", nest.elements,
          " ", plain ? nest.rows.type.name() : std::string(to_string(nest.rows.encoding)));
  if (nest.indexed) {
    text += cat(", ", nest.index_type.name(), " indices, negative ", to_string(nest.negative),
                ", out of range ", to_string(nest.out_of_range));
  }
  text += cat("\n  for s in 0..", nest.bags, "\n    ", segment_text(nest), "\n");
  if (nest.indexed) {
    text += cat("      i = indices[p] in 0..", nest.extent, "\n");
  }
  if (nest.padding >= 0) {
    text += cat("      unless i = ", nest.padding, "\n");
  }
  text += cat("      row = data[", nest.indexed ? "i" : "p", "]",
              nest.weighted ? " * weights[p]" : "", "\n");
  return cat(text, "    output + s*", nest.bag_stride, " <- ", to_string(nest.pool), " of rows",
             nest.output_type == nest.computed ? "" : cat(", as ", nest.output_type.name()), "\n");
}

std::string BagPlan::json() const {
  const BagNest& nest = *nest_;
  const BagSpecs& specs = request_->specs;
  return cat(R"({"op": "bag", "pool": ")", to_string(nest.pool), R"(", "encoding": ")",
             to_string(nest.rows.encoding), R"(", "data": )", json_spec(specs.data.stored),
             R"(, "sizes": )", bracketed(specs.data.sizes), R"(, "scales": )",
             json_spec(specs.data.scales), R"(, "zeros": )", json_spec(specs.data.zeros),
             R"(, "indices": )", json_spec(specs.indices), R"(, "segments": )",
             json_spec(specs.segments), R"(, "form": ")",
             nest.per_bag >= 0 ? "rows" : to_string(nest.form), R"(", "weights": )",
             json_spec(specs.weights), R"(, "output": )", json_spec(request_->output),
             R"(, "computed": ")", nest.computed.name(), R"(", "negative": ")",
             to_string(nest.negative), R"(", "out_of_range": ")", to_string(nest.out_of_range),
             R"(", "padding": )", nest.padding, "}");
}

}  // namespace sheaf
