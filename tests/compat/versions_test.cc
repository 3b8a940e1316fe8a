// SPDX-License-Identifier: MIT
//
// The newer versions of the interfaces: objects answer to them, and methods that are not there
// leave null behind. missing_methods_test.cc has each of them.
#include "compat/machine.h"

using namespace compat;

namespace {

class Versions : public testing::Test {
 protected:
  const Messages quiet_;
  Machine machine_;
};

const IID kIid = __uuidof(IUnknown);

TEST_F(Versions, EveryNumberIsAnswered) {
  const auto expect = [](IUnknown* object, std::vector<GUID> iids) {
    for (const GUID& iid : iids) {
      void* found = nullptr;
      EXPECT_EQ(object->QueryInterface(iid, &found), S_OK) << std::hex << iid.Data1;
      EXPECT_EQ(found, object);
      object->Release();
    }
  };
  expect(machine_.d3d12.Get(),
         {__uuidof(ID3D12Device1), __uuidof(ID3D12Device2), __uuidof(ID3D12Device3),
          __uuidof(ID3D12Device4), __uuidof(ID3D12Device5), __uuidof(ID3D12Device6),
          __uuidof(ID3D12Device7), __uuidof(ID3D12Device8), __uuidof(ID3D12Device9)});
  expect(machine_.list.Get(),
         {__uuidof(ID3D12GraphicsCommandList1), __uuidof(ID3D12GraphicsCommandList2),
          __uuidof(ID3D12GraphicsCommandList3), __uuidof(ID3D12GraphicsCommandList4)});
  expect(machine_.buffer(16).Get(), {__uuidof(ID3D12Resource1), __uuidof(ID3D12Resource2)});
  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(machine_.d3d12->CreateFence(0, D3D12_FENCE_FLAG_SHARED, IID_PPV_ARGS(&fence)));
  expect(fence.Get(), {__uuidof(ID3D12Fence1)});
  EXPECT_EQ(as<ID3D12Fence1>(fence)->GetCreationFlags(), D3D12_FENCE_FLAG_SHARED);
  const D3D12_HEAP_DESC desc{65536, CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT), 0,
                             D3D12_HEAP_FLAG_NONE};
  ComPtr<ID3D12Heap> heap;
  COMPAT_CHECK(machine_.d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)));
  expect(heap.Get(), {__uuidof(ID3D12Heap1)});
  void* none = nullptr;
  EXPECT_EQ(heap->QueryInterface(__uuidof(ID3D12Device), &none), E_NOINTERFACE);
}

TEST_F(Versions, MissingOfDevices) {
  const auto device = as<ID3D12Device9>(machine_.d3d12);
  void* made = this;
  const auto expect = [&](const char* name, HRESULT result) {
    EXPECT_EQ(result, E_NOTIMPL) << name;
  };
  expect("ID3D12Device1::CreatePipelineLibrary",
         device->CreatePipelineLibrary(nullptr, 0, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device1::SetEventOnMultipleFenceCompletion",
         device->SetEventOnMultipleFenceCompletion(nullptr, nullptr, 0, {}, nullptr));
  expect("ID3D12Device2::CreatePipelineState", device->CreatePipelineState(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device3::OpenExistingHeapFromAddress",
         device->OpenExistingHeapFromAddress(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device3::OpenExistingHeapFromFileMapping",
         device->OpenExistingHeapFromFileMapping(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device4::CreateProtectedResourceSession",
         device->CreateProtectedResourceSession(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device5::CreateLifetimeTracker",
         device->CreateLifetimeTracker(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device5::EnumerateMetaCommandParameters",
         device->EnumerateMetaCommandParameters(kIid, {}, nullptr, nullptr, nullptr));
  expect("ID3D12Device5::CreateMetaCommand",
         device->CreateMetaCommand(kIid, 0, nullptr, 0, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device5::CreateStateObject", device->CreateStateObject(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  EXPECT_EQ(device->CheckDriverMatchingIdentifier({}, nullptr),
            D3D12_DRIVER_MATCHING_IDENTIFIER_UNSUPPORTED_TYPE);
  expect("ID3D12Device7::AddToStateObject",
         device->AddToStateObject(nullptr, nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device7::CreateProtectedResourceSession1",
         device->CreateProtectedResourceSession1(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
  expect("ID3D12Device9::CreateShaderCacheSession",
         device->CreateShaderCacheSession(nullptr, kIid, &made));
  EXPECT_EQ(made, nullptr);
  made = this;
}

TEST_F(Versions, MissingOfResourcesAndHeaps) {
  const auto buffer = as<ID3D12Resource2>(machine_.buffer(16));
  void* session = this;
  EXPECT_EQ(buffer->GetProtectedResourceSession(kIid, &session), E_NOTIMPL);
  EXPECT_EQ(session, nullptr);
  EXPECT_EQ(buffer->GetDesc1().Width, 16u);
  EXPECT_EQ(buffer->GetDesc1().SamplerFeedbackMipRegion.Width, 0u);
}

TEST_F(Versions, WhatTheNewerDevicesDo) {
  const auto device = as<ID3D12Device9>(machine_.d3d12);
  EXPECT_EQ(device->SetResidencyPriority(0, nullptr, nullptr), S_OK);
  EXPECT_EQ(device->ShaderCacheControl({}, {}), S_OK);
  UINT count = 9;
  EXPECT_EQ(device->EnumerateMetaCommands(&count, nullptr), S_OK);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(device->EnumerateMetaCommands(nullptr, nullptr), E_INVALIDARG);
  BOOL more = TRUE;
  EXPECT_EQ(device->SetBackgroundProcessingMode({}, {}, nullptr, &more), S_OK);
  EXPECT_EQ(more, FALSE);

  ComPtr<ID3D12Fence> fence;
  COMPAT_CHECK(device->CreateFence(0, D3D12_FENCE_FLAG_NONE, IID_PPV_ARGS(&fence)));
  EXPECT_EQ(device->EnqueueMakeResident({}, 0, nullptr, fence.Get(), 5), S_OK);
  EXPECT_EQ(fence->GetCompletedValue(), 5u);
  EXPECT_EQ(device->EnqueueMakeResident({}, 0, nullptr, nullptr, 5), E_INVALIDARG);

  ComPtr<ID3D12CommandQueue> queue;
  const D3D12_COMMAND_QUEUE_DESC queue_desc{};
  COMPAT_CHECK(device->CreateCommandQueue1(&queue_desc, kIid, IID_PPV_ARGS(&queue)));
  void* none = this;
  EXPECT_EQ(device->CreateCommandQueue1(nullptr, kIid, __uuidof(ID3D12CommandQueue), &none),
            E_INVALIDARG);
  EXPECT_EQ(none, nullptr);

  ComPtr<ID3D12GraphicsCommandList> list;  // starts closed
  COMPAT_CHECK(
      device->CreateCommandList1(0, D3D12_COMMAND_LIST_TYPE_COMPUTE, {}, IID_PPV_ARGS(&list)));
  EXPECT_EQ(list->Close(), E_FAIL);
  EXPECT_EQ(list->Reset(machine_.allocator.Get(), nullptr), S_OK);
  EXPECT_EQ(list->Close(), S_OK);
}

TEST_F(Versions, NewerWaysToMemory) {
  const auto device = as<ID3D12Device8>(machine_.d3d12);
  const CD3DX12_HEAP_PROPERTIES usual(D3D12_HEAP_TYPE_DEFAULT);
  const auto desc = CD3DX12_RESOURCE_DESC::Buffer(16);
  D3D12_RESOURCE_DESC1 newer{};
  newer.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER;
  newer.Width = 16;
  ComPtr<ID3D12Resource1> buffer;
  COMPAT_CHECK(device->CreateCommittedResource1(&usual, D3D12_HEAP_FLAG_NONE, &desc,
                                                D3D12_RESOURCE_STATE_COMMON, nullptr, nullptr,
                                                IID_PPV_ARGS(&buffer)));
  COMPAT_CHECK(device->CreateCommittedResource2(&usual, D3D12_HEAP_FLAG_NONE, &newer,
                                                D3D12_RESOURCE_STATE_COMMON, nullptr, nullptr,
                                                IID_PPV_ARGS(&buffer)));
  const D3D12_HEAP_DESC heap_desc{65536, usual, 0, D3D12_HEAP_FLAG_NONE};
  ComPtr<ID3D12Heap1> heap;
  COMPAT_CHECK(device->CreateHeap1(&heap_desc, nullptr, IID_PPV_ARGS(&heap)));
  COMPAT_CHECK(device->CreatePlacedResource1(heap.Get(), 0, &newer, D3D12_RESOURCE_STATE_COMMON,
                                             nullptr, IID_PPV_ARGS(&buffer)));
  void* none = this;
  EXPECT_EQ(device->CreatePlacedResource1(heap.Get(), 0, nullptr, D3D12_RESOURCE_STATE_COMMON,
                                          nullptr, kIid, &none),
            E_INVALIDARG);
  EXPECT_EQ(device->CreateReservedResource1(&desc, D3D12_RESOURCE_STATE_COMMON, nullptr, nullptr,
                                            kIid, &none),
            DXGI_ERROR_UNSUPPORTED);
  auto* session = reinterpret_cast<ID3D12ProtectedResourceSession*>(this);  // never looked at
  EXPECT_EQ(device->CreateHeap1(&heap_desc, session, kIid, &none), E_NOTIMPL);
  EXPECT_EQ(
      device->CreateCommittedResource1(&usual, D3D12_HEAP_FLAG_NONE, &desc,
                                       D3D12_RESOURCE_STATE_COMMON, nullptr, session, kIid, &none),
      E_NOTIMPL);
  EXPECT_EQ(
      device->CreateCommittedResource2(&usual, D3D12_HEAP_FLAG_NONE, &newer,
                                       D3D12_RESOURCE_STATE_COMMON, nullptr, session, kIid, &none),
      E_NOTIMPL);
}

TEST_F(Versions, RemovedOnRequest) {
  as<ID3D12Device5>(machine_.d3d12)->RemoveDevice();
  EXPECT_EQ(machine_.d3d12->GetDeviceRemovedReason(), DXGI_ERROR_DEVICE_REMOVED);
  EXPECT_EQ(machine_.dml->GetDeviceRemovedReason(), DXGI_ERROR_DEVICE_REMOVED);
  const D3D12_HEAP_DESC desc{65536, CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT), 0,
                             D3D12_HEAP_FLAG_NONE};
  void* none = this;
  EXPECT_EQ(machine_.d3d12->CreateHeap(&desc, kIid, &none), DXGI_ERROR_DEVICE_REMOVED);
  EXPECT_EQ(machine_.d3d12->CreateHeap(nullptr, kIid, &none), DXGI_ERROR_DEVICE_REMOVED);
  EXPECT_EQ(none, nullptr);
  UINT64 frequency = 0;
  EXPECT_EQ(machine_.queue->GetTimestampFrequency(&frequency), DXGI_ERROR_DEVICE_REMOVED);
}

}  // namespace
