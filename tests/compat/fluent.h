// SPDX-License-Identifier: MIT
//
// A layer over graphs in the manner of DirectMLX: operators are functions of expressions, a graph
// remembers them, and compiling writes the edges.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "compat/machine.h"

namespace compat {

using Uints = std::vector<UINT>;
using Ints = std::vector<INT>;

inline constexpr auto kFloat = DML_TENSOR_DATA_TYPE_FLOAT32;
inline constexpr auto kUint = DML_TENSOR_DATA_TYPE_UINT32;
inline constexpr auto kInt = DML_TENSOR_DATA_TYPE_INT32;
inline constexpr auto kInt64 = DML_TENSOR_DATA_TYPE_INT64;

inline UINT64 element_bytes(DML_TENSOR_DATA_TYPE type) {
  switch (type) {
    case DML_TENSOR_DATA_TYPE_FLOAT64:
    case DML_TENSOR_DATA_TYPE_INT64:
    case DML_TENSOR_DATA_TYPE_UINT64: return 8;
    case DML_TENSOR_DATA_TYPE_FLOAT16:
    case DML_TENSOR_DATA_TYPE_INT16:
    case DML_TENSOR_DATA_TYPE_UINT16: return 2;
    case DML_TENSOR_DATA_TYPE_INT8:
    case DML_TENSOR_DATA_TYPE_UINT8: return 1;
    default: return 4;
  }
}

// The helper that DirectML programs carry.
inline UINT64 tensor_bytes(DML_TENSOR_DATA_TYPE type, const Uints& sizes, const Uints& strides) {
  UINT64 last = 0, packed = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    packed *= sizes[d];
    last += strides.empty() ? 0 : UINT64{sizes[d] - 1} * strides[d];
  }
  const UINT64 elements = strides.empty() ? packed : last + 1;
  return (elements * element_bytes(type) + 3) / 4 * 4;
}

struct TensorDesc {
  DML_TENSOR_DATA_TYPE type = DML_TENSOR_DATA_TYPE_FLOAT32;
  Uints sizes;
  Uints strides;  // empty: packed
  UINT64 total = 0;
  DML_TENSOR_FLAGS flags = DML_TENSOR_FLAG_NONE;

  TensorDesc() = default;
  TensorDesc(DML_TENSOR_DATA_TYPE t, Uints dims, Uints element_strides = {})
      : type(t), sizes(std::move(dims)), strides(std::move(element_strides)) {
    total = tensor_bytes(type, sizes, strides);
  }

  DML_BUFFER_TENSOR_DESC buffer() const {
    return {type,
            flags,
            static_cast<UINT>(sizes.size()),
            sizes.data(),
            strides.empty() ? nullptr : strides.data(),
            total,
            0};
  }
};

class Graph;

struct Expression {
  Graph* graph = nullptr;
  enum Kind { kInput, kNode } kind = kInput;
  UINT index = 0, output = 0;
  TensorDesc desc;
};

class Graph {
 public:
  explicit Graph(IDMLDevice1* device) : device_(device) {}

  Expression input(UINT index, TensorDesc desc) {
    input_count_ = std::max(input_count_, index + 1);
    return {this, Expression::kInput, index, 0, std::move(desc)};
  }

  Expression constant(const Bytes& data, TensorDesc desc) {
    constants_.push_back(data);
    nodes_.push_back({nullptr, &constants_.back()});
    return {this, Expression::kNode, last_node(), 0, std::move(desc)};
  }

  // One node. `fill` gets the tensors (inputs first) and returns the operator's descriptor.
  template <class Fill>
  std::vector<Expression> add(DML_OPERATOR_TYPE type, const std::vector<Expression>& inputs,
                              const std::vector<TensorDesc>& outputs, Fill fill) {
    std::vector<DML_BUFFER_TENSOR_DESC> buffers;
    std::vector<DML_TENSOR_DESC> tensors;
    for (const Expression& in : inputs) {
      buffers.push_back(in.desc.buffer());
    }
    for (const TensorDesc& out : outputs) {
      buffers.push_back(out.buffer());
    }
    for (const DML_BUFFER_TENSOR_DESC& buffer : buffers) {
      tensors.push_back({DML_TENSOR_TYPE_BUFFER, &buffer});
    }
    const auto desc = fill(tensors.data());
    const DML_OPERATOR_DESC op_desc{type, &desc};
    ComPtr<IDMLOperator> op;
    COMPAT_CHECK(device_->CreateOperator(&op_desc, IID_PPV_ARGS(&op)));
    nodes_.push_back({op, nullptr});
    std::vector<Expression> results;
    for (UINT i = 0; i < inputs.size(); ++i) {
      edge(inputs[i], last_node(), i);
    }
    for (UINT i = 0; i < outputs.size(); ++i) {
      results.push_back({this, Expression::kNode, last_node(), i, outputs[i]});
    }
    return results;
  }

  // The operator that was added last, outside the graph.
  ComPtr<IDMLCompiledOperator> compile_last(DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) {
    ComPtr<IDMLCompiledOperator> compiled;
    COMPAT_CHECK(device_->CompileOperator(nodes_.back().op.Get(), flags, IID_PPV_ARGS(&compiled)));
    return compiled;
  }

  ComPtr<IDMLCompiledOperator> compile(const std::vector<Expression>& outputs,
                                       DML_EXECUTION_FLAGS flags = DML_EXECUTION_FLAG_NONE) {
    std::vector<DML_OPERATOR_GRAPH_NODE_DESC> operators(nodes_.size());
    std::vector<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants(nodes_.size());
    std::vector<DML_GRAPH_NODE_DESC> nodes;
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].constant != nullptr) {
        constants[i] = {nodes_[i].constant->data(), nodes_[i].constant->size(), nullptr};
        nodes.push_back({DML_GRAPH_NODE_TYPE_CONSTANT, &constants[i]});
      } else {
        operators[i] = {nodes_[i].op.Get(), nullptr};
        nodes.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &operators[i]});
      }
    }
    std::vector<DML_OUTPUT_GRAPH_EDGE_DESC> output_edges;
    for (UINT i = 0; i < outputs.size(); ++i) {
      output_edges.push_back({outputs[i].index, outputs[i].output, i, nullptr});
    }
    const auto in = edges(DML_GRAPH_EDGE_TYPE_INPUT, input_edges_);
    const auto between = edges(DML_GRAPH_EDGE_TYPE_INTERMEDIATE, node_edges_);
    const auto out = edges(DML_GRAPH_EDGE_TYPE_OUTPUT, output_edges);
    const DML_GRAPH_DESC desc{input_count_,
                              static_cast<UINT>(outputs.size()),
                              static_cast<UINT>(nodes.size()),
                              nodes.data(),
                              static_cast<UINT>(in.size()),
                              in.data(),
                              static_cast<UINT>(out.size()),
                              out.data(),
                              static_cast<UINT>(between.size()),
                              between.data()};
    ComPtr<IDMLCompiledOperator> compiled;
    COMPAT_CHECK(device_->CompileGraph(&desc, flags, IID_PPV_ARGS(&compiled)));
    return compiled;
  }

 private:
  struct Node {
    ComPtr<IDMLOperator> op;
    const Bytes* constant;
  };

  UINT last_node() const { return static_cast<UINT>(nodes_.size() - 1); }

  void edge(const Expression& from, UINT node, UINT input) {
    if (from.kind == Expression::kInput) {
      input_edges_.push_back({from.index, node, input, nullptr});
    } else {
      node_edges_.push_back({from.index, from.output, node, input, nullptr});
    }
  }

  template <class Desc>
  static std::vector<DML_GRAPH_EDGE_DESC> edges(DML_GRAPH_EDGE_TYPE type,
                                                const std::vector<Desc>& descs) {
    std::vector<DML_GRAPH_EDGE_DESC> made;
    for (const Desc& desc : descs) {
      made.push_back({type, &desc});
    }
    return made;
  }

  IDMLDevice1* device_;
  UINT input_count_ = 0;
  std::vector<Node> nodes_;
  std::deque<Bytes> constants_;
  std::vector<DML_INPUT_GRAPH_EDGE_DESC> input_edges_;
  std::vector<DML_INTERMEDIATE_GRAPH_EDGE_DESC> node_edges_;
};

// The same memory, seen with other sizes and strides.
inline Expression reinterpret(Expression x, Uints sizes, Uints strides) {
  x.desc.sizes = std::move(sizes);
  x.desc.strides = std::move(strides);
  return x;
}

inline Expression identity(const Expression& x, std::optional<DML_SCALE_BIAS> scale = {}) {
  return x.graph->add(
      DML_OPERATOR_ELEMENT_WISE_IDENTITY, {x}, {{x.desc.type, x.desc.sizes}},
      [&](const DML_TENSOR_DESC* t) {
        return DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{&t[0], &t[1], scale ? &*scale : nullptr};
      })[0];
}

inline Expression cast(const Expression& x, DML_TENSOR_DATA_TYPE type) {
  return x.graph->add(DML_OPERATOR_CAST, {x}, {{type, x.desc.sizes}}, [](const DML_TENSOR_DESC* t) {
    return DML_CAST_OPERATOR_DESC{&t[0], &t[1]};
  })[0];
}

inline Expression gather(const Expression& x, const Expression& indices, UINT axis, UINT dims) {
  // The axis is replaced by the last `dims` dimensions of the indices; the rest is right-aligned.
  const size_t rank = x.desc.sizes.size();
  Uints full(x.desc.sizes.begin(), x.desc.sizes.begin() + axis);
  full.insert(full.end(), indices.desc.sizes.end() - dims, indices.desc.sizes.end());
  full.insert(full.end(), x.desc.sizes.begin() + axis + 1, x.desc.sizes.end());
  while (full.size() > rank) {
    full.erase(full.begin());
  }
  full.insert(full.begin(), rank - full.size(), 1);
  return x.graph->add(DML_OPERATOR_GATHER, {x, indices}, {{x.desc.type, full}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_GATHER_OPERATOR_DESC{&t[0], &t[1], &t[2], axis, dims};
                      })[0];
}

inline Expression gather_elements(const Expression& x, const Expression& indices, UINT axis) {
  return x.graph->add(DML_OPERATOR_GATHER_ELEMENTS, {x, indices},
                      {{x.desc.type, indices.desc.sizes}}, [&](const DML_TENSOR_DESC* t) {
                        return DML_GATHER_ELEMENTS_OPERATOR_DESC{&t[0], &t[1], &t[2], axis};
                      })[0];
}

inline Expression gather_nd(const Expression& x, const Expression& indices, Uints output) {
  const auto rank = static_cast<UINT>(x.desc.sizes.size());
  return x.graph->add(DML_OPERATOR_GATHER_ND1, {x, indices}, {{x.desc.type, std::move(output)}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_GATHER_ND1_OPERATOR_DESC{&t[0], &t[1], &t[2], rank, rank, 0};
                      })[0];
}

inline Expression scatter_elements(const Expression& x, const Expression& indices,
                                   const Expression& updates, UINT axis) {
  return x.graph->add(DML_OPERATOR_SCATTER, {x, indices, updates}, {{x.desc.type, x.desc.sizes}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_SCATTER_OPERATOR_DESC{&t[0], &t[1], &t[2], &t[3], axis};
                      })[0];
}

inline Expression scatter_nd(const Expression& x, const Expression& indices,
                             const Expression& updates) {
  const auto rank = static_cast<UINT>(x.desc.sizes.size());
  return x.graph->add(DML_OPERATOR_SCATTER_ND, {x, indices, updates}, {{x.desc.type, x.desc.sizes}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_SCATTER_ND_OPERATOR_DESC{&t[0], &t[1], &t[2], &t[3], rank, rank};
                      })[0];
}

inline Expression tile(const Expression& x, const Uints& repeats) {
  Uints sizes = x.desc.sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] *= repeats[d];
  }
  return x.graph->add(DML_OPERATOR_TILE, {x}, {{x.desc.type, sizes}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_TILE_OPERATOR_DESC{
                            &t[0], &t[1], static_cast<UINT>(repeats.size()), repeats.data()};
                      })[0];
}

inline Expression join(const std::vector<Expression>& parts, UINT axis) {
  Uints sizes = parts[0].desc.sizes;
  sizes[axis] = 0;
  for (const Expression& part : parts) {
    sizes[axis] += part.desc.sizes[axis];
  }
  return parts[0].graph->add(DML_OPERATOR_JOIN, parts, {{parts[0].desc.type, sizes}},
                             [&](const DML_TENSOR_DESC* t) {
                               const auto count = static_cast<UINT>(parts.size());
                               return DML_JOIN_OPERATOR_DESC{count, &t[0], &t[count], axis};
                             })[0];
}

inline std::vector<Expression> split(const Expression& x, const Uints& parts, UINT axis) {
  std::vector<TensorDesc> outputs;
  for (const UINT part : parts) {
    Uints sizes = x.desc.sizes;
    sizes[axis] = part;
    outputs.emplace_back(x.desc.type, sizes);
  }
  return x.graph->add(DML_OPERATOR_SPLIT, {x}, outputs, [&](const DML_TENSOR_DESC* t) {
    return DML_SPLIT_OPERATOR_DESC{&t[0], static_cast<UINT>(parts.size()), &t[1], axis};
  });
}

inline Expression slice(const Expression& x, const Uints& offsets, const Uints& window,
                        const Ints& strides) {
  Uints sizes;
  for (size_t d = 0; d < window.size(); ++d) {
    const auto step = static_cast<UINT>(strides[d] < 0 ? -strides[d] : strides[d]);
    sizes.push_back(1 + (window[d] - 1) / step);
  }
  return x.graph->add(DML_OPERATOR_SLICE1, {x}, {{x.desc.type, sizes}},
                      [&](const DML_TENSOR_DESC* t) {
                        return DML_SLICE1_OPERATOR_DESC{
                            &t[0],          &t[1],         static_cast<UINT>(sizes.size()),
                            offsets.data(), window.data(), strides.data()};
                      })[0];
}

inline Expression pad(const Expression& x, DML_PADDING_MODE mode, FLOAT value, const Uints& start,
                      const Uints& end) {
  Uints sizes = x.desc.sizes;
  for (size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] += start[d] + end[d];
  }
  return x.graph->add(
      DML_OPERATOR_PADDING, {x}, {{x.desc.type, sizes}}, [&](const DML_TENSOR_DESC* t) {
        return DML_PADDING_OPERATOR_DESC{
            &t[0], &t[1], mode, value, static_cast<UINT>(sizes.size()), start.data(), end.data()};
      })[0];
}

}  // namespace compat
