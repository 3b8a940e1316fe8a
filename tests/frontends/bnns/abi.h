// SPDX-License-Identifier: MIT
//
// What a program compiled against Apple's header relies on, checked by the compiler. Included from
// a C11 file and from a C++ file.
#pragma once

#include <assert.h>
#include <sheaf/bnns.h>
#include <stddef.h>

#if defined(__LP64__)
static_assert(sizeof(BNNSNDArrayDescriptor) == 176, "descriptor");
static_assert(offsetof(BNNSNDArrayDescriptor, flags) == 0, "flags");
static_assert(offsetof(BNNSNDArrayDescriptor, layout) == 4, "layout");
static_assert(offsetof(BNNSNDArrayDescriptor, size) == 8, "size");
static_assert(offsetof(BNNSNDArrayDescriptor, stride) == 72, "stride");
static_assert(offsetof(BNNSNDArrayDescriptor, data) == 136, "data");
static_assert(offsetof(BNNSNDArrayDescriptor, data_type) == 144, "data_type");
static_assert(offsetof(BNNSNDArrayDescriptor, table_data) == 152, "table_data");
static_assert(offsetof(BNNSNDArrayDescriptor, table_data_type) == 160, "table_data_type");
static_assert(offsetof(BNNSNDArrayDescriptor, data_scale) == 164, "data_scale");
static_assert(offsetof(BNNSNDArrayDescriptor, data_bias) == 168, "data_bias");

static_assert(sizeof(BNNSFilterParameters) == 32, "parameters");
static_assert(offsetof(BNNSFilterParameters, flags) == 0, "flags");
static_assert(offsetof(BNNSFilterParameters, n_threads) == 8, "n_threads");
static_assert(offsetof(BNNSFilterParameters, alloc_memory) == 16, "alloc_memory");
static_assert(offsetof(BNNSFilterParameters, free_memory) == 24, "free_memory");
#endif

static_assert(BNNS_MAX_TENSOR_DIMENSION == 8, "rank");
static_assert(sizeof(BNNSDataType) == 4 && sizeof(BNNSDataLayout) == 4, "enums");
static_assert(sizeof(BNNSNDArrayFlags) == 4 && sizeof(BNNSFlags) == 4, "enums");
static_assert(sizeof(BNNSReduceFunction) == 4, "enums");

static_assert(BNNSNDArrayFlagBackpropSet == 0 && BNNSNDArrayFlagBackpropAccumulate == 1, "flags");
static_assert(BNNSFlagsUseClientPtr == 1, "flags");

static_assert(BNNSDataTypeFloatBit == 65536 && BNNSDataTypeFloat16 == 65552, "type");
static_assert(BNNSDataTypeFloat32 == 65568 && BNNSDataTypeBFloat16 == 98320, "type");
static_assert(BNNSDataTypeIntBit == 131072 && BNNSDataTypeInt1 == 131073, "type");
static_assert(BNNSDataTypeInt2 == 131074 && BNNSDataTypeInt4 == 131076, "type");
static_assert(BNNSDataTypeInt8 == 131080 && BNNSDataTypeInt16 == 131088, "type");
static_assert(BNNSDataTypeInt32 == 131104 && BNNSDataTypeInt64 == 131136, "type");
static_assert(BNNSDataTypeUIntBit == 262144 && BNNSDataTypeUInt1 == 262145, "type");
static_assert(BNNSDataTypeUInt2 == 262146 && BNNSDataTypeUInt3 == 262147, "type");
static_assert(BNNSDataTypeUInt4 == 262148 && BNNSDataTypeUInt6 == 262150, "type");
static_assert(BNNSDataTypeUInt8 == 262152 && BNNSDataTypeUInt16 == 262160, "type");
static_assert(BNNSDataTypeUInt32 == 262176 && BNNSDataTypeUInt64 == 262208, "type");
static_assert(BNNSDataTypeIndexedBit == 524288 && BNNSDataTypeIndexed1 == 524289, "type");
static_assert(BNNSDataTypeIndexed2 == 524290 && BNNSDataTypeIndexed4 == 524292, "type");
static_assert(BNNSDataTypeIndexed8 == 524296, "type");
static_assert(BNNSDataTypeMiscellaneousBit == 1048576 && BNNSDataTypeBoolean == 1048584, "type");

static_assert(BNNSDataLayoutVector == 65536, "1D");
static_assert(BNNSDataLayout1DLastMajor == 98304 && BNNSDataLayout1DFirstMajor == 98305, "1D");
static_assert(BNNSDataLayoutRowMajorMatrix == 131072, "2D");
static_assert(BNNSDataLayoutColumnMajorMatrix == 131073, "2D");
static_assert(BNNSDataLayoutFullyConnectedSparse == 135169, "2D");
static_assert(BNNSDataLayout2DLastMajor == 163840 && BNNSDataLayout2DFirstMajor == 163841, "2D");
static_assert(BNNSDataLayoutImageCHW == 196608 && BNNSDataLayoutSNE == 196609, "3D");
static_assert(BNNSDataLayoutNSE == 196610 && BNNSDataLayoutMHA_DHK == 196611, "3D");
static_assert(BNNSDataLayout3DLastMajor == 229376 && BNNSDataLayout3DFirstMajor == 229377, "3D");
static_assert(BNNSDataLayoutConvolutionWeightsOIHW == 262144, "4D");
static_assert(BNNSDataLayoutConvolutionWeightsOIHrWr == 262145, "4D");
static_assert(BNNSDataLayoutConvolutionWeightsIOHrWr == 262146, "4D");
static_assert(BNNSDataLayoutConvolutionWeightsOIHW_Pack32 == 262160, "4D");
static_assert(BNNSDataLayout4DLastMajor == 294912 && BNNSDataLayout4DFirstMajor == 294913, "4D");
static_assert(BNNSDataLayout5DLastMajor == 360448 && BNNSDataLayout5DFirstMajor == 360449, "5D");
static_assert(BNNSDataLayout6DLastMajor == 425984 && BNNSDataLayout6DFirstMajor == 425985, "6D");
static_assert(BNNSDataLayout7DLastMajor == 491520 && BNNSDataLayout7DFirstMajor == 491521, "7D");
static_assert(BNNSDataLayout8DLastMajor == 557056 && BNNSDataLayout8DFirstMajor == 557057, "8D");

static_assert(BNNSReduceFunctionMax == 0 && BNNSReduceFunctionMin == 1, "reduce");
static_assert(BNNSReduceFunctionArgMax == 2 && BNNSReduceFunctionArgMin == 3, "reduce");
static_assert(BNNSReduceFunctionMean == 4 && BNNSReduceFunctionMeanNonZero == 5, "reduce");
static_assert(BNNSReduceFunctionSum == 6 && BNNSReduceFunctionSumSquare == 7, "reduce");
static_assert(BNNSReduceFunctionSumLog == 8 && BNNSReduceFunctionL1Norm == 9, "reduce");
static_assert(BNNSReduceFunctionLogicalOr == 10 && BNNSReduceFunctionAny == 10, "reduce");
static_assert(BNNSReduceFunctionLogicalAnd == 11 && BNNSReduceFunctionAll == 11, "reduce");
static_assert(BNNSReduceFunctionL2Norm == 12 && BNNSReduceFunctionLogSumExp == 13, "reduce");
static_assert(BNNSReduceFunctionProduct == 14 && BNNSReduceFunctionNone == 15, "reduce");
static_assert(BNNSReduceFunctionLogSum == 16, "reduce");

static_assert(SHEAF_BNNS_OK == 0, "codes");
static_assert(SHEAF_BNNS_INVALID_ARGUMENT == -1003, "codes");
static_assert(SHEAF_BNNS_INDEX_OUT_OF_RANGE == -1005, "codes");
