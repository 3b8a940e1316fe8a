// SPDX-License-Identifier: MIT
//
// DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE: bindings are those of the moment when a list is
// submitted, so a recorded list runs again on other buffers. Without the flag they are those of the
// moment when the dispatch was recorded.
#include "compat/fluent.h"

using namespace compat;

namespace {

class LateBinding : public testing::Test {
 protected:
  // Two floats times two.
  ComPtr<IDMLCompiledOperator> doubled(DML_EXECUTION_FLAGS flags) {
    Graph graph(machine_.dml.Get());
    identity(graph.input(0, {kFloat, {1, 2}}), DML_SCALE_BIAS{2, 0});
    return graph.compile_last(flags);
  }
  ComPtr<IDMLCompiledOperator> late() { return doubled(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE); }

  struct Pair {
    ComPtr<ID3D12Resource> from, to;
  };
  Pair buffers(float first) {
    Pair made{machine_.upload(bytes_of<float>({first, first + 1})), machine_.buffer(8)};
    machine_.execute();
    return made;
  }
  static void bind_pair(IDMLBindingTable* table, const Pair& pair) {
    bind(table, {{pair.from.Get(), 0, 8}}, {{pair.to.Get(), 0, 8}});
  }
  std::vector<float> result(const Pair& pair) {
    return values_of<float>(machine_.download(pair.to.Get()), 2);
  }

  // A list of its own, so that the machine's can copy results.
  struct Recorded {
    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
  };
  Recorded record(IDMLCompiledOperator* op, IDMLBindingTable* table) {
    Recorded made;
    COMPAT_CHECK(machine_.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                        IID_PPV_ARGS(&made.allocator)));
    COMPAT_CHECK(machine_.d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT,
                                                   made.allocator.Get(), nullptr,
                                                   IID_PPV_ARGS(&made.list)));
    machine_.recorder->RecordDispatch(made.list.Get(), op, table);
    COMPAT_CHECK(made.list->Close());
    return made;
  }
  void submit(const Recorded& recorded) {
    ID3D12CommandList* lists[] = {recorded.list.Get()};
    machine_.queue->ExecuteCommandLists(1, lists);
  }

  ComPtr<ID3D12DescriptorHeap> heap(UINT count) {
    const D3D12_DESCRIPTOR_HEAP_DESC desc{D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, count,
                                          D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE, 0};
    ComPtr<ID3D12DescriptorHeap> made;
    COMPAT_CHECK(machine_.d3d12->CreateDescriptorHeap(&desc, IID_PPV_ARGS(&made)));
    return made;
  }
  // A table's place: `first` descriptors into the heap.
  DML_BINDING_TABLE_DESC place(IDMLDispatchable* op, ID3D12DescriptorHeap* in, UINT first) {
    const UINT step =
        machine_.d3d12->GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV);
    const auto offset = static_cast<INT>(first);
    return {op,
            CD3DX12_CPU_DESCRIPTOR_HANDLE(in->GetCPUDescriptorHandleForHeapStart(), offset, step),
            CD3DX12_GPU_DESCRIPTOR_HANDLE(in->GetGPUDescriptorHandleForHeapStart(), offset, step),
            op->GetBindingProperties().RequiredDescriptorCount};
  }
  ComPtr<IDMLBindingTable> table_at(const DML_BINDING_TABLE_DESC& desc) {
    ComPtr<IDMLBindingTable> made;
    COMPAT_CHECK(machine_.dml->CreateBindingTable(&desc, IID_PPV_ARGS(&made)));
    return made;
  }

  Machine machine_;
};

TEST_F(LateBinding, AfterTheDispatchWasRecorded) {
  const auto op = late();
  const auto table = machine_.table(op.Get());
  const Recorded recorded = record(op.Get(), table.Get());
  const Pair pair = buffers(1);
  bind_pair(table.Get(), pair);
  submit(recorded);
  EXPECT_EQ(result(pair), (std::vector<float>{2, 4}));
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), S_OK);
}

// How ONNX Runtime uses a fused graph again: the list stays, the table is reset and bound.
TEST_F(LateBinding, AListIsUsedAgainWithOtherBuffers) {
  const auto op = late();
  const auto memory = heap(16);
  const DML_BINDING_TABLE_DESC desc = place(op.Get(), memory.Get(), 0);
  const auto table = table_at(desc);
  const Pair first = buffers(1), second = buffers(10);
  bind_pair(table.Get(), first);
  const Recorded recorded = record(op.Get(), table.Get());
  submit(recorded);
  ASSERT_EQ(table->Reset(&desc), S_OK);
  bind_pair(table.Get(), second);
  submit(recorded);
  EXPECT_EQ(result(first), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(second), (std::vector<float>{20, 22}));
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), S_OK);
}

TEST_F(LateBinding, WithoutTheFlagTheRecordedBuffersStay) {
  const auto op = doubled(DML_EXECUTION_FLAG_NONE);
  const auto table = machine_.table(op.Get());
  const Pair first = buffers(1), second = buffers(10);
  bind_pair(table.Get(), first);
  const Recorded recorded = record(op.Get(), table.Get());
  bind_pair(table.Get(), second);
  submit(recorded);
  EXPECT_EQ(result(first), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(second), (std::vector<float>{0, 0}));
}

// Descriptors belong to their place in the heap: a table that moves on leaves them.
TEST_F(LateBinding, OneTableThatMovesThroughAHeap) {
  const auto op = late();
  const auto memory = heap(64);
  const auto table = table_at(place(op.Get(), memory.Get(), 0));
  const Pair first = buffers(1), second = buffers(10);
  bind_pair(table.Get(), first);
  const Recorded one = record(op.Get(), table.Get());
  const DML_BINDING_TABLE_DESC next = place(op.Get(), memory.Get(), 32);
  ASSERT_EQ(table->Reset(&next), S_OK);
  bind_pair(table.Get(), second);
  const Recorded two = record(op.Get(), table.Get());
  submit(two);
  submit(one);
  EXPECT_EQ(result(first), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(second), (std::vector<float>{20, 22}));
}

// A second table at the same place writes the same descriptors.
TEST_F(LateBinding, AnotherTableAtTheSamePlace) {
  const auto op = late();
  const auto memory = heap(16);
  const DML_BINDING_TABLE_DESC desc = place(op.Get(), memory.Get(), 0);
  const Pair first = buffers(1), second = buffers(10);
  Recorded recorded;
  {
    const auto table = table_at(desc);
    bind_pair(table.Get(), first);
    recorded = record(op.Get(), table.Get());
  }
  submit(recorded);  // the table is gone, its descriptors are not
  bind_pair(table_at(desc).Get(), second);
  submit(recorded);
  EXPECT_EQ(result(first), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(second), (std::vector<float>{20, 22}));
}

// Places that no table and no list knows any more are forgotten; the others are not.
TEST_F(LateBinding, ManyPlaces) {
  const auto op = late();
  const auto memory = heap(1024);
  const Pair pair = buffers(1), other = buffers(10);
  const auto first = table_at(place(op.Get(), memory.Get(), 0));
  bind_pair(first.Get(), pair);
  const Recorded recorded = record(op.Get(), first.Get());
  std::vector<ComPtr<IDMLBindingTable>> kept;
  for (UINT i = 1; i < 60; ++i) {
    const auto table = table_at(place(op.Get(), memory.Get(), 16 * i));
    bind_pair(table.Get(), other);
    if (i % 2 == 0) {
      kept.push_back(table);
    }
  }
  submit(recorded);
  EXPECT_EQ(result(pair), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(other), (std::vector<float>{0, 0}));
}

// Bound and submitted twice while the queue waits: each submission has its own buffers.
TEST_F(LateBinding, BindingsAreThoseOfTheSubmission) {
  const auto op = late();
  const auto table = machine_.table(op.Get());
  const Recorded recorded = record(op.Get(), table.Get());
  const Pair first = buffers(1), second = buffers(10);
  ComPtr<ID3D12Fence> gate;
  COMPAT_CHECK(machine_.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)));
  COMPAT_CHECK(machine_.queue->Wait(gate.Get(), 1));
  bind_pair(table.Get(), first);
  submit(recorded);
  bind_pair(table.Get(), second);
  submit(recorded);
  COMPAT_CHECK(gate->Signal(1));
  EXPECT_EQ(result(first), (std::vector<float>{2, 4}));
  EXPECT_EQ(result(second), (std::vector<float>{20, 22}));
}

TEST_F(LateBinding, WithTemporaryAndPersistentResources) {
  Graph graph(machine_.dml.Get());
  TensorDesc owned(kFloat, {1, 2});
  owned.flags = DML_TENSOR_FLAG_OWNED_BY_DML;
  const auto x = graph.input(0, {kFloat, {1, 2}}), y = graph.input(1, owned);
  const auto op = graph.compile({join({identity(x, DML_SCALE_BIAS{2, 0}), identity(y)}, 1)},
                                DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE);
  const DML_BINDING_PROPERTIES needs = op->GetBindingProperties();
  const auto table = machine_.table(op.Get());
  const Recorded recorded = record(op.Get(), table.Get());
  const auto from = machine_.upload(bytes_of<float>({1, 2})), to = machine_.buffer(16);
  std::vector<float> kept(static_cast<size_t>(needs.PersistentResourceSize) / 4);
  kept[0] = 7;
  kept[1] = 8;
  const auto persistent = machine_.upload(bytes_of(kept));
  const auto temporary = machine_.buffer(needs.TemporaryResourceSize);
  machine_.execute();
  bind(table.Get(), {{from.Get(), 0, 8}, {}}, {{to.Get(), 0, 16}});
  const DML_BUFFER_BINDING ranges[] = {{temporary.Get(), 0, needs.TemporaryResourceSize},
                                       {persistent.Get(), 0, needs.PersistentResourceSize}};
  const DML_BINDING_DESC descs[] = {{DML_BINDING_TYPE_BUFFER, &ranges[0]},
                                    {DML_BINDING_TYPE_BUFFER, &ranges[1]}};
  table->BindTemporaryResource(&descs[0]);
  table->BindPersistentResource(&descs[1]);
  submit(recorded);
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), S_OK) << SheafDmlLastErrorText();
  EXPECT_EQ(values_of<float>(machine_.download(to.Get()), 4), (std::vector<float>{2, 4, 7, 8}));
}

// What is missing is found when the list is submitted, and nothing runs.
TEST_F(LateBinding, NothingBound) {
  const auto op = late();
  const auto table = machine_.table(op.Get());
  const Recorded recorded = record(op.Get(), table.Get());
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), S_OK);
  submit(recorded);
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), E_INVALIDARG);
  EXPECT_EQ(std::string(SheafDmlLastErrorText()),
            "DML_OPERATOR_ELEMENT_WISE_IDENTITY: wrong number of bindings\n"
            "  0 inputs are bound, but there are 1\n"
            "  1 inputs   1 outputs   temporary 0 bytes   persistent 0 bytes\n"
            "  try: one binding for each");
}

}  // namespace
