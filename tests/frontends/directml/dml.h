// SPDX-License-Identifier: MIT
//
// DirectML calls in few words: a tensor and an operator as values, and a run from descriptor to
// output.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sheaf/directml.h"
#include "sheaf/tensor.h"

namespace dml_test {

using sheaf::dml::Bindings;
using sheaf::dml::ComPtr;
using sheaf::dml::HostBuffer;
using sheaf::dml::LastErrorText;

using Uints = std::vector<UINT>;

inline constexpr UINT kHuge = UINT32_MAX;
inline constexpr DML_BINDING_DESC kNone{DML_BINDING_TYPE_NONE, nullptr};
// What DirectML does with an index.
inline constexpr sheaf::IndexRule kRule{sheaf::Negative::kFromEnd, sheaf::OutOfRange::kClamp, {}};

inline constexpr DML_FEATURE_LEVEL kLevels[] = {
    DML_FEATURE_LEVEL_1_0, DML_FEATURE_LEVEL_2_0, DML_FEATURE_LEVEL_2_1, DML_FEATURE_LEVEL_3_0,
    DML_FEATURE_LEVEL_3_1, DML_FEATURE_LEVEL_4_0, DML_FEATURE_LEVEL_4_1, DML_FEATURE_LEVEL_5_0,
    DML_FEATURE_LEVEL_5_1, DML_FEATURE_LEVEL_5_2, DML_FEATURE_LEVEL_6_0, DML_FEATURE_LEVEL_6_1,
    DML_FEATURE_LEVEL_6_2, DML_FEATURE_LEVEL_6_3, DML_FEATURE_LEVEL_6_4};

// A tensor that owns its sizes and strides. The fields of `buffer` may be changed before use; its
// pointers and count are set by desc().
struct Tensor {
  Uints sizes, strides;  // no strides: packed
  DML_BUFFER_TENSOR_DESC buffer{};
  DML_TENSOR_DESC tensor{DML_TENSOR_TYPE_BUFFER, nullptr};

  Tensor(DML_TENSOR_DATA_TYPE type, Uints dims, Uints element_strides = {})
      : sizes(std::move(dims)), strides(std::move(element_strides)) {
    buffer.DataType = type;
    const auto count = static_cast<UINT>(sizes.size());
    buffer.TotalTensorSizeInBytes = DMLCalcBufferTensorSize(
        type, count, sizes.data(), strides.empty() ? nullptr : strides.data());
  }

  const DML_TENSOR_DESC* desc() {
    buffer.DimensionCount = static_cast<UINT>(sizes.size());
    buffer.Sizes = sizes.data();
    buffer.Strides = strides.empty() ? nullptr : strides.data();
    tensor.Desc = &buffer;
    return &tensor;
  }
};

inline Tensor f32(Uints sizes, Uints strides = {}) {
  return {DML_TENSOR_DATA_TYPE_FLOAT32, std::move(sizes), std::move(strides)};
}
inline Tensor u32(Uints sizes, Uints strides = {}) {
  return {DML_TENSOR_DATA_TYPE_UINT32, std::move(sizes), std::move(strides)};
}
inline Tensor i32(Uints sizes, Uints strides = {}) {
  return {DML_TENSOR_DATA_TYPE_INT32, std::move(sizes), std::move(strides)};
}
inline Tensor i64(Uints sizes, Uints strides = {}) {
  return {DML_TENSOR_DATA_TYPE_INT64, std::move(sizes), std::move(strides)};
}

// One of the six operators. `attributes` are the numbers of its descriptor, in their order.
struct Call {
  DML_OPERATOR_TYPE type;
  Tensor input, indices, output;
  Uints attributes;
  std::optional<Tensor> updates = std::nullopt;  // of a scatter

  HRESULT create(IDMLDevice* device, IDMLOperator** op) {
    const auto number = [&](size_t i) { return i < attributes.size() ? attributes[i] : 0; };
    const DML_TENSOR_DESC *in = input.desc(), *index = indices.desc(), *out = output.desc();
    const DML_GATHER_OPERATOR_DESC gather{in, index, out, number(0), number(1)};
    const DML_GATHER_ELEMENTS_OPERATOR_DESC elements{in, index, out, number(0)};
    const DML_GATHER_ND_OPERATOR_DESC nd{in, index, out, number(0), number(1)};
    const DML_GATHER_ND1_OPERATOR_DESC nd1{in, index, out, number(0), number(1), number(2)};
    const DML_TENSOR_DESC* update = updates ? updates->desc() : nullptr;
    const DML_SCATTER_ELEMENTS_OPERATOR_DESC scatter{in, index, update, out, number(0)};
    const DML_SCATTER_ND_OPERATOR_DESC scatter_nd{in, index, update, out, number(0), number(1)};
    const auto with = [&](const void* desc) {
      const DML_OPERATOR_DESC whole{type, desc};
      return device->CreateOperator(&whole, op);
    };
    switch (type) {
      case DML_OPERATOR_GATHER: return with(&gather);
      case DML_OPERATOR_GATHER_ELEMENTS: return with(&elements);
      case DML_OPERATOR_GATHER_ND: return with(&nd);
      case DML_OPERATOR_SCATTER_ELEMENTS: return with(&scatter);
      case DML_OPERATOR_SCATTER_ND: return with(&scatter_nd);
      default: return with(&nd1);
    }
  }
};

inline Call gather(Tensor input, Tensor indices, Tensor output, UINT axis, UINT index_dimensions) {
  return {DML_OPERATOR_GATHER, input, indices, output, {axis, index_dimensions}};
}
inline Call gather_elements(Tensor input, Tensor indices, Tensor output, UINT axis) {
  return {DML_OPERATOR_GATHER_ELEMENTS, input, indices, output, {axis}};
}
inline Call gather_nd(Tensor input, Tensor indices, Tensor output, UINT input_count,
                      UINT indices_count) {
  return {DML_OPERATOR_GATHER_ND, input, indices, output, {input_count, indices_count}};
}
inline Call gather_nd1(Tensor input, Tensor indices, Tensor output, Uints counts) {
  return {DML_OPERATOR_GATHER_ND1, input, indices, output, std::move(counts)};
}

inline Call scatter_elements(Tensor input, Tensor indices, Tensor updates, UINT axis) {
  return {DML_OPERATOR_SCATTER_ELEMENTS, input, indices, input, {axis}, updates};
}
inline Call scatter_nd(Tensor input, Tensor indices, Tensor updates, UINT input_count,
                       UINT indices_count) {
  return {DML_OPERATOR_SCATTER_ND, input, indices, input, {input_count, indices_count}, updates};
}

inline ComPtr<IDMLDevice> device(DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_6_4) {
  ComPtr<IDMLDevice> made;
  EXPECT_EQ(sheaf::dml::CreateDevice({.feature_level = level}, &made), S_OK) << LastErrorText();
  return made;
}

// A call that is right as it stands, to be spoiled.
inline Call sound_gather() { return gather(f32({3, 2}), u32({1, 4}), f32({4, 2}), 0, 1); }

inline HRESULT check(Call call) { return call.create(device().Get(), nullptr); }

// `sizes` with ones before them, up to `rank` dimensions.
inline Uints padded(const sheaf::Dims& sizes, int rank) {
  Uints result(static_cast<size_t>(rank - sizes.size()), 1);
  for (const int64_t size : sizes) {
    result.push_back(static_cast<UINT>(size));
  }
  return result;
}

// The text with which a device refuses to create the operator.
inline std::string refusal(Call call, DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_6_4) {
  IDMLOperator* op = nullptr;
  EXPECT_EQ(call.create(device(level).Get(), &op), E_INVALIDARG);
  EXPECT_EQ(op, nullptr);
  return LastErrorText();
}

// A compiled operator with its device.
struct Compiled {
  ComPtr<IDMLDevice> device;
  ComPtr<IDMLCompiledOperator> op;
};

inline Compiled compile(Call call, DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_6_4) {
  Compiled made{device(level), {}};
  ComPtr<IDMLOperator> op;
  EXPECT_EQ(call.create(made.device.Get(), &op), S_OK) << LastErrorText();
  EXPECT_EQ(made.device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &made.op), S_OK)
      << LastErrorText();
  return made;
}

// The bindings of some input buffers and, last, one output buffer, each whole.
template <size_t kCount>
struct Whole {
  HostBuffer buffers[kCount];
  DML_BUFFER_BINDING ranges[kCount];
  DML_BINDING_DESC descs[kCount];

  template <class... Buffers>
  explicit Whole(Buffers... all) : buffers{all...} {
    for (size_t i = 0; i < kCount; ++i) {
      ranges[i] = {&buffers[i], 0, buffers[i].size_in_bytes()};
      descs[i] = {DML_BINDING_TYPE_BUFFER, &ranges[i]};
    }
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;

  Bindings bindings() const { return {kCount - 1, descs, 1, &descs[kCount - 1], nullptr}; }
};
using WholeBuffers = Whole<3>;    // input, indices, output
using ScatterBuffers = Whole<4>;  // input, indices, updates, output

inline constexpr unsigned char kUntouched = 0xA5;

// Buffers as large as the tensor says, at least, and never larger than that.
template <class T>
std::vector<T> buffer_for(const Tensor& tensor, std::vector<T> values) {
  const auto count = (tensor.buffer.TotalTensorSizeInBytes + sizeof(T) - 1) / sizeof(T);
  EXPECT_LE(values.size(), count);
  values.resize(static_cast<size_t>(count));
  return values;
}

// From descriptor to output. Output bytes that nobody writes are kUntouched.
template <class T, class Index>
std::vector<T> run(Call call, std::vector<T> data, std::vector<Index> indices,
                   DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_6_4) {
  const Compiled compiled = compile(call, level);
  if (!compiled.op) {
    return {};
  }
  data = buffer_for(call.input, std::move(data));
  indices = buffer_for(call.indices, std::move(indices));
  std::vector<T> output = buffer_for<T>(call.output, {});
  std::memset(output.data(), kUntouched, output.size() * sizeof(T));
  const WholeBuffers buffers(HostBuffer(std::as_const(data)), HostBuffer(std::as_const(indices)),
                             HostBuffer(output));
  EXPECT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
      << LastErrorText();
  return output;
}

// The same for a scatter.
template <class T, class Index>
std::vector<T> run(Call call, std::vector<T> data, std::vector<Index> indices,
                   std::vector<T> updates, DML_FEATURE_LEVEL level = DML_FEATURE_LEVEL_6_4) {
  const Compiled compiled = compile(call, level);
  if (!compiled.op) {
    return {};
  }
  data = buffer_for(call.input, std::move(data));
  indices = buffer_for(call.indices, std::move(indices));
  updates = buffer_for(*call.updates, std::move(updates));
  std::vector<T> output = buffer_for<T>(call.output, {});
  std::memset(output.data(), kUntouched, output.size() * sizeof(T));
  const ScatterBuffers buffers(HostBuffer(std::as_const(data)), HostBuffer(std::as_const(indices)),
                               HostBuffer(std::as_const(updates)), HostBuffer(output));
  EXPECT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
      << LastErrorText();
  return output;
}

}  // namespace dml_test
