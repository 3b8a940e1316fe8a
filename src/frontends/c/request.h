// SPDX-License-Identifier: MIT
//
// From C tensors and options to a Request.
#pragma once

#include "frontends/c/options.h"
#include "plan/request.h"
#include "sheaf/c.h"

namespace sheaf {

// The tensors of one call. A plan can be made without an output.
struct CTensors {
  const DLTensor* data;
  const DLTensor* indices;
  const DLTensor* output;
  bool output_required;
  const DLTensor* updates = nullptr;  // of a scatter
};

// What they and the options ask for, and where the tensors' memory is.
struct CCall {
  Request request;
  DLDataType dtype = {};  // of all tensors but indices, as the caller spells it
  const void* data = nullptr;
  const void* indices = nullptr;
  const void* updates = nullptr;
  void* output = nullptr;
  std::string_view device;  // empty: the host
};

CCall read_call(const CTensors& tensors, const sheaf_gather_options& options);
CCall read_call(const CTensors& tensors, const sheaf_gather_elements_options& options);
CCall read_call(const CTensors& tensors, const sheaf_gather_nd_options& options);
CCall read_call(const CTensors& tensors, const sheaf_xla_gather_options& options);
CCall read_call(const CTensors& tensors, const sheaf_scatter_options& options);
CCall read_call(const CTensors& tensors, const sheaf_scatter_elements_options& options);
CCall read_call(const CTensors& tensors, const sheaf_scatter_nd_options& options);
CCall read_call(const CTensors& tensors, const sheaf_xla_scatter_options& options);

// What all scatters have, besides their numbers; `r` has its tensors, which a refusal shows.
template <class Options>
void set_scatter_options(Request& r, const Options& options) {
  r.reduction = reduction(r, options.reduction);
  r.include_self = options.exclude_self == 0;
  r.onto_zeros = options.onto_zeros != 0;
  r.relaxed = options.relaxed != 0;
  r.accumulate_f32 = options.accumulate_f32 != 0;
  r.rule = index_rule(r, options.rule);
}

}  // namespace sheaf
