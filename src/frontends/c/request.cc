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

// The tensors of a call that has the options of `request`.
CCall read_tensors(const Request& request, const CTensors& tensors) {
  CCall call;
  call.request = request;
  Request& r = call.request;
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
  if (is_scatter(r.op)) {
    const Tensor updates = read(tensors.updates, "updates");
    r.updates = updates.spec;
    call.updates = updates.data;
  }
  if (tensors.output != nullptr || tensors.output_required) {
    const Tensor output = read(tensors.output, "output");
    r.set_output(output.spec);
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

// XLA's lists of dimensions; the other operators have none.
template <class Options>
void read_lists(Request& /*r*/, const Options& /*options*/) {}

void read_lists(Request& r, const sheaf_xla_gather_options& options) {
  XlaGatherOptions& xla = *r.xla;
  xla.offset_dims = dims(r, "offset_dims", options.offset_dims);
  xla.collapsed_slice_dims = dims(r, "collapsed_slice_dims", options.collapsed_slice_dims);
  xla.operand_batching_dims = dims(r, "operand_batching_dims", options.operand_batching_dims);
  xla.start_indices_batching_dims =
      dims(r, "start_indices_batching_dims", options.start_indices_batching_dims);
  xla.start_index_map = dims(r, "start_index_map", options.start_index_map);
  xla.slice_sizes = dims(r, "slice_sizes", options.slice_sizes);
}

void read_lists(Request& r, const sheaf_xla_scatter_options& options) {
  XlaGatherOptions& xla = *r.xla;
  xla.offset_dims = dims(r, "update_window_dims", options.update_window_dims);
  xla.collapsed_slice_dims = dims(r, "inserted_window_dims", options.inserted_window_dims);
  xla.operand_batching_dims = dims(r, "input_batching_dims", options.input_batching_dims);
  xla.start_indices_batching_dims =
      dims(r, "scatter_indices_batching_dims", options.scatter_indices_batching_dims);
  xla.start_index_map =
      dims(r, "scatter_dims_to_operand_dims", options.scatter_dims_to_operand_dims);
}

// The numbers of the options are in `request` already. Those that can be refused are read after the
// tensors, which a refusal shows.
template <class Options>
CCall read_gather(const Request& request, const CTensors& tensors, const Options& options) {
  CCall call = read_tensors(request, tensors);
  read_lists(call.request, options);
  call.request.rule = index_rule(call.request, options.rule);
  check_types(call, tensors);
  return call;
}

template <class Options>
CCall read_scatter(const Request& request, CTensors tensors, const Options& options) {
  if (options.onto_zeros != 0 && tensors.data == nullptr) {
    tensors.data = tensors.output;  // for its shape: it is not read
  }
  CCall call = read_tensors(request, tensors);
  Request& r = call.request;
  read_lists(r, options);
  set_scatter_options(r, options);
  check_types(call, tensors);
  return call;
}

}  // namespace

CCall read_call(const CTensors& tensors, const sheaf_gather_options& options) {
  return read_gather(
      request_from(GatherOptions{.axis = options.axis, .batch_dims = options.batch_dims}), tensors,
      options);
}

CCall read_call(const CTensors& tensors, const sheaf_gather_elements_options& options) {
  return read_gather(request_from(GatherElementsOptions{.axis = options.axis,
                                                        .broadcast = options.broadcast != 0}),
                     tensors, options);
}

CCall read_call(const CTensors& tensors, const sheaf_gather_nd_options& options) {
  return read_gather(request_from(GatherNdOptions{.batch_dims = options.batch_dims}), tensors,
                     options);
}

CCall read_call(const CTensors& tensors, const sheaf_xla_gather_options& options) {
  return read_gather(request_from(XlaGatherOptions{.index_vector_dim = options.index_vector_dim}),
                     tensors, options);
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_options& options) {
  return read_scatter(
      request_from(ScatterOptions{.axis = options.axis, .batch_dims = options.batch_dims}), tensors,
      options);
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_elements_options& options) {
  return read_scatter(request_from(ScatterElementsOptions{.axis = options.axis}), tensors, options);
}

CCall read_call(const CTensors& tensors, const sheaf_scatter_nd_options& options) {
  return read_scatter(request_from(ScatterNdOptions{.batch_dims = options.batch_dims}), tensors,
                      options);
}

CCall read_call(const CTensors& tensors, const sheaf_xla_scatter_options& options) {
  return read_scatter(
      request_from(XlaScatterOptions{.index_vector_dim = options.index_vector_dim,
                                     .skip_whole_window = options.skip_whole_window != 0}),
      tensors, options);
}

}  // namespace sheaf
