// SPDX-License-Identifier: MIT
//
// A graph builder in the manner of WebNN's backend on DirectML: operands by name, strides always
// given, constants in the graph, indices clamped by the operator itself.
#include <map>

#include "compat/fluent.h"

using namespace compat;

namespace {

Uints packed_strides(const Uints& sizes) {
  Uints strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;) {
    strides[d - 1] = strides[d] * sizes[d];
  }
  return strides;
}

// Operands are what MLGraphBuilder hands out; only the operators that move data.
class Builder {
 public:
  using Operand = Expression;
  explicit Builder(Machine& machine) : machine_(machine), graph_(machine.dml.Get()) {}

  Operand input(const std::string& name, DML_TENSOR_DATA_TYPE type, const Uints& shape) {
    const auto index = static_cast<UINT>(inputs_.size());
    inputs_[name] = index;
    return graph_.input(index, {type, shape, packed_strides(shape)});
  }
  template <class T>
  Operand constant(DML_TENSOR_DATA_TYPE type, const Uints& shape, const std::vector<T>& values) {
    return graph_.constant(bytes_of(values), {type, shape, packed_strides(shape)});
  }

  // gather(input, indices, axis): both padded to the rank of the result.
  Operand gather(Operand x, Operand indices, UINT axis) {
    const auto index_rank = static_cast<UINT>(indices.desc.sizes.size());
    const size_t rank = x.desc.sizes.size() + index_rank - 1;
    const auto lead = static_cast<UINT>(rank - x.desc.sizes.size());
    Operand result =
        compat::gather(pad_rank(x, rank), pad_rank(indices, rank), axis + lead, index_rank);
    return result;
  }
  Operand gather_elements(Operand x, Operand indices, UINT axis) {
    return compat::gather_elements(x, indices, axis);
  }
  Operand scatter_elements(Operand x, Operand indices, Operand updates, UINT axis) {
    return compat::scatter_elements(x, indices, updates, axis);
  }

  std::vector<float> compute(const Operand& output, const std::map<std::string, Bytes>& inputs) {
    std::vector<Bytes> ordered(inputs_.size());
    for (const auto& [name, index] : inputs_) {
      ordered[index] = inputs.at(name);
    }
    const auto compiled = graph_.compile({output});
    const UINT64 bytes = output.desc.total;
    return values_of<float>(machine_.run(compiled.Get(), ordered, {bytes})[0], bytes / 4);
  }

 private:
  static Operand pad_rank(Operand x, size_t rank) {
    const size_t missing = rank - x.desc.sizes.size();
    x.desc.sizes.insert(x.desc.sizes.begin(), missing, 1);
    x.desc.strides.insert(x.desc.strides.begin(), missing, 0);
    return x;
  }

  Machine& machine_;
  Graph graph_;
  std::map<std::string, UINT> inputs_;
};

TEST(WebnnLike, GatherOfAMatrixOfIndices) {
  Machine machine;
  Builder builder(machine);
  const auto x = builder.input("x", kFloat, {3, 2});
  const auto rows = builder.constant<int32_t>(kInt, {2, 2}, {2, 0, -1, 99});  // 99 is clamped
  EXPECT_EQ(
      builder.compute(builder.gather(x, rows, 0), {{"x", bytes_of<float>({1, 2, 3, 4, 5, 6})}}),
      (std::vector<float>{5, 6, 1, 2, 5, 6, 5, 6}));
}

TEST(WebnnLike, ElementsThereAndBack) {
  Machine machine;
  Builder builder(machine);
  const auto x = builder.input("x", kFloat, {2, 3});
  const auto order = builder.input("order", kInt, {2, 3});
  const auto picked = builder.gather_elements(x, order, 1);
  const auto back = builder.scatter_elements(x, order, picked, 1);
  EXPECT_EQ(builder.compute(back, {{"x", bytes_of<float>({0, 1, 2, 3, 4, 5})},
                                   {"order", bytes_of<int32_t>({2, 1, 0, 0, 2, 1})}}),
            (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

}  // namespace
