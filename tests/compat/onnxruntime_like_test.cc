// SPDX-License-Identifier: MIT
//
// Operators in the manner of ONNX Runtime's DirectML provider: each kernel builds one descriptor
// from ONNX's shapes (padded to a common rank), compiles it once and dispatches it often.
#include "compat/fluent.h"

using namespace compat;

namespace {

// ONNX's shapes have any rank; DirectML wants one for all tensors of an operator.
Uints padded(Uints sizes, size_t rank) {
  sizes.insert(sizes.begin(), rank - sizes.size(), 1);
  return sizes;
}

class Kernel {
 public:
  Kernel(Machine& machine, DML_OPERATOR_TYPE type, std::vector<TensorDesc> inputs,
         TensorDesc output)
      : machine_(machine), type_(type), inputs_(std::move(inputs)), output_(std::move(output)) {}

  template <class Fill>
  void compile(Fill fill) {
    std::vector<DML_BUFFER_TENSOR_DESC> buffers;
    for (const TensorDesc& input : inputs_) {
      buffers.push_back(input.buffer());
    }
    buffers.push_back(output_.buffer());
    std::vector<DML_TENSOR_DESC> tensors;
    for (const DML_BUFFER_TENSOR_DESC& buffer : buffers) {
      tensors.push_back({DML_TENSOR_TYPE_BUFFER, &buffer});
    }
    const auto desc = fill(tensors.data());
    const DML_OPERATOR_DESC op_desc{type_, &desc};
    ComPtr<IDMLOperator> op;
    COMPAT_CHECK(machine_.dml->CreateOperator(&op_desc, IID_PPV_ARGS(&op)));
    COMPAT_CHECK(machine_.dml->CompileOperator(op.Get(), DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE,
                                               IID_PPV_ARGS(&compiled_)));
  }

  template <class T>
  std::vector<T> compute(const std::vector<Bytes>& inputs, size_t count) {
    return values_of<T>(machine_.run(compiled_.Get(), inputs, {output_.total})[0], count);
  }

 private:
  Machine& machine_;
  DML_OPERATOR_TYPE type_;
  std::vector<TensorDesc> inputs_;
  TensorDesc output_;
  ComPtr<IDMLCompiledOperator> compiled_;
};

// ONNX Gather, axis 1, scalar index: the axis goes away, and IndexDimensions is 0.
TEST(OnnxRuntimeLike, GatherOfAScalarIndex) {
  Machine machine;
  Kernel gather(machine, DML_OPERATOR_GATHER, {{kFloat, {2, 3}}, {kInt64, padded({}, 2)}},
                {kFloat, padded({2}, 2)});
  gather.compile([](const DML_TENSOR_DESC* t) {
    return DML_GATHER_OPERATOR_DESC{&t[0], &t[1], &t[2], 1, 0};
  });
  for (const int64_t index : {int64_t{-1}, int64_t{1}}) {  // the kernel is compiled once
    const size_t column = index < 0 ? 2 : 1;
    EXPECT_EQ(
        gather.compute<float>({bytes_of<float>({0, 1, 2, 3, 4, 5}), bytes_of<int64_t>({index})}, 2),
        (std::vector<float>{static_cast<float>(column), static_cast<float>(column + 3)}));
  }
}

// ONNX allows indices that are smaller than the data off the axis, and ONNX Runtime passes them.
TEST(OnnxRuntimeLike, GatherElementsWithSmallerIndices) {
  Machine machine;
  const auto make = [&] {
    Kernel kernel(machine, DML_OPERATOR_GATHER_ELEMENTS, {{kFloat, {3, 2}}, {kInt64, {2, 1}}},
                  {kFloat, {2, 1}});
    kernel.compile([](const DML_TENSOR_DESC* t) {
      return DML_GATHER_ELEMENTS_OPERATOR_DESC{&t[0], &t[1], &t[2], 0};
    });
    return kernel.compute<float>({bytes_of<float>({0, 1, 2, 3, 4, 5}), bytes_of<int64_t>({2, -3})},
                                 2);
  };
  EXPECT_THROW(make(), std::runtime_error);  // as DirectML's pages have it
  const BOOL yes = TRUE;
  COMPAT_CHECK(machine.dml->SetPrivateData(SHEAF_DML_SMALLER_INDICES, sizeof yes, &yes));
  EXPECT_EQ(make(), (std::vector<float>{4, 0}));
  // The environment says it for all devices.
  setenv("SHEAF_DML_SMALLER_INDICES", "1", 1);
  machine = Machine();
  EXPECT_EQ(make(), (std::vector<float>{4, 0}));
  setenv("SHEAF_DML_SMALLER_INDICES", "0", 1);
  machine = Machine();
  EXPECT_THROW(make(), std::runtime_error);
  unsetenv("SHEAF_DML_SMALLER_INDICES");
}

// Int64 indices of ONNX as every second 32-bit word.
TEST(OnnxRuntimeLike, IndicesAsStridedWords) {
  Machine machine;
  Kernel gather(machine, DML_OPERATOR_GATHER,
                {{kFloat, {4}}, {DML_TENSOR_DATA_TYPE_UINT32, {3}, {2}}}, {kFloat, {3}});
  gather.compile([](const DML_TENSOR_DESC* t) {
    return DML_GATHER_OPERATOR_DESC{&t[0], &t[1], &t[2], 0, 1};
  });
  EXPECT_EQ(
      gather.compute<float>({bytes_of<float>({10, 11, 12, 13}), bytes_of<int64_t>({3, 0, 2})}, 3),
      (std::vector<float>{13, 10, 12}));
}

// ONNX ReverseSequence: lengths of the batch axis, repeated by strides of 0; their int64 is bound
// as the unsigned type that the operator takes.
TEST(OnnxRuntimeLike, ReverseSequence) {
  Machine machine;
  Kernel reverse(machine, DML_OPERATOR_REVERSE_SUBSEQUENCES,
                 {{kFloat, {2, 3, 2}}, {DML_TENSOR_DATA_TYPE_UINT64, {2, 1, 2}, {1, 0, 0}}},
                 {kFloat, {2, 3, 2}});
  reverse.compile([](const DML_TENSOR_DESC* t) {
    return DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC{&t[0], &t[1], &t[2], 1};
  });
  EXPECT_EQ(
      reverse.compute<float>(
          {bytes_of<float>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), bytes_of<int64_t>({3, 2})}, 12),
      (std::vector<float>{4, 5, 2, 3, 0, 1, 8, 9, 6, 7, 10, 11}));
}

// ONNX NonZero, OneHot and a Transpose by strides.
TEST(OnnxRuntimeLike, OneHotAndTranspose) {
  Machine machine;
  Kernel one_hot(machine, DML_OPERATOR_ONE_HOT, {{kInt64, {3, 1}}, {kFloat, {1, 2}}},
                 {kFloat, {3, 4}});
  one_hot.compile([](const DML_TENSOR_DESC* t) {
    return DML_ONE_HOT_OPERATOR_DESC{&t[0], &t[1], &t[2], 1};
  });
  EXPECT_EQ(one_hot.compute<float>({bytes_of<int64_t>({-3, 100, 3}), bytes_of<float>({4, 2})}, 12),
            (std::vector<float>{4, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 2}));
  Kernel transpose(machine, DML_OPERATOR_ELEMENT_WISE_IDENTITY, {{kFloat, {3, 2}, {1, 3}}},
                   {kFloat, {3, 2}});
  transpose.compile([](const DML_TENSOR_DESC* t) {
    return DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{&t[0], &t[1], nullptr};
  });
  EXPECT_EQ(transpose.compute<float>({bytes_of<float>({0, 1, 2, 3, 4, 5})}, 6),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

}  // namespace
