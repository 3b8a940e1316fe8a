// SPDX-License-Identifier: MIT
#include "answers.h"
#include "plan/lower.h"
#include "plan/scalar.h"
#include "sheaf/error.h"

namespace sheaf::web {
namespace {

std::vector<int64_t> list(const Dims& dims) { return {dims.begin(), dims.end()}; }

// The attributes by the names that problem strings have for them.
Json xla_json(const Request& r) {
  const XlaGatherOptions& x = *r.xla;
  const bool scatters = is_scatter(r.op);
  Json json = {
      {scatters ? "update_window_dims" : "offset_dims", list(x.offset_dims)},
      {scatters ? "inserted_window_dims" : "collapsed_slice_dims", list(x.collapsed_slice_dims)},
      {scatters ? "input_batching_dims" : "operand_batching_dims", list(x.operand_batching_dims)},
      {scatters ? "scatter_indices_batching_dims" : "start_indices_batching_dims",
       list(x.start_indices_batching_dims)},
      {scatters ? "scatter_dims_to_operand_dims" : "start_index_map", list(x.start_index_map)},
      {"index_vector_dim", x.index_vector_dim}};
  if (!scatters) {
    json["slice_sizes"] = list(x.slice_sizes);
  }
  return json;
}

}  // namespace

Json call_json(const Request& r) {
  Json json = {{"op", to_string(r.op)},
               {"scatters", is_scatter(r.op)},
               {"axis", r.axis},
               {"batch_dims", r.batch_dims},
               {"broadcast", r.broadcast},
               {"negative", to_string(r.rule.negative)},
               {"out_of_range", to_string(r.rule.out_of_range)},
               {"fill_value", to_string(r.rule.fill_value)},
               {"reduction", to_string(r.reduction)},
               {"include_self", r.include_self},
               {"onto_zeros", r.onto_zeros},
               {"skip_whole_window", r.skip_whole_window}};
  if (r.xla) {
    json["xla"] = xla_json(r);
  }
  return json;
}

Json error_json(const std::exception& error) {
  const auto* ours = dynamic_cast<const Error*>(&error);
  const bool index = ours != nullptr && ours->code() == ErrorCode::kIndexOutOfRange;
  return {{"text", error.what()}, {"about_indices", index}};
}

}  // namespace sheaf::web
