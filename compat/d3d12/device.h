// SPDX-License-Identifier: MIT
//
// ID3D12Device: makes the objects. What it refuses, it says why.
#pragma once

#include <optional>

#include "info_queue.h"
#include "objects.h"

namespace sheaf::d3d12 {

class Device final
    : public com::Named<Device, const IUnknown, DeviceState, ID3D12Object, ID3D12Device,
                        ID3D12Device1, ID3D12Device2, ID3D12Device3, ID3D12Device4, ID3D12Device5,
                        ID3D12Device6, ID3D12Device7, ID3D12Device8, ID3D12Device9> {
 public:
  // With the queue of messages if the debug layer was enabled.
  Device(const Adapter& adapter, bool debug);
  using Named::QueryInterface;
  HRESULT QueryInterface(REFIID iid, void** object) override;
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override;

  UINT GetNodeCount() override { return 1; }
  LUID GetAdapterLuid() override { return adapter().luid; }
  HRESULT CheckFeatureSupport(D3D12_FEATURE feature, void* data, UINT size) override;
  HRESULT GetDeviceRemovedReason() override { return removal()->reason(); }
  void RemoveDevice() override;

  HRESULT CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID iid,
                             void** queue) override;
  HRESULT CreateCommandQueue1(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID creator, REFIID iid,
                              void** queue) override;
  HRESULT CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE, REFIID iid, void** allocator) override;
  HRESULT CreateCommandList(UINT, D3D12_COMMAND_LIST_TYPE type, ID3D12CommandAllocator* allocator,
                            ID3D12PipelineState*, REFIID iid, void** list) override;
  HRESULT CreateCommandList1(UINT, D3D12_COMMAND_LIST_TYPE type, D3D12_COMMAND_LIST_FLAGS,
                             REFIID iid, void** list) override;
  HRESULT CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID iid, void** fence) override;
  HRESULT CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID iid, void** heap) override;

  HRESULT CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc, REFIID iid,
                               void** heap) override;
  UINT GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE) override {
    return sizeof(Descriptor);
  }
  void CreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter,
                                 const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                                 D3D12_CPU_DESCRIPTOR_HANDLE place) override;
  void CopyDescriptors(UINT to_ranges, const D3D12_CPU_DESCRIPTOR_HANDLE* to, const UINT* to_counts,
                       UINT from_ranges, const D3D12_CPU_DESCRIPTOR_HANDLE* from,
                       const UINT* from_counts, D3D12_DESCRIPTOR_HEAP_TYPE) override;
  void CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE to,
                             D3D12_CPU_DESCRIPTOR_HANDLE from, D3D12_DESCRIPTOR_HEAP_TYPE) override;

  D3D12_HEAP_PROPERTIES GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) override;
  D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo(
      UINT, UINT count, const D3D12_RESOURCE_DESC* descs) override;
  D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo1(
      UINT, UINT count, const D3D12_RESOURCE_DESC* descs,
      D3D12_RESOURCE_ALLOCATION_INFO1* each) override;
  D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo2(
      UINT, UINT count, const D3D12_RESOURCE_DESC1* descs,
      D3D12_RESOURCE_ALLOCATION_INFO1* each) override;
  void GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count, UINT64 offset,
                             D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* rows,
                             UINT64* row_bytes, UINT64* total_bytes) override;
  void GetCopyableFootprints1(const D3D12_RESOURCE_DESC1* desc, UINT first, UINT count,
                              UINT64 offset, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                              UINT* rows, UINT64* row_bytes, UINT64* total_bytes) override;

  HRESULT CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                  const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES,
                                  const D3D12_CLEAR_VALUE*, REFIID iid, void** resource) override;
  HRESULT CreateCommittedResource1(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                   const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES state,
                                   const D3D12_CLEAR_VALUE* clear,
                                   ID3D12ProtectedResourceSession* session, REFIID iid,
                                   void** resource) override;
  HRESULT CreateCommittedResource2(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                   const D3D12_RESOURCE_DESC1* desc, D3D12_RESOURCE_STATES state,
                                   const D3D12_CLEAR_VALUE* clear,
                                   ID3D12ProtectedResourceSession* session, REFIID iid,
                                   void** resource) override;
  HRESULT CreateHeap(const D3D12_HEAP_DESC* desc, REFIID iid, void** heap) override;
  HRESULT CreateHeap1(const D3D12_HEAP_DESC* desc, ID3D12ProtectedResourceSession* session,
                      REFIID iid, void** heap) override;
  HRESULT CreatePlacedResource(ID3D12Heap* heap, UINT64 offset, const D3D12_RESOURCE_DESC* desc,
                               D3D12_RESOURCE_STATES, const D3D12_CLEAR_VALUE*, REFIID iid,
                               void** resource) override;
  HRESULT CreatePlacedResource1(ID3D12Heap* heap, UINT64 offset, const D3D12_RESOURCE_DESC1* desc,
                                D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                REFIID iid, void** resource) override;
  HRESULT CreateReservedResource(const D3D12_RESOURCE_DESC*, D3D12_RESOURCE_STATES,
                                 const D3D12_CLEAR_VALUE*, REFIID, void** resource) override;
  HRESULT CreateReservedResource1(const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES state,
                                  const D3D12_CLEAR_VALUE* clear, ID3D12ProtectedResourceSession*,
                                  REFIID iid, void** resource) override;

  // All memory is resident, there are no caches and no background work.
  HRESULT MakeResident(UINT, ID3D12Pageable* const*) override { return removal()->check(); }
  HRESULT Evict(UINT, ID3D12Pageable* const*) override { return removal()->check(); }
  HRESULT EnqueueMakeResident(D3D12_RESIDENCY_FLAGS, UINT, ID3D12Pageable* const*,
                              ID3D12Fence* fence, UINT64 value) override {
    return fence == nullptr ? E_INVALIDARG : fence->Signal(value);
  }
  HRESULT SetResidencyPriority(UINT, ID3D12Pageable* const*,
                               const D3D12_RESIDENCY_PRIORITY*) override {
    return removal()->check();
  }
  HRESULT SetStablePowerState(BOOL) override { return removal()->check(); }
  HRESULT ShaderCacheControl(D3D12_SHADER_CACHE_KIND_FLAGS,
                             D3D12_SHADER_CACHE_CONTROL_FLAGS) override {
    return removal()->check();
  }
  HRESULT EnumerateMetaCommands(UINT* count, D3D12_META_COMMAND_DESC*) override;
  HRESULT SetBackgroundProcessingMode(D3D12_BACKGROUND_PROCESSING_MODE, D3D12_MEASUREMENTS_ACTION,
                                      HANDLE event, BOOL* more) override;

 private:
  template <class Object, class... Arguments>
  HRESULT create(REFIID iid, void** out, const Arguments&... arguments);
  // Reports the reason. E_INVALIDARG, or that the device is removed; *out becomes null.
  struct Refused {
    const char *what, *reason, *next;
  };
  HRESULT refuse(const char* who, const Refused& refused, void** out);
  void refuse_view(const char* who, const char* reason);

  std::optional<InfoQueue> info_queue_;
};

}  // namespace sheaf::d3d12
