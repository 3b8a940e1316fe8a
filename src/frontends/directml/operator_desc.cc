// SPDX-License-Identifier: MIT
#include "frontends/directml/descriptors.h"

#include "frontends/directml/refusal.h"
#include "support/text.h"

namespace sheaf::dml::detail {
namespace {

template <class Desc>
OperatorDesc with_tensors(const Desc& desc) {
  OperatorDesc op;
  op.input = desc.InputTensor;
  op.indices = desc.IndicesTensor;
  op.output = desc.OutputTensor;
  return op;
}

OperatorDesc read(const DML_GATHER_OPERATOR_DESC& desc) {
  OperatorDesc op = with_tensors(desc);
  op.axis = desc.Axis;
  op.index_dimensions = desc.IndexDimensions;
  return op;
}

template <class Desc>
OperatorDesc read_elements(const Desc& desc) {
  OperatorDesc op = with_tensors(desc);
  op.axis = desc.Axis;
  return op;
}

template <class Desc>
OperatorDesc read_nd(const Desc& desc) {
  OperatorDesc op = with_tensors(desc);
  op.input_dimension_count = desc.InputDimensionCount;
  op.indices_dimension_count = desc.IndicesDimensionCount;
  return op;
}

OperatorDesc read(const DML_GATHER_ND1_OPERATOR_DESC& desc) {
  OperatorDesc op = read_nd(desc);
  op.batch_dimension_count = desc.BatchDimensionCount;
  return op;
}

template <class Desc>
OperatorDesc with_updates(OperatorDesc op, const Desc& desc) {
  op.updates = desc.UpdatesTensor;
  return op;
}

OperatorDesc read(const DML_SCATTER_OPERATOR_DESC& desc) {
  return with_updates(read_elements(desc), desc);
}

OperatorDesc read(const DML_SCATTER_ND_OPERATOR_DESC& desc) {
  return with_updates(read_nd(desc), desc);
}

OperatorDesc read_desc(DML_OPERATOR_TYPE type, const void* desc) {
  switch (type) {
    case DML_OPERATOR_GATHER: return read(*static_cast<const DML_GATHER_OPERATOR_DESC*>(desc));
    case DML_OPERATOR_GATHER_ELEMENTS:
      return read_elements(*static_cast<const DML_GATHER_ELEMENTS_OPERATOR_DESC*>(desc));
    case DML_OPERATOR_GATHER_ND:
      return read_nd(*static_cast<const DML_GATHER_ND_OPERATOR_DESC*>(desc));
    case DML_OPERATOR_SCATTER_ELEMENTS:
      return read(*static_cast<const DML_SCATTER_OPERATOR_DESC*>(desc));
    case DML_OPERATOR_SCATTER_ND:
      return read(*static_cast<const DML_SCATTER_ND_OPERATOR_DESC*>(desc));
    default: return read(*static_cast<const DML_GATHER_ND1_OPERATOR_DESC*>(desc));
  }
}

[[noreturn]] void refuse_creation(const std::string& what, const std::string& detail,
                                  DML_FEATURE_LEVEL level, const std::string& next) {
  throw Error(Refusal{.who = "CreateOperator",
                      .what = what,
                      .detail = detail,
                      .given = cat("device of ", level_name(level)),
                      .next = next});
}

}  // namespace

OperatorDesc read_operator(const DML_OPERATOR_DESC* desc, const DeviceOptions& options) {
  const DML_FEATURE_LEVEL level = options.feature_level;
  if (desc == nullptr) {
    refuse_creation("null pointer", "the DML_OPERATOR_DESC is null", level, "pass a descriptor");
  }
  const OperatorInfo* info = find_operator(desc->Type);
  if (info == nullptr) {
    refuse_creation("no such operator",
                    cat("Type = ", int32_t{desc->Type}, " is no gather or scatter"), level,
                    "DML_OPERATOR_GATHER, GATHER_ELEMENTS, GATHER_ND, GATHER_ND1, "
                    "SCATTER_ELEMENTS or SCATTER_ND");
  }
  const TensorSupport* support = support_at(*info, level);
  if (support == nullptr) {
    refuse_creation("feature level too low",
                    cat(info->name, " needs ", level_name(info->support.back().since)), level,
                    "a device of a higher level");
  }
  if (desc->Desc == nullptr) {
    refuse_creation("null pointer", cat("the Desc of ", info->name, " is null"), level,
                    "pass the operator's own descriptor");
  }
  OperatorDesc op = read_desc(desc->Type, desc->Desc);
  op.info = info;
  op.support = support;
  op.level = level;
  op.smaller_indices = options.smaller_indices;
  return op;
}

}  // namespace sheaf::dml::detail
