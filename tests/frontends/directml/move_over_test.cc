// SPDX-License-Identifier: MIT
//
// The code of docs/directml.md.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "sheaf/directml.h"

namespace {

std::vector<float> gather_rows() {
  const std::vector<float> table{1, 2, 3, 4, 5, 6};
  const std::vector<UINT> picks{2, 0};
  std::vector<float> rows(4);

  // [example directml-move-over]
  // The device: no ID3D12Device, no GUIDs.
  sheaf::dml::ComPtr<IDMLDevice> device;
  HRESULT result = DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device);

  // The descriptors: not a letter changes.
  const UINT inputSizes[] = {3, 2}, indicesSizes[] = {1, 2}, outputSizes[] = {2, 2};
  const DML_BUFFER_TENSOR_DESC inputBuffer = {
      DML_TENSOR_DATA_TYPE_FLOAT32,
      DML_TENSOR_FLAG_NONE,
      2,
      inputSizes,
      nullptr,
      DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 2, inputSizes, nullptr),
      0};
  const DML_BUFFER_TENSOR_DESC indicesBuffer = {
      DML_TENSOR_DATA_TYPE_UINT32,
      DML_TENSOR_FLAG_NONE,
      2,
      indicesSizes,
      nullptr,
      DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_UINT32, 2, indicesSizes, nullptr),
      0};
  const DML_BUFFER_TENSOR_DESC outputBuffer = {
      DML_TENSOR_DATA_TYPE_FLOAT32,
      DML_TENSOR_FLAG_NONE,
      2,
      outputSizes,
      nullptr,
      DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 2, outputSizes, nullptr),
      0};
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &inputBuffer};
  const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &indicesBuffer};
  const DML_TENSOR_DESC output = {DML_TENSOR_TYPE_BUFFER, &outputBuffer};
  const DML_GATHER_OPERATOR_DESC gather = {&input, &indices, &output, /*Axis*/ 0,
                                           /*IndexDimensions*/ 1};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_GATHER, &gather};

  // Create and compile: &op in place of IID_PPV_ARGS(&op).
  sheaf::dml::ComPtr<IDMLOperator> op;
  result = device->CreateOperator(&desc, &op);
  if (FAILED(result)) {
    std::puts(sheaf::dml::LastErrorText());
  }
  sheaf::dml::ComPtr<IDMLCompiledOperator> compiled;
  result = device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled);

  // The bindings: host memory in place of ID3D12Resource, and one call in place of the binding
  // table, the command recorder, the queue and the fence.
  const sheaf::dml::HostBuffer tableBuffer(table), picksBuffer(picks), rowsBuffer(rows);
  const DML_BUFFER_BINDING inputRange = {&tableBuffer, 0, 24};
  const DML_BUFFER_BINDING indicesRange = {&picksBuffer, 0, 8};
  const DML_BUFFER_BINDING outputRange = {&rowsBuffer, 0, 16};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &inputRange},
                                     {DML_BINDING_TYPE_BUFFER, &indicesRange}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &outputRange}};
  result = device->Dispatch(compiled.Get(), {2, inputs, 1, outputs});
  // rows is now 5, 6, 1, 2
  // [/example]
  EXPECT_EQ(result, S_OK) << sheaf::dml::LastErrorText();
  return rows;
}

}  // namespace

TEST(DirectmlMoveOver, Gather) { EXPECT_EQ(gather_rows(), (std::vector<float>{5, 6, 1, 2})); }

TEST(DirectmlMoveOver, OwnedByDml) {
  // The same gather, its table OWNED_BY_DML.
  std::vector<float> table{1, 2, 3, 4, 5, 6};
  const std::vector<UINT> picks{2, 0};
  std::vector<float> rows(4);
  const UINT inputSizes[] = {3, 2}, indicesSizes[] = {1, 2}, outputSizes[] = {2, 2};
  const DML_BUFFER_TENSOR_DESC buffers[] = {
      {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_OWNED_BY_DML, 2, inputSizes, nullptr, 24, 0},
      {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_FLAG_NONE, 2, indicesSizes, nullptr, 8, 0},
      {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, outputSizes, nullptr, 16, 0}};
  const DML_TENSOR_DESC tensors[] = {{DML_TENSOR_TYPE_BUFFER, &buffers[0]},
                                     {DML_TENSOR_TYPE_BUFFER, &buffers[1]},
                                     {DML_TENSOR_TYPE_BUFFER, &buffers[2]}};
  const DML_GATHER_OPERATOR_DESC gather = {&tensors[0], &tensors[1], &tensors[2], 0, 1};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_GATHER, &gather};
  sheaf::dml::ComPtr<IDMLDevice> device;
  sheaf::dml::ComPtr<IDMLOperator> op;
  sheaf::dml::ComPtr<IDMLCompiledOperator> compiled;
  ASSERT_EQ(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device), S_OK);
  ASSERT_EQ(device->CreateOperator(&desc, &op), S_OK) << sheaf::dml::LastErrorText();
  ASSERT_EQ(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled), S_OK);
  const sheaf::dml::HostBuffer tableBuffer(table), picksBuffer(picks), rowsBuffer(rows);
  const DML_BUFFER_BINDING inputRange = {&tableBuffer, 0, 24};
  const DML_BUFFER_BINDING indicesRange = {&picksBuffer, 0, 8};
  const DML_BUFFER_BINDING outputRange = {&rowsBuffer, 0, 16};

  // [example directml-owned]
  const UINT64 size = compiled->GetBindingProperties().PersistentResourceSize;
  std::vector<std::byte> persistent(size);
  const sheaf::dml::HostBuffer persistentBuffer(persistent);
  const DML_BUFFER_BINDING persistentRange = {&persistentBuffer, 0, size};
  const DML_BINDING_DESC resource = {DML_BINDING_TYPE_BUFFER, &persistentRange};

  // Once: the owned input is bound and copied; the others are not bound.
  const DML_BINDING_DESC none = {DML_BINDING_TYPE_NONE, nullptr};
  const DML_BINDING_DESC owned[] = {{DML_BINDING_TYPE_BUFFER, &inputRange}, none};
  HRESULT result = device->InitializeOperator(compiled.Get(), {2, owned, 0, nullptr, &resource});

  // Often: the other way round.
  const DML_BINDING_DESC inputs[] = {none, {DML_BINDING_TYPE_BUFFER, &indicesRange}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &outputRange}};
  result = device->Dispatch(compiled.Get(), {2, inputs, 1, outputs, &resource});
  // [/example]
  EXPECT_EQ(result, S_OK) << sheaf::dml::LastErrorText();
  EXPECT_EQ(rows, (std::vector<float>{5, 6, 1, 2}));
}

TEST(DirectmlMoveOver, Scatter) {
  std::vector<float> table{1, 2, 3, 4, 5, 6};
  const std::vector<UINT> picks{2, 0};
  const std::vector<float> rows{70, 80, 90, 100};
  sheaf::dml::ComPtr<IDMLDevice> device;
  ASSERT_EQ(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device), S_OK);
  const UINT tableSizes[] = {3, 2}, picksSizes[] = {2, 1}, rowsSizes[] = {2, 2};
  const DML_BUFFER_TENSOR_DESC tensors[] = {
      {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, tableSizes, nullptr, 24, 0},
      {DML_TENSOR_DATA_TYPE_UINT32, DML_TENSOR_FLAG_NONE, 2, picksSizes, nullptr, 8, 0},
      {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, rowsSizes, nullptr, 16, 0}};
  const DML_TENSOR_DESC input = {DML_TENSOR_TYPE_BUFFER, &tensors[0]};
  const DML_TENSOR_DESC indices = {DML_TENSOR_TYPE_BUFFER, &tensors[1]};
  const DML_TENSOR_DESC updates = {DML_TENSOR_TYPE_BUFFER, &tensors[2]};
  sheaf::dml::ComPtr<IDMLOperator> op;
  sheaf::dml::ComPtr<IDMLCompiledOperator> compiled;
  const sheaf::dml::HostBuffer tableBuffer(table), picksBuffer(picks), rowsBuffer(rows);

  // [example directml-scatter]
  // table is {3, 2}, picks {2, 1}, rows {2, 2}: rows 2 and 0 of the table are replaced, in place.
  const DML_SCATTER_ND_OPERATOR_DESC scatter = {&input,
                                                &indices,
                                                &updates,
                                                /*OutputTensor*/ &input,
                                                /*InputDimensionCount*/ 2,
                                                /*IndicesDimensionCount*/ 2};
  const DML_OPERATOR_DESC desc = {DML_OPERATOR_SCATTER_ND, &scatter};
  HRESULT result = device->CreateOperator(&desc, &op);
  result = device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled);

  const DML_BUFFER_BINDING tableRange = {&tableBuffer, 0, 24};
  const DML_BUFFER_BINDING picksRange = {&picksBuffer, 0, 8}, rowsRange = {&rowsBuffer, 0, 16};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &tableRange},
                                     {DML_BINDING_TYPE_BUFFER, &picksRange},
                                     {DML_BINDING_TYPE_BUFFER, &rowsRange}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &tableRange}};
  result = device->Dispatch(compiled.Get(), {3, inputs, 1, outputs});
  // table is now 90, 100, 3, 4, 70, 80
  // [/example]
  EXPECT_EQ(result, S_OK) << sheaf::dml::LastErrorText();
  EXPECT_EQ(table, (std::vector<float>{90, 100, 3, 4, 70, 80}));
}
