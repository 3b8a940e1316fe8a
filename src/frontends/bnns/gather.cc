// SPDX-License-Identifier: MIT
//
// BNNSGather and BNNSGatherND: descriptors into a Request, errors into BNNS's codes.
#include <algorithm>
#include <charconv>
#include <climits>
#include <string>

#include "frontends/bnns/descriptor.h"
#include "frontends/c/boundary.h"
#include "plan/request.h"
#include "support/text.h"

namespace sheaf::bnns {
namespace {

int return_code(sheaf_status status) {
  switch (status) {
    case SHEAF_OK: return SHEAF_BNNS_OK;
    case SHEAF_INVALID_ARGUMENT: return SHEAF_BNNS_INVALID_ARGUMENT;
    case SHEAF_INDEX_OUT_OF_RANGE: return SHEAF_BNNS_INDEX_OUT_OF_RANGE;
    case SHEAF_UNSUPPORTED: return SHEAF_BNNS_UNSUPPORTED;
    case SHEAF_OUT_OF_MEMORY: return SHEAF_BNNS_OUT_OF_MEMORY;
    case SHEAF_INTERNAL_ERROR: return SHEAF_BNNS_INTERNAL_ERROR;
  }
  return SHEAF_BNNS_INTERNAL_ERROR;
}

// The value of an integer element e is e * scale + bias; a scale of 0 is read as 1.
struct Quantization {
  float scale, bias;
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

Quantization quantization(const BNNSNDArrayDescriptor& descriptor, DType type) {
  if (!type.is_integer()) {
    return {1, 0};  // BNNS has no meaning for them there
  }
  return {descriptor.data_scale == 0 ? 1 : descriptor.data_scale, descriptor.data_bias};
}

std::string text_of(float value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// A gather copies elements as they are. That is right if the output means the same by them, and if
// an index is the integer that is stored.
void check_quantization(const Call& call, const Tensors& t) {
  const Quantization input = quantization(*call.input, t.input.spec.dtype);
  const Quantization output = quantization(*call.output, t.output.spec.dtype);
  const Quantization indices = quantization(*call.indices, t.indices.spec.dtype);
  if (t.input.spec.dtype == t.output.spec.dtype && input != output) {
    refuse(call, "input and output are scaled differently",
           cat("input has data_scale ", text_of(input.scale), " and data_bias ",
               text_of(input.bias), ", output has ", text_of(output.scale), " and ",
               text_of(output.bias), "; a gather does not convert"),
           "the same data_scale and data_bias in both");
  }
  if (indices != Quantization{1, 0}) {
    refuse(call, "indices are scaled",
           cat("indices has data_scale ", text_of(indices.scale), " and data_bias ",
               text_of(indices.bias)),
           "indices with data_scale 1 and data_bias 0");
  }
}

RunOptions run_options(const Call& call, const BNNSFilterParameters* parameters) {
  if (parameters == nullptr) {
    return {};
  }
  if ((parameters->flags & ~uint32_t{BNNSFlagsUseClientPtr}) != 0) {
    refuse(call, "unknown flags",
           cat("filter_params->flags = ", parameters->flags, ", but only BNNSFlagsUseClientPtr (",
               uint32_t{BNNSFlagsUseClientPtr}, ") is known"),
           "flags = 0");
  }
  return {.threads = static_cast<int>(std::min<size_t>(parameters->n_threads, INT_MAX))};
}

Request make_request(Op op, const Call& call, const Tensors& t) {
  Request r;
  r.op = op;
  r.name = call.name;
  r.data = t.input.spec;
  r.indices = t.indices.spec;
  r.output = t.output.spec;
  r.output_given = true;
  r.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kFail};
  return r;
}

// Indices of the output's shape: off the axis that is the input's shape too.
void check_elements(const Call& call, const Tensors& t, size_t axis) {
  const Dims& input = t.input.spec.sizes;
  const Dims& indices = t.indices.spec.sizes;
  if (indices.size() != input.size()) {
    refuse(call, "ranks differ",
           cat("indices has ", indices.size(), " dimensions, but a vector, or ",
               counted(input.size(), "dimension", "dimensions"), " as in input, are needed"),
           "BNNSGatherND for tuples of indices");
  }
  for (int d = 0; d < input.size(); ++d) {
    if (static_cast<size_t>(d) != axis && indices[d] != input[d]) {
      refuse(call, "shapes do not fit",
             cat("dimension ", d, " has ", indices[d], " entries in indices, but ", input[d],
                 " in input"),
             "indices of the input's shape off the axis, or a vector of indices");
    }
  }
}

Request gather_request(const Call& call, const Tensors& t, size_t axis) {
  const auto rank = static_cast<size_t>(t.input.spec.rank());
  if (axis >= rank) {
    refuse(call, "axis out of range",
           cat("axis = ", axis, ", but input has ",
               counted(t.input.spec.rank(), "dimension", "dimensions"), " (allowed 0..", rank - 1,
               ")"),
           cat("an axis from 0 to ", rank - 1));
  }
  // For an input of rank 1 a vector fits both forms, which then say the same.
  const bool vector = t.indices.spec.rank() == 1;
  if (!vector) {
    check_elements(call, t, axis);
  }
  Request r = make_request(vector ? Op::kGather : Op::kGatherElements, call, t);
  r.axis = static_cast<int64_t>(axis);
  return r;
}

Request gather_nd_request(const Call& call, const Tensors& t) {
  Request r = make_request(Op::kGatherNd, call, t);
  const bool one_element = r.indices.rank() == 1 && r.indices.sizes[0] == r.data.rank();
  if (one_element) {
    // The result has no dimensions. BNNS has no such layout: one element of any rank will do.
    for (const int64_t size : r.output.sizes) {
      if (size != 1) {
        refuse(call, "output has the wrong shape",
               cat("output is ", bracketed(r.output.sizes), ", but this call makes one element"),
               "an output whose sizes are all 1");
      }
    }
    r.output = TensorSpec(r.output.dtype, {});
  }
  return r;
}

template <class MakeRequest>
int run(const Call& call, const BNNSFilterParameters* parameters, MakeRequest make) {
  return return_code(at_c_boundary([&] {
    const Tensors t = read_tensors(call);
    check_quantization(call, t);
    const RunOptions options = run_options(call, parameters);
    make_plan(make(t)).run(t.input.data, t.indices.data, t.output.data, options);
  }));
}

}  // namespace
}  // namespace sheaf::bnns

int BNNSGather(size_t axis, const BNNSNDArrayDescriptor* input,
               const BNNSNDArrayDescriptor* indices, BNNSNDArrayDescriptor* output,
               const BNNSFilterParameters* filter_params) {
  const sheaf::bnns::Call call{"BNNSGather", input, indices, output};
  return sheaf::bnns::run(call, filter_params, [&](const sheaf::bnns::Tensors& t) {
    return sheaf::bnns::gather_request(call, t, axis);
  });
}

int BNNSGatherND(const BNNSNDArrayDescriptor* input, const BNNSNDArrayDescriptor* indices,
                 BNNSNDArrayDescriptor* output, const BNNSFilterParameters* filter_params) {
  const sheaf::bnns::Call call{"BNNSGatherND", input, indices, output};
  return sheaf::bnns::run(call, filter_params, [&](const sheaf::bnns::Tensors& t) {
    return sheaf::bnns::gather_nd_request(call, t);
  });
}
