// SPDX-License-Identifier: MIT
//
// A gather of decoded elements as kernels see it.
#pragma once

#include "plan/encoded_rows.h"
#include "plan/request.h"
#include "sheaf/encoded_gather.h"

namespace sheaf {

// The nest counts elements, not bytes, of both tensors: `nest.row_bytes` elements from number
// Σ p·loop.data + … of the decoded tensor go to element Σ p·loop.output of the output.
struct EncodedNest {
  Nest nest;
  EncodedRows rows;
  DType type = f32;                             // of the output
  std::byte fill_value[kMaxElementBytes] = {};  // one element of it
};

// `request` is the gather of the decoded tensor; its data is not read.
EncodedGatherPlan make_encoded_gather(const EncodedSpec& data, const Request& request, DType type);

}  // namespace sheaf
