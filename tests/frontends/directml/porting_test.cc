// SPDX-License-Identifier: MIT
//
// Habits of DirectML programs that have to compile and work as they are.
#include "frontends/directml/dml.h"

// Many programs bring this function, from Microsoft's documentation.
inline UINT64 DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE, UINT, const UINT*, const UINT*) {
  return 12345;
}

using namespace dml_test;

namespace {

TEST(DirectmlPorting, AProgramsOwnSizeFunctionIsPreferred) {
  const UINT sizes[] = {3};
  EXPECT_EQ(DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 1, sizes, nullptr), 12345u);
  EXPECT_EQ(sheaf::dml::DMLCalcBufferTensorSize(DML_TENSOR_DATA_TYPE_FLOAT32, 1, sizes, nullptr),
            12u);
}

TEST(DirectmlPorting, TargetVersionIsTheNewest) { EXPECT_EQ(DML_TARGET_VERSION, 0x6400); }

TEST(DirectmlPorting, ComPtrComparesCopiesAndConverts) {
  ComPtr<IDMLDevice> device;
  EXPECT_TRUE(device == nullptr);
  ASSERT_EQ(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device), S_OK);
  EXPECT_TRUE(device != nullptr);
  ComPtr<IDMLObject> base = device;
  EXPECT_EQ(base.Get(), device.Get());
  ComPtr<IDMLDevice> second;
  EXPECT_EQ(device.CopyTo(&second), S_OK);
  EXPECT_TRUE(second == device);
  second.Reset();
  base.Reset();
  EXPECT_EQ(device->AddRef(), 2u);  // the copies have let go
  device->Release();
}

TEST(DirectmlPorting, TheLevelOfDMLCreateDevice1IsAMinimum) {
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(DMLCreateDevice1(DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_2_0, &device), S_OK);
  ComPtr<IDMLOperator> op;
  Call wide = gather(i64({3, 2}), i32({1, 4}), i64({4, 2}), 0, 1);
  EXPECT_EQ(wide.create(device.Get(), &op), S_OK) << LastErrorText();
}

// Five bytes: TotalTensorSizeInBytes is 8, and so are the bytes that DirectML would bind.
TEST(DirectmlPorting, HostMemoryNeedNotBeRoundedUp) {
  const auto u8 = [](Uints sizes) { return Tensor(DML_TENSOR_DATA_TYPE_UINT8, std::move(sizes)); };
  Tensor input = u8({5}), indices = u32({5}), output = u8({5});
  for (Tensor* tensor : {&input, &output}) {
    tensor->buffer.TotalTensorSizeInBytes = 8;
  }
  indices.buffer.TotalTensorSizeInBytes = 20;
  Call call = gather(input, indices, output, 0, 1);
  ComPtr<IDMLDevice> device;
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  ASSERT_EQ(DMLCreateDevice(DML_CREATE_DEVICE_FLAG_NONE, &device), S_OK);
  ASSERT_EQ(call.create(device.Get(), &op), S_OK) << LastErrorText();
  ASSERT_EQ(device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled), S_OK);
  const std::vector<uint8_t> data{1, 2, 3, 4, 5};
  const std::vector<UINT> picks{4, 3, 2, 1, 0};
  std::vector<uint8_t> out(5);
  const HostBuffer buffers[] = {HostBuffer(data), HostBuffer(picks), HostBuffer(out)};
  const DML_BUFFER_BINDING ranges[] = {
      {&buffers[0], 0, 5}, {&buffers[1], 0, 20}, {&buffers[2], 0, 5}};
  const DML_BINDING_DESC inputs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[0]},
                                     {DML_BINDING_TYPE_BUFFER, &ranges[1]}};
  const DML_BINDING_DESC outputs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[2]}};
  EXPECT_EQ(device->Dispatch(compiled.Get(), {2, inputs, 1, outputs}), S_OK) << LastErrorText();
  EXPECT_EQ(out, (std::vector<uint8_t>{5, 4, 3, 2, 1}));
  const DML_BUFFER_BINDING short_range{&buffers[0], 0, 4};
  const DML_BINDING_DESC too_short[] = {{DML_BINDING_TYPE_BUFFER, &short_range}, inputs[1]};
  EXPECT_EQ(device->Dispatch(compiled.Get(), {2, too_short, 1, outputs}), E_INVALIDARG);
}

TEST(DirectmlPorting, IndicesMayBeSmallerWhereTheDeviceAllowsIt) {
  ComPtr<IDMLDevice> strict, lenient;
  ASSERT_EQ(sheaf::dml::CreateDevice({}, &strict), S_OK);
  ASSERT_EQ(sheaf::dml::CreateDevice({.smaller_indices = true}, &lenient), S_OK);
  const auto sized = [](Tensor tensor, UINT64 bytes) {
    tensor.buffer.TotalTensorSizeInBytes = bytes;
    return tensor;
  };
  Call smaller =
      gather_elements(sized(f32({3, 4}), 48), sized(i32({2, 4}), 32), sized(f32({2, 4}), 32), 1);
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(smaller.create(strict.Get(), &op), E_INVALIDARG);
  EXPECT_EQ(smaller.create(lenient.Get(), &op), S_OK) << LastErrorText();
  Call larger =
      gather_elements(sized(f32({3, 4}), 48), sized(i32({4, 4}), 64), sized(f32({4, 4}), 64), 1);
  EXPECT_EQ(larger.create(lenient.Get(), &op), E_INVALIDARG);
}

}  // namespace
