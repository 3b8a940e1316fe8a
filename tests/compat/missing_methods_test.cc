// SPDX-License-Identifier: MIT
//
// Every method that is not there, of every interface: it answers E_NOTIMPL, and the debug layer of
// each device has one line about it.
#include <dxgi1_6.h>

#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "compat/machine.h"

using namespace compat;

namespace {

template <class Interface>
struct Call {
  const char* name;
  HRESULT (*run)(Interface&);
};

// Methods without a result are said to have answered as the others do.
// clang-format off
#define MISSING(type, method, ...) \
  {#type "::" #method, [](auto& object) -> HRESULT { return object.method(__VA_ARGS__); }}
#define MISSING_VOID(type, method, ...) \
  {#type "::" #method, \
   [](auto& object) -> HRESULT { object.method(__VA_ARGS__); return E_NOTIMPL; }}
// clang-format on

const GUID& kAny = __uuidof(IUnknown);

constexpr Call<ID3D12GraphicsCommandList4> kLists[] = {
    MISSING_VOID(ID3D12GraphicsCommandList, DrawInstanced, 0, 0, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, DrawIndexedInstanced, 0, 0, 0, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, Dispatch, 0, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, CopyTextureRegion, nullptr, 0, 0, 0, nullptr, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, CopyTiles, nullptr, nullptr, nullptr, nullptr, 0, {}),
    MISSING_VOID(ID3D12GraphicsCommandList, ResolveSubresource, nullptr, 0, nullptr, 0,
                 DXGI_FORMAT_UNKNOWN),
    MISSING_VOID(ID3D12GraphicsCommandList, IASetPrimitiveTopology, {}),
    MISSING_VOID(ID3D12GraphicsCommandList, RSSetViewports, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, RSSetScissorRects, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, OMSetBlendFactor, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, OMSetStencilRef, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetPipelineState, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, ExecuteBundle, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRootSignature, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRootSignature, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRootDescriptorTable, 0, {}),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRootDescriptorTable, 0, {}),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRoot32BitConstant, 0, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRoot32BitConstant, 0, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRoot32BitConstants, 0, 0, nullptr, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRoot32BitConstants, 0, 0, nullptr, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRootConstantBufferView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRootConstantBufferView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRootShaderResourceView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRootShaderResourceView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetComputeRootUnorderedAccessView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetGraphicsRootUnorderedAccessView, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, IASetIndexBuffer, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, IASetVertexBuffers, 0, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, SOSetTargets, 0, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, OMSetRenderTargets, 0, nullptr, FALSE, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, ClearDepthStencilView, {}, {}, 0, 0, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, ClearRenderTargetView, {}, nullptr, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList, BeginQuery, nullptr, {}, 0),
    MISSING_VOID(ID3D12GraphicsCommandList, SetPredication, nullptr, 0, {}),
    MISSING_VOID(ID3D12GraphicsCommandList, ExecuteIndirect, nullptr, 0, nullptr, 0, nullptr, 0),
    MISSING_VOID(ID3D12GraphicsCommandList1, AtomicCopyBufferUINT, nullptr, 0, nullptr, 0, 0,
                 nullptr, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList1, AtomicCopyBufferUINT64, nullptr, 0, nullptr, 0, 0,
                 nullptr, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList1, OMSetDepthBounds, 0, 0),
    MISSING_VOID(ID3D12GraphicsCommandList1, SetSamplePositions, 0, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList1, ResolveSubresourceRegion, nullptr, 0, 0, 0, nullptr, 0,
                 nullptr, {}, {}),
    MISSING_VOID(ID3D12GraphicsCommandList1, SetViewInstanceMask, 0),
    MISSING_VOID(ID3D12GraphicsCommandList2, WriteBufferImmediate, 0, nullptr, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList3, SetProtectedResourceSession, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList4, BeginRenderPass, 0, nullptr, nullptr, {}),
    MISSING_VOID(ID3D12GraphicsCommandList4, EndRenderPass),
    MISSING_VOID(ID3D12GraphicsCommandList4, InitializeMetaCommand, nullptr, nullptr, 0),
    MISSING_VOID(ID3D12GraphicsCommandList4, ExecuteMetaCommand, nullptr, nullptr, 0),
    MISSING_VOID(ID3D12GraphicsCommandList4, BuildRaytracingAccelerationStructure, nullptr, 0,
                 nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList4, EmitRaytracingAccelerationStructurePostbuildInfo,
                 nullptr, 0, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList4, CopyRaytracingAccelerationStructure, 0, 0, {}),
    MISSING_VOID(ID3D12GraphicsCommandList4, SetPipelineState1, nullptr),
    MISSING_VOID(ID3D12GraphicsCommandList4, DispatchRays, nullptr),
};

constexpr Call<ID3D12Device9> kDevices[] = {
    MISSING(ID3D12Device, CreateGraphicsPipelineState, nullptr, kAny, nullptr),
    MISSING(ID3D12Device, CreateComputePipelineState, nullptr, kAny, nullptr),
    MISSING(ID3D12Device, CreateRootSignature, 0, nullptr, 0, kAny, nullptr),
    MISSING_VOID(ID3D12Device, CreateConstantBufferView, nullptr, {}),
    MISSING_VOID(ID3D12Device, CreateShaderResourceView, nullptr, nullptr, {}),
    MISSING_VOID(ID3D12Device, CreateRenderTargetView, nullptr, nullptr, {}),
    MISSING_VOID(ID3D12Device, CreateDepthStencilView, nullptr, nullptr, {}),
    MISSING_VOID(ID3D12Device, CreateSampler, nullptr, {}),
    MISSING(ID3D12Device, CreateSharedHandle, nullptr, nullptr, 0, nullptr, nullptr),
    MISSING(ID3D12Device, OpenSharedHandle, nullptr, kAny, nullptr),
    MISSING(ID3D12Device, OpenSharedHandleByName, nullptr, 0, nullptr),
    MISSING(ID3D12Device, CreateCommandSignature, nullptr, nullptr, kAny, nullptr),
    MISSING_VOID(ID3D12Device, GetResourceTiling, nullptr, nullptr, nullptr, nullptr, nullptr, 0,
                 nullptr),
    MISSING(ID3D12Device1, CreatePipelineLibrary, nullptr, 0, kAny, nullptr),
    MISSING(ID3D12Device1, SetEventOnMultipleFenceCompletion, nullptr, nullptr, 0, {}, nullptr),
    MISSING(ID3D12Device2, CreatePipelineState, nullptr, kAny, nullptr),
    MISSING(ID3D12Device3, OpenExistingHeapFromAddress, nullptr, kAny, nullptr),
    MISSING(ID3D12Device3, OpenExistingHeapFromFileMapping, nullptr, kAny, nullptr),
    MISSING(ID3D12Device4, CreateProtectedResourceSession, nullptr, kAny, nullptr),
    MISSING(ID3D12Device5, CreateLifetimeTracker, nullptr, kAny, nullptr),
    MISSING(ID3D12Device5, EnumerateMetaCommandParameters, kAny, {}, nullptr, nullptr, nullptr),
    MISSING(ID3D12Device5, CreateMetaCommand, kAny, 0, nullptr, 0, kAny, nullptr),
    MISSING(ID3D12Device5, CreateStateObject, nullptr, kAny, nullptr),
    MISSING_VOID(ID3D12Device5, GetRaytracingAccelerationStructurePrebuildInfo, nullptr, nullptr),
    MISSING_VOID(ID3D12Device5, CheckDriverMatchingIdentifier, {}, nullptr),
    MISSING(ID3D12Device7, AddToStateObject, nullptr, nullptr, kAny, nullptr),
    MISSING(ID3D12Device7, CreateProtectedResourceSession1, nullptr, kAny, nullptr),
    MISSING_VOID(ID3D12Device8, CreateSamplerFeedbackUnorderedAccessView, nullptr, nullptr, {}),
    MISSING(ID3D12Device9, CreateShaderCacheSession, nullptr, kAny, nullptr),
};

constexpr Call<ID3D12CommandQueue> kQueues[] = {
    MISSING_VOID(ID3D12CommandQueue, UpdateTileMappings, nullptr, 0, nullptr, nullptr, nullptr, 0,
                 nullptr, nullptr, nullptr, {}),
    MISSING_VOID(ID3D12CommandQueue, CopyTileMappings, nullptr, nullptr, nullptr, nullptr, nullptr,
                 {}),
};

constexpr Call<ID3D12Resource2> kResources[] = {
    MISSING(ID3D12Resource, WriteToSubresource, 0, nullptr, nullptr, 0, 0),
    MISSING(ID3D12Resource, ReadFromSubresource, nullptr, 0, 0, 0, nullptr),
    MISSING(ID3D12Resource1, GetProtectedResourceSession, kAny, nullptr),
};

constexpr Call<ID3D12Heap1> kHeaps[] = {
    MISSING(ID3D12Heap1, GetProtectedResourceSession, kAny, nullptr),
};

constexpr Call<ID3D12InfoQueue> kInfoQueues[] = {
    MISSING(ID3D12InfoQueue, AddStorageFilterEntries, nullptr),
    MISSING(ID3D12InfoQueue, GetStorageFilter, nullptr, nullptr),
    MISSING(ID3D12InfoQueue, PushEmptyStorageFilter),
    MISSING(ID3D12InfoQueue, PushCopyOfStorageFilter),
    MISSING(ID3D12InfoQueue, PushStorageFilter, nullptr),
    MISSING(ID3D12InfoQueue, AddRetrievalFilterEntries, nullptr),
    MISSING(ID3D12InfoQueue, GetRetrievalFilter, nullptr, nullptr),
    MISSING(ID3D12InfoQueue, PushEmptyRetrievalFilter),
    MISSING(ID3D12InfoQueue, PushCopyOfRetrievalFilter),
    MISSING(ID3D12InfoQueue, PushRetrievalFilter, nullptr),
};

constexpr Call<IDXGIAdapter4> kAdapters[] = {
    MISSING(IDXGIAdapter3, SetVideoMemoryReservation, 0, {}, 0),
    MISSING(IDXGIAdapter3, RegisterHardwareContentProtectionTeardownStatusEvent, nullptr, nullptr),
    MISSING(IDXGIAdapter3, RegisterVideoMemoryBudgetChangeNotificationEvent, nullptr, nullptr),
};

constexpr Call<IDXGIFactory6> kFactories[] = {
    MISSING(IDXGIFactory, MakeWindowAssociation, {}, 0),
    MISSING(IDXGIFactory, GetWindowAssociation, nullptr),
    MISSING(IDXGIFactory, CreateSwapChain, nullptr, nullptr, nullptr),
    MISSING(IDXGIFactory, CreateSoftwareAdapter, nullptr, nullptr),
    MISSING(IDXGIFactory2, CreateSwapChainForHwnd, nullptr, {}, nullptr, nullptr, nullptr, nullptr),
    MISSING(IDXGIFactory2, CreateSwapChainForCoreWindow, nullptr, nullptr, nullptr, nullptr,
            nullptr),
    MISSING(IDXGIFactory2, GetSharedResourceAdapterLuid, nullptr, nullptr),
    MISSING(IDXGIFactory2, RegisterStereoStatusWindow, {}, 0, nullptr),
    MISSING(IDXGIFactory2, RegisterStereoStatusEvent, nullptr, nullptr),
    MISSING(IDXGIFactory2, RegisterOcclusionStatusWindow, {}, 0, nullptr),
    MISSING(IDXGIFactory2, RegisterOcclusionStatusEvent, nullptr, nullptr),
    MISSING(IDXGIFactory2, CreateSwapChainForComposition, nullptr, nullptr, nullptr, nullptr),
};

class MissingMethods : public testing::Test {
 protected:
  MissingMethods() {
    ComPtr<ID3D12Debug> debug;
    COMPAT_CHECK(D3D12GetDebugInterface(IID_PPV_ARGS(&debug)));
    debug->EnableDebugLayer();
    machine_ = std::make_unique<Machine>();
    queue_ = as<ID3D12InfoQueue>(machine_->d3d12);
  }

  std::string take_line() {
    SIZE_T bytes = 0;
    EXPECT_EQ(queue_->GetMessage(0, nullptr, &bytes), S_FALSE);
    std::vector<D3D12_MESSAGE> room(bytes / sizeof(D3D12_MESSAGE) + 1);
    COMPAT_CHECK(queue_->GetMessage(0, room.data(), &bytes));
    queue_->ClearStoredMessages();
    return room[0].pDescription;
  }

  // The first call says so in one line, the second says nothing.
  template <class Interface, size_t Count>
  void walk(Interface& object, const Call<Interface> (&calls)[Count]) {
    for (const Call<Interface>& call : calls) {
      queue_->ClearStoredMessages();
      EXPECT_EQ(call.run(object), E_NOTIMPL) << call.name;
      ASSERT_EQ(queue_->GetNumStoredMessages(), 1u) << call.name;
      EXPECT_EQ(take_line(),
                std::string(call.name) + ": not implemented; docs/directml.md lists what is there");
      call.run(object);
      EXPECT_EQ(queue_->GetNumStoredMessages(), 0u) << call.name;
    }
  }

  const Messages quiet_;
  std::unique_ptr<Machine> machine_;
  ComPtr<ID3D12InfoQueue> queue_;
};

// A recorded one makes the list fail when it is closed.
TEST_F(MissingMethods, OfLists) {
  const auto list = as<ID3D12GraphicsCommandList4>(machine_->list);
  walk(*list.Get(), kLists);
  for (const auto& call : kLists) {
    EXPECT_EQ(list->Close(), E_NOTIMPL) << "before " << call.name;
    EXPECT_EQ(list->Reset(machine_->allocator.Get(), nullptr), S_OK);
    call.run(*list.Get());
  }
}

TEST_F(MissingMethods, OfDevices) { walk(*as<ID3D12Device9>(machine_->d3d12).Get(), kDevices); }

TEST_F(MissingMethods, OfQueuesResourcesAndHeaps) {
  walk(*machine_->queue.Get(), kQueues);
  walk(*as<ID3D12Resource2>(machine_->buffer(16)).Get(), kResources);
  D3D12_HEAP_DESC desc{};
  desc.SizeInBytes = 65536;
  desc.Properties = CD3DX12_HEAP_PROPERTIES(D3D12_HEAP_TYPE_DEFAULT);
  ComPtr<ID3D12Heap1> heap;
  COMPAT_CHECK(machine_->d3d12->CreateHeap(&desc, IID_PPV_ARGS(&heap)));
  walk(*heap.Get(), kHeaps);
}

TEST_F(MissingMethods, OfMessageQueues) { walk(*queue_.Get(), kInfoQueues); }

TEST_F(MissingMethods, OfDxgi) {
  ComPtr<IDXGIFactory6> factory;
  COMPAT_CHECK(CreateDXGIFactory2(0, IID_PPV_ARGS(&factory)));
  walk(*factory.Get(), kFactories);
  ComPtr<IDXGIAdapter1> adapter;
  COMPAT_CHECK(factory->EnumAdapters1(0, adapter.GetAddressOf()));
  walk(*as<IDXGIAdapter4>(adapter).Get(), kAdapters);
}

// One device's line is not the other's.
TEST_F(MissingMethods, OnceForEachDevice) {
  machine_->d3d12->CreateSampler(nullptr, {});
  EXPECT_EQ(queue_->GetNumStoredMessages(), 1u);
  Machine second;
  const auto queue = as<ID3D12InfoQueue>(second.d3d12);
  second.d3d12->CreateSampler(nullptr, {});
  EXPECT_EQ(queue->GetNumStoredMessages(), 1u);
  EXPECT_EQ(queue_->GetNumStoredMessages(), 1u);
  EXPECT_LE(quiet_.texts().size(), 1u) << "once for the program";
}

template <class Interface, size_t Count>
void add_names(const Call<Interface> (&calls)[Count], std::set<std::string>& names) {
  for (const Call<Interface>& call : calls) {
    names.insert(call.name);
  }
}

// The tables above are complete: the sources name no other method.
TEST_F(MissingMethods, AllAreWalked) {
  std::set<std::string> walked;
  add_names(kLists, walked);
  add_names(kDevices, walked);
  add_names(kQueues, walked);
  add_names(kResources, walked);
  add_names(kHeaps, walked);
  add_names(kInfoQueues, walked);
  add_names(kAdapters, walked);
  add_names(kFactories, walked);
  std::set<std::string> named;
  for (const char* file :
       {"not_implemented.h", "not_implemented_lists.h", "info_queue.h", "dxgi.cc"}) {
    std::ifstream stream(std::string("compat/d3d12/") + file);
    ASSERT_TRUE(stream) << file << ": run this in the root of the repository";
    std::ostringstream text;
    text << stream.rdbuf();
    const std::string source = text.str();
    const std::string opening = "missing(\"";
    for (size_t at = source.find(opening); at != source.npos; at = source.find(opening, at)) {
      at += opening.size();
      named.insert(source.substr(at, source.find('"', at) - at));
    }
  }
  EXPECT_EQ(walked, named);
}

}  // namespace
