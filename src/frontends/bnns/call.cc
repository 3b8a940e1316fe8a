// SPDX-License-Identifier: MIT
#include "frontends/bnns/call.h"

#include <algorithm>
#include <charconv>
#include <climits>
#include <string>
#include <utility>

#include "support/text.h"

namespace sheaf::bnns {

int return_code(sheaf_status status) {
  switch (status) {
    case SHEAF_OK: return SHEAF_BNNS_OK;
    case SHEAF_INVALID_ARGUMENT: return SHEAF_BNNS_INVALID_ARGUMENT;
    case SHEAF_INDEX_OUT_OF_RANGE: return SHEAF_BNNS_INDEX_OUT_OF_RANGE;
    case SHEAF_UNSUPPORTED: return SHEAF_BNNS_UNSUPPORTED;
    case SHEAF_OUT_OF_MEMORY: return SHEAF_BNNS_OUT_OF_MEMORY;
    case SHEAF_DEVICE_ERROR:
    case SHEAF_FILE_ERROR:
    case SHEAF_CANCELLED:
    case SHEAF_INTERNAL_ERROR: break;
  }
  return SHEAF_BNNS_INTERNAL_ERROR;
}

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

// Elements are copied as they are, or converted by value. Either is right if the output means the
// same by them.
void check_same_meaning(const Call& call, DType input_type, DType output_type) {
  const Quantization input = quantization(*call.input, input_type);
  const Quantization output = quantization(*call.output, output_type);
  if (input != output) {
    refuse(call, {Reason::kOption}, "input and output are scaled differently",
           cat("input has data_scale ", text_of(input.scale), " and data_bias ",
               text_of(input.bias), ", output has ", text_of(output.scale), " and ",
               text_of(output.bias), "; nothing is converted"),
           "the same data_scale and data_bias in both");
  }
}

// An index is the integer that is stored.
void check_quantization(const Call& call, const Tensors& t) {
  const Quantization indices = quantization(*call.indices, t.indices.spec.dtype);
  if (t.input.spec.dtype == t.output.spec.dtype) {
    check_same_meaning(call, t.input.spec.dtype, t.output.spec.dtype);
  }
  if (indices != Quantization{1, 0}) {
    refuse(call, {Reason::kOption}, "indices are scaled",
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
    refuse(call, {Reason::kOption}, "unknown flags",
           cat("filter_params->flags = ", parameters->flags, ", but only BNNSFlagsUseClientPtr (",
               uint32_t{BNNSFlagsUseClientPtr}, ") is known"),
           "flags = 0");
  }
  return {.threads = static_cast<int>(std::min<size_t>(parameters->n_threads, INT_MAX))};
}

void check_axis(const Call& call, const char* tensor, const Dims& sizes, size_t axis) {
  const auto rank = static_cast<size_t>(sizes.size());
  if (axis >= rank) {
    refuse(call, {Reason::kAxis}, "axis out of range",
           cat("axis = ", axis, ", but ", tensor, " has ",
               counted(sizes.size(), "dimension", "dimensions"), " (allowed 0..", rank - 1, ")"),
           cat("an axis from 0 to ", rank - 1));
  }
}

void check_elements(const Call& call, const char* tensor, const Dims& sizes, const Dims& indices,
                    size_t axis) {
  if (indices.size() != sizes.size()) {
    refuse(call, {Reason::kRank}, "ranks differ",
           cat("indices has ", indices.size(), " dimensions, but a vector, or ",
               counted(sizes.size(), "dimension", "dimensions"), " as in ", tensor, ", are needed"),
           cat(call.name, "ND for tuples of indices"));
  }
  for (int d = 0; d < sizes.size(); ++d) {
    if (static_cast<size_t>(d) != axis && indices[d] != sizes[d]) {
      refuse(call, {Reason::kShape}, "shapes do not fit",
             cat("dimension ", d, " has ", indices[d], " entries in indices, but ", sizes[d],
                 " in ", tensor),
             cat("indices of the ", tensor, "'s shape off the axis, or a vector of indices"));
    }
  }
}

TensorSpec one_element(const Call& call, const char* tensor, const TensorSpec& spec) {
  for (const int64_t size : spec.sizes) {
    if (size != 1) {
      refuse(call, {Reason::kShape}, cat(tensor, " has the wrong shape"),
             cat(tensor, " is ", bracketed(spec.sizes), ", but this call moves one element"),
             cat("an ", tensor, " whose sizes are all 1"));
    }
  }
  return {spec.dtype, {}};
}

Request common_request(Op op, const Call& call, const Tensors& t) {
  Request r;
  r.op = op;
  r.name = call.name;
  r.indices = t.indices.spec;
  r.output = t.output.spec;
  r.output_given = true;
  r.rule = {.negative = Negative::kOutOfRange, .out_of_range = OutOfRange::kFail};
  return r;
}

Error in_words_of_bnns(const Call& call, const Tensors& t, const Error& error) {
  Refusal refusal = error.refusal();
  const Cause& cause = refusal.cause;
  if (cause.reason == Reason::kIndex && !refusal.picture.empty()) {
    refusal.next =
        "indices that are in range; BNNS has no other rule, and none counts from the end";
    return Error(std::move(refusal));
  }
  if (cause.tensor != "updates") {
    return error;
  }
  if (cause.reason == Reason::kType) {
    return Error(refusal_of(
        call, cause, "types differ",
        cat("input is ", t.input.spec.dtype.name(), ", but output is ", t.output.spec.dtype.name()),
        "the same type; nothing is converted"));
  }
  if (cause.reason == Reason::kShape) {
    return Error(refusal_of(
        call, cause, "input has the wrong shape",
        cat("input is ", bracketed(cause.got), ", but this call takes ", bracketed(cause.wanted)),
        cat("an input of shape ", bracketed(cause.wanted))));
  }
  return error;
}

}  // namespace sheaf::bnns
