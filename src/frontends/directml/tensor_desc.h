// SPDX-License-Identifier: MIT
//
// A buffer tensor descriptor, checked by itself: its type, its sizes and strides, its bytes.
#pragma once

#include "frontends/directml/operator_desc.h"
#include "sheaf/tensor.h"

namespace sheaf::dml::detail {

struct TensorDesc {
  const char* name = "";  // "InputTensor"
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  TensorSpec spec;            // with all its dimensions, padding included
  UINT64 total_bytes = 0;     // what a binding must have: TotalTensorSizeInBytes
  UINT64 required_bytes = 0;  // what the elements need of it
  UINT64 alignment = 0;       // of the offset of a binding
  bool owned = false;         // OWNED_BY_DML
};

struct Tensors {
  TensorDesc input, indices, output;
  TensorDesc updates;  // of a scatter
};

// Refuses a tensor that is not sound or that the operator does not take at its level, and tensors
// that differ in dimension count, or from the input in type.
Tensors read_tensors(const OperatorDesc& op);

}  // namespace sheaf::dml::detail
