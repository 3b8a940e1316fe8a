// SPDX-License-Identifier: MIT
#include "frontends/c/request.h"

#include "frontends/c/dlpack.h"
#include "frontends/c/options.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

// Types that are all bytes to us are told apart here: the plan cannot.
void check_type(const CCall& call, const char* name, DLDataType type) {
  if (!same_type(call.dtype, type)) {
    refuse(call.request, {Reason::kType, name}, "types differ",
           cat(name, " is ", to_string(type), ", but data is ", to_string(call.dtype)),
           cat(name, " of type ", to_string(call.dtype), "; nothing is converted"));
  }
}

CCall read_tensors(Op op, const CTensors& tensors) {
  CCall call;
  Request& r = call.request;
  r.op = op;
  r.name = to_string(op);
  Placement placement;
  const auto read = [&](const DLTensor* tensor, const char* name) {
    const DlpackArgument argument{r.name, name};
    return placement.place(required_tensor(tensor, argument), argument);
  };
  const Tensor data = read(tensors.data, "data");
  const Tensor indices = read(tensors.indices, "indices");
  r.data = data.spec;
  r.indices = indices.spec;
  call.dtype = tensors.data->dtype;
  call.data = data.data;
  call.indices = indices.data;
  if (is_scatter(op)) {
    const Tensor updates = read(tensors.updates, "updates");
    r.updates = updates.spec;
    call.updates = updates.data;
  }
  if (tensors.output != nullptr || tensors.output_required) {
    const Tensor output = read(tensors.output, "output");
    r.output = output.spec;
    r.output_given = true;
    call.output = output.data;
  }
  call.device = placement.device();
  return call;
}

// After the options, so that a refusal shows them too.
void check_types(const CCall& call, const CTensors& tensors) {
  if (is_scatter(call.request.op)) {
    check_type(call, "updates", tensors.updates->dtype);
  }
  if (call.request.output_given) {
    check_type(call, "output", tensors.output->dtype);
  }
}

// What the options of all scatters share.
template <class Options>
CCall read_scatter(Op op, CTensors tensors, const Options& options) {
  if (options.onto_zeros != 0 && tensors.data == nullptr) {
    tensors.data = tensors.output;  // for its shape: it is not read
  }
  CCall call = read_tensors(op, tensors);
  Request& r = call.request;
  if (op == Op::kXlaScatter) {
    r.xla = std::make_shared<const XlaGatherOptions>();  // a refusal shows it, though still empty
  }
  r.reduction = reduction(r, options.reduction);
  r.include_self = options.exclude_self == 0;
  r.onto_zeros = options.onto_zeros != 0;
  r.relaxed = options.relaxed != 0;
  r.accumulate_f32 = options.accumulate_f32 != 0;
  r.rule = index_rule(r, options.rule);
  return call;
}

}  // namespace

CCall read_call(const CTensors& tensors, const sheaf_gather_options& options) {
  CCall call = read_tensors(Op::kGather, tensors);
  Request& r = call.request;
  r.axis = options.axis;
  r.batch_dims = options.batch_dims;
  r.rule = index_rule(r, options.rule);
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_gather_elements_options& options) {
  CCall call = read_tensors(Op::kGatherElements, tensors);
  Request& r = call.request;
  r.axis = options.axis;
  r.broadcast = options.broadcast != 0;
  r.rule = index_rule(r, options.rule);
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_gather_nd_options& options) {
  CCall call = read_tensors(Op::kGatherNd, tensors);
  Request& r = call.request;
  r.batch_dims = options.batch_dims;
  r.rule = index_rule(r, options.rule);
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_xla_gather_options& options) {
  CCall call = read_tensors(Op::kXlaGather, tensors);
  Request& r = call.request;
  auto xla = std::make_shared<XlaGatherOptions>();
  r.xla = xla;  // a refusal shows what has been read so far
  xla->index_vector_dim = options.index_vector_dim;
  xla->offset_dims = dims(r, "offset_dims", options.offset_dims);
  xla->collapsed_slice_dims = dims(r, "collapsed_slice_dims", options.collapsed_slice_dims);
  xla->operand_batching_dims = dims(r, "operand_batching_dims", options.operand_batching_dims);
  xla->start_indices_batching_dims =
      dims(r, "start_indices_batching_dims", options.start_indices_batching_dims);
  xla->start_index_map = dims(r, "start_index_map", options.start_index_map);
  xla->slice_sizes = dims(r, "slice_sizes", options.slice_sizes);
  r.rule = index_rule(r, options.rule);
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_options& options) {
  CCall call = read_scatter(Op::kScatter, tensors, options);
  call.request.axis = options.axis;
  call.request.batch_dims = options.batch_dims;
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_elements_options& options) {
  CCall call = read_scatter(Op::kScatterElements, tensors, options);
  call.request.axis = options.axis;
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_nd_options& options) {
  CCall call = read_scatter(Op::kScatterNd, tensors, options);
  call.request.batch_dims = options.batch_dims;
  check_types(call, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_xla_scatter_options& options) {
  CCall call = read_scatter(Op::kXlaScatter, tensors, options);
  Request& r = call.request;
  r.skip_whole_window = options.skip_whole_window != 0;
  auto xla = std::make_shared<XlaGatherOptions>();
  r.xla = xla;
  xla->index_vector_dim = options.index_vector_dim;
  xla->offset_dims = dims(r, "update_window_dims", options.update_window_dims);
  xla->collapsed_slice_dims = dims(r, "inserted_window_dims", options.inserted_window_dims);
  xla->operand_batching_dims = dims(r, "input_batching_dims", options.input_batching_dims);
  xla->start_indices_batching_dims =
      dims(r, "scatter_indices_batching_dims", options.scatter_indices_batching_dims);
  xla->start_index_map =
      dims(r, "scatter_dims_to_operand_dims", options.scatter_dims_to_operand_dims);
  check_types(call, tensors);
  return call;
}

}  // namespace sheaf
