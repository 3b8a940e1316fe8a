// SPDX-License-Identifier: MIT
//
// DirectML's constants, tensors and operator descriptors, for the operators that Sheaf has. Values,
// layouts and names are DirectML's. Include directml.h.
#pragma once

#include "sheaf_com.h"
#include "sheaf_dml_operator_types.h"

static const UINT DML_TENSOR_DIMENSION_COUNT_MAX = 5;
static const UINT DML_TENSOR_DIMENSION_COUNT_MAX1 = 8;
static const UINT DML_TEMPORARY_BUFFER_ALIGNMENT = 256;
static const UINT DML_PERSISTENT_BUFFER_ALIGNMENT = 256;
static const UINT DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT = 16;

enum DML_TENSOR_DATA_TYPE {
  DML_TENSOR_DATA_TYPE_UNKNOWN = 0,
  DML_TENSOR_DATA_TYPE_FLOAT32 = 1,
  DML_TENSOR_DATA_TYPE_FLOAT16 = 2,
  DML_TENSOR_DATA_TYPE_UINT32 = 3,
  DML_TENSOR_DATA_TYPE_UINT16 = 4,
  DML_TENSOR_DATA_TYPE_UINT8 = 5,
  DML_TENSOR_DATA_TYPE_INT32 = 6,
  DML_TENSOR_DATA_TYPE_INT16 = 7,
  DML_TENSOR_DATA_TYPE_INT8 = 8,
  DML_TENSOR_DATA_TYPE_FLOAT64 = 9,
  DML_TENSOR_DATA_TYPE_UINT64 = 10,
  DML_TENSOR_DATA_TYPE_INT64 = 11,
  DML_TENSOR_DATA_TYPE_UINT4 = 12,
  DML_TENSOR_DATA_TYPE_INT4 = 13,
};

enum DML_TENSOR_TYPE {
  DML_TENSOR_TYPE_INVALID = 0,
  DML_TENSOR_TYPE_BUFFER = 1,
};

enum DML_TENSOR_FLAGS {
  DML_TENSOR_FLAG_NONE = 0,
  DML_TENSOR_FLAG_OWNED_BY_DML = 1,
};
DEFINE_ENUM_FLAG_OPERATORS(DML_TENSOR_FLAGS)

struct DML_BUFFER_TENSOR_DESC {
  DML_TENSOR_DATA_TYPE DataType;
  DML_TENSOR_FLAGS Flags;
  UINT DimensionCount;
  const UINT* Sizes;
  const UINT* Strides;  // in elements; null: packed
  UINT64 TotalTensorSizeInBytes;
  UINT GuaranteedBaseOffsetAlignment;
};

struct DML_TENSOR_DESC {
  DML_TENSOR_TYPE Type;
  const void* Desc;
};

struct DML_OPERATOR_DESC {
  DML_OPERATOR_TYPE Type;
  const void* Desc;
};

enum DML_PADDING_MODE {
  DML_PADDING_MODE_CONSTANT = 0,
  DML_PADDING_MODE_EDGE = 1,
  DML_PADDING_MODE_REFLECTION = 2,
  DML_PADDING_MODE_SYMMETRIC = 3,
  DML_PADDING_MODE_WRAP = 4,
};

enum DML_AXIS_DIRECTION {
  DML_AXIS_DIRECTION_INCREASING = 0,
  DML_AXIS_DIRECTION_DECREASING = 1,
};

struct DML_SCALE_BIAS {
  FLOAT Scale;
  FLOAT Bias;
};

union DML_SCALAR_UNION {
  BYTE Bytes[8];
  INT8 Int8;
  UINT8 UInt8;
  INT16 Int16;
  UINT16 UInt16;
  INT32 Int32;
  UINT32 UInt32;
  INT64 Int64;
  UINT64 UInt64;
  FLOAT Float32;
  DOUBLE Float64;
};

struct DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  const DML_SCALE_BIAS* ScaleBias;  // optional
};

struct DML_CAST_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
};

struct DML_FILL_VALUE_CONSTANT_OPERATOR_DESC {
  const DML_TENSOR_DESC* OutputTensor;
  DML_TENSOR_DATA_TYPE ValueDataType;
  DML_SCALAR_UNION Value;
};

struct DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC {
  const DML_TENSOR_DESC* OutputTensor;
  DML_TENSOR_DATA_TYPE ValueDataType;
  DML_SCALAR_UNION ValueStart;
  DML_SCALAR_UNION ValueDelta;
};

struct DML_TILE_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT RepeatsCount;
  const UINT* Repeats;
};

struct DML_JOIN_OPERATOR_DESC {
  UINT InputCount;
  const DML_TENSOR_DESC* InputTensors;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};

struct DML_SPLIT_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  UINT OutputCount;
  const DML_TENSOR_DESC* OutputTensors;
  UINT Axis;
};

struct DML_SLICE_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT DimensionCount;
  const UINT* Offsets;
  const UINT* Sizes;
  const UINT* Strides;
};

struct DML_SLICE1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT DimensionCount;
  const UINT* InputWindowOffsets;
  const UINT* InputWindowSizes;
  const INT* InputWindowStrides;
};

struct DML_SLICE_GRAD_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputGradientTensor;
  const DML_TENSOR_DESC* OutputGradientTensor;
  UINT DimensionCount;
  const UINT* InputWindowOffsets;
  const UINT* InputWindowSizes;
  const INT* InputWindowStrides;
};

struct DML_PADDING_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  DML_PADDING_MODE PaddingMode;
  FLOAT PaddingValue;
  UINT DimensionCount;
  const UINT* StartPadding;
  const UINT* EndPadding;
};

struct DML_PADDING1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputTensor;
  DML_PADDING_MODE PaddingMode;
  DML_TENSOR_DATA_TYPE PaddingValueDataType;
  DML_SCALAR_UNION PaddingValue;
  UINT DimensionCount;
  const UINT* StartPadding;
  const UINT* EndPadding;
};

struct DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* SequenceLengthsTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};

struct DML_ONE_HOT_OPERATOR_DESC {
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* ValuesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};

struct DML_NONZERO_COORDINATES_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputCountTensor;
  const DML_TENSOR_DESC* OutputCoordinatesTensor;
};

struct DML_TOP_K_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputValueTensor;
  const DML_TENSOR_DESC* OutputIndexTensor;
  UINT Axis;
  UINT K;
};

struct DML_TOP_K1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* OutputValueTensor;
  const DML_TENSOR_DESC* OutputIndexTensor;
  UINT Axis;
  UINT K;
  DML_AXIS_DIRECTION AxisDirection;
};

struct DML_GATHER_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
  UINT IndexDimensions;
};

struct DML_GATHER_ELEMENTS_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};

struct DML_GATHER_ND_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
};

struct DML_GATHER_ND1_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
  UINT BatchDimensionCount;
};

struct DML_SCATTER_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* UpdatesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT Axis;
};
using DML_SCATTER_ELEMENTS_OPERATOR_DESC = DML_SCATTER_OPERATOR_DESC;

struct DML_SCATTER_ND_OPERATOR_DESC {
  const DML_TENSOR_DESC* InputTensor;
  const DML_TENSOR_DESC* IndicesTensor;
  const DML_TENSOR_DESC* UpdatesTensor;
  const DML_TENSOR_DESC* OutputTensor;
  UINT InputDimensionCount;
  UINT IndicesDimensionCount;
};
