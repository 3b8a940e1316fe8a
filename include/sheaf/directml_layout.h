// SPDX-License-Identifier: MIT
//
// Holds the structs of sheaf/directml_types.h to DirectML's layout, in the program that includes
// them: a stray packing pragma or compiler switch is found here and not at run time.
#pragma once

#include <cstddef>

#include "sheaf/directml_types.h"

#pragma GCC visibility push(default)

namespace sheaf::dml::detail {

// DirectML's layout is known where pointers have 64 bits; elsewhere there is nothing to hold to.
constexpr bool is(size_t bytes, size_t expected) { return sizeof(void*) != 8 || bytes == expected; }

static_assert(sizeof(UINT) == 4 && sizeof(UINT64) == 8 && sizeof(BOOL) == 4);
static_assert(sizeof(HRESULT) == 4 && E_INVALIDARG < 0 && DXGI_ERROR_UNSUPPORTED < 0);
static_assert(sizeof(DML_TENSOR_DATA_TYPE) == 4 && sizeof(DML_TENSOR_FLAGS) == 4);
static_assert(sizeof(DML_TENSOR_TYPE) == 4 && sizeof(DML_OPERATOR_TYPE) == 4);
static_assert(sizeof(DML_FEATURE_LEVEL) == 4 && sizeof(DML_FEATURE) == 4);
static_assert(sizeof(DML_CREATE_DEVICE_FLAGS) == 4 && sizeof(DML_EXECUTION_FLAGS) == 4);
static_assert(sizeof(DML_BINDING_TYPE) == 4);

static_assert(sizeof(DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT) == 4);
static_assert(sizeof(DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT) == 4);
static_assert(sizeof(DML_FEATURE_DATA_FEATURE_LEVELS) == 4);

static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, DataType), 0));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, Flags), 4));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, DimensionCount), 8));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, Sizes), 16));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, Strides), 24));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, TotalTensorSizeInBytes), 32));
static_assert(is(offsetof(DML_BUFFER_TENSOR_DESC, GuaranteedBaseOffsetAlignment), 40));
static_assert(is(sizeof(DML_BUFFER_TENSOR_DESC), 48));

static_assert(is(offsetof(DML_TENSOR_DESC, Type), 0));
static_assert(is(offsetof(DML_TENSOR_DESC, Desc), 8));
static_assert(is(sizeof(DML_TENSOR_DESC), 16));

static_assert(is(offsetof(DML_OPERATOR_DESC, Type), 0));
static_assert(is(offsetof(DML_OPERATOR_DESC, Desc), 8));
static_assert(is(sizeof(DML_OPERATOR_DESC), 16));

static_assert(is(offsetof(DML_GATHER_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_GATHER_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_GATHER_OPERATOR_DESC, OutputTensor), 16));
static_assert(is(offsetof(DML_GATHER_OPERATOR_DESC, Axis), 24));
static_assert(is(offsetof(DML_GATHER_OPERATOR_DESC, IndexDimensions), 28));
static_assert(is(sizeof(DML_GATHER_OPERATOR_DESC), 32));

static_assert(is(offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, OutputTensor), 16));
static_assert(is(offsetof(DML_GATHER_ELEMENTS_OPERATOR_DESC, Axis), 24));
static_assert(is(sizeof(DML_GATHER_ELEMENTS_OPERATOR_DESC), 32));

static_assert(is(offsetof(DML_GATHER_ND_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_GATHER_ND_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_GATHER_ND_OPERATOR_DESC, OutputTensor), 16));
static_assert(is(offsetof(DML_GATHER_ND_OPERATOR_DESC, InputDimensionCount), 24));
static_assert(is(offsetof(DML_GATHER_ND_OPERATOR_DESC, IndicesDimensionCount), 28));
static_assert(is(sizeof(DML_GATHER_ND_OPERATOR_DESC), 32));

static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, OutputTensor), 16));
static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, InputDimensionCount), 24));
static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, IndicesDimensionCount), 28));
static_assert(is(offsetof(DML_GATHER_ND1_OPERATOR_DESC, BatchDimensionCount), 32));
static_assert(is(sizeof(DML_GATHER_ND1_OPERATOR_DESC), 40));

static_assert(is(offsetof(DML_SCATTER_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_SCATTER_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_SCATTER_OPERATOR_DESC, UpdatesTensor), 16));
static_assert(is(offsetof(DML_SCATTER_OPERATOR_DESC, OutputTensor), 24));
static_assert(is(offsetof(DML_SCATTER_OPERATOR_DESC, Axis), 32));
static_assert(is(sizeof(DML_SCATTER_OPERATOR_DESC), 40));

static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, InputTensor), 0));
static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, IndicesTensor), 8));
static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, UpdatesTensor), 16));
static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, OutputTensor), 24));
static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, InputDimensionCount), 32));
static_assert(is(offsetof(DML_SCATTER_ND_OPERATOR_DESC, IndicesDimensionCount), 36));
static_assert(is(sizeof(DML_SCATTER_ND_OPERATOR_DESC), 40));

static_assert(is(offsetof(DML_FEATURE_QUERY_FEATURE_LEVELS, RequestedFeatureLevelCount), 0));
static_assert(is(offsetof(DML_FEATURE_QUERY_FEATURE_LEVELS, RequestedFeatureLevels), 8));
static_assert(is(sizeof(DML_FEATURE_QUERY_FEATURE_LEVELS), 16));

static_assert(is(offsetof(DML_BINDING_PROPERTIES, RequiredDescriptorCount), 0));
static_assert(is(offsetof(DML_BINDING_PROPERTIES, TemporaryResourceSize), 8));
static_assert(is(offsetof(DML_BINDING_PROPERTIES, PersistentResourceSize), 16));
static_assert(is(sizeof(DML_BINDING_PROPERTIES), 24));

static_assert(is(offsetof(DML_BUFFER_BINDING, Buffer), 0));
static_assert(is(offsetof(DML_BUFFER_BINDING, Offset), 8));
static_assert(is(offsetof(DML_BUFFER_BINDING, SizeInBytes), 16));
static_assert(is(sizeof(DML_BUFFER_BINDING), 24));

static_assert(is(offsetof(DML_BINDING_DESC, Type), 0));
static_assert(is(offsetof(DML_BINDING_DESC, Desc), 8));
static_assert(is(sizeof(DML_BINDING_DESC), 16));

}  // namespace sheaf::dml::detail

#pragma GCC visibility pop
