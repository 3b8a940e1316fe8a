// SPDX-License-Identifier: MIT
//
// A plan for the eye (str) and for programs (json).
#include <string>

#include "plan/request.h"
#include "plan/scatter_steps.h"
#include "support/text.h"

namespace sheaf {
namespace {

std::string rule_text(const Nest& nest) {
  return cat("negative ", to_string(nest.negative), ", out of range ",
             to_string(nest.out_of_range));
}

// "data + p0·256 + i0·4": a base, then each loop that moves it.
template <class Stride>
std::string walk(const char* base, const Nest& nest, Stride stride) {
  std::string text = base;
  for (int l = 0; l < nest.loops.size(); ++l) {
    if (const int64_t step = stride(nest.loops[l]); step != 0) {
      text += cat(" + p", l, step == 1 ? "" : cat("*", step));
    }
  }
  return text;
}

std::string index_term(const Nest& nest, int c) {
  const Coordinate& coordinate = nest.coordinates[c];
  std::string element = walk("", nest, [](const Loop& loop) { return loop.index; });
  if (coordinate.offset != 0) {
    element += cat(" + ", coordinate.offset);
  }
  std::string value = cat("indices[", element.empty() ? "0" : element.substr(3), "]");
  for (int l = 0; l < nest.loops.size(); ++l) {
    if (nest.loops[l].window == c + 1) {
      return cat(value, " + p", l);
    }
  }
  return value;
}

template <class L, class F>
std::string json_list(const Fixed<L>& list, F item) {
  std::string text = "[";
  for (int i = 0; i < list.size(); ++i) {
    text += cat(i == 0 ? "" : ", ", item(list[i]));
  }
  return text + "]";
}

std::string json_tensor(const TensorSpec& spec) {
  return cat(R"({"dtype": ")", spec.dtype.name(), R"(", "sizes": )", bracketed(spec.sizes),
             R"(, "strides": )", bracketed(spec.strides), "}");
}

// What a step does: "gather", "scatter", "scatter add f32".
std::string verb(const Nest& nest) {
  if (!nest.scatters) {
    return "gather";
  }
  const bool reduces = nest.reduction != Reduction::kNone;
  return reduces ? cat("scatter ", to_string(nest.reduction), " ", nest.element_type.name())
                 : "scatter";
}

}  // namespace

// gather, 256 bytes per step, i64 indices, negative from_end, out of range fail
//   for p0 in 0..4096
//     i0 = indices[p0] in 0..1000000
//     output + p0*256 <- data + i0*256
std::string Plan::str() const {
  const Nest& nest = nest_;
  const bool wide = nest.scatters && scatter_->wide.has_value();
  std::string text =
      cat(verb(nest), wide ? " in f32" : "", ", ", counted(nest.row_bytes, "byte", "bytes"),
          " per step, ", nest.index_type.name(), " indices, ", rule_text(nest), "\n");
  std::string indent = "  ";
  for (int l = 0; l < nest.loops.size(); ++l) {
    text += cat(indent, "for p", l, " in 0..", nest.loops[l].extent, "\n");
    indent += "  ";
  }
  std::string table =
      walk(nest.scatters ? "output" : "data", nest, [](const Loop& loop) { return loop.data; });
  for (int c = 0; c < nest.coordinates.size(); ++c) {
    text += cat(indent, "i", c, " = ", index_term(nest, c), " in 0..", nest.coordinates[c].extent,
                "\n");
    table += cat(" + i", c, "*", nest.coordinates[c].stride);
  }
  const std::string grid = walk(nest.scatters ? "updates" : "output", nest,
                                [](const Loop& loop) { return loop.output; });
  return cat(text, indent, nest.scatters ? table : grid, " <- ", nest.scatters ? grid : table,
             "\n");
}

std::string Plan::json() const {
  const Nest& nest = nest_;
  const auto loop = [](const Loop& l) {
    return cat(R"({"extent": )", l.extent, R"(, "data": )", l.data, R"(, "index": )", l.index,
               R"(, "output": )", l.output,
               l.window == 0 ? "" : cat(R"(, "window_of": )", l.window - 1), "}");
  };
  const auto coordinate = [](const Coordinate& c) {
    return cat(R"({"extent": )", c.extent, R"(, "stride": )", c.stride, R"(, "offset": )", c.offset,
               "}");
  };
  const std::string scatter =
      nest.scatters ? cat(R"(, "updates": )", json_tensor(updates()), R"(, "reduction": ")",
                          to_string(nest.reduction), R"(", "include_self": )",
                          request_->include_self ? "true" : "false",
                          request_->accumulate_f32 ? R"(, "accumulate": "f32")" : "")
                    : "";
  return cat(R"({"op": ")", to_string(request_->op), R"(", "data": )", json_tensor(data()),
             R"(, "indices": )", json_tensor(indices()), scatter, R"(, "output": )",
             json_tensor(output()), R"(, "negative": ")", to_string(nest.negative),
             R"(", "out_of_range": ")", to_string(nest.out_of_range), R"(", "row_bytes": )",
             nest.row_bytes, R"(, "loops": )", json_list(nest.loops, loop), R"(, "coordinates": )",
             json_list(nest.coordinates, coordinate), "}");
}

}  // namespace sheaf
