// SPDX-License-Identifier: MIT
//
// Memory that is bound twice. Outputs over inputs give the values that memory of their own would
// give, or are refused; outputs never share memory with each other or with a resource.
#include "compat/fluent.h"

using namespace compat;

namespace {

// A machine with 16 floats 1, 2, 3, … in one buffer.
struct Shared : Machine {
  Shared() {
    std::vector<float> numbers(16);
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<float>(i + 1);
    }
    memory = upload(bytes_of(numbers));
    execute();
  }
  DML_BUFFER_BINDING floats(UINT64 first, UINT64 count) const {
    return {memory.Get(), 4 * first, 4 * count};
  }
  std::vector<float> values() { return values_of<float>(download(memory.Get()), 16); }

  // Records, and says how it was refused; "" if it was not.
  std::string refusal(IDMLCompiledOperator* op, const Ranges& inputs, const Ranges& outputs) {
    record(op, inputs, outputs);
    execute();
    const HRESULT reason = dml->GetDeviceRemovedReason();
    EXPECT_TRUE(reason == S_OK || reason == E_INVALIDARG);
    return reason == S_OK ? "" : SheafDmlLastErrorText();
  }

  ComPtr<ID3D12Resource> memory;
};

Expression floats(Graph& graph, UINT index, UINT count) {
  return graph.input(index, {kFloat, {1, count}});
}

std::string overlap(const std::string& who, const std::string& pair, const std::string& counts) {
  return who + ": memory overlaps\n  " + pair + " share memory\n  " + counts +
         "   temporary 0 bytes   persistent 0 bytes\n  try: memory of its own for each";
}

// Two nodes without an intermediate tensor: the second would read what the first wrote.
TEST(Overlaps, OutputOfAGraphOverAnInput) {
  struct Case {
    UINT64 input, output;
  };
  for (const Case c : {Case{0, 0}, {0, 4}, {4, 0}}) {  // all, and parts of it
    Shared machine;
    Graph graph(machine.dml.Get());
    const auto x = floats(graph, 0, 8);
    const auto op =
        graph.compile({identity(x, DML_SCALE_BIAS{2, 0}), identity(x, DML_SCALE_BIAS{3, 0})});
    const auto second = machine.buffer(32);
    const DML_BUFFER_BINDING other{second.Get(), 0, 32};
    EXPECT_EQ(machine.refusal(op.Get(), {machine.floats(c.input, 8)},
                              {machine.floats(c.output, 8), other}),
              overlap("DML_GRAPH_DESC",
                      c.output < c.input ? "graph output 0 and graph input 0"
                                         : "graph input 0 and graph output 0",
                      "1 inputs   2 outputs"));
    EXPECT_EQ(machine.values()[0], 1);
  }
}

TEST(Overlaps, AnInputThatLeadsNowhereMayLieAnywhere) {
  Shared machine;
  Graph graph(machine.dml.Get());
  const auto x = floats(graph, 0, 4);
  floats(graph, 1, 4);
  const auto a = identity(x, DML_SCALE_BIAS{2, 0}), b = identity(x, DML_SCALE_BIAS{3, 0});
  EXPECT_EQ(
      machine.refusal(graph.compile({a, b}).Get(), {machine.floats(0, 4), machine.floats(4, 4)},
                      {machine.floats(4, 4), machine.floats(8, 4)}),
      "");
  EXPECT_EQ(machine.values()[4], 2);
  EXPECT_EQ(machine.values()[8], 3);
}

TEST(Overlaps, OutputsOfAGraphOverEachOther) {
  for (const UINT64 second : {UINT64{0}, UINT64{4}}) {
    Shared machine;
    Graph graph(machine.dml.Get());
    const auto x = floats(graph, 0, 8);
    const auto y = identity(x);
    const auto to = machine.buffer(64);
    // The same tensor twice, and two tensors.
    const auto op = second == 0 ? graph.compile({y, y}) : graph.compile({y, identity(x)});
    EXPECT_EQ(
        machine.refusal(op.Get(), {machine.floats(0, 8)},
                        {{to.Get(), 0, 32}, {to.Get(), 4 * second, 32}}),
        overlap("DML_GRAPH_DESC", "graph output 0 and graph output 1", "1 inputs   2 outputs"));
  }
}

// A binding may be longer than its tensor: what lies after the last byte is another tensor's.
TEST(Overlaps, OnlyTheBytesOfATensorCount) {
  for (const UINT count : {4u, 5u}) {  // floats; the second output starts after four
    Shared machine;
    Graph graph(machine.dml.Get());
    const auto data = graph.constant(bytes_of(std::vector<float>(count, 20)), {kFloat, {count}});
    const bool apart = count == 4;
    EXPECT_EQ(machine.refusal(graph.compile({data, data}).Get(), {},
                              {machine.floats(4, 6), machine.floats(0, 6)}),
              apart ? ""
                    : overlap("DML_GRAPH_DESC", "graph output 1 and graph output 0",
                              "0 inputs   2 outputs"));
    std::vector<float> expected{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    std::fill_n(expected.begin(), apart ? 8 : 0, 20.0f);
    EXPECT_EQ(machine.values(), expected);
  }
}

// One node reads all of its inputs before it writes, or refuses.
TEST(Overlaps, AGraphOfOneOperatorWorksInPlace) {
  Shared machine;
  Graph graph(machine.dml.Get());
  const auto x = floats(graph, 0, 4);
  const auto places = graph.constant(bytes_of<UINT>({3, 0}), {kUint, {1, 2}});
  const auto updates = graph.input(1, {kFloat, {1, 2}});
  const auto op = graph.compile({scatter_elements(x, places, updates, 1)});
  EXPECT_EQ(machine.refusal(op.Get(), {machine.floats(0, 4), machine.floats(8, 2)},
                            {machine.floats(0, 4)}),
            "");
  EXPECT_EQ(machine.values()[0], 10);
  EXPECT_EQ(machine.values()[3], 9);
  // Updates in the output: they would be overwritten before they are read.
  EXPECT_NE(
      machine
          .refusal(op.Get(), {machine.floats(0, 4), machine.floats(0, 2)}, {machine.floats(0, 4)})
          .find("output overlaps an input"),
      std::string::npos);
}

TEST(Overlaps, ScaledInPlace) {
  Shared machine;
  Graph graph(machine.dml.Get());
  identity(floats(graph, 0, 8), DML_SCALE_BIAS{2, 1});
  const auto op = graph.compile_last();
  EXPECT_EQ(machine.refusal(op.Get(), {machine.floats(0, 8)}, {machine.floats(0, 8)}), "");
  EXPECT_EQ(machine.values()[0], 3);
  EXPECT_EQ(machine.values()[7], 17);
  EXPECT_EQ(machine.refusal(op.Get(), {machine.floats(0, 8)}, {machine.floats(4, 8)}),
            overlap("DML_OPERATOR_ELEMENT_WISE_IDENTITY", "InputTensor and OutputTensor",
                    "1 inputs   1 outputs"));
}

TEST(Overlaps, CopiedInPlace) {
  Shared machine;
  Graph graph(machine.dml.Get());
  identity(floats(graph, 0, 8));
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(0, 8)}, {machine.floats(0, 8)}),
      "");
  EXPECT_EQ(machine.values()[7], 8);
  // Other strides: each element would go to another place.
  for (const bool scaled : {false, true}) {
    Shared other;
    Graph turned(other.dml.Get());
    const auto x = turned.input(0, {kFloat, {2, 4}, {1, 2}});
    identity(x, scaled ? std::optional(DML_SCALE_BIAS{1, 0}) : std::nullopt);
    EXPECT_NE(
        other.refusal(turned.compile_last().Get(), {other.floats(0, 8)}, {other.floats(0, 8)}), "");
    EXPECT_EQ(other.values()[1], 2);
  }
}

TEST(Overlaps, CastInPlace) {
  for (const auto type : {kFloat, kInt}) {
    Shared machine;
    Graph graph(machine.dml.Get());
    cast(floats(graph, 0, 8), type);
    EXPECT_EQ(
        machine.refusal(graph.compile_last().Get(), {machine.floats(0, 8)}, {machine.floats(0, 8)}),
        type == kFloat
            ? ""
            : overlap("DML_OPERATOR_CAST", "InputTensor and OutputTensor", "1 inputs   1 outputs"));
    EXPECT_EQ(machine.values()[7], 8);
  }
}

// The second output is a copy of the first.
TEST(Overlaps, ScaledInPlaceAndOnceMore) {
  Shared machine;
  Graph graph(machine.dml.Get());
  const auto y = identity(floats(graph, 0, 4), DML_SCALE_BIAS{2, 0});
  EXPECT_EQ(machine.refusal(graph.compile({y, y}).Get(), {machine.floats(0, 4)},
                            {machine.floats(8, 4), machine.floats(0, 4)}),
            overlap("DML_GRAPH_DESC", "graph input 0 and graph output 1", "1 inputs   2 outputs"));
}

// Operators of several steps: a later one would read what an earlier one wrote.
TEST(Overlaps, JoinOverItsSecondPart) {
  Shared machine;
  Graph graph(machine.dml.Get());
  join({floats(graph, 0, 4), floats(graph, 1, 4)}, 1);
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(8, 4), machine.floats(0, 4)},
                      {machine.floats(0, 8)}),
      overlap("DML_OPERATOR_JOIN", "InputTensors[1] and OutputTensor", "2 inputs   1 outputs"));
}

TEST(Overlaps, SplitOverItsInput) {
  Shared machine;
  Graph graph(machine.dml.Get());
  split(floats(graph, 0, 8), {4, 4}, 1);
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(0, 8)},
                      {machine.floats(4, 4), machine.floats(8, 4)}),
      overlap("DML_OPERATOR_SPLIT", "InputTensor and OutputTensors[0]", "1 inputs   2 outputs"));
}

TEST(Overlaps, OutputsOfAnOperatorOverEachOther) {
  Shared machine;
  Graph graph(machine.dml.Get());
  split(floats(graph, 0, 8), {4, 4}, 1);
  EXPECT_EQ(machine.refusal(graph.compile_last().Get(), {machine.floats(0, 8)},
                            {machine.floats(12, 4), machine.floats(12, 4)}),
            overlap("DML_OPERATOR_SPLIT", "OutputTensors[0] and OutputTensors[1]",
                    "1 inputs   2 outputs"));
}

TEST(Overlaps, PaddingOverItsInput) {
  Shared machine;
  Graph graph(machine.dml.Get());
  pad(floats(graph, 0, 4), DML_PADDING_MODE_CONSTANT, 0, {0, 4}, {0, 0});
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(0, 4)}, {machine.floats(0, 8)}),
      overlap("DML_OPERATOR_PADDING", "InputTensor and OutputTensor", "1 inputs   1 outputs"));
}

TEST(Overlaps, GradientOfASliceOverItsInput) {
  Shared machine;
  Graph graph(machine.dml.Get());
  graph.add(DML_OPERATOR_SLICE_GRAD, {floats(graph, 0, 4)}, {{kFloat, {1, 8}}}, [](const auto* t) {
    static const UINT offsets[] = {0, 4}, sizes[] = {1, 4};
    static const INT steps[] = {1, 1};
    return DML_SLICE_GRAD_OPERATOR_DESC{&t[0], &t[1], 2, offsets, sizes, steps};
  });
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(0, 4)}, {machine.floats(0, 8)}),
      overlap("DML_OPERATOR_SLICE_GRAD", "InputGradientTensor and OutputGradientTensor",
              "1 inputs   1 outputs"));
}

// The last byte of one tensor is next to the first of another.
TEST(Overlaps, NeighboursAreNoOverlap) {
  Shared machine;
  Graph graph(machine.dml.Get());
  join({floats(graph, 0, 4), floats(graph, 1, 4)}, 1);
  EXPECT_EQ(machine.refusal(graph.compile_last().Get(),
                            {machine.floats(0, 4), machine.floats(12, 4)}, {machine.floats(4, 8)}),
            "");
  EXPECT_EQ(machine.values(),
            (std::vector<float>{1, 2, 3, 4, 1, 2, 3, 4, 13, 14, 15, 16, 13, 14, 15, 16}));
}

// Columns of one matrix: no element is shared.
TEST(Overlaps, InterleavedInputAndOutput) {
  Shared machine;
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {2, 1}, {8, 1}});
  graph.add(DML_OPERATOR_ELEMENT_WISE_IDENTITY, {x}, {{kFloat, {2, 1}, {8, 1}}}, [](const auto* t) {
    return DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC{&t[0], &t[1], nullptr};
  });
  EXPECT_EQ(
      machine.refusal(graph.compile_last().Get(), {machine.floats(0, 9)}, {machine.floats(4, 9)}),
      "");
  EXPECT_EQ(machine.values()[4], 1);
  EXPECT_EQ(machine.values()[12], 9);
}

// The temporary resource is written while inputs are read and outputs written.
TEST(Overlaps, TheTemporaryResource) {
  for (const UINT64 at : {UINT64{0}, UINT64{256}, UINT64{512}}) {
    Machine machine;
    Graph graph(machine.dml.Get());
    const auto x = floats(graph, 0, 64);
    const auto op = graph.compile({tile(tile(x, {1, 1}), {1, 1})});
    ASSERT_EQ(op->GetBindingProperties().TemporaryResourceSize, 256u);
    const auto memory = machine.buffer(1024);
    const auto table = machine.table(op.Get());
    bind(table.Get(), {{memory.Get(), 0, 256}}, {{memory.Get(), 256, 256}});
    const DML_BUFFER_BINDING range{memory.Get(), at, 256};
    const DML_BINDING_DESC temporary{DML_BINDING_TYPE_BUFFER, &range};
    table->BindTemporaryResource(&temporary);
    machine.recorder->RecordDispatch(machine.list.Get(), op.Get(), table.Get());
    EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), at == 512 ? S_OK : E_INVALIDARG);
    if (at != 512) {
      EXPECT_EQ(std::string(SheafDmlLastErrorText()),
                std::string("DML_GRAPH_DESC: memory overlaps\n  ") +
                    (at == 0 ? "graph input 0 and the temporary resource"
                             : "graph output 0 and the temporary resource") +
                    " share memory\n  1 inputs   1 outputs   temporary 256 bytes   persistent 0 "
                    "bytes\n  try: memory of its own for each");
    }
  }
}

// Initialisation copies the owned tensors of all operators, one after the other.
class OwnedOverlaps : public testing::Test {
 protected:
  // An operator with an owned input of `count` floats.
  ComPtr<IDMLCompiledOperator> owning(UINT count) {
    Graph graph(machine_.dml.Get());
    TensorDesc desc(kFloat, {1, count});
    desc.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
    identity(graph.input(0, desc));
    return graph.compile_last();
  }

  std::string initialize(const std::vector<DML_BUFFER_BINDING>& inputs, const Ranges& persistent) {
    std::vector<ComPtr<IDMLCompiledOperator>> operators;
    std::vector<IDMLCompiledOperator*> pointers;
    std::vector<DML_BUFFER_ARRAY_BINDING> arrays;
    std::vector<DML_BINDING_DESC> input_descs, output_descs;
    for (const DML_BUFFER_BINDING& input : inputs) {
      operators.push_back(owning(64));
      pointers.push_back(operators.back().Get());
      arrays.push_back({1, &input});
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      input_descs.push_back({DML_BINDING_TYPE_BUFFER_ARRAY, &arrays[i]});
      output_descs.push_back({DML_BINDING_TYPE_BUFFER, &persistent[i]});
    }
    const auto count = static_cast<UINT>(inputs.size());
    ComPtr<IDMLOperatorInitializer> initializer;
    COMPAT_CHECK(machine_.dml->CreateOperatorInitializer(count, pointers.data(),
                                                         IID_PPV_ARGS(&initializer)));
    const auto table = machine_.table(initializer.Get());
    table->BindInputs(count, input_descs.data());
    table->BindOutputs(count, output_descs.data());
    machine_.recorder->RecordDispatch(machine_.list.Get(), initializer.Get(), table.Get());
    const HRESULT reason = machine_.dml->GetDeviceRemovedReason();
    EXPECT_TRUE(reason == S_OK || reason == E_INVALIDARG);
    return reason == S_OK ? "" : SheafDmlLastErrorText();
  }
  DML_BUFFER_BINDING at(UINT64 offset) { return {memory_.Get(), offset, 256}; }
  static std::string expected(const std::string& pair) {
    return "DML_OPERATOR_ELEMENT_WISE_IDENTITY: memory overlaps\n  " + pair +
           " share memory\n  1 inputs   1 outputs   temporary 0 bytes   persistent 256 bytes\n"
           "  try: memory of its own for each";
  }

 private:
  Machine machine_;
  ComPtr<ID3D12Resource> memory_ = machine_.buffer(2048);
};

TEST_F(OwnedOverlaps, NoneIfAllAreApart) {
  EXPECT_EQ(initialize({at(0), at(256)}, {at(512), at(768)}), "");
}
TEST_F(OwnedOverlaps, ManyMayReadOneRange) {
  EXPECT_EQ(initialize({at(0), at(0)}, {at(512), at(768)}), "");
}
TEST_F(OwnedOverlaps, AnInputInItsOwnPersistentResource) {
  EXPECT_EQ(initialize({at(128)}, {at(0)}), expected("the persistent resource and InputTensor"));
}
TEST_F(OwnedOverlaps, AnInputInThatOfAnotherOperator) {
  EXPECT_EQ(initialize({at(0), at(512)}, {at(512), at(768)}),
            expected("the persistent resource and InputTensor"));
}
TEST_F(OwnedOverlaps, TwoPersistentResources) {
  EXPECT_EQ(initialize({at(0), at(0)}, {at(512), at(512)}),
            expected("the persistent resource and the persistent resource"));
}

}  // namespace
