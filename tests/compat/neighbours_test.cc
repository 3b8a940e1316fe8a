// SPDX-License-Identifier: MIT
//
// The operators around gathers and scatters, on the examples of their documentation.
#include <cmath>
#include <cstdlib>

#include "compat/fluent.h"

using namespace compat;

namespace {

template <class T>
std::vector<T> only(Machine& machine, Graph& graph, const Expression& output,
                    const std::vector<Bytes>& inputs, size_t count) {
  const auto compiled = graph.compile({output});
  return values_of<T>(machine.run(compiled.Get(), inputs, {output.desc.total})[0], count);
}

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(i + 1);
  }
  return values;
}

TEST(Neighbours, SliceWithPositiveAndNegativeStrides) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {1, 1, 4, 4}});
  const auto down = slice(x, {0, 0, 0, 1}, {1, 1, 4, 3}, {1, 1, 2, 2});
  EXPECT_EQ(only<float>(machine, graph, down, {bytes_of(counting(16))}, 4),
            (std::vector<float>{2, 4, 10, 12}));
  Graph second(machine.dml.Get());
  const auto y = second.input(0, {kFloat, {1, 1, 4, 4}});
  const auto up = slice(y, {0, 0, 0, 1}, {1, 1, 4, 3}, {1, 1, -2, 2});
  EXPECT_EQ(only<float>(machine, second, up, {bytes_of(counting(16))}, 4),
            (std::vector<float>{14, 16, 6, 8}));
}

TEST(Neighbours, SliceGradPutsTheSliceBack) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 2}});
  const Uints offsets{0, 0}, sizes{4, 4};
  const Ints strides{2, 2};
  const auto grad =
      graph.add(DML_OPERATOR_SLICE_GRAD, {x}, {{kFloat, {4, 4}}}, [&](const DML_TENSOR_DESC* t) {
        return DML_SLICE_GRAD_OPERATOR_DESC{&t[0],          &t[1],        2,
                                            offsets.data(), sizes.data(), strides.data()};
      })[0];
  EXPECT_EQ(only<float>(machine, graph, grad, {bytes_of<float>({1, 2, 3, 4})}, 16),
            (std::vector<float>{1, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0, 0}));
}

TEST(Neighbours, PaddingModes) {
  struct Case {
    DML_PADDING_MODE mode;
    std::vector<float> expected;
  };
  for (const Case& c : {Case{DML_PADDING_MODE_CONSTANT, {9, 9, 9, 1, 2, 3, 9, 9}},
                        Case{DML_PADDING_MODE_EDGE, {1, 1, 1, 1, 2, 3, 3, 3}},
                        Case{DML_PADDING_MODE_REFLECTION, {2, 3, 2, 1, 2, 3, 2, 1}},
                        Case{DML_PADDING_MODE_SYMMETRIC, {3, 2, 1, 1, 2, 3, 3, 2}},
                        Case{DML_PADDING_MODE_WRAP, {1, 2, 3, 1, 2, 3, 1, 2}}}) {
    Machine machine;
    Graph graph(machine.dml.Get());
    const auto x = graph.input(0, {kFloat, {3}});
    EXPECT_EQ(only<float>(machine, graph, pad(x, c.mode, 9, {3}, {2}), {bytes_of(counting(3))}, 8),
              c.expected)
        << c.mode;
  }
}

TEST(Neighbours, FillsAndSequences) {
  Machine machine;
  Graph graph(machine.dml.Get());
  DML_SCALAR_UNION start{}, delta{};
  start.UInt8 = 10;
  delta.Int8 = -2;
  const auto sequence =
      graph.add(DML_OPERATOR_FILL_VALUE_SEQUENCE, {}, {{DML_TENSOR_DATA_TYPE_UINT8, {2, 2}}},
                [&](const DML_TENSOR_DESC* t) {
                  return DML_FILL_VALUE_SEQUENCE_OPERATOR_DESC{&t[0], DML_TENSOR_DATA_TYPE_UINT8,
                                                               start, delta};
                })[0];
  DML_SCALAR_UNION half{};
  half.UInt16 = 0x3C00;  // 1.0
  const auto ones = graph.add(
      DML_OPERATOR_FILL_VALUE_CONSTANT, {}, {{DML_TENSOR_DATA_TYPE_FLOAT16, {3}}},
      [&](const DML_TENSOR_DESC* t) {
        return DML_FILL_VALUE_CONSTANT_OPERATOR_DESC{&t[0], DML_TENSOR_DATA_TYPE_FLOAT16, half};
      })[0];
  const auto compiled = graph.compile({sequence, cast(ones, kFloat)});
  const auto outputs = machine.run(compiled.Get(), {}, {4, 12});
  EXPECT_EQ(values_of<uint8_t>(outputs[0], 4), (std::vector<uint8_t>{10, 8, 6, 4}));
  EXPECT_EQ(values_of<float>(outputs[1], 3), (std::vector<float>{1, 1, 1}));
}

// The member of the union that its type names, for every type.
TEST(Neighbours, ValuesOfEveryType) {
  const auto filled = [](DML_TENSOR_DATA_TYPE type, auto value) {
    Machine machine;
    Graph graph(machine.dml.Get());
    DML_SCALAR_UNION scalar{};
    std::memcpy(&scalar, &value, sizeof value);
    const auto y = graph.add(DML_OPERATOR_FILL_VALUE_CONSTANT, {}, {{type, {2}}},
                             [&](const DML_TENSOR_DESC* t) {
                               return DML_FILL_VALUE_CONSTANT_OPERATOR_DESC{&t[0], type, scalar};
                             })[0];
    const auto bytes = machine.run(graph.compile({y}).Get(), {}, {y.desc.total})[0];
    EXPECT_EQ(values_of<decltype(value)>(bytes, 2), (std::vector<decltype(value)>{value, value}))
        << type;
  };
  filled(DML_TENSOR_DATA_TYPE_FLOAT64, 1e300);
  filled(DML_TENSOR_DATA_TYPE_FLOAT32, 1.5F);
  filled(DML_TENSOR_DATA_TYPE_FLOAT16, uint16_t{0x3C00});
  filled(DML_TENSOR_DATA_TYPE_INT64, INT64_MIN);
  filled(DML_TENSOR_DATA_TYPE_INT32, INT32_MIN);
  filled(DML_TENSOR_DATA_TYPE_INT16, int16_t{-32768});
  filled(DML_TENSOR_DATA_TYPE_INT8, int8_t{-128});
  filled(DML_TENSOR_DATA_TYPE_UINT64, UINT64_MAX);
  filled(DML_TENSOR_DATA_TYPE_UINT32, UINT32_MAX);
  filled(DML_TENSOR_DATA_TYPE_UINT16, uint16_t{65535});
  filled(DML_TENSOR_DATA_TYPE_UINT8, uint8_t{255});
}

TEST(Neighbours, PaddingWithAValueOfAnyType) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kInt64, {2}});
  const UINT before[] = {1}, after[] = {1};
  DML_SCALAR_UNION value{};
  value.Int64 = INT64_MIN;
  const auto y =
      graph.add(DML_OPERATOR_PADDING1, {x}, {{kInt64, {4}}}, [&](const DML_TENSOR_DESC* t) {
        return DML_PADDING1_OPERATOR_DESC{
            &t[0], &t[1], DML_PADDING_MODE_CONSTANT, kInt64, value, 1, before, after};
      })[0];
  EXPECT_EQ(values_of<int64_t>(
                machine.run(graph.compile({y}).Get(), {bytes_of<int64_t>({1, 2})}, {32})[0], 4),
            (std::vector<int64_t>{INT64_MIN, 1, 2, INT64_MIN}));
  // Of PADDING, a float for every type: what is behind its point is dropped.
  Graph floats(machine.dml.Get());
  const auto padded = pad(floats.input(0, {kInt, {1}}), DML_PADDING_MODE_CONSTANT, 2.75F, {1}, {0});
  EXPECT_EQ(values_of<int32_t>(
                machine.run(floats.compile({padded}).Get(), {bytes_of<int32_t>({7})}, {8})[0], 2),
            (std::vector<int32_t>{2, 7}));
}

TEST(Neighbours, NonzeroCoordinates) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {1, 1, 2, 4}});
  const auto found =
      graph.add(DML_OPERATOR_NONZERO_COORDINATES, {x},
                {{kUint, {1, 1, 1, 1}}, {kUint, {1, 1, 8, 3}}}, [&](const DML_TENSOR_DESC* t) {
                  return DML_NONZERO_COORDINATES_OPERATOR_DESC{&t[0], &t[1], &t[2]};
                });
  const auto compiled = graph.compile(found);
  const auto outputs =
      machine.run(compiled.Get(), {bytes_of<float>({1, 0, 0, 2, -0.0f, 3.5f, 0, -5.2f})}, {4, 96});
  EXPECT_EQ(values_of<UINT>(outputs[0], 1)[0], 4u);
  EXPECT_EQ(values_of<UINT>(outputs[1], 12), (Uints{0, 0, 0, 0, 0, 3, 0, 1, 1, 0, 1, 3}));
}

TEST(Neighbours, CastsSaturateAndTruncate) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {5}});
  EXPECT_EQ(only<int8_t>(machine, graph, cast(x, DML_TENSOR_DATA_TYPE_INT8),
                         {bytes_of<float>({1.9f, -1.9f, 300, -300, std::nanf("")})}, 5),
            (std::vector<int8_t>{1, -1, 127, -128, 0}));
}

TEST(Neighbours, TileInEveryDimension) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 2}});
  EXPECT_EQ(only<float>(machine, graph, tile(x, {2, 2}), {bytes_of(counting(4))}, 16),
            (std::vector<float>{1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}));
}

TEST(Neighbours, TopK) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {1, 1, 3, 4}});
  const auto found = graph.add(
      DML_OPERATOR_TOP_K1, {x}, {{kFloat, {1, 1, 3, 3}}, {kUint, {1, 1, 3, 3}}},
      [&](const DML_TENSOR_DESC* t) {
        return DML_TOP_K1_OPERATOR_DESC{&t[0], &t[1], &t[2], 3, 3, DML_AXIS_DIRECTION_DECREASING};
      });
  const auto outputs =
      machine.run(graph.compile(found).Get(),
                  {bytes_of<float>({1, 2, 2, 3, 3, 4, 5, 5, 6, 6, 6, 6})}, {36, 36});
  EXPECT_EQ(values_of<float>(outputs[0], 9), (std::vector<float>{3, 2, 2, 5, 5, 4, 6, 6, 6}));
  EXPECT_EQ(values_of<UINT>(outputs[1], 9), (Uints{3, 1, 2, 2, 3, 1, 0, 1, 2}));
}

// The text of the refusal, on a device of this level.
std::string refusal_at(const char* level, DML_OPERATOR_TYPE type, const TensorDesc& from,
                       const TensorDesc& to, DML_PADDING_MODE mode = DML_PADDING_MODE_EDGE) {
  setenv("SHEAF_DML_FEATURE_LEVEL", level, 1);
  const Machine machine;
  unsetenv("SHEAF_DML_FEATURE_LEVEL");
  const auto buffer = [](const TensorDesc& desc) {
    return DML_BUFFER_TENSOR_DESC{desc.type,
                                  DML_TENSOR_FLAG_NONE,
                                  static_cast<UINT>(desc.sizes.size()),
                                  desc.sizes.data(),
                                  nullptr,
                                  desc.total,
                                  0};
  };
  const DML_BUFFER_TENSOR_DESC a = buffer(from), b = buffer(to);
  const DML_TENSOR_DESC in{DML_TENSOR_TYPE_BUFFER, &a}, out{DML_TENSOR_TYPE_BUFFER, &b};
  const Uints none(from.sizes.size(), 0);
  const DML_CAST_OPERATOR_DESC two{&in, &out};  // of the others, only the tensors are looked at
  const DML_PADDING_OPERATOR_DESC padding{
      &in, &out, mode, 0, static_cast<UINT>(none.size()), none.data(), none.data()};
  const bool pads = type == DML_OPERATOR_PADDING;
  const DML_OPERATOR_DESC desc{type, pads ? static_cast<const void*>(&padding) : &two};
  ComPtr<IDMLOperator> op;
  const HRESULT result = machine.dml->CreateOperator(&desc, IID_PPV_ARGS(&op));
  return SUCCEEDED(result) ? "" : SheafDmlLastErrorText();
}

TEST(Neighbours, EachLevelTakesWhatIsDocumented) {
  const TensorDesc four{kFloat, {1, 1, 2, 2}}, flat{kFloat, {4}}, ints{kInt, {1, 1, 2, 2}};
  const TensorDesc doubles{DML_TENSOR_DATA_TYPE_FLOAT64, {4}};
  EXPECT_EQ(refusal_at("1_0", DML_OPERATOR_CAST, four, four), "");
  EXPECT_NE(refusal_at("1_0", DML_OPERATOR_CAST, four, ints), "");
  EXPECT_EQ(refusal_at("3_0", DML_OPERATOR_CAST, four, ints), "");
  EXPECT_NE(refusal_at("3_0", DML_OPERATOR_CAST, flat, flat), "");
  EXPECT_EQ(refusal_at("3_1", DML_OPERATOR_CAST, flat, flat), "");
  EXPECT_NE(refusal_at("3_1", DML_OPERATOR_CAST, flat, doubles), "");
  EXPECT_EQ(refusal_at("4_1", DML_OPERATOR_CAST, flat, doubles), "");
  EXPECT_NE(refusal_at("6_4", DML_OPERATOR_TILE, doubles, doubles), "");
  EXPECT_EQ(refusal_at("2_1", DML_OPERATOR_PADDING, four, four), "");
  EXPECT_NE(refusal_at("2_1", DML_OPERATOR_PADDING, four, four, DML_PADDING_MODE_SYMMETRIC), "");
  EXPECT_EQ(refusal_at("3_0", DML_OPERATOR_PADDING, four, four, DML_PADDING_MODE_SYMMETRIC), "");
  EXPECT_NE(refusal_at("6_3", DML_OPERATOR_PADDING, flat, flat, DML_PADDING_MODE_WRAP), "");
  EXPECT_EQ(refusal_at("6_4", DML_OPERATOR_PADDING, flat, flat, DML_PADDING_MODE_WRAP), "");
  EXPECT_NE(refusal_at("2_1", DML_OPERATOR_SLICE_GRAD, four, four)
                .find("DML_OPERATOR_SLICE_GRAD needs DML_FEATURE_LEVEL_3_0"),
            std::string::npos);
}

TEST(Neighbours, ARefusalNamesTheOperator) {
  const TensorDesc four{kFloat, {1, 1, 2, 2}};
  EXPECT_EQ(refusal_at("6_4", DML_OPERATOR_GEMM, four, four),
            "CreateOperator: no such operator\n"
            "  DML_OPERATOR_GEMM does not only move data\n"
            "  device of DML_FEATURE_LEVEL_6_4\n"
            "  try: the operators that docs/directml.md lists");
}

TEST(Neighbours, AnUnknownLevelIsNoDevice) {
  ComPtr<IDMLDevice> device;
  for (const std::string level : {"7_9", "31", "3.1", "3_11"}) {
    setenv("SHEAF_DML_FEATURE_LEVEL", level.c_str(), 1);
    EXPECT_EQ(DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)),
              E_INVALIDARG);
    EXPECT_EQ(std::string(SheafDmlLastErrorText()),
              "DMLCreateDevice1: unknown feature level\n  SHEAF_DML_FEATURE_LEVEL is \"" + level +
                  "\"\n  the environment\n  try: a level such as 3_1");
  }
  setenv("SHEAF_DML_FEATURE_LEVEL", "", 1);
  EXPECT_EQ(DMLCreateDevice1(nullptr, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_6_4,
                             IID_PPV_ARGS(&device)),
            S_OK);
  setenv("SHEAF_DML_FEATURE_LEVEL", "2_0", 1);
  EXPECT_EQ(DMLCreateDevice1(nullptr, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_3_0,
                             IID_PPV_ARGS(&device)),
            DXGI_ERROR_UNSUPPORTED);
  unsetenv("SHEAF_DML_FEATURE_LEVEL");
}

}  // namespace
