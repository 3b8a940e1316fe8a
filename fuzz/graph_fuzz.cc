// SPDX-License-Identifier: MIT
//
// DirectML graphs through directml.h, as a client would: any nodes and edges, compiled, and run
// with any bindings. Most are sound, so that many get as far as a dispatch. A graph that runs with
// all its tensors in one buffer, wherever they lie, must give what it gives in buffers of their
// own, in each byte of an output. What is bound after its last byte may be another tensor's.
#include <algorithm>
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

constexpr UINT kSizes[] = {2, 3};    // of all tensors, so that most edges fit
constexpr UINT64 kTensorBytes = 24;  // of one such tensor
constexpr UINT64 kBufferBytes = 512;
constexpr UINT64 kMostTemporary = 1 << 20;

UINT number(fuzz::Input& input, UINT most) { return static_cast<UINT>(input.number(0, most)); }

// Sizes and offsets at which sums wrap, or at which rounding up to 4, 16 or 256 bytes matters.
UINT64 hostile(fuzz::Input& input) {
  constexpr UINT64 kBorders[] = {0,
                                 UINT64{1} << 63,
                                 UINT64{1} << 62,
                                 UINT64{1} << 61,
                                 UINT64{1} << 32,
                                 UINT64{1} << 31,
                                 kBufferBytes,
                                 256,
                                 kTensorBytes};
  constexpr UINT64 kSteps[] = {0, 1, 3, 4, 16, 255, 256};
  const UINT64 border = input.pick(kBorders), step = input.pick(kSteps);
  return input.one_in(2) ? border + step : border - step;  // wraps on purpose
}

// One operator of the kind that `choice` says; its inputs are floats but for indices.
struct Kind {
  UINT inputs;
  int index_input;  // -1: none
};
constexpr Kind kKinds[] = {{1, -1}, {2, 1}, {3, 1}, {2, 1}, {1, -1}, {1, -1}};

ComPtr<IDMLOperator> create(IDMLDevice* device, fuzz::Input& input, size_t kind, UINT64 total) {
  const DML_BUFFER_TENSOR_DESC floats{
      DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 2, kSizes, nullptr, total, 0};
  DML_BUFFER_TENSOR_DESC integers = floats;
  integers.TotalTensorSizeInBytes = kTensorBytes;
  integers.DataType = DML_TENSOR_DATA_TYPE_INT32;
  DML_BUFFER_TENSOR_DESC spoilt = floats;
  if (input.one_in(16)) {
    spoilt.DataType = input.enumerator<DML_TENSOR_DATA_TYPE>(13);
    spoilt.DimensionCount = number(input, 2);
    spoilt.TotalTensorSizeInBytes = input.one_in(2) ? hostile(input) : number(input, 64);
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
    total_ = input.one_in(4) ? hostile(input) : kTensorBytes;
    input.fill(std::span(constant_bytes_).first(kTensorBytes));
    // Not more than there are: a graph copies what its caller says is there.
    const auto wrong = static_cast<UINT64>(input.below(std::ssize(constant_bytes_) + 1));
    constants_.push_back(
        {constant_bytes_.data(), input.one_in(32) ? wrong : kTensorBytes, nullptr});
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

  HRESULT compile(Machine& machine, DML_EXECUTION_FLAGS flags,
                  ComPtr<IDMLCompiledOperator>* compiled) const {
    const auto count = [](const auto& list) { return static_cast<UINT>(list.size()); };
    const DML_GRAPH_DESC desc{input_count_,         output_count_,        count(nodes_),
                              nodes_.data(),        count(input_edges_),  input_edges_.data(),
                              count(output_edges_), output_edges_.data(), count(between_edges_),
                              between_edges_.data()};
    return machine.dml->CompileGraph(&desc, flags, IID_PPV_ARGS(&*compiled));
  }

  UINT inputs() const { return input_count_; }
  UINT outputs() const { return output_count_; }
  UINT64 total() const { return total_; }  // declared for all tensors but indices

  // Bytes that a run writes: constant data may be shorter or longer than the other tensors.
  size_t output_bytes(UINT output) const {
    const auto edge = std::find_if(outputs_.begin(), outputs_.end(), [&](const auto& candidate) {
      return candidate.GraphOutputIndex == output;
    });
    fuzz::require(edge != outputs_.end(), "a graph that was compiled has an edge for each output");
    return static_cast<size_t>(edge->FromNodeIndex == 0 ? constants_[0].DataSize : kTensorBytes);
  }

 private:
  UINT last_node(fuzz::Input& input) const {
    const auto last = static_cast<UINT>(nodes_.size() - 1);
    return input.one_in(16) ? number(input, last + 1) : last;
  }

  void add_operator(Machine& machine, fuzz::Input& input) {
    const auto kind = static_cast<size_t>(input.below(std::size(kKinds)));
    ComPtr<IDMLOperator> op = create(machine.dml.Get(), input, kind, total_);
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

  UINT64 total_ = kTensorBytes;
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

// A buffer that both the program and the queue see.
ComPtr<ID3D12Resource> visible(Machine& machine, UINT64 bytes) {
  return machine.buffer(bytes, D3D12_HEAP_TYPE_READBACK);
}

std::span<std::byte> mapped(ID3D12Resource* buffer) {
  void* data = nullptr;
  fuzz::require(buffer->Map(0, nullptr, &data) == S_OK, "a readback buffer can be mapped");
  return {static_cast<std::byte*>(data), static_cast<size_t>(buffer->GetDesc().Width)};
}

// The bindings of one run.
struct Bindings {
  std::vector<DML_BUFFER_BINDING> inputs, outputs;

  void bind(IDMLBindingTable* table) const { compat::bind(table, inputs, outputs); }
};

// Damages bindings, or the calls that make them.
void bind_spoilt(fuzz::Input& input, IDMLBindingTable* table, Bindings bindings) {
  for (auto* list : {&bindings.inputs, &bindings.outputs}) {
    for (DML_BUFFER_BINDING& range : *list) {
      if (input.one_in(8)) {
        range.Buffer = input.one_in(4) ? nullptr : range.Buffer;
        range.Offset = input.one_in(2) ? hostile(input) : range.Offset;
        range.SizeInBytes = input.one_in(2) ? hostile(input) : range.SizeInBytes;
      }
    }
    if (input.one_in(16) && !list->empty()) {
      list->pop_back();
    }
  }
  bindings.bind(table);
  if (input.one_in(16)) {
    const DML_BINDING_DESC desc{input.enumerator<DML_BINDING_TYPE>(2), nullptr};
    table->BindTemporaryResource(&desc);
  }
}

// One compiled graph, which is run again and again.
class Runs {
 public:
  Runs(Machine& machine, fuzz::Input& input, IDMLCompiledOperator* op, bool late)
      : machine_(machine), input_(input), op_(op), late_(late), table_(machine.table(op)) {
    const UINT64 bytes = op->GetBindingProperties().TemporaryResourceSize;
    temporary_ = bytes == 0 ? nullptr : machine.buffer(bytes);
    if (late_) {
      record();
    }
  }

  // Late bindings are those of the submission: the list was recorded before.
  template <class Bind>
  bool run(Bind bind) {
    if (temporary_) {
      const DML_BUFFER_BINDING range{temporary_.Get(), 0, temporary_->GetDesc().Width};
      const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &range};
      table_->BindTemporaryResource(&desc);
    }
    bind(table_.Get());
    if (!late_) {
      record();
    }
    submit();
    if (!late_ && machine_.list->Reset(machine_.allocator.Get(), nullptr) != S_OK) {
      fuzz::require(false, "a list that was submitted can be reset");
    }
    const bool removed = machine_.dml->GetDeviceRemovedReason() != S_OK;
    fuzz::require(!removed || std::strstr(SheafDmlLastErrorText(), "\n  try: ") != nullptr,
                  "a removed device says what to try");
    return !removed;
  }

 private:
  void record() {
    machine_.recorder->RecordDispatch(machine_.list.Get(), op_, table_.Get());
    fuzz::require(machine_.list->Close() == S_OK, "the list is closed");
  }

  // Sometimes while the queue waits for a fence.
  void submit() {
    ComPtr<ID3D12Fence> gate;
    if (input_.one_in(4)) {
      compat::check(machine_.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)),
                    "CreateFence");
      compat::check(machine_.queue->Wait(gate.Get(), 1), "Wait");
    }
    ID3D12CommandList* lists[] = {machine_.list.Get()};
    machine_.queue->ExecuteCommandLists(1, lists);
    if (gate) {
      compat::check(gate->Signal(1), "Signal");
    }
  }

  Machine& machine_;
  fuzz::Input& input_;
  IDMLCompiledOperator* op_;
  bool late_;
  ComPtr<IDMLBindingTable> table_;
  ComPtr<ID3D12Resource> temporary_;
};

void dispatch(Machine& machine, fuzz::Input& input, const RandomGraph& graph,
              IDMLCompiledOperator* op, bool late) {
  const UINT64 temporary = op->GetBindingProperties().TemporaryResourceSize;
  fuzz::require(temporary == 0 || (temporary >= kTensorBytes && temporary <= UINT64{1} << 62),
                "the temporary resource holds a tensor, and is not negative");
  if (graph.inputs() > 32 || graph.outputs() > 32 || temporary > kMostTemporary) {
    return;  // a tensor may be declared larger than its elements are
  }
  // All tensors in one buffer, and the same contents in buffers of their own.
  const auto arena = visible(machine, kBufferBytes);
  const std::span<std::byte> memory = mapped(arena.Get());
  input.fill(memory.first(64));
  std::vector<ComPtr<ID3D12Resource>> buffers;
  Bindings apart, together;
  const UINT64 bytes = std::clamp(graph.total(), kTensorBytes, kBufferBytes);
  for (UINT i = 0; i < graph.inputs() + graph.outputs(); ++i) {
    const auto places = static_cast<int64_t>((kBufferBytes - bytes) / 16 + 1);
    const UINT64 offset = 16 * static_cast<UINT64>(input.below(std::min<int64_t>(places, 8)));
    buffers.push_back(visible(machine, bytes));
    std::memcpy(mapped(buffers.back().Get()).data(), memory.data() + offset, bytes);
    const bool is_input = i < graph.inputs();
    (is_input ? apart.inputs : apart.outputs).push_back({buffers.back().Get(), 0, bytes});
    (is_input ? together.inputs : together.outputs).push_back({arena.Get(), offset, bytes});
  }
  Runs runs(machine, input, op, late);
  if (!runs.run([&](IDMLBindingTable* table) { apart.bind(table); })) {
    fuzz::require(std::strstr(SheafDmlLastErrorText(), "binding too small") != nullptr,
                  "on buffers of its own only a tensor that was declared larger is refused");
    return;
  }
  if (runs.run([&](IDMLBindingTable* table) { together.bind(table); })) {
    for (UINT o = 0; o < graph.outputs(); ++o) {
      const std::byte* expected = mapped(apart.outputs[o].Buffer).data();
      const std::byte* got = memory.data() + together.outputs[o].Offset;
      fuzz::require(std::memcmp(got, expected, graph.output_bytes(o)) == 0,
                    "shared memory gives the values of memory of its own");
    }
    runs.run([&](IDMLBindingTable* table) { bind_spoilt(input, table, apart); });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t count) {
  const long before = SheafLiveObjects();
  {
    fuzz::Input input(bytes, count);
    Machine machine;  // a wrong binding removes the device
    const RandomGraph graph(machine, input);
    ComPtr<IDMLCompiledOperator> compiled;
    const bool late = input.one_in(2);
    const auto flags = late ? DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE : DML_EXECUTION_FLAG_NONE;
    if (graph.compile(machine, flags, &compiled) == S_OK) {
      dispatch(machine, input, graph, compiled.Get(), late);
    } else {
      fuzz::require(std::strstr(SheafDmlLastErrorText(), "\n  try: ") != nullptr,
                    "a refused graph says what to try");
    }
    if (machine.dml->GetDeviceRemovedReason() != S_OK) {
      fuzz::require(graph.compile(machine, flags, &compiled) == DXGI_ERROR_DEVICE_REMOVED,
                    "a removed device compiles nothing");
    }
  }
  fuzz::require(SheafLiveObjects() == before, "every object is released");
  return 0;
}
