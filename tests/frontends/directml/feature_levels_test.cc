// SPDX-License-Identifier: MIT
//
// The tables of types and dimension counts, level by level. What is expected is written down here
// once more, from DirectML's pages, in another form than the library has it.
#include <set>
#include <tuple>

#include "frontends/directml/dml.h"

using namespace dml_test;

namespace {

constexpr int kLastType = 15;  // two beyond the last, INT4
constexpr UINT kMostDimensions = 9;

constexpr DML_OPERATOR_TYPE kOperators[] = {DML_OPERATOR_GATHER,    DML_OPERATOR_GATHER_ELEMENTS,
                                            DML_OPERATOR_GATHER_ND, DML_OPERATOR_GATHER_ND1,
                                            DML_OPERATOR_SCATTER,   DML_OPERATOR_SCATTER_ND};

using Types = std::set<DML_TENSOR_DATA_TYPE>;

const Types kFloats{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16};
const Types kNarrow{DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16,
                    DML_TENSOR_DATA_TYPE_INT32,   DML_TENSOR_DATA_TYPE_INT16,
                    DML_TENSOR_DATA_TYPE_INT8,    DML_TENSOR_DATA_TYPE_UINT32,
                    DML_TENSOR_DATA_TYPE_UINT16,  DML_TENSOR_DATA_TYPE_UINT8};
const Types kWide{
    DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_DATA_TYPE_FLOAT16,
    DML_TENSOR_DATA_TYPE_INT64,   DML_TENSOR_DATA_TYPE_INT32,   DML_TENSOR_DATA_TYPE_INT16,
    DML_TENSOR_DATA_TYPE_INT8,    DML_TENSOR_DATA_TYPE_UINT64,  DML_TENSOR_DATA_TYPE_UINT32,
    DML_TENSOR_DATA_TYPE_UINT16,  DML_TENSOR_DATA_TYPE_UINT8};
const Types kUint32{DML_TENSOR_DATA_TYPE_UINT32};
const Types kIndex{DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_INT32,
                   DML_TENSOR_DATA_TYPE_UINT64, DML_TENSOR_DATA_TYPE_UINT32};

DML_FEATURE_LEVEL introduced(DML_OPERATOR_TYPE type) {
  switch (type) {
    case DML_OPERATOR_GATHER: return DML_FEATURE_LEVEL_1_0;
    case DML_OPERATOR_SCATTER: return DML_FEATURE_LEVEL_2_0;
    case DML_OPERATOR_GATHER_ND1: return DML_FEATURE_LEVEL_3_0;
    default: return DML_FEATURE_LEVEL_2_1;
  }
}

const Types& data_types(DML_FEATURE_LEVEL level) {
  return level < DML_FEATURE_LEVEL_2_1 ? kFloats : level < DML_FEATURE_LEVEL_4_1 ? kNarrow : kWide;
}

const Types& index_types(DML_FEATURE_LEVEL level) {
  return level < DML_FEATURE_LEVEL_3_0 ? kUint32 : kIndex;
}

bool dimensions_fit(DML_FEATURE_LEVEL level, UINT count) {
  return level < DML_FEATURE_LEVEL_3_0 ? count == 4 : count >= 1 && count <= 8;
}

// A call that is right in every other way: all sizes are 1.
Call unit_call(DML_OPERATOR_TYPE type, DML_TENSOR_DATA_TYPE data, DML_TENSOR_DATA_TYPE index,
               UINT dimensions) {
  const Uints sizes(dimensions, 1);
  Call call{type, {data, sizes}, {index, sizes}, {data, sizes}, {}};
  switch (type) {
    case DML_OPERATOR_GATHER: call.attributes = {dimensions - 1, 1}; break;
    case DML_OPERATOR_SCATTER:
    case DML_OPERATOR_GATHER_ELEMENTS: call.attributes = {dimensions - 1}; break;
    default: call.attributes = {1, 1, 0}; break;
  }
  if (type == DML_OPERATOR_SCATTER || type == DML_OPERATOR_SCATTER_ND) {
    call.updates = Tensor(data, sizes);
    call.updates->buffer.TotalTensorSizeInBytes = 64;
  }
  for (Tensor* tensor : {&call.input, &call.indices, &call.output}) {
    tensor->buffer.TotalTensorSizeInBytes = 64;  // also where the type has no size
  }
  return call;
}

}  // namespace

TEST(DirectmlFeatureLevels, EveryLevelOperatorTypeIndexTypeAndDimensionCount) {
  int64_t checked = 0, accepted = 0;
  for (const DML_FEATURE_LEVEL level : kLevels) {
    const ComPtr<IDMLDevice> made = device(level);
    for (const DML_OPERATOR_TYPE type : kOperators) {
      for (int data = 0; data <= kLastType; ++data) {
        for (int index = 0; index <= kLastType; ++index) {
          for (UINT dimensions = 0; dimensions <= kMostDimensions; ++dimensions) {
            const auto data_type = static_cast<DML_TENSOR_DATA_TYPE>(data);
            const auto index_type = static_cast<DML_TENSOR_DATA_TYPE>(index);
            const bool fits = level >= introduced(type) && data_types(level).count(data_type) > 0 &&
                              index_types(level).count(index_type) > 0 &&
                              dimensions_fit(level, dimensions);
            Call call = unit_call(type, data_type, index_type, dimensions);
            const HRESULT result = call.create(made.Get(), nullptr);
            ASSERT_EQ(result, fits ? S_FALSE : E_INVALIDARG)
                << "level " << level << " operator " << type << " data " << data << " index "
                << index << " dimensions " << dimensions << "\n"
                << LastErrorText();
            ASSERT_EQ(*LastErrorText() == 0, fits);
            ++checked;
            accepted += fits ? 1 : 0;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 15 * 6 * 16 * 16 * 10);
  // 1_0: GATHER with 2 types. 2_0: SCATTER too. 2_1: five operators with 8. 3_0 to 4_0: all six,
  // with 4 index types and 8 counts, and 8 data types. From 4_1 on: 11 data types.
  EXPECT_EQ(accepted, 2 + 2 * 2 + 5 * 8 + 3 * 6 * 8 * 4 * 8 + 9 * 6 * 11 * 4 * 8);
}

TEST(DirectmlFeatureLevels, OutputTypesAreThoseOfTheInput) {
  for (const DML_TENSOR_DATA_TYPE input : kWide) {
    for (const DML_TENSOR_DATA_TYPE output : kWide) {
      Call call = unit_call(DML_OPERATOR_GATHER, input, DML_TENSOR_DATA_TYPE_INT32, 2);
      call.output.buffer.DataType = output;
      EXPECT_EQ(call.create(device().Get(), nullptr), input == output ? S_FALSE : E_INVALIDARG);
    }
  }
}

TEST(DirectmlFeatureLevels, UpdatesHaveTheTypeOfTheInput) {
  for (const DML_TENSOR_DATA_TYPE input : kWide) {
    for (const DML_TENSOR_DATA_TYPE updates : kWide) {
      for (const DML_OPERATOR_TYPE type : {DML_OPERATOR_SCATTER, DML_OPERATOR_SCATTER_ND}) {
        Call call = unit_call(type, input, DML_TENSOR_DATA_TYPE_INT32, 2);
        call.updates->buffer.DataType = updates;
        EXPECT_EQ(call.create(device().Get(), nullptr), input == updates ? S_FALSE : E_INVALIDARG);
      }
    }
  }
}

// DirectML's page on SCATTER says 1_0, its header and its history of levels say 2_0.
TEST(DirectmlFeatureLevels, ScatterIsThereSinceLevel20) {
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_SCATTER, DML_TENSOR_DATA_TYPE_FLOAT32,
                              DML_TENSOR_DATA_TYPE_UINT32, 4),
                    DML_FEATURE_LEVEL_1_0),
            "CreateOperator: feature level too low\n"
            "  DML_OPERATOR_SCATTER_ELEMENTS needs DML_FEATURE_LEVEL_2_0\n"
            "  device of DML_FEATURE_LEVEL_1_0\n"
            "  try: a device of a higher level");
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_SCATTER_ND, DML_TENSOR_DATA_TYPE_FLOAT32,
                              DML_TENSOR_DATA_TYPE_UINT32, 4),
                    DML_FEATURE_LEVEL_2_0),
            "CreateOperator: feature level too low\n"
            "  DML_OPERATOR_SCATTER_ND needs DML_FEATURE_LEVEL_2_1\n"
            "  device of DML_FEATURE_LEVEL_2_0\n"
            "  try: a device of a higher level");
}

TEST(DirectmlFeatureLevels, ARefusalNamesTheLevelAndWhatItTakes) {
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_GATHER_ND1, DML_TENSOR_DATA_TYPE_FLOAT32,
                              DML_TENSOR_DATA_TYPE_UINT32, 4),
                    DML_FEATURE_LEVEL_2_1),
            "CreateOperator: feature level too low\n"
            "  DML_OPERATOR_GATHER_ND1 needs DML_FEATURE_LEVEL_3_0\n"
            "  device of DML_FEATURE_LEVEL_2_1\n"
            "  try: a device of a higher level");
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_GATHER, DML_TENSOR_DATA_TYPE_FLOAT64,
                              DML_TENSOR_DATA_TYPE_UINT32, 1),
                    DML_FEATURE_LEVEL_4_0),
            "DML_OPERATOR_GATHER: type not supported\n"
            "  InputTensor is FLOAT64, but DML_FEATURE_LEVEL_4_0 takes FLOAT32, FLOAT16, UINT32, "
            "UINT16, UINT8, INT32, INT16, INT8\n"
            "  InputTensor FLOAT64 {1}   IndicesTensor UINT32 {1}   OutputTensor FLOAT64 {1}   "
            "Axis 0   IndexDimensions 1\n"
            "  try: another type, or a device of a higher level");
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_GATHER, DML_TENSOR_DATA_TYPE_FLOAT32,
                              DML_TENSOR_DATA_TYPE_INT32, 4),
                    DML_FEATURE_LEVEL_2_0),
            "DML_OPERATOR_GATHER: type not supported\n"
            "  IndicesTensor is INT32, but DML_FEATURE_LEVEL_2_0 takes UINT32\n"
            "  InputTensor FLOAT32 {1, 1, 1, 1}   IndicesTensor INT32 {1, 1, 1, 1}   OutputTensor "
            "FLOAT32 {1, 1, 1, 1}   Axis 3   IndexDimensions 1\n"
            "  try: another type, or a device of a higher level");
  EXPECT_EQ(refusal(unit_call(DML_OPERATOR_GATHER, DML_TENSOR_DATA_TYPE_FLOAT32,
                              DML_TENSOR_DATA_TYPE_UINT32, 2),
                    DML_FEATURE_LEVEL_1_0),
            "DML_OPERATOR_GATHER: dimension count not supported\n"
            "  InputTensor.DimensionCount = 2, but DML_FEATURE_LEVEL_1_0 takes 4\n"
            "  InputTensor FLOAT32 {1, 1}   IndicesTensor UINT32 {1, 1}   OutputTensor FLOAT32 "
            "{1, 1}   Axis 1   IndexDimensions 1\n"
            "  try: leading dimensions of size 1, or none of them; a scalar has Sizes {1}");
}

// CheckFeatureSupport tells what the tables say: a type is supported if some operator takes it.
TEST(DirectmlFeatureLevels, TypeSupport) {
  for (const DML_FEATURE_LEVEL level : kLevels) {
    const ComPtr<IDMLDevice> made = device(level);
    for (int type = -1; type <= kLastType; ++type) {
      const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{
          static_cast<DML_TENSOR_DATA_TYPE>(type)};
      DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT answer{7};
      ASSERT_EQ(made->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query,
                                          &query, sizeof answer, &answer),
                S_OK);
      const bool expected = data_types(level).count(query.DataType) > 0 ||
                            index_types(level).count(query.DataType) > 0;
      EXPECT_EQ(answer.IsSupported, expected ? 1 : 0) << "level " << level << " type " << type;
    }
  }
}

TEST(DirectmlFeatureLevels, HighestOfTheRequestedLevels) {
  for (const DML_FEATURE_LEVEL own : kLevels) {
    const ComPtr<IDMLDevice> made = device(own);
    for (const DML_FEATURE_LEVEL one : kLevels) {
      for (const DML_FEATURE_LEVEL other : kLevels) {
        const DML_FEATURE_LEVEL asked[] = {one, static_cast<DML_FEATURE_LEVEL>(0x7000), other};
        const DML_FEATURE_QUERY_FEATURE_LEVELS query{3, asked};
        DML_FEATURE_DATA_FEATURE_LEVELS answer{};
        const HRESULT result = made->CheckFeatureSupport(DML_FEATURE_FEATURE_LEVELS, sizeof query,
                                                         &query, sizeof answer, &answer);
        int expected = 0;
        for (const DML_FEATURE_LEVEL level : {one, other}) {
          expected = level <= own ? std::max<int>(expected, level) : expected;
        }
        ASSERT_EQ(result, expected == 0 ? DXGI_ERROR_UNSUPPORTED : S_OK);
        ASSERT_EQ(answer.MaxSupportedFeatureLevel, expected);
      }
    }
  }
}
