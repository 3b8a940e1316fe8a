// SPDX-License-Identifier: MIT
//
// Which operator exists since which feature level, and which types and dimension counts it takes
// there.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "plan/request.h"
#include "sheaf/directml_types.h"

namespace sheaf::dml::detail {

// A set of DML_TENSOR_DATA_TYPEs.
class TypeSet {
 public:
  constexpr TypeSet(std::initializer_list<DML_TENSOR_DATA_TYPE> types) {
    for (const DML_TENSOR_DATA_TYPE type : types) {
      bits_ |= 1u << type;
    }
  }
  constexpr bool contains(DML_TENSOR_DATA_TYPE type) const {
    return type >= 0 && type < 32 && (bits_ >> type & 1u) != 0;
  }
  friend constexpr TypeSet operator|(TypeSet a, TypeSet b) {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  uint32_t bits_ = 0;
};

// What an operator takes from level `since` on. Output and updates are as the input.
struct TensorSupport {
  DML_FEATURE_LEVEL since;
  UINT min_dimensions, max_dimensions;
  TypeSet data, indices;
};

struct OperatorInfo {
  DML_OPERATOR_TYPE type;
  Op op;
  const char* name;
  std::span<const TensorSupport> support;  // newest first
};

inline constexpr DML_FEATURE_LEVEL kHighestLevel = DML_FEATURE_LEVEL_6_4;
bool is_feature_level(DML_FEATURE_LEVEL level);
std::string level_name(DML_FEATURE_LEVEL level);  // "DML_FEATURE_LEVEL_3_0"

// Null if `type` is neither a gather nor a scatter.
const OperatorInfo* find_operator(DML_OPERATOR_TYPE type);

// Null if the operator is not there yet.
const TensorSupport* support_at(const OperatorInfo& info, DML_FEATURE_LEVEL level);

// Whether any operator of the level takes the type, as data or as indices.
bool is_type_supported(DML_TENSOR_DATA_TYPE type, DML_FEATURE_LEVEL level);

std::string type_name(DML_TENSOR_DATA_TYPE type);  // "FLOAT32"; "DataType 99" for others
std::string names_of(const TypeSet& types);        // "FLOAT32, FLOAT16"

// The bits of an element; 0 for an unknown type.
int bits_of(DML_TENSOR_DATA_TYPE type);

// The element type of a type that an operator takes.
DType element_type(DML_TENSOR_DATA_TYPE type);

// Refuses unknown flags, and levels that do not exist.
void check_device_arguments(DML_CREATE_DEVICE_FLAGS flags, DML_FEATURE_LEVEL level);

// What CheckFeatureSupport was given.
struct FeatureQuery {
  DML_FEATURE feature;
  UINT query_size;
  const void* query;
  UINT support_size;
  void* support;
};

// Writes the answer. Refuses structs that are not those of the feature.
void answer(DML_FEATURE_LEVEL level, const FeatureQuery& query);

}  // namespace sheaf::dml::detail
