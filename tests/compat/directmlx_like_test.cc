// SPDX-License-Identifier: MIT
//
// Graphs written with a fluent layer, as DirectMLX programs are.
#include "compat/fluent.h"

using namespace compat;

namespace {

template <class T>
Expression constant(Graph& graph, DML_TENSOR_DATA_TYPE type, Uints sizes, std::vector<T> values) {
  return graph.constant(bytes_of(values), {type, std::move(sizes)});
}

std::vector<float> run(Machine& machine, Graph& graph, const Expression& output,
                       const std::vector<std::vector<float>>& inputs) {
  std::vector<Bytes> bytes;
  for (const auto& input : inputs) {
    bytes.push_back(bytes_of(input));
  }
  const auto compiled = graph.compile({output});
  const UINT64 size = output.desc.total;
  return values_of<float>(machine.run(compiled.Get(), bytes, {size})[0], size / 4);
}

TEST(DirectmlxLike, GatherWithConstantIndices) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {3, 2}});
  const auto rows = constant<UINT>(graph, kUint, {1, 2}, {2, 0});
  EXPECT_EQ(run(machine, graph, gather(x, rows, 0, 1), {{1, 2, 3, 4, 5, 6}}),
            (std::vector<float>{5, 6, 1, 2}));
}

TEST(DirectmlxLike, AChain) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 3}});
  const auto columns = constant<UINT>(graph, kUint, {2, 3}, {2, 0, 1, 1, 1, 0});
  const auto picked = gather_elements(x, columns, 1);
  const auto scaled = identity(picked, DML_SCALE_BIAS{10, 1});
  const auto parts = split(scaled, {1, 1}, 0);
  EXPECT_EQ(run(machine, graph, join({parts[1], parts[0], parts[1]}, 0), {{0, 1, 2, 3, 4, 5}}),
            (std::vector<float>{41, 41, 31, 21, 1, 11, 41, 41, 31}));
}

TEST(DirectmlxLike, ScatterAndGatherNd) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 3}});
  const auto where = constant<UINT>(graph, kUint, {2, 2}, {1, 2, 0, 0});
  const auto values = constant<float>(graph, kFloat, {1, 2}, {9, 8});
  const auto changed = scatter_nd(x, where, values);
  const auto read = gather_nd(x, where, {1, 2});
  EXPECT_EQ(run(machine, graph, join({reinterpret(changed, {1, 6}, {6, 1}), read}, 1),
                {{0, 1, 2, 3, 4, 5}}),
            (std::vector<float>{8, 1, 2, 3, 4, 9, 5, 0}));
}

// One output twice, and as an input of another node; a constant as an output.
TEST(DirectmlxLike, OutputsMayBeShared) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {4}});
  const auto doubled = identity(x, DML_SCALE_BIAS{2, 0});
  const auto again = identity(doubled, DML_SCALE_BIAS{2, 0});
  const auto fixed = constant<float>(graph, kFloat, {2}, {7, 8});
  const auto compiled = graph.compile({doubled, again, doubled, fixed});
  const auto outputs =
      machine.run(compiled.Get(), {bytes_of<float>({1, 2, 3, 4})}, {16, 16, 16, 8});
  EXPECT_EQ(values_of<float>(outputs[0], 4), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(values_of<float>(outputs[1], 4), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(outputs[2], outputs[0]);
  EXPECT_EQ(values_of<float>(outputs[3], 2), (std::vector<float>{7, 8}));
}

// A chain of a hundred tensors of 4 KiB lives in two of them.
TEST(DirectmlxLike, TemporaryMemoryIsUsedAgain) {
  Machine machine;
  Graph graph(machine.dml.Get());
  auto x = graph.input(0, {kFloat, {1024}});
  for (int i = 0; i < 100; ++i) {
    x = identity(x, DML_SCALE_BIAS{1, 1});
  }
  const auto compiled = graph.compile({x});
  EXPECT_LE(compiled->GetBindingProperties().TemporaryResourceSize, 2u * 4096);
  const std::vector<float> zeros(1024, 0);
  const auto outputs = machine.run(compiled.Get(), {bytes_of(zeros)}, {4096});
  EXPECT_EQ(values_of<float>(outputs[0], 1024), std::vector<float>(1024, 100));
}

}  // namespace
