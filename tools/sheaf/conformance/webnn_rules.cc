// SPDX-License-Identifier: MIT
#include "conformance/webnn_rules.h"

#include "support/text.h"

namespace sheaf::cli {
namespace {

// int32, uint32 and int64; all other integer types are refused.
bool is_index_type(DType type) { return type == i32 || type == u32 || type == i64; }

// Off the axis, indices of gatherElements and scatterElements are exactly as large as data: neither
// smaller nor stretched.
std::string elements_refusal(const Request& r) {
  const int64_t rank = r.data.rank();
  if (r.indices.rank() != rank) {
    return "";  // refused by our own rules
  }
  for (int d = 0; d < rank; ++d) {
    const bool on_axis = d == r.axis || d == r.axis + rank;
    if (!on_axis && r.indices.sizes[d] != r.data.sizes[d]) {
      return cat("WebNN: dimension ", d, " of indices has ", r.indices.sizes[d],
                 " entries, but data has ", r.data.sizes[d]);
    }
  }
  return "";
}

}  // namespace

std::string webnn_refusal(const Request& r) {
  if (!is_index_type(r.indices.dtype)) {
    return cat("WebNN: indices may be i32, u32 or i64, not ", r.indices.dtype.name());
  }
  if (r.op == Op::kScatterNd && r.data.rank() == 0) {
    return "WebNN: data may not be a scalar";
  }
  const bool elements = r.op == Op::kGatherElements || r.op == Op::kScatterElements;
  return elements ? elements_refusal(r) : "";
}

}  // namespace sheaf::cli
