// SPDX-License-Identifier: MIT
//
// The calls that real programs make of DirectML: each test sets the fields as its client does.
#include <cstdint>
#include <numeric>

#include "frontends/directml/dml.h"

using namespace dml_test;

using Floats = std::vector<float>;
using Longs = std::vector<int64_t>;

namespace {

Floats counting(size_t count) {
  Floats values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

}  // namespace

// ONNX Runtime: every tensor is padded to the largest rank, the axis moves along, and a scalar
// index has IndexDimensions 0.
TEST(DirectmlClients, OnnxRuntimeGatherVector) {
  EXPECT_EQ(
      run(gather(f32({2, 3, 2}), i64({1, 1, 2}), f32({2, 2, 2}), 1, 1), counting(12), Longs{2, -3}),
      (Floats{4, 5, 0, 1, 10, 11, 6, 7}));
}

TEST(DirectmlClients, OnnxRuntimeGatherScalar) {
  EXPECT_EQ(run(gather(f32({3, 4}), i64({1, 1}), f32({1, 3}), 1, 0), counting(12), Longs{2}),
            (Floats{2, 6, 10}));
}

TEST(DirectmlClients, OnnxRuntimeGatherScalarFromAVector) {
  EXPECT_EQ(run(gather(f32({4}), i64({1}), f32({1}), 0, 0), counting(4), Longs{-1}), (Floats{3}));
}

TEST(DirectmlClients, OnnxRuntimeGatherWhereTheRankGrows) {
  EXPECT_EQ(run(gather(f32({1, 1, 5}), i32({2, 1, 3}), f32({2, 1, 3}), 2, 3), counting(5),
                std::vector<int32_t>{4, 3, 2, 1, 0, -1}),
            (Floats{4, 3, 2, 1, 0, 4}));
  EXPECT_EQ(run(gather(f32({1, 2, 3}), i32({1, 2, 2}), f32({2, 2, 2}), 2, 2), counting(6),
                std::vector<int32_t>{0, 2, 1, 1}),
            (Floats{0, 2, 1, 1, 3, 5, 4, 4}));
}

// A real leading 1 is padding as good as any other.
TEST(DirectmlClients, OnnxRuntimeGatherWithALeadingOneOfItsOwn) {
  EXPECT_EQ(run(gather(f32({1, 1, 4}), i64({1, 2, 2}), f32({1, 2, 2}), 2, 2), counting(4),
                Longs{3, 2, 1, 0}),
            (Floats{3, 2, 1, 0}));
}

TEST(DirectmlClients, OnnxRuntimeGatherElements) {
  EXPECT_EQ(run(gather_elements(f32({2, 2}), i64({2, 3}), f32({2, 3}), 1), counting(4),
                Longs{0, 0, -1, 1, 0, -2}),
            (Floats{0, 0, 1, 3, 2, 2}));
}

// ONNX lets indices be smaller than the data off the axis, and ONNX Runtime passes that on.
// DirectML's page says that the sizes must match, so it is refused here; the same gather can be
// said within the rule.
TEST(DirectmlClients, OnnxRuntimeGatherElementsWithSmallerIndices) {
  EXPECT_EQ(refusal(gather_elements(f32({3, 4}), i64({2, 1}), f32({2, 1}), 0)),
            "DML_OPERATOR_GATHER_ELEMENTS: shapes do not fit\n"
            "  IndicesTensor.Sizes[1] = 1, but InputTensor.Sizes[1] = 4; only those of Axis may "
            "differ\n"
            "  InputTensor FLOAT32 {3, 4}   IndicesTensor INT64 {2, 1}   OutputTensor FLOAT32 "
            "{2, 1}   Axis 0\n"
            "  try: equal sizes; to use a part of the input, give it smaller Sizes and its own "
            "Strides");
  EXPECT_EQ(run(gather_elements(f32({3, 1}, {4, 1}), i64({2, 1}), f32({2, 1}), 0), counting(9),
                Longs{2, 0}),
            (Floats{8, 0}));
}

TEST(DirectmlClients, OnnxRuntimeGatherNdIsAlwaysNd1) {
  EXPECT_EQ(run(gather_nd1(f32({2, 2, 2}), i64({1, 2, 1}), f32({1, 2, 2}), {3, 2, 1}), counting(8),
                Longs{1, 0}),
            (Floats{2, 3, 4, 5}));
}

TEST(DirectmlClients, OnnxRuntimeBooleansAreUint8) {
  const auto u8 = [](Uints sizes) { return Tensor(DML_TENSOR_DATA_TYPE_UINT8, std::move(sizes)); };
  const auto output = run(gather(u8({3}), i64({5}), u8({5}), 0, 1), std::vector<uint8_t>{0, 1, 1},
                          Longs{0, 1, 2, 0, -1});
  EXPECT_EQ(std::vector<uint8_t>(output.begin(), output.begin() + 5),
            (std::vector<uint8_t>{0, 1, 1, 0, 1}));
}

TEST(DirectmlClients, OnnxRuntimeInt64DataSinceLevel41) {
  EXPECT_EQ(run(gather(i64({3}), i64({2}), i64({2}), 0, 1),
                Longs{INT64_MIN, int64_t{1} << 40, INT64_MAX}, Longs{2, 0}, DML_FEATURE_LEVEL_4_1),
            (Longs{INT64_MAX, INT64_MIN}));
}

// EmbedLayerNorm: position indices are one row, broadcast over the batch by strides of 0.
TEST(DirectmlClients, OnnxRuntimeEmbedLayerNormBroadcastsPositions) {
  const UINT batch = 2, sequence = 3, vocabulary = 4, hidden = 2;
  const Call call =
      gather(f32({1, 1, vocabulary, hidden}), i32({1, 1, batch, sequence}, {0, 0, 0, 1}),
             f32({1, batch, sequence, hidden}), 2, 2);
  EXPECT_EQ(call.indices.buffer.TotalTensorSizeInBytes, 12u);
  EXPECT_EQ(run(call, counting(8), std::vector<int32_t>{3, 0, 2}),
            (Floats{6, 7, 0, 1, 4, 5, 6, 7, 0, 1, 4, 5}));
}

TEST(DirectmlClients, OnnxRuntimeRotaryEmbeddingGathersFromItsCache) {
  EXPECT_EQ(run(gather(f32({1, 1, 3, 2}), i64({1, 1, 2, 2}), f32({1, 2, 2, 2}), 2, 2), counting(6),
                Longs{0, 1, 1, 2}),
            (Floats{0, 1, 2, 3, 2, 3, 4, 5}));
}

// Chromium: strides are always given, padded dimensions have stride 0, and the total size is that
// of the tensor before it was padded.
TEST(DirectmlClients, ChromiumGatherWithPaddingOfStrideZero) {
  Call call = gather(f32({1, 5}, {0, 1}), u32({2, 3}, {3, 1}), f32({2, 3}, {3, 1}), 1, 2);
  EXPECT_EQ(call.input.buffer.TotalTensorSizeInBytes, 20u);
  EXPECT_EQ(run(call, counting(5), Uints{4, 3, 2, 1, 0, 9}), (Floats{4, 3, 2, 1, 0, 4}));
  call = gather(f32({3, 2}, {2, 1}), u32({1, 2}, {0, 1}), f32({2, 2}, {2, 1}), 0, 1);
  EXPECT_EQ(run(call, counting(6), Uints{2, 0}), (Floats{4, 5, 0, 1}));
}

// Chromium: a scalar index is {1}, and the output keeps the axis with size 1.
TEST(DirectmlClients, ChromiumGatherScalar) {
  EXPECT_EQ(run(gather(f32({3, 4}, {4, 1}), i32({1, 1}, {0, 1}), f32({3, 1}, {1, 1}), 1, 1),
                counting(12), std::vector<int32_t>{-2}),
            (Floats{2, 6, 10}));
  EXPECT_EQ(run(gather(f32({3, 4}, {4, 1}), i32({1, 1}, {0, 1}), f32({1, 4}, {4, 1}), 0, 1),
                counting(12), std::vector<int32_t>{1}),
            (Floats{4, 5, 6, 7}));
}

TEST(DirectmlClients, ChromiumInputsAreTransposedAndBroadcast) {
  // {2, 3} transposed to {3, 2}.
  EXPECT_EQ(run(gather(f32({3, 2}, {1, 3}), u32({1, 2}, {0, 1}), f32({2, 2}, {2, 1}), 0, 1),
                counting(6), Uints{2, 0}),
            (Floats{2, 5, 0, 3}));
  // One row, seen four times.
  EXPECT_EQ(run(gather(f32({4, 3}, {0, 1}), u32({1, 2}, {0, 1}), f32({4, 2}, {2, 1}), 1, 1),
                counting(3), Uints{2, 0}),
            (Floats{2, 0, 2, 0, 2, 0, 2, 0}));
}

TEST(DirectmlClients, ChromiumGatherElementsIsNotPadded) {
  EXPECT_EQ(run(gather_elements(f32({3}, {1}), i32({2}, {1}), f32({2}, {1}), 0), counting(3),
                std::vector<int32_t>{-1, 0}),
            (Floats{2, 0}));
}

TEST(DirectmlClients, ChromiumGatherNdPadsToTheLargestRank) {
  EXPECT_EQ(run(gather_nd(f32({1, 2, 2}, {0, 2, 1}), i32({2, 1, 1}, {1, 1, 1}),
                          f32({2, 1, 2}, {2, 2, 1}), 2, 3),
                counting(4), std::vector<int32_t>{1, 0}),
            (Floats{2, 3, 0, 1}));
}

// Chromium's constants are OWNED_BY_DML: copied once, and free to go afterwards.
TEST(DirectmlClients, ChromiumConstantsAreOwnedByDml) {
  Call call = gather(f32({3, 2}, {2, 1}), u32({1, 2}, {0, 1}), f32({2, 2}, {2, 1}), 0, 1);
  call.input.buffer.Flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  const Compiled compiled = compile(call);
  const UINT64 bytes = compiled.op->GetBindingProperties().PersistentResourceSize;
  EXPECT_EQ(bytes, 256u);

  std::vector<std::byte> storage(static_cast<size_t>(bytes));
  const HostBuffer persistent(storage);
  const DML_BUFFER_BINDING persistent_range{&persistent, 0, bytes};
  const DML_BINDING_DESC persistent_binding{DML_BINDING_TYPE_BUFFER, &persistent_range};
  Floats constant = counting(6);
  const HostBuffer constant_buffer(constant);
  const DML_BUFFER_BINDING constant_range{&constant_buffer, 0, 24};
  const DML_BINDING_DESC at_start[] = {{DML_BINDING_TYPE_BUFFER, &constant_range},
                                       {DML_BINDING_TYPE_NONE, nullptr}};
  ASSERT_EQ(compiled.device->InitializeOperator(compiled.op.Get(),
                                                {2, at_start, 0, nullptr, &persistent_binding}),
            S_OK)
      << LastErrorText();
  constant.assign(6, -1.0f);

  const Uints indices{2, 1};
  Floats output(4);
  WholeBuffers buffers{HostBuffer(constant), HostBuffer(indices), HostBuffer(output)};
  buffers.descs[0] = {DML_BINDING_TYPE_NONE, nullptr};
  Bindings bindings = buffers.bindings();
  bindings.PersistentResource = &persistent_binding;
  ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), bindings), S_OK) << LastErrorText();
  EXPECT_EQ(output, (Floats{4, 5, 2, 3}));
}

namespace {

// The output sizes that DirectMLX computes for dml::Gather.
Uints dmlx_gather_sizes(const Uints& input, const Uints& indices, UINT axis, UINT index_dims) {
  const int rank = static_cast<int>(input.size());
  Uints sizes(input.size(), 1);
  int at = rank - 1;
  for (int d = rank - 1; d > static_cast<int>(axis); --d, --at) {
    sizes[static_cast<size_t>(at)] = input[static_cast<size_t>(d)];
  }
  for (int d = rank - 1; d >= rank - static_cast<int>(index_dims) && at >= 0; --d, --at) {
    sizes[static_cast<size_t>(at)] = indices[static_cast<size_t>(d)];
  }
  for (int d = static_cast<int>(axis) - 1; d >= 0 && at >= 0; --d, --at) {
    sizes[static_cast<size_t>(at)] = input[static_cast<size_t>(d)];
  }
  return sizes;
}

}  // namespace

// DirectMLX: for every input that leaves room for the indices, its sizes are the ones asked for.
TEST(DirectmlClients, DirectMlxGatherSizes) {
  int accepted = 0;
  const ComPtr<IDMLDevice> made = device();
  for (UINT rank = 1; rank <= DML_TENSOR_DIMENSION_COUNT_MAX1; ++rank) {
    for (UINT padding = 0; padding < rank; ++padding) {
      Uints input(rank, 1);
      std::iota(input.begin() + padding, input.end(), 2u);
      for (UINT axis = padding; axis < rank; ++axis) {
        for (UINT index_dims = 0; index_dims <= padding + 1; ++index_dims) {
          Uints indices(rank, 1);
          std::fill(indices.end() - index_dims, indices.end(), 2u);
          Call call =
              gather(f32(input), i32(indices),
                     f32(dmlx_gather_sizes(input, indices, axis, index_dims)), axis, index_dims);
          EXPECT_EQ(call.create(made.Get(), nullptr), S_FALSE) << LastErrorText();
          ++accepted;
        }
      }
    }
  }
  EXPECT_EQ(accepted, 450);
}

TEST(DirectmlClients, DirectMlxGatherElementsHasTheSizesOfItsIndices) {
  EXPECT_EQ(run(gather_elements(f32({1, 1, 2, 3}), u32({1, 1, 2, 1}), f32({1, 1, 2, 1}), 3),
                counting(6), Uints{2, 0}),
            (Floats{2, 3}));
}

// DirectMLX's dml::GatherND is GATHER_ND1.
TEST(DirectmlClients, DirectMlxGatherNdSizes) {
  const ComPtr<IDMLDevice> made = device();
  const UINT rank = 5;
  int accepted = 0;
  for (UINT input_count = 1; input_count <= 4; ++input_count) {
    for (UINT batch = 0; batch < input_count; ++batch) {
      for (UINT tuple = 1; tuple <= input_count - batch; ++tuple) {
        const UINT slice = input_count - batch - tuple;
        const UINT indices_count = batch + 2;  // batches, a grid of one dimension, the tuple
        Uints input(rank, 1), indices(rank, 1), output(rank, 1);
        std::fill(input.end() - input_count, input.end(), 2u);
        std::fill(indices.end() - indices_count, indices.end(), 2u);
        indices.back() = tuple;
        std::fill(output.end() - (indices_count - 1 + slice), output.end(), 2u);
        Call call =
            gather_nd1(f32(input), i64(indices), f32(output), {input_count, indices_count, batch});
        EXPECT_EQ(call.create(made.Get(), nullptr), S_FALSE) << LastErrorText();
        ++accepted;
      }
    }
  }
  EXPECT_EQ(accepted, 20);
}

// TensorFlow-DirectML before 64-bit types: an int64 tensor is a view of its low words, stride 2,
// on input, indices and (zeroed) output alike, in four dimensions.
TEST(DirectmlClients, TensorFlowEmulatesInt64ByStrides) {
  const std::vector<uint64_t> data{10, 11, 20, 21, 30, 31};
  const std::vector<uint64_t> indices{2, 0};
  std::vector<uint64_t> output(4, 0);
  const Compiled compiled =
      compile(gather_nd(u32({1, 1, 3, 2}, {12, 12, 4, 2}), u32({1, 1, 2, 1}, {4, 4, 2, 2}),
                        u32({1, 1, 2, 2}, {8, 8, 4, 2}), 2, 2),
              DML_FEATURE_LEVEL_2_1);
  const WholeBuffers buffers{HostBuffer(data), HostBuffer(indices), HostBuffer(output)};
  ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
      << LastErrorText();
  EXPECT_EQ(output, (std::vector<uint64_t>{30, 31, 10, 11}));
}

TEST(DirectmlClients, TensorFlowEmulatesInt64InEveryGather) {
  const std::vector<uint64_t> data{7, 8, 9};
  const std::vector<uint64_t> indices{2, 1, 0};
  for (const DML_OPERATOR_TYPE type : {DML_OPERATOR_GATHER, DML_OPERATOR_GATHER_ELEMENTS}) {
    std::vector<uint64_t> output(3, 0);
    const Tensor view = u32({1, 1, 1, 3}, {0, 0, 0, 2});
    const Tensor written = u32({1, 1, 1, 3}, {6, 6, 6, 2});
    const Compiled compiled = compile({type, view, view, written, {3, 1}}, DML_FEATURE_LEVEL_2_1);
    const WholeBuffers buffers{HostBuffer(data), HostBuffer(indices), HostBuffer(output)};
    ASSERT_EQ(compiled.device->Dispatch(compiled.op.Get(), buffers.bindings()), S_OK)
        << LastErrorText();
    EXPECT_EQ(output, (std::vector<uint64_t>{9, 8, 7}));
  }
}
