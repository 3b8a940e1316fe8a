// SPDX-License-Identifier: MIT
//
// Removed devices: every call does nothing, and those with an HRESULT say so.
#include "compat/fluent.h"

using namespace compat;

namespace {

class Removal : public testing::Test {
 protected:
  Removal() {
    Graph graph(machine_.dml.Get());
    identity(graph.input(0, {kFloat, {1, 2}}), DML_SCALE_BIAS{2, 0});
    op_ = graph.compile_last();
    table_ = machine_.table(op_.Get());
    IDMLCompiledOperator* operators[] = {op_.Get()};
    COMPAT_CHECK(
        machine_.dml->CreateOperatorInitializer(1, operators, IID_PPV_ARGS(&initializer_)));
  }
  void remove() { table_->BindInputs(1, nullptr); }

  Machine machine_;
  ComPtr<IDMLCompiledOperator> op_;
  ComPtr<IDMLBindingTable> table_;
  ComPtr<IDMLOperatorInitializer> initializer_;
};

constexpr const char* kRemoved =
    "IDMLDevice: device removed\n"
    "  it was removed by a call that failed: \"BindInputs: bad binding\"\n"
    "  GetDeviceRemovedReason = 0x80070057\n"
    "  try: release the device and all that it created, and create a new one";

TEST_F(Removal, CallsThatReturnAResult) {
  remove();
  IDMLDevice1* device = machine_.dml.Get();
  EXPECT_EQ(device->GetDeviceRemovedReason(), E_INVALIDARG);
  const auto removed = [&](HRESULT result, void* const* made = nullptr) {
    EXPECT_EQ(result, DXGI_ERROR_DEVICE_REMOVED);
    EXPECT_TRUE(made == nullptr || *made == nullptr);
    EXPECT_STREQ(SheafDmlLastErrorText(), kRemoved);
  };
  const DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT query{DML_TENSOR_DATA_TYPE_FLOAT32};
  DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT support{};
  removed(device->CheckFeatureSupport(DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, sizeof query, &query,
                                      sizeof support, &support));
  EXPECT_FALSE(support.IsSupported);
  void* made = &support;
  removed(device->CreateOperator(nullptr, __uuidof(IDMLOperator), &made), &made);
  made = &support;
  removed(device->CompileOperator(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator),
                                  &made),
          &made);
  made = &support;
  removed(
      device->CompileGraph(nullptr, DML_EXECUTION_FLAG_NONE, __uuidof(IDMLCompiledOperator), &made),
      &made);
  made = &support;
  removed(device->CreateOperatorInitializer(0, nullptr, __uuidof(IDMLOperatorInitializer), &made),
          &made);
  made = &support;
  removed(device->CreateCommandRecorder(__uuidof(IDMLCommandRecorder), &made), &made);
  made = &support;
  removed(device->CreateBindingTable(nullptr, __uuidof(IDMLBindingTable), &made), &made);
  removed(device->Evict(0, nullptr));
  removed(device->MakeResident(0, nullptr));
  removed(initializer_->Reset(0, nullptr));
  removed(table_->Reset(nullptr));
  // The first reason stays.
  table_->BindOutputs(1, nullptr);
  EXPECT_EQ(device->GetDeviceRemovedReason(), E_INVALIDARG);
  removed(table_->Reset(nullptr));
}

TEST_F(Removal, CallsThatReturnNothing) {
  const auto from = machine_.upload(bytes_of<float>({1, 2})), to = machine_.buffer(8);
  bind(table_.Get(), {{from.Get(), 0, 8}}, {{to.Get(), 0, 8}});
  remove();
  const std::string first = SheafDmlLastErrorText();
  table_->BindOutputs(1, nullptr);
  table_->BindTemporaryResource(nullptr);
  table_->BindPersistentResource(nullptr);
  machine_.recorder->RecordDispatch(machine_.list.Get(), op_.Get(), table_.Get());
  machine_.recorder->RecordDispatch(nullptr, nullptr, nullptr);
  EXPECT_EQ(SheafDmlLastErrorText(), first) << "nothing was looked at";
  EXPECT_EQ(values_of<float>(machine_.download(to.Get()), 2), (std::vector<float>{0, 0}));
}

// Private data and the way to other objects belong to no device's work.
TEST_F(Removal, WhatStillAnswers) {
  remove();
  EXPECT_EQ(machine_.dml->SetName(L"removed"), S_OK);
  ComPtr<ID3D12Device> parent;
  EXPECT_EQ(machine_.dml->GetParentDevice(IID_PPV_ARGS(&parent)), S_OK);
  ComPtr<IDMLDevice> device;
  EXPECT_EQ(op_->GetDevice(IID_PPV_ARGS(&device)), S_OK);
  EXPECT_NE(op_->GetBindingProperties().RequiredDescriptorCount, 0u);
  EXPECT_EQ(machine_.d3d12->GetDeviceRemovedReason(), S_OK) << "only DirectML's is removed";
  ComPtr<IDMLDevice> second;
  EXPECT_EQ(DMLCreateDevice(parent.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&second)),
            S_OK);
}

// A queue that waits for ever removes its Direct3D device, and DirectML's with it.
class DirectRemoval : public Removal {
 protected:
  void remove_direct() {
    SheafSetMessageCallback([](const char*, void*) {}, nullptr);
    ComPtr<ID3D12Fence> gate;
    COMPAT_CHECK(machine_.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&gate)));
    const D3D12_COMMAND_QUEUE_DESC desc{};
    ComPtr<ID3D12CommandQueue> lost;
    COMPAT_CHECK(machine_.d3d12->CreateCommandQueue(&desc, IID_PPV_ARGS(&lost)));
    COMPAT_CHECK(lost->Wait(gate.Get(), 1));
    gate.Reset();
    SheafSetMessageCallback(nullptr, nullptr);
  }
};

TEST_F(DirectRemoval, DirectMLIsRemovedToo) {
  remove_direct();
  EXPECT_EQ(machine_.d3d12->GetDeviceRemovedReason(), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(table_->Reset(nullptr), DXGI_ERROR_DEVICE_REMOVED);
  EXPECT_STREQ(SheafDmlLastErrorText(),
               "IDMLDevice: device removed\n"
               "  its Direct3D 12 device was removed\n"
               "  GetDeviceRemovedReason = 0x887A0001\n"
               "  try: release the device and all that it created, and create a new one");
}

TEST_F(DirectRemoval, CallsThatReturnAResult) {
  auto& m = machine_;
  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(m.d3d12->CreateFence(3, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  const auto buffer = m.buffer(16, D3D12_HEAP_TYPE_UPLOAD);
  remove_direct();
  const auto removed = [](HRESULT result, void* const* made = nullptr) {
    EXPECT_EQ(result, DXGI_ERROR_DEVICE_REMOVED);
    EXPECT_TRUE(made == nullptr || *made == nullptr);
  };
  const D3D12_COMMAND_QUEUE_DESC queue{};
  void* made = &m;
  removed(m.d3d12->CreateCommandQueue(&queue, __uuidof(ID3D12CommandQueue), &made), &made);
  made = &m;
  removed(m.d3d12->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT,
                                          __uuidof(ID3D12CommandAllocator), &made),
          &made);
  made = &m;
  removed(m.d3d12->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, m.allocator.Get(), nullptr,
                                     __uuidof(ID3D12CommandList), &made),
          &made);
  D3D12_DESCRIPTOR_HEAP_DESC heap{};
  heap.NumDescriptors = 1;
  made = &m;
  removed(m.d3d12->CreateDescriptorHeap(&heap, __uuidof(ID3D12DescriptorHeap), &made), &made);
  made = &m;
  removed(m.d3d12->CreateFence(0, D3D12_FENCE_FLAG_NONE, __uuidof(ID3D12Fence), &made), &made);
  const CD3DX12_HEAP_PROPERTIES properties(D3D12_HEAP_TYPE_UPLOAD);
  const auto desc = CD3DX12_RESOURCE_DESC::Buffer(16);
  made = &m;
  removed(m.d3d12->CreateCommittedResource(&properties, D3D12_HEAP_FLAG_NONE, &desc,
                                           D3D12_RESOURCE_STATE_COMMON, nullptr,
                                           __uuidof(ID3D12Resource), &made),
          &made);
  made = nullptr;
  removed(buffer->Map(0, nullptr, &made), &made);
  removed(m.list->Close());
  removed(m.list->Reset(m.allocator.Get(), nullptr));
  removed(m.allocator->Reset());
  removed(m.queue->Signal(fence.Get(), 4));
  removed(m.queue->Wait(fence.Get(), 4));
  removed(fence->Signal(4));
  removed(fence->SetEventOnCompletion(9, nullptr));
  removed(fence->SetEventOnCompletion(9, &m));  // not looked at
  removed(m.d3d12->CreateCommandQueue(nullptr, __uuidof(ID3D12CommandQueue), nullptr));
  EXPECT_EQ(fence->GetCompletedValue(), UINT64_MAX);
}

TEST_F(DirectRemoval, NothingRuns) {
  auto& m = machine_;
  const auto from = m.buffer(4, D3D12_HEAP_TYPE_UPLOAD), to = m.buffer(4, D3D12_HEAP_TYPE_READBACK);
  void *written = nullptr, *read = nullptr;
  COMPAT_CHECK(from->Map(0, nullptr, &written));
  COMPAT_CHECK(to->Map(0, nullptr, &read));
  *static_cast<int*>(written) = 7;
  m.list->CopyResource(to.Get(), from.Get());
  COMPAT_CHECK(m.list->Close());
  remove_direct();
  ID3D12CommandList* lists[] = {m.list.Get()};
  m.queue->ExecuteCommandLists(1, lists);
  EXPECT_EQ(*static_cast<int*>(read), 0);
}

}  // namespace
