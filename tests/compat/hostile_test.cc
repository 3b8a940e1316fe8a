// SPDX-License-Identifier: MIT
//
// Graphs and bindings with random damage: refused with a reason or run, and never a crash or a byte
// outside a buffer (AddressSanitizer watches).
#include <limits>
#include <random>

#include "compat/fluent.h"

using namespace compat;

namespace {

// A sound graph, gather then identity, as the arrays that a program would pass.
struct Raw {
  ComPtr<IDMLOperator> gather, identity;
  UINT table[2] = {0, 1};
  DML_OPERATOR_GRAPH_NODE_DESC operators[2];
  DML_CONSTANT_DATA_GRAPH_NODE_DESC constant;
  DML_GRAPH_NODE_DESC nodes[3];
  DML_INPUT_GRAPH_EDGE_DESC input;
  DML_INTERMEDIATE_GRAPH_EDGE_DESC between[2];
  DML_OUTPUT_GRAPH_EDGE_DESC output;
  DML_GRAPH_EDGE_DESC input_edges[1], between_edges[2], output_edges[2];
  DML_GRAPH_DESC desc;

  explicit Raw(Machine& machine) {
    const TensorDesc x(kFloat, {3, 2}), index(kUint, {1, 2}), y(kFloat, {2, 2});
    const DML_BUFFER_TENSOR_DESC buffers[] = {x.buffer(), index.buffer(), y.buffer()};
    const DML_TENSOR_DESC t[] = {{DML_TENSOR_TYPE_BUFFER, &buffers[0]},
                                 {DML_TENSOR_TYPE_BUFFER, &buffers[1]},
                                 {DML_TENSOR_TYPE_BUFFER, &buffers[2]}};
    const DML_GATHER_OPERATOR_DESC gather_desc{&t[0], &t[1], &t[2], 0, 1};
    const DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC identity_desc{&t[2], &t[2], nullptr};
    const DML_OPERATOR_DESC descs[] = {{DML_OPERATOR_GATHER, &gather_desc},
                                       {DML_OPERATOR_ELEMENT_WISE_IDENTITY, &identity_desc}};
    COMPAT_CHECK(machine.dml->CreateOperator(&descs[0], IID_PPV_ARGS(&gather)));
    COMPAT_CHECK(machine.dml->CreateOperator(&descs[1], IID_PPV_ARGS(&identity)));
    operators[0] = {gather.Get(), nullptr};
    operators[1] = {identity.Get(), "identity"};
    constant = {table, sizeof table, nullptr};
    nodes[0] = {DML_GRAPH_NODE_TYPE_OPERATOR, &operators[0]};
    nodes[1] = {DML_GRAPH_NODE_TYPE_OPERATOR, &operators[1]};
    nodes[2] = {DML_GRAPH_NODE_TYPE_CONSTANT, &constant};
    input = {0, 0, 0, nullptr};
    between[0] = {2, 0, 0, 1, nullptr};
    between[1] = {0, 0, 1, 0, nullptr};
    output = {1, 0, 0, nullptr};
    input_edges[0] = {DML_GRAPH_EDGE_TYPE_INPUT, &input};
    between_edges[0] = {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between[0]};
    between_edges[1] = {DML_GRAPH_EDGE_TYPE_INTERMEDIATE, &between[1]};
    output_edges[0] = {DML_GRAPH_EDGE_TYPE_OUTPUT, &output};
    desc = {1, 1, 3, nodes, 1, input_edges, 1, output_edges, 2, between_edges};
  }

  HRESULT compile(Machine& machine, ComPtr<IDMLCompiledOperator>* compiled) const {
    return machine.dml->CompileGraph(&desc, DML_EXECUTION_FLAG_NONE,
                                     IID_PPV_ARGS(compiled->ReleaseAndGetAddressOf()));
  }
};

TEST(HostileGraphs, EachMistakeHasItsReason) {
  struct Case {
    const char* reason;
    void (*damage)(Raw&);
  };
  const Case cases[] = {
      {"input not connected", [](Raw& raw) { raw.desc.InputEdgeCount = 0; }},
      {"output not connected", [](Raw& raw) { raw.desc.OutputEdgeCount = 0; }},
      {"input connected twice",
       [](Raw& raw) {
         raw.between[0] = {0, 0, 1, 0, nullptr};
       }},
      {"cycle",
       [](Raw& raw) {
         raw.between[0] = {1, 0, 0, 1, nullptr};
         raw.table[0] = 0;
         raw.operators[0].Operator = raw.identity.Get();
         raw.input_edges[0] = {DML_GRAPH_EDGE_TYPE_INPUT, &raw.input};
         raw.desc.InputEdgeCount = 0;
         raw.between[0] = {1, 0, 0, 0, nullptr};
       }},
      {"tensors differ", [](Raw& raw) { raw.constant.DataSize = 4; }},
      {"no such input", [](Raw& raw) { raw.input.ToNodeInputIndex = 9; }},
      {"no such output", [](Raw& raw) { raw.output.FromNodeIndex = 9; }},
      {"no such graph input", [](Raw& raw) { raw.input.GraphInputIndex = 5; }},
      {"no such graph output", [](Raw& raw) { raw.output.GraphOutputIndex = 5; }},
      {"wrong kind of edge",
       [](Raw& raw) { raw.output_edges[0].Type = DML_GRAPH_EDGE_TYPE_INPUT; }},
      {"wrong kind of edge", [](Raw& raw) { raw.between_edges[1].Desc = nullptr; }},
      {"wrong kind of edge", [](Raw& raw) { raw.input_edges[0].Desc = nullptr; }},
      {"wrong kind of edge", [](Raw& raw) { raw.output_edges[0].Desc = nullptr; }},
      {"wrong kind of edge",
       [](Raw& raw) { raw.input_edges[0].Type = DML_GRAPH_EDGE_TYPE_OUTPUT; }},
      {"wrong kind of edge",
       [](Raw& raw) { raw.between_edges[0].Type = DML_GRAPH_EDGE_TYPE_INPUT; }},
      {"unknown node", [](Raw& raw) { raw.nodes[1].Type = DML_GRAPH_NODE_TYPE_INVALID; }},
      {"null pointer", [](Raw& raw) { raw.operators[0].Operator = nullptr; }},
      {"no data", [](Raw& raw) { raw.constant.Data = nullptr; }},
      {"no nodes", [](Raw& raw) { raw.desc.Nodes = nullptr; }},
      {"no nodes", [](Raw& raw) { raw.desc.NodeCount = 0; }},
      {"no nodes", [](Raw& raw) { raw.desc.NodeCount = (1u << 20) + 1; }},
      {"no data", [](Raw& raw) { raw.constant.DataSize = 0; }},
      {"unknown node", [](Raw& raw) { raw.nodes[0].Desc = nullptr; }},
      {"unknown node", [](Raw& raw) { raw.nodes[2].Desc = nullptr; }},
      {"bad list of edges", [](Raw& raw) { raw.desc.IntermediateEdges = nullptr; }},
      {"bad list of edges", [](Raw& raw) { raw.desc.InputEdges = nullptr; }},
      {"bad list of edges", [](Raw& raw) { raw.desc.OutputEdges = nullptr; }},
      {"bad list of edges", [](Raw& raw) { raw.desc.OutputEdgeCount = (1u << 20) + 1; }},
      {"bad counts", [](Raw& raw) { raw.desc.InputCount = (1u << 20) + 1; }},
      {"bad counts", [](Raw& raw) { raw.desc.OutputCount = (1u << 20) + 1; }},
      {"bad counts", [](Raw& raw) { raw.desc.OutputCount = 0; }},
      {"no such input", [](Raw& raw) { raw.input.ToNodeIndex = 3; }},
      {"no such input", [](Raw& raw) { raw.input.ToNodeInputIndex = 2; }},
      {"no such output", [](Raw& raw) { raw.output.FromNodeIndex = 3; }},
      {"no such output", [](Raw& raw) { raw.output.FromNodeOutputIndex = 1; }},
      {"no such graph input", [](Raw& raw) { raw.input.GraphInputIndex = 1; }},
      {"no such graph output", [](Raw& raw) { raw.output.GraphOutputIndex = 1; }},
      {"output connected twice",
       [](Raw& raw) {
         raw.output_edges[1] = raw.output_edges[0];
         raw.desc.OutputEdgeCount = 2;
       }},
  };
  Machine machine;
  ComPtr<IDMLCompiledOperator> compiled;
  ASSERT_EQ(Raw(machine).compile(machine, &compiled), S_OK);
  for (const Case& c : cases) {
    Raw raw(machine);
    c.damage(raw);
    EXPECT_EQ(raw.compile(machine, &compiled), E_INVALIDARG) << c.reason;
    EXPECT_EQ(compiled.Get(), nullptr);
    EXPECT_NE(std::string(SheafDmlLastErrorText()).find(c.reason), std::string::npos)
        << SheafDmlLastErrorText();
  }
  Machine other;
  Raw raw(machine);
  EXPECT_EQ(raw.compile(other, &compiled), E_INVALIDARG);  // operators of another device
  EXPECT_EQ(machine.dml->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled)),
            E_INVALIDARG);
  EXPECT_STREQ(SheafDmlLastErrorText(),
               "CompileGraph: no nodes\n"
               "  the graph or its list of nodes is null, empty or too long\n"
               "  DML_GRAPH_DESC\n"
               "  try: operator nodes of this device, and constant data");
}

TEST(HostileGraphs, OnlyConstants) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.constant(bytes_of<float>({1, 2}), {kFloat, {1, 2}});
  const auto outputs = machine.run(graph.compile({x, x}).Get(), {}, {8, 8});
  EXPECT_EQ(values_of<float>(outputs[0], 2), (std::vector<float>{1, 2}));
  EXPECT_EQ(values_of<float>(outputs[1], 2), (std::vector<float>{1, 2}));
}

// An input that two nodes read is owned if one of them says so.
TEST(HostileGraphs, AnInputThatIsOwnedOnce) {
  Machine machine;
  for (const bool first : {false, true}) {
    Graph graph(machine.dml.Get());
    TensorDesc owned(kFloat, {1, 4}), plain = owned;
    owned.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    const auto a = identity(graph.input(0, first ? owned : plain));
    const auto b = identity(graph.input(0, first ? plain : owned));
    EXPECT_EQ(graph.compile({a, b})->GetBindingProperties().PersistentResourceSize, 256u);
  }
}

TEST(HostileGraphs, OwnedTensorsInside) {
  Machine machine;
  Graph graph(machine.dml.Get());
  auto inside = identity(graph.input(0, {kFloat, {1, 2}}));
  inside.desc.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  const auto y = identity(inside);
  EXPECT_THROW(graph.compile({y}), std::runtime_error);
  EXPECT_STREQ(
      SheafDmlLastErrorText(),
      "CompileGraph: owned tensor inside a graph\n"
      "  output 0 of node 0 has 8 bytes, but InputTensor of node 1 has 8 and is "
      "OWNED_BY_DML\n"
      "  DML_GRAPH_DESC\n"
      "  try: tensors of one TotalTensorSizeInBytes at both ends, and OWNED_BY_DML only on "
      "inputs of the graph");
}

TEST(HostileGraphs, RandomDamage) {
  const long before = SheafLiveObjects();
  {
    Machine machine;
    std::mt19937 random(7);
    const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
    int refused = 0;
    for (int i = 0; i < 2000; ++i) {
      Raw raw(machine);
      UINT* fields[] = {&raw.input.GraphInputIndex,
                        &raw.input.ToNodeIndex,
                        &raw.input.ToNodeInputIndex,
                        &raw.between[0].FromNodeIndex,
                        &raw.between[0].FromNodeOutputIndex,
                        &raw.between[0].ToNodeIndex,
                        &raw.between[0].ToNodeInputIndex,
                        &raw.between[1].FromNodeIndex,
                        &raw.between[1].ToNodeIndex,
                        &raw.between[1].ToNodeInputIndex,
                        &raw.output.FromNodeIndex,
                        &raw.output.FromNodeOutputIndex,
                        &raw.output.GraphOutputIndex,
                        &raw.desc.InputCount,
                        &raw.desc.OutputCount};
      for (int n = 1 + pick(2); n > 0; --n) {
        const UINT values[] = {0, 1, 2, 3, 1000, 0x80000000, 0xFFFFFFFF};
        *fields[pick(static_cast<int>(std::size(fields)) - 1)] = values[pick(6)];
      }
      ComPtr<IDMLCompiledOperator> compiled;
      if (FAILED(raw.compile(machine, &compiled))) {
        ++refused;
        ASSERT_STRNE(SheafDmlLastErrorText(), "");
        continue;
      }
      if (raw.desc.InputCount == 1 && raw.desc.OutputCount == 1) {
        EXPECT_NO_THROW(machine.run(compiled.Get(), {Bytes(24)}, {16}));
      }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), S_OK);
  }
  EXPECT_EQ(SheafLiveObjects(), before);
}

TEST(HostileBindings, RandomDamage) {
  const long before = SheafLiveObjects();
  std::mt19937 random(11);
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  int removed = 0;
  for (int i = 0; i < 400; ++i) {
    Machine machine;  // a wrong binding removes the device
    const Raw raw(machine);
    ComPtr<IDMLCompiledOperator> compiled;
    ASSERT_EQ(raw.compile(machine, &compiled), S_OK);
    const auto big = machine.buffer(4096), small = machine.buffer(8);
    const auto uploaded = machine.buffer(4096, D3D12_HEAP_TYPE_UPLOAD);
    ID3D12Resource* const buffers[] = {big.Get(), small.Get(), uploaded.Get(), nullptr};
    const UINT64 numbers[] = {0, 16, 1024, 2048, 4095, 4096, 1, std::numeric_limits<UINT64>::max()};
    DML_BUFFER_BINDING ranges[3] = {
        {big.Get(), 0, 24}, {big.Get(), 1024, 16}, {big.Get(), 2048, 256}};
    DML_BINDING_DESC bindings[3];
    for (int b = 0; b < 3; ++b) {
      bindings[b] = {DML_BINDING_TYPE_BUFFER, &ranges[b]};
    }
    for (int n = pick(2); n > 0; --n) {
      DML_BUFFER_BINDING& range = ranges[pick(2)];
      switch (pick(3)) {
        case 0: range.Buffer = buffers[pick(3)]; break;
        case 1: range.Offset = numbers[pick(7)]; break;
        case 2: range.SizeInBytes = numbers[pick(7)]; break;
        default: bindings[pick(2)].Type = static_cast<DML_BINDING_TYPE>(pick(3)); break;
      }
      if (bindings[0].Type == DML_BINDING_TYPE_BUFFER_ARRAY ||
          bindings[1].Type == DML_BINDING_TYPE_BUFFER_ARRAY ||
          bindings[2].Type == DML_BINDING_TYPE_BUFFER_ARRAY) {
        bindings[0].Desc = bindings[1].Desc = bindings[2].Desc = nullptr;  // no array is there
      }
    }
    const auto table = machine.table(compiled.Get());
    table->BindInputs(static_cast<UINT>(1 + (pick(9) == 0 ? 1 : 0)), &bindings[0]);
    table->BindOutputs(pick(9) == 0 ? 0 : 1, &bindings[1]);
    table->BindTemporaryResource(pick(9) == 0 ? nullptr : &bindings[2]);
    machine.recorder->RecordDispatch(machine.list.Get(), compiled.Get(),
                                     pick(19) == 0 ? nullptr : table.Get());
    machine.execute();
    removed += machine.dml->GetDeviceRemovedReason() != S_OK ? 1 : 0;
  }
  EXPECT_GT(removed, 100);
  EXPECT_LT(removed, 400);
  EXPECT_EQ(SheafLiveObjects(), before);
}

// Operators with sizes that no memory has: refused, or created in no time.
// Every operator there is, and numbers that are none, with a descriptor of nulls and with none.
TEST(HostileOperators, EachIsRefusedByName) {
  Machine machine;
  const std::vector<std::byte> nulls(512);
  const auto refused_with = [&](int32_t type, const std::string& name) {
    for (const void* desc :
         {static_cast<const void*>(nulls.data()), static_cast<const void*>(nullptr)}) {
      const DML_OPERATOR_DESC op{static_cast<DML_OPERATOR_TYPE>(type), desc};
      ComPtr<IDMLOperator> made;
      const HRESULT result = machine.dml->CreateOperator(&op, IID_PPV_ARGS(&made));
      EXPECT_TRUE(result == E_INVALIDARG || result == DXGI_ERROR_UNSUPPORTED) << name;
      EXPECT_EQ(made, nullptr) << name;
      EXPECT_NE(std::string(SheafDmlLastErrorText()).find(name), std::string::npos)
          << SheafDmlLastErrorText() << "does not name " << name;
    }
  };
#define COMPAT_REFUSED(name, number) refused_with(number, "DML_OPERATOR_" #name);
  SHEAF_DML_OPERATORS(COMPAT_REFUSED)
#undef COMPAT_REFUSED
  for (const int32_t type : {-1, 178, 0x10000, std::numeric_limits<int32_t>::min(),
                             std::numeric_limits<int32_t>::max()}) {
    refused_with(type, "Type = " + std::to_string(type));
  }
}

TEST(HostileOperators, HugeTensors) {
  Machine machine;
  Graph graph(machine.dml.Get());
  const UINT most = 0xFFFFFFFF;
  const auto x = graph.input(0, {DML_TENSOR_DATA_TYPE_UINT8, {1, 2}});
  EXPECT_NO_THROW(pad(x, DML_PADDING_MODE_EDGE, 0, {0, 1u << 30}, {0, 1u << 30}));
  EXPECT_THROW(pad(x, DML_PADDING_MODE_REFLECTION, 0, {0, 1u << 30}, {0, 1u << 30}),
               std::runtime_error);
  EXPECT_THROW(pad(x, DML_PADDING_MODE_EDGE, 0, {0, most}, {0, most}), std::runtime_error);
  EXPECT_THROW(tile(x, {most, most}), std::runtime_error);
  EXPECT_THROW(slice(x, {0, 0}, {1, 2}, {1, 0x7FFFFFFF}).graph->compile({}), std::runtime_error);
}

}  // namespace
