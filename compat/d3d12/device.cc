// SPDX-License-Identifier: MIT
#include "device.h"

#include <string>

#include "execution/registry.h"
#include "feature_support.h"
#include "sizes.h"

namespace sheaf::d3d12 {

Device::Device(const Adapter& adapter, bool debug) : Named(adapter) {
  if (debug) {
    info_queue_.emplace(this);
  }
}

HRESULT Device::QueryInterface(REFIID iid, void** object) {
  const bool messages = iid == __uuidof(ID3D12InfoQueue) || iid == __uuidof(ID3D12InfoQueue1);
  if (!messages || object == nullptr || !info_queue_) {
    return Named::QueryInterface(iid, object);
  }
  *object = static_cast<ID3D12InfoQueue1*>(&*info_queue_);
  AddRef();
  return S_OK;
}

HRESULT Device::GetPrivateData(REFGUID guid, UINT* size, void* data) {
  if (guid != kBackend) {
    return Named::GetPrivateData(guid, size, data);
  }
  return com::guarded([&] {
    const std::string& name = adapter().device;
    const Backend* const backend = name.empty() ? nullptr : &device_backend(name);
    return give_view(backend, size, data);
  });
}

template <class Object, class... Arguments>
HRESULT Device::create(REFIID iid, void** out, const Arguments&... arguments) {
  if (out != nullptr) {
    *out = nullptr;
  }
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  return com::guarded([&] { return com::create_into<Object>(iid, out, this, arguments...); });
}

HRESULT Device::refuse(const char* who, const Refused& refused, void** out) {
  if (out != nullptr) {
    *out = nullptr;
  }
  if (removal()->removed()) {
    return DXGI_ERROR_DEVICE_REMOVED;
  }
  return com::guarded([&] {
    com::report(com::words({.who = who,
                            .what = refused.what,
                            .detail = refused.reason,
                            .given = "nothing was created",
                            .next = refused.next}),
                false);
    return E_INVALIDARG;
  });
}

HRESULT Device::CheckFeatureSupport(D3D12_FEATURE feature, void* data, UINT size) {
  return check_feature(adapter(), feature, data, size);
}

void Device::RemoveDevice() { Timeline::get().remove(*removal(), DXGI_ERROR_DEVICE_REMOVED); }

HRESULT Device::CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID iid, void** queue) {
  if (desc == nullptr) {
    return refuse("ID3D12Device::CreateCommandQueue",
                  {"no description", "pDesc is null", "a D3D12_COMMAND_QUEUE_DESC"}, queue);
  }
  return create<CommandQueue>(iid, queue, *desc);
}

HRESULT Device::CreateCommandQueue1(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID, REFIID iid,
                                    void** queue) {
  return CreateCommandQueue(desc, iid, queue);
}

HRESULT Device::CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE, REFIID iid, void** allocator) {
  return create<CommandAllocator>(iid, allocator);
}

HRESULT Device::CreateCommandList(UINT, D3D12_COMMAND_LIST_TYPE type,
                                  ID3D12CommandAllocator* allocator, ID3D12PipelineState*,
                                  REFIID iid, void** list) {
  if (allocator == nullptr) {
    return refuse("ID3D12Device::CreateCommandList",
                  {"no allocator", "pCommandAllocator is null", "CreateCommandAllocator"}, list);
  }
  return create<CommandList>(iid, list, type, false);
}

HRESULT Device::CreateCommandList1(UINT, D3D12_COMMAND_LIST_TYPE type, D3D12_COMMAND_LIST_FLAGS,
                                   REFIID iid, void** list) {
  return create<CommandList>(iid, list, type, true);
}

HRESULT Device::CreateFence(UINT64 value, D3D12_FENCE_FLAGS flags, REFIID iid, void** fence) {
  return create<Fence>(iid, fence, value, flags);
}

HRESULT Device::CreateQueryHeap(const D3D12_QUERY_HEAP_DESC* desc, REFIID iid, void** heap) {
  constexpr UINT kMostQueries = 1u << 20;
  if (desc == nullptr || desc->Count == 0 || desc->Count > kMostQueries) {
    return refuse("ID3D12Device::CreateQueryHeap",
                  {"no queries", "pDesc is null, or Count is not 1 to 2^20", "a Count of queries"},
                  heap);
  }
  if (desc->Type != D3D12_QUERY_HEAP_TYPE_TIMESTAMP &&
      desc->Type != D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP) {
    return com::missing("ID3D12Device::CreateQueryHeap of other types than timestamps", heap);
  }
  return create<QueryHeap>(iid, heap, *desc);
}

D3D12_HEAP_PROPERTIES Device::GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) {
  const auto pages = type == D3D12_HEAP_TYPE_DEFAULT  ? D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE
                     : type == D3D12_HEAP_TYPE_UPLOAD ? D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE
                                                      : D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
  return {D3D12_HEAP_TYPE_CUSTOM, pages, D3D12_MEMORY_POOL_L0, 1, 1};
}

D3D12_RESOURCE_ALLOCATION_INFO Device::GetResourceAllocationInfo(UINT, UINT count,
                                                                 const D3D12_RESOURCE_DESC* descs) {
  return allocation_of(count, descs, nullptr);
}

D3D12_RESOURCE_ALLOCATION_INFO Device::GetResourceAllocationInfo1(
    UINT, UINT count, const D3D12_RESOURCE_DESC* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) {
  return allocation_of(count, descs, each);
}

D3D12_RESOURCE_ALLOCATION_INFO Device::GetResourceAllocationInfo2(
    UINT, UINT count, const D3D12_RESOURCE_DESC1* descs, D3D12_RESOURCE_ALLOCATION_INFO1* each) {
  D3D12_RESOURCE_ALLOCATION_INFO info{UINT64_MAX, D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT};
  com::guarded([&] {
    std::vector<D3D12_RESOURCE_DESC> made;
    for (UINT i = 0; descs != nullptr && i < count; ++i) {
      made.push_back(older(descs[i]));
    }
    info = allocation_of(count, descs == nullptr ? nullptr : made.data(), each);
    return S_OK;
  });
  return info;
}

void Device::GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count,
                                   UINT64 offset, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                                   UINT* rows, UINT64* row_bytes, UINT64* total_bytes) {
  footprints_of(desc, first, count, offset, {layouts, rows, row_bytes, total_bytes});
}

void Device::GetCopyableFootprints1(const D3D12_RESOURCE_DESC1* desc, UINT first, UINT count,
                                    UINT64 offset, D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts,
                                    UINT* rows, UINT64* row_bytes, UINT64* total_bytes) {
  const D3D12_RESOURCE_DESC plain = desc == nullptr ? D3D12_RESOURCE_DESC{} : older(*desc);
  footprints_of(desc == nullptr ? nullptr : &plain, first, count, offset,
                {layouts, rows, row_bytes, total_bytes});
}

HRESULT Device::EnumerateMetaCommands(UINT* count, D3D12_META_COMMAND_DESC*) {
  if (count == nullptr) {
    return E_INVALIDARG;
  }
  *count = 0;
  return removal()->check();
}

HRESULT Device::SetBackgroundProcessingMode(D3D12_BACKGROUND_PROCESSING_MODE,
                                            D3D12_MEASUREMENTS_ACTION, HANDLE event, BOOL* more) {
  if (more != nullptr) {
    *more = FALSE;
  }
  return event == nullptr ? removal()->check() : set_event(event);
}

}  // namespace sheaf::d3d12
