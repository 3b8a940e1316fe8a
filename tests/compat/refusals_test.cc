// SPDX-License-Identifier: MIT
//
// Every refusal of DirectML's calls, as a whole text.
#include "compat/fluent.h"

using namespace compat;

namespace {

// Of a void method: it removes the device.
std::string removal(Machine& machine) {
  return machine.dml->GetDeviceRemovedReason() == E_INVALIDARG ? SheafDmlLastErrorText()
                                                               : "not removed";
}

std::string bad_binding(const std::string& call, const std::string& detail,
                        const std::string& next) {
  return call + ": bad binding\n  " + detail + "\n  IDMLBindingTable\n  try: " + next;
}

// Two inputs and one output of four floats.
ComPtr<IDMLCompiledOperator> joined(Machine& machine) {
  Graph graph(machine.dml.Get());
  join({graph.input(0, {kFloat, {1, 4}}), graph.input(1, {kFloat, {1, 4}})}, 1);
  return graph.compile_last();
}

TEST(Refusals, ListsOfBindings) {
  constexpr UINT kTooMany = (1u << 20) + 1;
  const DML_BUFFER_ARRAY_BINDING null_array{2, nullptr};
  const DML_BUFFER_BINDING one{};
  const DML_BUFFER_ARRAY_BINDING too_long{kTooMany, &one};
  const DML_BINDING_DESC none{};
  struct Case {
    UINT count;
    const DML_BINDING_DESC* list;
    DML_BINDING_DESC desc;
    std::string detail, next;
  };
  const std::string types = "DML_BINDING_TYPE_BUFFER (1) with its descriptor, or NONE (0)";
  const std::string array = "one DML_BUFFER_BINDING for each input";
  const Case cases[] = {
      {1,
       nullptr,
       {},
       "1 bindings, but the list is null or too long",
       "one DML_BINDING_DESC for each"},
      {kTooMany,
       &none,
       {},
       "1048577 bindings, but the list is null or too long",
       "one DML_BINDING_DESC for each"},
      {1, &none, {DML_BINDING_TYPE_BUFFER, nullptr}, "Type = 1 and Desc is null", types},
      {1, &none, {DML_BINDING_TYPE_BUFFER_ARRAY, nullptr}, "Type = 2 and Desc is null", types},
      {1, &none, {static_cast<DML_BINDING_TYPE>(7), &none}, "Type = 7", types},
      {1,
       &none,
       {DML_BINDING_TYPE_BUFFER_ARRAY, &null_array},
       "an array of 2 bindings is null or too long",
       array},
      {1,
       &none,
       {DML_BINDING_TYPE_BUFFER_ARRAY, &too_long},
       "an array of 1048577 bindings is null or too long",
       array},
  };
  for (const Case& c : cases) {
    const DML_BINDING_DESC* list = c.list == nullptr || c.count > 1 ? c.list : &c.desc;
    Machine inputs, outputs;
    inputs.table(joined(inputs).Get())->BindInputs(c.count, list);
    EXPECT_EQ(removal(inputs), bad_binding("BindInputs", c.detail, c.next));
    outputs.table(joined(outputs).Get())->BindOutputs(c.count, list);
    EXPECT_EQ(removal(outputs), bad_binding("BindOutputs", c.detail, c.next));
  }
  const DML_BINDING_DESC wrong{static_cast<DML_BINDING_TYPE>(9), nullptr};
  Machine temporary, persistent;
  temporary.table(joined(temporary).Get())->BindTemporaryResource(&wrong);
  EXPECT_EQ(removal(temporary),
            bad_binding("BindTemporaryResource", "Type = 9 and Desc is null", types));
  persistent.table(joined(persistent).Get())->BindPersistentResource(&wrong);
  EXPECT_EQ(removal(persistent),
            bad_binding("BindPersistentResource", "Type = 9 and Desc is null", types));
}

std::string not_taken(const std::string& what, const std::string& detail) {
  return "DML_OPERATOR_JOIN: " + what + "\n  " + detail +
         "\n  2 inputs   1 outputs   temporary 0 bytes   persistent 0 bytes\n  try: ";
}

TEST(Refusals, Ranges) {
  struct Case {
    DML_BUFFER_BINDING range;
    std::string what, detail, next;
  };
  const auto check = [](int which, UINT64 offset, UINT64 bytes, const std::string& text) {
    Machine machine;
    const auto op = joined(machine);
    const auto buffer = machine.buffer(256);
    Ranges inputs{{buffer.Get(), 0, 16}, {buffer.Get(), 16, 16}}, outputs{{buffer.Get(), 32, 32}};
    DML_BUFFER_BINDING& range = which < 2 ? inputs[static_cast<size_t>(which)] : outputs[0];
    range.Offset = offset;
    range.SizeInBytes = bytes;
    machine.record(op.Get(), inputs, outputs);
    EXPECT_EQ(removal(machine), text);
  };
  const std::string outside = "a range inside the buffer";
  check(0, 272, 0,
        not_taken("binding outside its buffer",
                  "InputTensors[0] has Offset 272 and SizeInBytes 0, but the buffer has "
                  "256 bytes") +
            outside);
  check(1, 240, 17,
        not_taken("binding outside its buffer",
                  "InputTensors[1] has Offset 240 and SizeInBytes 17, but the buffer "
                  "has 256 bytes") +
            outside);
  check(2, UINT64_MAX - 15, 32,
        not_taken("binding outside its buffer",
                  "OutputTensor has Offset 18446744073709551600 and SizeInBytes 32, but the buffer "
                  "has 256 bytes") +
            outside);
  check(0, 0, 15,
        not_taken("binding too small", "InputTensors[0] has SizeInBytes 15, but needs 16") +
            "as many bytes as TotalTensorSizeInBytes or the binding properties say");
  check(2, 72, 32,
        not_taken("binding not aligned", "OutputTensor has Offset 72, which is no multiple of 16") +
            "an Offset that is a multiple of 16");
}

TEST(Refusals, BuffersOfTheWrongKind) {
  Machine unbound, null, upload;
  {
    const auto op = joined(unbound);
    const auto buffer = unbound.buffer(64);
    unbound.record(op.Get(), {{buffer.Get(), 0, 16}, {}}, {{buffer.Get(), 32, 32}});
    EXPECT_EQ(removal(unbound), not_taken("not bound", "InputTensors[1] has a binding of Type 0") +
                                    "DML_BINDING_TYPE_BUFFER (1)");
  }
  {
    const auto op = joined(null);
    const auto buffer = null.buffer(64);
    const auto table = null.table(op.Get());
    bind(table.Get(), {{buffer.Get(), 0, 16}, {buffer.Get(), 16, 16}}, {});
    const DML_BUFFER_BINDING range{nullptr, 0, 32};
    const DML_BINDING_DESC desc{DML_BINDING_TYPE_BUFFER, &range};
    table->BindOutputs(1, &desc);
    null.recorder->RecordDispatch(null.list.Get(), op.Get(), table.Get());
    EXPECT_EQ(removal(null), not_taken("no buffer", "OutputTensor is bound to a null Buffer") +
                                 "a buffer that the parent device created");
  }
  const auto op = joined(upload);
  const auto buffer = upload.buffer(64), uploaded = upload.buffer(64, D3D12_HEAP_TYPE_UPLOAD);
  upload.record(op.Get(), {{buffer.Get(), 0, 16}, {uploaded.Get(), 16, 16}},
                {{uploaded.Get(), 32, 32}});
  EXPECT_EQ(removal(upload),
            not_taken("upload buffer", "OutputTensor is bound to a buffer of an upload heap") +
                "a buffer of D3D12_HEAP_TYPE_DEFAULT");
}

TEST(Refusals, Counts) {
  Machine inputs, outputs;
  inputs.record(joined(inputs).Get(), {}, {});
  EXPECT_EQ(removal(inputs),
            not_taken("wrong number of bindings", "0 inputs are bound, but there are 2") +
                "one binding for each");
  const auto buffer = outputs.buffer(64);
  const DML_BUFFER_BINDING range{buffer.Get(), 0, 16};
  outputs.record(joined(outputs).Get(), {range, range}, {range, range});
  EXPECT_EQ(removal(outputs),
            not_taken("wrong number of bindings", "2 outputs are bound, but there are 1") +
                "one binding for each");
}

TEST(Refusals, OwnedTensors) {
  Machine machine;
  Graph graph(machine.dml.Get());
  TensorDesc desc(kFloat, {1, 4});
  desc.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  identity(graph.input(0, desc));
  const auto op = graph.compile_last();
  const auto table = machine.table(op.Get());
  const auto buffer = machine.buffer(512);
  bind(table.Get(), {{buffer.Get(), 0, 16}}, {{buffer.Get(), 16, 16}});
  const DML_BUFFER_BINDING range{buffer.Get(), 256, 256};
  const DML_BINDING_DESC persistent{DML_BINDING_TYPE_BUFFER, &range};
  table->BindPersistentResource(&persistent);
  machine.recorder->RecordDispatch(machine.list.Get(), op.Get(), table.Get());
  EXPECT_EQ(removal(machine),
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY: owned tensor bound\n"
            "  InputTensor is OWNED_BY_DML; it is bound at initialisation only\n"
            "  1 inputs   1 outputs   temporary 0 bytes   persistent 256 bytes\n"
            "  try: DML_BINDING_TYPE_NONE (0)");
}

// Nothing, an empty array and a null buffer without bytes are all no binding.
TEST(Refusals, OwnedTensorsMayBeBoundToNothing) {
  const DML_BUFFER_BINDING null{};
  const DML_BUFFER_ARRAY_BINDING empty{0, nullptr}, nulls{1, &null};
  const DML_BINDING_DESC none[] = {{DML_BINDING_TYPE_NONE, nullptr},
                                   {DML_BINDING_TYPE_BUFFER, &null},
                                   {DML_BINDING_TYPE_BUFFER_ARRAY, &empty},
                                   {DML_BINDING_TYPE_BUFFER_ARRAY, &nulls}};
  Machine machine;
  Graph graph(machine.dml.Get());
  TensorDesc desc(kFloat, {1, 4});
  desc.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  identity(graph.input(0, desc));
  const auto op = graph.compile_last();
  const auto table = machine.table(op.Get());
  const auto buffer = machine.buffer(512);
  const DML_BUFFER_BINDING ranges[] = {{buffer.Get(), 0, 16}, {buffer.Get(), 256, 256}};
  const DML_BINDING_DESC output{DML_BINDING_TYPE_BUFFER, &ranges[0]},
      persistent{DML_BINDING_TYPE_BUFFER, &ranges[1]};
  table->BindOutputs(1, &output);
  table->BindPersistentResource(&persistent);
  for (const DML_BINDING_DESC& input : none) {
    table->BindInputs(1, &input);
    machine.recorder->RecordDispatch(machine.list.Get(), op.Get(), table.Get());
    EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), S_OK) << SheafDmlLastErrorText();
  }
  machine.execute();
  table->BindPersistentResource(nullptr);
  // An initializer needs them, where an operator owns something.
  ComPtr<IDMLOperatorInitializer> initializer;
  const auto owns_nothing = joined(machine);
  IDMLCompiledOperator* const operators[] = {op.Get(), owns_nothing.Get()};
  COMPAT_CHECK(machine.dml->CreateOperatorInitializer(2, operators, IID_PPV_ARGS(&initializer)));
  const auto initial = machine.table(initializer.Get());
  const DML_BUFFER_BINDING whole{buffer.Get(), 0, 16};
  const DML_BUFFER_ARRAY_BINDING inputs{1, &whole};
  const DML_BINDING_DESC input_list{DML_BINDING_TYPE_BUFFER_ARRAY, &inputs};
  initial->BindInputs(1, &input_list);
  initial->BindOutputs(1, &persistent);
  machine.recorder->RecordDispatch(machine.list.Get(), initializer.Get(), initial.Get());
  EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), S_OK) << SheafDmlLastErrorText();
  initial->BindInputs(0, nullptr);
  initial->BindOutputs(1, &persistent);
  machine.recorder->RecordDispatch(machine.list.Get(), initializer.Get(), initial.Get());
  EXPECT_EQ(removal(machine),
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY: wrong number of bindings\n"
            "  0 inputs are bound, but there are 1\n"
            "  1 inputs   1 outputs   temporary 0 bytes   persistent 256 bytes\n"
            "  try: one binding for each");
}

TEST(Refusals, Dispatches) {
  const std::string next = "a list of the parent device, and the table that was reset for this one";
  const std::string other = "the binding table was made for another dispatchable";
  const auto check = [](bool list, int op, bool table, const std::string& text) {
    Machine machine;
    const auto first = joined(machine), second = joined(machine);
    const auto made = machine.table(first.Get());
    IDMLCompiledOperator* const operators[] = {first.Get(), second.Get(), nullptr};
    machine.recorder->RecordDispatch(list ? machine.list.Get() : nullptr, operators[op],
                                     table ? made.Get() : nullptr);
    EXPECT_EQ(removal(machine), text);
  };
  check(false, 0, true,
        bad_binding("RecordDispatch", "the command list is null or of another Direct3D", next));
  check(true, 1, true, bad_binding("RecordDispatch", other, next));
  check(true, 2, true, bad_binding("RecordDispatch", other, next));
  check(true, 0, false,
        "RecordDispatch: null pointer\n"
        "  an object is null\n"
        "  no other arguments were looked at\n"
        "  try: an object that this device created");
  // A table that was reset to nothing, for nothing.
  Machine machine;
  const auto op = joined(machine);
  const auto table = machine.table(op.Get());
  ASSERT_EQ(table->Reset(nullptr), S_OK);
  machine.recorder->RecordDispatch(machine.list.Get(), nullptr, table.Get());
  EXPECT_EQ(removal(machine), bad_binding("RecordDispatch", other, next));
}

TEST(Refusals, Tables) {
  Machine machine, other;
  const auto op = joined(machine), foreign = joined(other);
  DML_BINDING_TABLE_DESC desc{op.Get(), {16}, {16}, 4};
  const auto create = [&] {
    ComPtr<IDMLBindingTable> table;
    const HRESULT result = machine.dml->CreateBindingTable(&desc, IID_PPV_ARGS(&table));
    EXPECT_EQ(result, E_INVALIDARG);
    return std::string(SheafDmlLastErrorText());
  };
  const std::string next = "RequiredDescriptorCount descriptors of a heap";
  EXPECT_EQ(create(),
            bad_binding("CreateBindingTable", "SizeInDescriptors = 4, but 5 are required", next));
  desc = {op.Get(), {0}, {16}, 5};
  EXPECT_EQ(create(),
            bad_binding("CreateBindingTable",
                        "SizeInDescriptors = 5, but 5 are required; the handle is null", next));
  desc = {foreign.Get(), {16}, {16}, 5};
  EXPECT_EQ(create(),
            "CreateBindingTable: object of another device\n"
            "  an object was created by another device\n"
            "  no other arguments were looked at\n"
            "  try: an object that this device created");
  desc = {nullptr, {16}, {16}, 5};
  EXPECT_NE(create().find("null pointer"), std::string::npos);
}

TEST(Refusals, Initializers) {
  Machine machine, other;
  const auto create = [&](UINT count, IDMLCompiledOperator* const* operators) {
    ComPtr<IDMLOperatorInitializer> made;
    EXPECT_EQ(machine.dml->CreateOperatorInitializer(count, operators, IID_PPV_ARGS(&made)),
              E_INVALIDARG);
    return std::string(SheafDmlLastErrorText());
  };
  const std::string list =
      bad_binding("CreateOperatorInitializer", "the list of operators is null or too long",
                  "a list of compiled operators");
  EXPECT_EQ(create(1, nullptr), list);
  const auto op = joined(machine);
  // Three descriptors each: as many as can be are 2^22 - 2^20 and one.
  std::vector<IDMLCompiledOperator*> many((1u << 20) + 1, op.Get());
  EXPECT_EQ(create((1u << 20) + 1, many.data()), list);
  ComPtr<IDMLOperatorInitializer> made;
  EXPECT_EQ(machine.dml->CreateOperatorInitializer(1u << 20, many.data(), IID_PPV_ARGS(&made)),
            S_OK);
  EXPECT_EQ(made->GetBindingProperties().RequiredDescriptorCount, 3 * (1u << 20) + 1);
  Graph graph(machine.dml.Get());
  const auto x = graph.input(0, {kFloat, {1, 4}});
  join({x, x, x}, 1);
  const auto wider = graph.compile_last();
  many.assign(1u << 20, wider.Get());
  EXPECT_EQ(create(1u << 20, many.data()),
            bad_binding("CreateOperatorInitializer",
                        "the operators need 4194305 descriptors together", "several initializers"));
  const auto foreign = joined(other);
  many[0] = foreign.Get();
  EXPECT_NE(create(1, many.data()).find("object of another device"), std::string::npos);
  // One without owned tensors does nothing, and one of no operators.
  COMPAT_CHECK(made->Reset(0, nullptr));
  const auto table = machine.table(made.Get());
  machine.recorder->RecordDispatch(machine.list.Get(), made.Get(), table.Get());
  EXPECT_EQ(machine.dml->GetDeviceRemovedReason(), S_OK);
}

TEST(Refusals, Flags) {
  Machine machine;
  ComPtr<IDMLCompiledOperator> compiled;
  const auto flags = static_cast<DML_EXECUTION_FLAGS>(8);
  EXPECT_EQ(machine.dml->CompileOperator(nullptr, flags, IID_PPV_ARGS(&compiled)), E_INVALIDARG);
  EXPECT_STREQ(SheafDmlLastErrorText(),
               "CompileOperator: unknown execution flags\n"
               "  flags = 8\n"
               "  no other arguments were looked at\n"
               "  try: DML_EXECUTION_FLAG_NONE (0)");
  EXPECT_EQ(machine.dml->CompileGraph(nullptr, flags, IID_PPV_ARGS(&compiled)), E_INVALIDARG);
  BOOL yes = TRUE;
  EXPECT_EQ(machine.dml->SetPrivateData(SHEAF_DML_SMALLER_INDICES, 1, &yes), E_INVALIDARG);
  EXPECT_EQ(machine.dml->SetPrivateData(SHEAF_DML_SMALLER_INDICES, sizeof yes, nullptr),
            E_INVALIDARG);
}

TEST(Refusals, ADeviceWithoutAParent) {
  ComPtr<IDMLDevice> device;
  ASSERT_EQ(DMLCreateDevice(nullptr, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device)), S_OK);
  ComPtr<ID3D12Device> parent;
  EXPECT_EQ(device->GetParentDevice(IID_PPV_ARGS(&parent)), E_NOINTERFACE);
  EXPECT_EQ(parent, nullptr);
  EXPECT_EQ(device->GetDeviceRemovedReason(), S_OK);
}

}  // namespace
