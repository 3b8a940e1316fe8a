// SPDX-License-Identifier: MIT
//
// DirectML's descriptors as they were read: the operators as one struct, and each buffer tensor
// with its type, sizes, strides and bytes checked.
#pragma once

#include "frontends/directml/feature_levels.h"
#include "sheaf/directml.h"
#include "sheaf/tensor.h"

#include <string>

namespace sheaf::dml::detail {

struct OperatorDesc {
  const OperatorInfo* info = nullptr;
  const TensorSupport* support = nullptr;
  DML_FEATURE_LEVEL level = kHighestLevel;
  bool smaller_indices = false;  // DeviceOptions
  std::string given;             // the third line of a refusal; empty: the tensors below
  const DML_TENSOR_DESC* input = nullptr;
  const DML_TENSOR_DESC* indices = nullptr;
  const DML_TENSOR_DESC* updates = nullptr;  // of a scatter
  const DML_TENSOR_DESC* output = nullptr;
  UINT axis = 0;                                                // GATHER, *_ELEMENTS
  UINT index_dimensions = 0;                                    // GATHER
  UINT input_dimension_count = 0, indices_dimension_count = 0;  // *_ND, GATHER_ND1
  UINT batch_dimension_count = 0;                               // GATHER_ND1
};

// Refuses null pointers and operators that the level does not have. The tensors are not looked at.
OperatorDesc read_operator(const DML_OPERATOR_DESC* desc, const DeviceOptions& options);

struct TensorDesc {
  const char* name = "";  // "InputTensor"
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_UNKNOWN;
  TensorSpec spec;            // with all its dimensions, padding included
  UINT64 total_bytes = 0;     // what a binding must have: TotalTensorSizeInBytes
  UINT64 required_bytes = 0;  // up to the end of its last element
  UINT64 alignment = 0;       // of the offset of a binding
  bool owned = false;         // OWNED_BY_DML
};

struct Tensors {
  TensorDesc input, indices, output;
  TensorDesc updates;  // of a scatter
};

// One tensor by itself. Refuses one that is not sound or not of `types`.
TensorDesc read_tensor(const OperatorDesc& op, const char* name, const DML_TENSOR_DESC* desc,
                       const TypeSet& types, bool is_output);

// Refuses a tensor that is not sound or that the operator does not take at its level, and tensors
// that differ in dimension count, or from the input in type.
Tensors read_tensors(const OperatorDesc& op);

}  // namespace sheaf::dml::detail
