// SPDX-License-Identifier: MIT
#include "plan/request.h"

namespace sheaf {
namespace {

Request gather_request(Op op, const IndexRule& rule) {
  Request r = request_from(op);
  r.rule = rule;
  return r;
}

// The options that all scatters share.
template <class Options>
Request scatter_request(Op op, const Options& options) {
  Request r = request_from(op);
  r.reduction = options.reduction;
  r.include_self = options.include_self;
  r.onto_zeros = options.onto_zeros;
  r.relaxed = options.relaxed;
  r.accumulate_f32 = options.accumulate_f32;
  r.rule = options.rule;
  return r;
}

}  // namespace

Request request_from(Op op) {
  Request r;
  r.op = op;
  r.name = to_string(op);
  r.rule = usual_rule(op);
  if (op == Op::kXlaGather || op == Op::kXlaScatter) {
    r.xla.emplace();
  }
  return r;
}

Request request_from(const GatherOptions& options) {
  Request r = gather_request(Op::kGather, options.rule);
  r.axis = options.axis;
  r.batch_dims = options.batch_dims;
  return r;
}

Request request_from(const GatherElementsOptions& options) {
  Request r = gather_request(Op::kGatherElements, options.rule);
  r.axis = options.axis;
  r.broadcast = options.broadcast;
  return r;
}

Request request_from(const GatherNdOptions& options) {
  Request r = gather_request(Op::kGatherNd, options.rule);
  r.batch_dims = options.batch_dims;
  return r;
}

Request request_from(const XlaGatherOptions& options) {
  Request r = gather_request(Op::kXlaGather, options.rule);
  r.xla = options;
  return r;
}

Request request_from(const ScatterOptions& options) {
  Request r = scatter_request(Op::kScatter, options);
  r.axis = options.axis;
  r.batch_dims = options.batch_dims;
  return r;
}

Request request_from(const ScatterElementsOptions& options) {
  Request r = scatter_request(Op::kScatterElements, options);
  r.axis = options.axis;
  return r;
}

Request request_from(const ScatterNdOptions& options) {
  Request r = scatter_request(Op::kScatterNd, options);
  r.batch_dims = options.batch_dims;
  return r;
}

Request request_from(const XlaScatterOptions& options) {
  Request r = scatter_request(Op::kXlaScatter, options);
  r.skip_whole_window = options.skip_whole_window;
  r.xla->offset_dims = options.update_window_dims;
  r.xla->collapsed_slice_dims = options.inserted_window_dims;
  r.xla->operand_batching_dims = options.input_batching_dims;
  r.xla->start_indices_batching_dims = options.scatter_indices_batching_dims;
  r.xla->start_index_map = options.scatter_dims_to_operand_dims;
  r.xla->index_vector_dim = options.index_vector_dim;
  return r;
}

}  // namespace sheaf
