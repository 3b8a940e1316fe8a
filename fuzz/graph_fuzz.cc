// SPDX-License-Identifier: MIT
//
// DirectML graphs through directml.h, as a client would: any nodes and edges, compiled, and run
// with any bindings. Most are sound, so that many get as far as a dispatch.
#include <array>
#include <cstring>
#include <deque>
#include <iterator>
#include <span>

#include "compat/machine.h"
#include "input.h"

namespace {

using compat::ComPtr;
using compat::Machine;

constexpr UINT kSizes[] = {2, 3};      // of all tensors, so that most edges fit
constexpr UINT64 kConstantBytes = 24;  // of one such tensor
constexpr UINT64 kBufferBytes = 512;
constexpr UINT64 kMostTemporary = 1 << 20;

UINT number(fuzz::Input& input, UINT most) { return static_cast<UINT>(input.number(0, most)); }

// One operator of the kind that `choice` says; its inputs are floats but for indices.
struct Kind {
  UINT inputs;
  int index_input;  // -1: none
};
constexpr Kind kKinds[] = {{1, -1}, {2, 1}, {3, 1}, {2, 1}, {1, -1}, {1, -1}};

ComPtr<IDMLOperator> create(IDMLDevice* device, fuzz::Input& input, size_t kind) {
  const DML_BUFFER_TENSOR_DESC floats{
      DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, kSizes, nullptr, 24, 0};
  DML_BUFFER_TENSOR_DESC integers = floats;
  integers.DataType = DML_TENSOR_DATA_TYPE_INT32;
  DML_BUFFER_TENSOR_DESC spoilt = floats;
  if (input.one_in(16)) {
    spoilt.DataType = input.enumerator<DML_TENSOR_DATA_TYPE>(13);
    spoilt.DimensionCount = number(input, 2);
    spoilt.TotalTensorSizeInBytes = number(input, 64);
  }
  const DML_TENSOR_DESC x{DML_TENSOR_TYPE_BUFFER, &floats}, i{DML_TENSOR_TYPE_BUFFER, &integers},
      y{DML_TENSOR_TYPE_BUFFER, &spoilt};
  const UINT axis = input.one_in(16) ? number(input, 3) : static_cast<UINT>(input.below(2));
  const UINT repeats[] = {1, 1}, none[] = {0, 0};
  const INT steps[] = {input.one_in(2) ? -1 : 1, 1};
  const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity{&x, &y, nullptr};
  const DML_GATHER_ELEMENTS_OPERATOR_DESC elements{&x, &i, &y, axis};
  const DML_SCATTER_ELEMENTS_OPERATOR_DESC scatter{&x, &i, &x, &y, axis};
  const DML_GATHER_ELEMENTS_OPERATOR_DESC again{&x, &i, &y, 1 - (axis & 1)};
  const DML_TILE_OPERATOR_DESC tile{&x, &y, 2, repeats};
  const DML_SLICE1_OPERATOR_DESC slice{&x, &y, 2, none, kSizes, steps};
  const DML_OPERATOR_DESC descs[] = {{DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity},
                                     {DML_OPERATOR_GATHER_ELEMENTS, &elements},
                                     {DML_OPERATOR_SCATTER_ELEMENTS, &scatter},
                                     {DML_OPERATOR_GATHER_ELEMENTS, &again},
                                     {DML_OPERATOR_TILE, &tile},
                                     {DML_OPERATOR_SLICE1, &slice}};
  ComPtr<IDMLOperator> op;
  const HRESULT result = device->CreateOperator(&descs[kind], IID_PPV_ARGS(&op));
  fuzz::require(result == S_OK || std::strstr(SheafDmlLastErrorText(), "\n  try: ") != nullptr,
                "a refused operator says what to try");
  return op;
}

// The arrays of a graph, as a program would pass them. Deques: nodes and edges point into them.
class RandomGraph {
 public:
  RandomGraph(Machine& machine, fuzz::Input& input) {
    input.fill(std::span(constant_bytes_).first(kConstantBytes));
    // Not more than there are: a graph copies what its caller says is there.
    const auto wrong = static_cast<UINT64>(input.below(std::ssize(constant_bytes_) + 1));
    constants_.push_back(
        {constant_bytes_.data(), input.one_in(32) ? wrong : kConstantBytes, nullptr});
    nodes_.push_back({DML_GRAPH_NODE_TYPE_CONSTANT, &constants_.back()});
    for (int64_t count = 1 + input.below(6); count > 0; --count) {
      add_operator(machine, input);
    }
    for (int64_t count = 1 + input.below(2); count > 0; --count) {
      outputs_.push_back({last_node(input), 0, output_count_++, nullptr});
      output_edges_.push_back({DML_GRAPH_EDGE_TYPE_OUTPUT, &outputs_.back()});
    }
    if (input.one_in(4)) {
      spoil(input);
    }
  }

  HRESULT compile(Machine& machine, ComPtr<IDMLCompiledOperator>* compiled) const {
    const auto count = [](const auto& list) { return static_cast<UINT>(list.size()); };
    const DML_GRAPH_DESC desc{input_count_,         output_count_,        count(nodes_),
                              nodes_.data(),        count(input_edges_),  input_edges_.data(),
                              count(output_edges_), output_edges_.data(), count(between_edges_),
                              between_edges_.data()};
    return machine.dml->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&*compiled));
  }

  UINT inputs() const { return input_count_; }
  UINT outputs() const { return output_count_; }

 private:
  UINT last_node(fuzz::Input& input) const {
    const auto last = static_cast<UINT>(nodes_.size() - 1);
    return input.one_in(16) ? number(input, last + 1) : last;
  }

  void add_operator(Machine& machine, fuzz::Input& input) {
    const auto kind = static_cast<size_t>(input.below(std::size(kKinds)));
    ComPtr<IDMLOperator> op = create(machine.dml.Get(), input, kind);
    if (!op) {
      return;
    }
    operators_.push_back({op.Get(), nullptr});
    owned_.push_back(op);
    nodes_.push_back({DML_GRAPH_NODE_TYPE_OPERATOR, &operators_.back()});
    const auto node = static_cast<UINT>(nodes_.size() - 1);
    for (UINT k = 0; k < kKinds[kind].inputs; ++k) {
      connect(input, node, k, static_cast<int>(k) == kKinds[kind].index_input);
    }
  }

  // Indices come from the constant; other inputs from an earlier node or from outside.
  void connect(fuzz::Input& input, UINT node, UINT k, bool index) {
    const UINT from = index ? 0 : static_cast<UINT>(input.below(node + 1));
    if (!index && (from == 0 || from == node)) {
      inputs_.push_back({input_count_++, node, k, nullptr});
      input_edges_.push_back({DML_GRAPH_EDGE_TYPE_INPUT, &inputs_.back()});
      return;
    }
    between_.push_back({from, 0, node, k, nullptr});
    between_edges_.push_back({DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between_.back()});
  }

  // Desc is of the type that was announced: under that of another struct, a graph would read what
  // is not there.
  static void change_type(DML_GRAPH_NODE_DESC& node, DML_GRAPH_NODE_TYPE type) {
    if (type == DML_GRAPH_NODE_TYPE_OPERATOR || type == DML_GRAPH_NODE_TYPE_CONSTANT) {
      node.Desc = type == node.Type ? node.Desc : nullptr;
    }
    node.Type = type;
  }

  void spoil(fuzz::Input& input) {
    switch (input.below(8)) {
      case 0: input_count_ = number(input, 6); break;
      case 1: output_count_ = number(input, 4); break;
      case 2: outputs_[0].FromNodeOutputIndex = number(input, 3); break;
      case 3: change_type(nodes_.back(), input.enumerator<DML_GRAPH_NODE_TYPE>(3)); break;
      case 4: output_edges_[0].Type = input.enumerator<DML_GRAPH_EDGE_TYPE>(3); break;
      case 5:
        if (!between_.empty()) {
          between_.back() = {number(input, 7), number(input, 2), number(input, 7), number(input, 3),
                             nullptr};
        }
        break;
      case 6:
        if (!inputs_.empty()) {
          inputs_.back() = {number(input, 7), number(input, 7), number(input, 3), nullptr};
        }
        break;
      default: nodes_.back().Desc = nullptr; break;
    }
  }

  std::array<std::byte, 64> constant_bytes_ = {};
  std::vector<ComPtr<IDMLOperator>> owned_;
  std::deque<DML_OPERATOR_GRAPH_NODE_DESC> operators_;
  std::deque<DML_CONSTANT_DATA_GRAPH_NODE_DESC> constants_;
  std::deque<DML_INPUT_GRAPH_EDGE_DESC> inputs_;
  std::deque<DML_INTERMEDIATE_GRAPH_EDGE_DESC> between_;
  std::deque<DML_OUTPUT_GRAPH_EDGE_DESC> outputs_;
  std::vector<DML_GRAPH_NODE_DESC> nodes_;
  std::vector<DML_GRAPH_EDGE_DESC> input_edges_, between_edges_, output_edges_;
  UINT input_count_ = 0, output_count_ = 0;
};

// Bindings of one kind: mostly a whole buffer each.
struct Bindings {
  std::vector<ComPtr<ID3D12Resource>> buffers;
  std::deque<DML_BUFFER_BINDING> ranges;
  std::vector<DML_BINDING_DESC> descs;

  Bindings(Machine& machine, fuzz::Input& input, UINT count, UINT64 bytes) {
    for (UINT n = 0; n < count; ++n) {
      buffers.push_back(machine.buffer(bytes));
      ranges.push_back({buffers.back().Get(), 0, bytes});
      descs.push_back({DML_BINDING_TYPE_BUFFER, &ranges.back()});
      if (input.one_in(24)) {
        ranges.back() = {input.one_in(2) ? nullptr : buffers.front().Get(),
                         static_cast<UINT64>(input.number(0, 64)),
                         static_cast<UINT64>(input.number(0, 1024))};
      }
      if (input.one_in(24)) {
        descs.back() = {input.enumerator<DML_BINDING_TYPE>(2), nullptr};
      }
    }
  }
  UINT count(fuzz::Input& input) const {
    const auto all = static_cast<UINT>(descs.size());
    return input.one_in(24) && all > 0 ? all - 1 : all;
  }
};

void dispatch(Machine& machine, fuzz::Input& input, const RandomGraph& graph,
              IDMLCompiledOperator* op) {
  if (graph.inputs() > 32 || graph.outputs() > 32) {
    return;
  }
  const DML_BINDING_PROPERTIES properties = op->GetBindingProperties();
  if (properties.TemporaryResourceSize > kMostTemporary) {
    return;  // a tensor may be declared larger than its elements are
  }
  const auto table = machine.table(op);
  const Bindings inputs(machine, input, graph.inputs(), kBufferBytes);
  const Bindings outputs(machine, input, graph.outputs(), kBufferBytes);
  table->BindInputs(inputs.count(input), inputs.descs.data());
  table->BindOutputs(outputs.count(input), outputs.descs.data());
  const UINT temporary = properties.TemporaryResourceSize != 0 ? 1 : 0;
  const Bindings scratch(machine, input, temporary, properties.TemporaryResourceSize);
  if (temporary != 0 && !input.one_in(24)) {
    table->BindTemporaryResource(scratch.descs.data());
  }
  machine.recorder->RecordDispatch(machine.list.Get(), op, table.Get());
  if (input.one_in(8)) {
    machine.recorder->RecordDispatch(machine.list.Get(), op, table.Get());
  }
  machine.execute();
  fuzz::require(machine.dml->GetDeviceRemovedReason() == S_OK ||
                    std::strstr(SheafDmlLastErrorText(), "\n  try: ") != nullptr,
                "a removed device says what to try");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  const long before = SheafLiveObjects();
  {
    fuzz::Input input(bytes, count);
    Machine machine;  // a wrong binding removes the device
    const RandomGraph graph(machine, input);
    ComPtr<IDMLCompiledOperator> compiled;
    if (graph.compile(machine, &compiled) == S_OK) {
      dispatch(machine, input, graph, compiled.Get());
    } else {
      fuzz::require(std::strstr(SheafDmlLastErrorText(), "\n  try: ") != nullptr,
                    "a refused graph says what to try");
    }
  }
  fuzz::require(SheafLiveObjects() == before, "every object is released");
  return 0;
}
