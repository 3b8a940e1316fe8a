// SPDX-License-Identifier: MIT
//
// The operator descriptors as one struct, and the refusals that quote it.
#pragma once

#include <string>

#include "frontends/directml/feature_levels.h"
#include "sheaf/directml_types.h"

namespace sheaf::dml::detail {

struct OperatorDesc {
  const OperatorInfo* info = nullptr;
  const TensorSupport* support = nullptr;
  DML_FEATURE_LEVEL level = kHighestLevel;
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
OperatorDesc read_operator(const DML_OPERATOR_DESC* desc, DML_FEATURE_LEVEL level);

// "{3, 5}"
std::string braced(const Dims& dims);

// Throws with all tensors and attributes of `op` on the third line, as far as they can be read.
[[noreturn]] void refuse(const OperatorDesc& op, const std::string& what, const std::string& detail,
                         const std::string& next);

}  // namespace sheaf::dml::detail
