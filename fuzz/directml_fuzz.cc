// SPDX-License-Identifier: MIT
//
// DirectML operators from any descriptors, dispatched with any bindings.
#include <algorithm>
#include <cstring>
#include <vector>

#include "frontends/directml/dml.h"
#include "input.h"

namespace {

using namespace dml_test;

UINT count_of(fuzz::Input& input, int64_t low, int64_t high) {
  return static_cast<UINT>(input.number(low, high));
}

Tensor tensor(fuzz::Input& input, DML_TENSOR_DATA_TYPE type) {
  Uints sizes, strides;
  for (int64_t rank = input.one_in(16) ? input.below(10) : 1 + input.below(4); rank > 0; --rank) {
    sizes.push_back(count_of(input, 1, 4));
  }
  if (input.one_in(3)) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      strides.push_back(count_of(input, 0, 8));
    }
  }
  Tensor made(type, sizes, strides);
  if (input.one_in(8)) {
    made.buffer.TotalTensorSizeInBytes = static_cast<UINT64>(input.number(0, 64));
  }
  if (input.one_in(8)) {
    made.buffer.Flags = input.enumerator<DML_TENSOR_FLAGS>(2);
  }
  if (input.one_in(8)) {
    made.buffer.GuaranteedBaseOffsetAlignment = count_of(input, 0, 64);
  }
  return made;
}

Call call(fuzz::Input& input) {
  constexpr DML_OPERATOR_TYPE kOperators[] = {
      DML_OPERATOR_GATHER,           DML_OPERATOR_GATHER_ELEMENTS, DML_OPERATOR_GATHER_ND,
      DML_OPERATOR_SCATTER_ELEMENTS, DML_OPERATOR_SCATTER_ND,      DML_OPERATOR_GATHER_ND1};
  const auto type = [&] {
    return input.one_in(4) ? input.enumerator<DML_TENSOR_DATA_TYPE>(15)
                           : DML_TENSOR_DATA_TYPE_FLOAT32;
  };
  const auto index_type = [&] {
    return input.one_in(8) ? input.enumerator<DML_TENSOR_DATA_TYPE>(15)
                           : DML_TENSOR_DATA_TYPE_INT64;
  };
  const DML_OPERATOR_TYPE op = input.pick(kOperators);
  Tensor data = tensor(input, type());
  Tensor indices = tensor(input, index_type());
  Tensor output = input.one_in(2) ? data : tensor(input, data.buffer.DataType);
  Call made{op, data, indices, output, {}};
  made.updates = tensor(input, data.buffer.DataType);
  for (int i = 0; i < 3; ++i) {
    made.attributes.push_back(count_of(input, 0, 4));
  }
  return made;
}

// One binding: the whole of a guarded buffer, or a range that may lie outside of it.
struct Bound {
  HostBuffer buffer;
  DML_BUFFER_BINDING range;
  DML_BINDING_DESC desc;

  Bound(fuzz::Input& input, int which, const Tensor& tensor)
      : buffer(memory(which, tensor)), range{&buffer, 0, buffer.size_in_bytes()}, desc{} {
    if (input.one_in(8)) {
      range.Offset = static_cast<UINT64>(input.number(0, 16));
      range.SizeInBytes = static_cast<UINT64>(input.number(0, 256));
    }
    desc = {input.one_in(16) ? DML_BINDING_TYPE_NONE : DML_BINDING_TYPE_BUFFER, &range};
  }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  static HostBuffer memory(int which, const Tensor& tensor) {
    const UINT64 bytes = std::min<UINT64>(tensor.buffer.TotalTensorSizeInBytes, fuzz::kMostBytes);
    const auto part = fuzz::memory_for(which, static_cast<int64_t>(bytes));
    return {part.data(), part.size()};
  }
};

void dispatch(fuzz::Input& input, IDMLDevice* device, IDMLCompiledOperator* op, const Call& call) {
  const bool scatter =
      call.type == DML_OPERATOR_SCATTER_ELEMENTS || call.type == DML_OPERATOR_SCATTER_ND;
  Bound data(input, 0, call.input), indices(input, 1, call.indices);
  Bound updates(input, 2, *call.updates), output(input, 3, call.output);
  input.fill({static_cast<std::byte*>(indices.buffer.data()),
              static_cast<size_t>(indices.buffer.size_in_bytes())});
  const DML_BINDING_DESC inputs[] = {data.desc, indices.desc, updates.desc};
  const UINT count = input.one_in(16) ? count_of(input, 0, 3) : scatter ? 3u : 2u;
  const Bindings bindings{std::min(count, 3u), inputs, 1, &output.desc, nullptr};
  const HRESULT result = device->Dispatch(op, bindings);
  fuzz::require(result == S_OK || std::strstr(LastErrorText(), "\n  try: ") != nullptr,
                "a refusal says what to try");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  fuzz::Input input(bytes, count);
  static const ComPtr<IDMLDevice> newest = device();
  Call made = call(input);
  ComPtr<IDMLOperator> op;
  ComPtr<IDMLCompiledOperator> compiled;
  const HRESULT result = made.create(newest.Get(), &op);
  fuzz::require(result == S_OK || std::strstr(LastErrorText(), "\n  try: ") != nullptr,
                "a refusal says what to try");
  if (result == S_OK &&
      newest->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, &compiled) == S_OK) {
    dispatch(input, newest.Get(), compiled.Get(), made);
  }
  return 0;
}
