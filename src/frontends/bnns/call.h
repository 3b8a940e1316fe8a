// SPDX-License-Identifier: MIT
//
// What the four functions share: a call is read, checked, run, and its error made BNNS's code.
#pragma once

#include "frontends/bnns/descriptor.h"
#include "frontends/c/boundary.h"
#include "plan/request.h"

namespace sheaf::bnns {

int return_code(sheaf_status status);

// The value of an integer element e is e * scale + bias; a scale of 0 is read as 1.
struct Quantization {
  float scale, bias;
  friend bool operator==(const Quantization&, const Quantization&) = default;
};
Quantization quantization(const BNNSNDArrayDescriptor& descriptor, DType type);
std::string text_of(float value);

// Refuses scaled indices, and an input and an output that mean different things by an element.
void check_quantization(const Call& call, const Tensors& tensors);

// The second half of it.
void check_same_meaning(const Call& call, DType input, DType output);

RunOptions run_options(const Call& call, const BNNSFilterParameters* parameters);

// `tensor` is the one that axis and indices speak of.
void check_axis(const Call& call, const char* tensor, const Dims& sizes, size_t axis);

// Refuses indices that are no vector and differ from `sizes` off the axis.
void check_elements(const Call& call, const char* tensor, const Dims& sizes, const Dims& indices,
                    size_t axis);

// A lookup vector for each dimension, and only one: the slice has no dimensions. BNNS has no such
// layout: one element of any rank will do. Refuses others.
TensorSpec one_element(const Call& call, const char* tensor, const TensorSpec& spec);

// The name of the call, its indices and BNNS's rule for them.
Request common_request(Op op, const Call& call, const Tensors& tensors);

// The plan's refusal, where BNNS has other words: its input holds a scatter's updates, and it has
// no index rule to choose from.
Error in_words_of_bnns(const Call& call, const Tensors& tensors, const Error& error);

// `work` gets the tensors and the RunOptions, after all checks that concern every call.
template <class Work>
int run(const Call& call, const BNNSFilterParameters* parameters, Work work) {
  return return_code(at_c_boundary([&] {
    const Tensors tensors = read_tensors(call);
    check_quantization(call, tensors);
    try {
      work(tensors, run_options(call, parameters));
    } catch (const Error& error) {
      throw in_words_of_bnns(call, tensors, error);
    }
  }));
}

}  // namespace sheaf::bnns
