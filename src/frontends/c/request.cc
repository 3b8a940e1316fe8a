// SPDX-License-Identifier: MIT
#include "frontends/c/request.h"

#include <complex>
#include <span>

#include "frontends/c/dlpack.h"
#include "plan/refuse.h"
#include "support/text.h"

namespace sheaf {
namespace {

CCall read_tensors(Op op, const CTensors& tensors) {
  CCall call;
  Request& r = call.request;
  r.op = op;
  r.name = to_string(op);
  const auto read = [&](const DLTensor* tensor, const char* name) {
    const DlpackArgument argument{r.name, name};
    return tensor_from_dlpack(required_tensor(tensor, argument), argument);
  };
  const Tensor data = read(tensors.data, "data");
  const Tensor indices = read(tensors.indices, "indices");
  r.data = data.spec;
  r.indices = indices.spec;
  call.data = data.data;
  call.indices = indices.data;
  if (tensors.output != nullptr || tensors.output_required) {
    const Tensor output = read(tensors.output, "output");
    r.output = output.spec;
    r.output_given = true;
    call.output = output.data;
  }
  return call;
}

// Types that are all bytes to us are told apart here: the plan cannot.
void check_output_type(const Request& r, const CTensors& tensors) {
  if (r.output_given && !same_type(tensors.data->dtype, tensors.output->dtype)) {
    refuse(r, "types differ",
           cat("output is ", to_string(tensors.output->dtype), ", but data is ",
               to_string(tensors.data->dtype)),
           cat("an output of type ", to_string(tensors.data->dtype), "; gathers do not convert"));
  }
}

[[noreturn]] void refuse_option(const Request& r, const char* field, int64_t value, int last) {
  refuse(r, "unknown option", cat(field, " = ", value, ", but 0..", last, " has a meaning"),
         "a constant of sheaf/c.h; a struct set to {0} has the defaults");
}

Scalar fill_value(const Request& r, const sheaf_scalar& scalar) {
  switch (scalar.kind) {
    case SHEAF_SCALAR_INT: return scalar.value.as_int;
    case SHEAF_SCALAR_UINT: return scalar.value.as_uint;
    case SHEAF_SCALAR_FLOAT: return scalar.value.as_float;
    case SHEAF_SCALAR_COMPLEX:
      return std::complex<double>(scalar.value.as_complex[0], scalar.value.as_complex[1]);
    default: refuse_option(r, "rule.fill_value.kind", scalar.kind, SHEAF_SCALAR_COMPLEX);
  }
}

// `defaults`: what a zero stands for.
IndexRule index_rule(const Request& r, const sheaf_index_rule& rule, const IndexRule& defaults) {
  IndexRule result = defaults;
  switch (rule.negative) {
    case SHEAF_NEGATIVE_DEFAULT: break;
    case SHEAF_NEGATIVE_FROM_END: result.negative = Negative::kFromEnd; break;
    case SHEAF_NEGATIVE_OUT_OF_RANGE: result.negative = Negative::kOutOfRange; break;
    default: refuse_option(r, "rule.negative", rule.negative, SHEAF_NEGATIVE_OUT_OF_RANGE);
  }
  switch (rule.out_of_range) {
    case SHEAF_OUT_OF_RANGE_DEFAULT: break;
    case SHEAF_FAIL: result.out_of_range = OutOfRange::kFail; break;
    case SHEAF_CLAMP: result.out_of_range = OutOfRange::kClamp; break;
    case SHEAF_FILL:
      result.out_of_range = OutOfRange::kFill;
      result.fill_value = fill_value(r, rule.fill_value);
      break;
    case SHEAF_WRAP: result.out_of_range = OutOfRange::kWrap; break;
    case SHEAF_TRUST: result.out_of_range = OutOfRange::kTrust; break;
    default: refuse_option(r, "rule.out_of_range", rule.out_of_range, SHEAF_TRUST);
  }
  return result;
}

Dims dims(const Request& r, const char* field, const sheaf_dims& list) {
  if (list.count < 0 || list.count > kMaxRank) {
    refuse(r, cat(field, " has the wrong length"),
           cat(field, ".count = ", list.count, ", but 0..", kMaxRank, " is supported"),
           "one entry for each dimension that is named");
  }
  if (list.values == nullptr && list.count > 0) {
    refuse(r, "null pointer", cat(field, ".count = ", list.count, ", but .values is null"),
           "the list's entries");
  }
  return Dims(std::span<const int64_t>(list.values, static_cast<size_t>(list.count)));
}

}  // namespace

CCall read_call(const CTensors& tensors, const sheaf_gather_options& options) {
  CCall call = read_tensors(Op::kGather, tensors);
  Request& r = call.request;
  r.axis = options.axis;
  r.batch_dims = options.batch_dims;
  r.rule = index_rule(r, options.rule, {});
  check_output_type(r, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_gather_elements_options& options) {
  CCall call = read_tensors(Op::kGatherElements, tensors);
  Request& r = call.request;
  r.axis = options.axis;
  r.broadcast = options.broadcast != 0;
  r.rule = index_rule(r, options.rule, {});
  check_output_type(r, tensors);
  return call;
}

CCall read_call(const CTensors& tensors, const sheaf_gather_nd_options& options) {
  CCall call = read_tensors(Op::kGatherNd, tensors);
  Request& r = call.request;
  r.batch_dims = options.batch_dims;
  r.rule = index_rule(r, options.rule, {});
  check_output_type(r, tensors);
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
  xla->rule = index_rule(r, options.rule, xla->rule);
  r.rule = xla->rule;
  check_output_type(r, tensors);
  return call;
}

}  // namespace sheaf
