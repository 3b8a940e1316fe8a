// SPDX-License-Identifier: MIT
//
// How a device makes memory: heaps, buffers in them, and descriptors of views.
#include <stdexcept>
#include <string>

#include "device.h"
#include "sizes.h"
#include "views.h"

namespace sheaf::d3d12 {
namespace {

// Why no buffer can be placed there; null if it can.
const char* placement_refusal(const Heap& heap, UINT64 offset, const D3D12_RESOURCE_DESC& desc) {
  Heap& asked = const_cast<Heap&>(heap);  // COM's getters are not const
  const D3D12_HEAP_DESC heap_desc = asked.GetDesc();
  if ((heap_desc.Flags & D3D12_HEAP_FLAG_DENY_BUFFERS) != 0) {
    return "the heap was made with D3D12_HEAP_FLAG_DENY_BUFFERS";
  }
  if (offset % D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT != 0) {
    return "HeapOffset is no multiple of 65536";
  }
  if (offset > heap_desc.SizeInBytes || desc.Width > heap_desc.SizeInBytes - offset) {
    return "the buffer ends after the heap";
  }
  return nullptr;
}

const char* heap_refusal(const D3D12_HEAP_DESC* desc) {
  if (desc == nullptr || desc->SizeInBytes == 0) {
    return "pDesc is null, or SizeInBytes is 0";
  }
  if (desc->Alignment != 0 && desc->Alignment != D3D12_DEFAULT_RESOURCE_PLACEMENT_ALIGNMENT &&
      desc->Alignment != D3D12_DEFAULT_MSAA_RESOURCE_PLACEMENT_ALIGNMENT) {
    return "the Alignment of a heap is 0, 65536 or 4194304";
  }
  if ((desc->Flags & (D3D12_HEAP_FLAG_SHARED | D3D12_HEAP_FLAG_SHARED_CROSS_ADAPTER |
                      D3D12_HEAP_FLAG_ALLOW_DISPLAY | D3D12_HEAP_FLAG_HARDWARE_PROTECTED)) != 0) {
    return "heaps are not shared, displayed or protected";
  }
  return refusal_of(desc->Properties);
}

constexpr char kNoHeap[] = "not a heap";
constexpr char kNoBuffer[] = "not a buffer";
constexpr char kSomeHeap[] = "D3D12_HEAP_TYPE_DEFAULT, UPLOAD or READBACK with SizeInBytes";
constexpr char kSomeBuffer[] = "D3D12_RESOURCE_DIMENSION_BUFFER with Width in bytes";

}  // namespace

HRESULT Device::CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                        const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES,
                                        const D3D12_CLEAR_VALUE*, REFIID iid, void** resource) {
  const char* reason = heap == nullptr ? "pHeapProperties is null" : refusal_of(desc);
  reason = reason == nullptr ? refusal_of(*heap) : reason;
  if (reason != nullptr || desc == nullptr) {  // a null desc has a reason, which tools cannot see
    return refuse("ID3D12Device::CreateCommittedResource", {kNoBuffer, reason, kSomeBuffer},
                  resource);
  }
  return com::guarded([&] {
    if (removal()->removed()) {
      return create<Resource>(iid, resource, Placement{}, *desc);
    }
    const char* where = mappable(*heap) ? "" : adapter().device.c_str();
    return create<Resource>(
        iid, resource, Placement{std::make_shared<Memory>(where, desc->Width), 0, *heap, flags},
        *desc);
  });
}

HRESULT Device::CreateCommittedResource1(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                         const D3D12_RESOURCE_DESC* desc,
                                         D3D12_RESOURCE_STATES state,
                                         const D3D12_CLEAR_VALUE* clear,
                                         ID3D12ProtectedResourceSession* session, REFIID iid,
                                         void** resource) {
  if (session != nullptr) {
    return com::missing("ID3D12Device4::CreateCommittedResource1 with a session", resource);
  }
  return CreateCommittedResource(heap, flags, desc, state, clear, iid, resource);
}

HRESULT Device::CreateCommittedResource2(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                         const D3D12_RESOURCE_DESC1* desc,
                                         D3D12_RESOURCE_STATES state,
                                         const D3D12_CLEAR_VALUE* clear,
                                         ID3D12ProtectedResourceSession* session, REFIID iid,
                                         void** resource) {
  if (session != nullptr) {
    return com::missing("ID3D12Device8::CreateCommittedResource2 with a session", resource);
  }
  const D3D12_RESOURCE_DESC plain = desc == nullptr ? D3D12_RESOURCE_DESC{} : older(*desc);
  return CreateCommittedResource(heap, flags, desc == nullptr ? nullptr : &plain, state, clear, iid,
                                 resource);
}

HRESULT Device::CreateHeap(const D3D12_HEAP_DESC* desc, REFIID iid, void** heap) {
  const char* reason = heap_refusal(desc);
  if (reason != nullptr || desc == nullptr) {
    return refuse("ID3D12Device::CreateHeap", {kNoHeap, reason, kSomeHeap}, heap);
  }
  return create<Heap>(iid, heap, *desc);
}

HRESULT Device::CreateHeap1(const D3D12_HEAP_DESC* desc, ID3D12ProtectedResourceSession* session,
                            REFIID iid, void** heap) {
  if (session != nullptr) {
    return com::missing("ID3D12Device4::CreateHeap1 with a session", heap);
  }
  return CreateHeap(desc, iid, heap);
}

HRESULT Device::CreatePlacedResource(ID3D12Heap* heap, UINT64 offset,
                                     const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES,
                                     const D3D12_CLEAR_VALUE*, REFIID iid, void** resource) {
  const char* who = "ID3D12Device::CreatePlacedResource";
  auto* ours = private_view<Heap*>(heap, kHeap);
  if (ours == nullptr || &ours->device() != this) {
    return refuse(who, {kNoHeap, "the heap is null, or of another device", "a heap of CreateHeap"},
                  resource);
  }
  const char* reason = refusal_of(desc);
  if (reason == nullptr && desc != nullptr) {
    reason = placement_refusal(*ours, offset, *desc);
  }
  if (reason != nullptr || desc == nullptr) {
    return refuse(who, {kNoBuffer, reason, "a buffer inside the heap, at a multiple of 65536"},
                  resource);
  }
  const D3D12_HEAP_DESC heap_desc = ours->GetDesc();
  return create<Resource>(iid, resource,
                          Placement{ours->memory(), offset, heap_desc.Properties, heap_desc.Flags},
                          *desc);
}

HRESULT Device::CreatePlacedResource1(ID3D12Heap* heap, UINT64 offset,
                                      const D3D12_RESOURCE_DESC1* desc, D3D12_RESOURCE_STATES state,
                                      const D3D12_CLEAR_VALUE* clear, REFIID iid, void** resource) {
  const D3D12_RESOURCE_DESC plain = desc == nullptr ? D3D12_RESOURCE_DESC{} : older(*desc);
  return CreatePlacedResource(heap, offset, desc == nullptr ? nullptr : &plain, state, clear, iid,
                              resource);
}

// As CheckFeatureSupport announces: TiledResourcesTier is 0.
HRESULT Device::CreateReservedResource(const D3D12_RESOURCE_DESC*, D3D12_RESOURCE_STATES,
                                       const D3D12_CLEAR_VALUE*, REFIID, void** resource) {
  const HRESULT result =
      refuse("ID3D12Device::CreateReservedResource",
             {"no tiles", "TiledResourcesTier is D3D12_TILED_RESOURCES_TIER_NOT_SUPPORTED",
              "CreateHeap and CreatePlacedResource"},
             resource);
  return result == E_INVALIDARG ? DXGI_ERROR_UNSUPPORTED : result;
}

HRESULT Device::CreateReservedResource1(const D3D12_RESOURCE_DESC* desc,
                                        D3D12_RESOURCE_STATES state, const D3D12_CLEAR_VALUE* clear,
                                        ID3D12ProtectedResourceSession*, REFIID iid,
                                        void** resource) {
  return CreateReservedResource(desc, state, clear, iid, resource);
}

HRESULT Device::CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc, REFIID iid,
                                     void** heap) {
  if (desc == nullptr || desc->NumDescriptors == 0 || desc->NumDescriptors > kMostDescriptors) {
    return refuse(
        "ID3D12Device::CreateDescriptorHeap",
        {"no descriptors", "pDescriptorHeapDesc is null, or NumDescriptors is not 1 to 2^22",
         "as many as RequiredDescriptorCount says"},
        heap);
  }
  return create<DescriptorHeap>(iid, heap, *desc);
}

void Device::refuse_view(const char* who, const char* reason) {
  refuse(who,
         {"not a view", reason,
          "a view of elements inside a buffer, in a descriptor heap of this device"},
         nullptr);
}

// A view that is refused leaves an empty descriptor: the clear that needs it fails.
void Device::CreateUnorderedAccessView(ID3D12Resource* resource, ID3D12Resource* counter,
                                       const D3D12_UNORDERED_ACCESS_VIEW_DESC* desc,
                                       D3D12_CPU_DESCRIPTOR_HANDLE place) {
  const char* who = "ID3D12Device::CreateUnorderedAccessView";
  const auto buffer = private_view<BufferMemory>(resource, kBufferMemory);
  Descriptor made{};
  try {
    if (counter != nullptr) {
      refuse_view(who, "there are no counters: pCounterResource is null");
    } else if (resource != nullptr && buffer.data == nullptr) {
      refuse_view(who, "the resource is of another Direct3D");
    } else if (resource != nullptr) {
      made = make_view(buffer, desc);
    }
  } catch (const std::invalid_argument& reason) {
    refuse_view(who, reason.what());
  }
  if (!descriptors().write(place.ptr, made)) {
    refuse_view(who, "the handle leads to no descriptor of this device");
  }
}

void Device::CopyDescriptors(UINT to_ranges, const D3D12_CPU_DESCRIPTOR_HANDLE* to,
                             const UINT* to_counts, UINT from_ranges,
                             const D3D12_CPU_DESCRIPTOR_HANDLE* from, const UINT* from_counts,
                             D3D12_DESCRIPTOR_HEAP_TYPE) {
  const char* who = "ID3D12Device::CopyDescriptors";
  if ((to_ranges > 0 && to == nullptr) || (from_ranges > 0 && from == nullptr)) {
    return refuse_view(who, "an array of handles is null");
  }
  // Null sizes are ranges of one. The two lists are walked side by side.
  UINT to_range = 0, to_at = 0;
  for (UINT range = 0; range < from_ranges; ++range) {
    const UINT count = from_counts == nullptr ? 1 : from_counts[range];
    for (UINT i = 0; i < count; ++i, ++to_at) {
      while (to_range < to_ranges && to_at == (to_counts == nullptr ? 1 : to_counts[to_range])) {
        ++to_range;
        to_at = 0;
      }
      if (to_range == to_ranges) {
        return refuse_view(who, "more descriptors are copied than there is room for");
      }
      if (!descriptors().copy(to[to_range].ptr + SIZE_T{to_at} * sizeof(Descriptor),
                              from[range].ptr + SIZE_T{i} * sizeof(Descriptor), 1)) {
        return refuse_view(who, "a handle leads to no descriptor of this device");
      }
    }
  }
}

void Device::CopyDescriptorsSimple(UINT count, D3D12_CPU_DESCRIPTOR_HANDLE to,
                                   D3D12_CPU_DESCRIPTOR_HANDLE from, D3D12_DESCRIPTOR_HEAP_TYPE) {
  if (count > 0 && !descriptors().copy(to.ptr, from.ptr, count)) {
    refuse_view("ID3D12Device::CopyDescriptorsSimple",
                "a handle leads to no descriptors of this device");
  }
}

}  // namespace sheaf::d3d12
