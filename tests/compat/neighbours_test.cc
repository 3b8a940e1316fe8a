// SPDX-License-Identifier: MIT
//
// The operators around gathers and scatters, on the examples of their documentation.
#include <cmath>

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

}  // namespace
