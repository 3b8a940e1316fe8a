// SPDX-License-Identifier: MIT
//
// ID3D12Device and D3D12CreateDevice.
#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>

#include "objects.h"
#include "support/checked.h"

namespace sheaf::d3d12 {
namespace {

constexpr D3D_FEATURE_LEVEL kFeatureLevel = D3D_FEATURE_LEVEL_12_1;

// Where default heaps lie: on the host, unless SHEAF_D3D12_DEVICE names a device that is there.
const char* memory_device() {
  static const std::string name = [] {
    const char* asked = std::getenv("SHEAF_D3D12_DEVICE");
    std::string wanted = asked == nullptr || std::string(asked) == "host" ? "" : asked;
    if (wanted.empty() || device_available(wanted)) {
      return wanted;
    }
    com::report(com::words({.who = "D3D12CreateDevice",
                            .what = "no such device",
                            .detail = "SHEAF_D3D12_DEVICE = " + wanted,
                            .given = device_description(wanted),
                            .next = "unset it; host memory is used now"}),
                true);
    return std::string();
  }();
  return name.c_str();
}

class Device final
    : public com::Named<Device, const IUnknown, DeviceState, ID3D12Object, ID3D12Device> {
 public:
  UINT GetNodeCount() override { return 1; }

  HRESULT CreateCommandQueue(const D3D12_COMMAND_QUEUE_DESC* desc, REFIID iid,
                             void** queue) override {
    return create_checked<CommandQueue>(desc != nullptr, iid, queue, desc);
  }

  HRESULT CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE, REFIID iid, void** allocator) override {
    return create<CommandAllocator>(iid, allocator);
  }

  HRESULT CreateCommandList(UINT, D3D12_COMMAND_LIST_TYPE type, ID3D12CommandAllocator* allocator,
                            ID3D12PipelineState*, REFIID iid, void** list) override {
    return create_checked<CommandList>(allocator != nullptr, iid, list, &type);
  }

  HRESULT CheckFeatureSupport(D3D12_FEATURE feature, void* data, UINT size) override {
    if (feature != D3D12_FEATURE_FEATURE_LEVELS) {
      return com::missing("ID3D12Device::CheckFeatureSupport of other features");
    }
    auto* levels = static_cast<D3D12_FEATURE_DATA_FEATURE_LEVELS*>(data);
    if (levels == nullptr || size != sizeof *levels || levels->pFeatureLevelsRequested == nullptr) {
      return E_INVALIDARG;
    }
    D3D_FEATURE_LEVEL best{};
    for (UINT i = 0; i < levels->NumFeatureLevels; ++i) {
      if (levels->pFeatureLevelsRequested[i] <= kFeatureLevel) {
        best = std::max(best, levels->pFeatureLevelsRequested[i]);
      }
    }
    levels->MaxSupportedFeatureLevel = best;
    return best == D3D_FEATURE_LEVEL{} ? DXGI_ERROR_UNSUPPORTED : S_OK;
  }

  HRESULT CreateDescriptorHeap(const D3D12_DESCRIPTOR_HEAP_DESC* desc, REFIID iid,
                               void** heap) override {
    // Graphs of the most inputs and outputs need 2^21 and 2.
    constexpr UINT kMostDescriptors = 1u << 22;
    const bool valid =
        desc != nullptr && desc->NumDescriptors > 0 && desc->NumDescriptors <= kMostDescriptors;
    return create_checked<DescriptorHeap>(valid, iid, heap, desc);
  }
  UINT GetDescriptorHandleIncrementSize(D3D12_DESCRIPTOR_HEAP_TYPE) override {
    return sizeof(Descriptor);
  }

  // UINT64_MAX bytes say that there is no such resource, as in Direct3D.
  D3D12_RESOURCE_ALLOCATION_INFO GetResourceAllocationInfo(
      UINT, UINT count, const D3D12_RESOURCE_DESC* descs) override {
    constexpr UINT64 kAlignment = 65536;
    UINT64 sum = 0;
    for (UINT i = 0; i < count; ++i) {
      const bool buffer = descs != nullptr && descs[i].Dimension == D3D12_RESOURCE_DIMENSION_BUFFER;
      const auto bytes = buffer ? checked_round_up(descs[i].Width, kAlignment) : std::nullopt;
      const auto next = bytes ? checked_add(sum, *bytes) : std::nullopt;
      if (!next) {
        return {UINT64_MAX, kAlignment};
      }
      sum = *next;
    }
    return {sum, kAlignment};
  }

  D3D12_HEAP_PROPERTIES GetCustomHeapProperties(UINT, D3D12_HEAP_TYPE type) override {
    const auto pages = type == D3D12_HEAP_TYPE_DEFAULT  ? D3D12_CPU_PAGE_PROPERTY_NOT_AVAILABLE
                       : type == D3D12_HEAP_TYPE_UPLOAD ? D3D12_CPU_PAGE_PROPERTY_WRITE_COMBINE
                                                        : D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
    return {D3D12_HEAP_TYPE_CUSTOM, pages, D3D12_MEMORY_POOL_L0, 1, 1};
  }

  HRESULT CreateCommittedResource(const D3D12_HEAP_PROPERTIES* heap, D3D12_HEAP_FLAGS flags,
                                  const D3D12_RESOURCE_DESC* desc, D3D12_RESOURCE_STATES,
                                  const D3D12_CLEAR_VALUE*, REFIID iid, void** resource) override {
    if (resource != nullptr) {
      *resource = nullptr;
    }
    if (heap == nullptr || desc == nullptr || desc->Width == 0 ||
        desc->Dimension != D3D12_RESOURCE_DIMENSION_BUFFER) {
      com::report(com::words({.who = "ID3D12Device::CreateCommittedResource",
                              .what = "not a buffer",
                              .detail = "only buffers of at least 1 byte can be created",
                              .given = "a null pointer, a texture or Width 0 was given",
                              .next = "D3D12_RESOURCE_DIMENSION_BUFFER with Width in bytes"}),
                  false);
      return E_INVALIDARG;
    }
    return create<Resource>(iid, resource, memory_device(), *heap, flags, *desc);
  }

  // All memory is resident.
  HRESULT MakeResident(UINT, ID3D12Pageable* const*) override { return removal()->check(); }
  HRESULT Evict(UINT, ID3D12Pageable* const*) override { return removal()->check(); }
  HRESULT SetStablePowerState(BOOL) override { return removal()->check(); }
  HRESULT GetDeviceRemovedReason() override { return removal()->reason(); }

  HRESULT CreateFence(UINT64 value, D3D12_FENCE_FLAGS, REFIID iid, void** fence) override {
    return create<Fence>(iid, fence, value);
  }

  // Of a buffer: one row. Where there is no answer every output has all its bits set, as in
  // Direct3D.
  void GetCopyableFootprints(const D3D12_RESOURCE_DESC* desc, UINT first, UINT count, UINT64 offset,
                             D3D12_PLACED_SUBRESOURCE_FOOTPRINT* layouts, UINT* rows,
                             UINT64* row_bytes, UINT64* total_bytes) override {
    constexpr UINT64 kPitch = 256;
    const UINT64 bytes = desc == nullptr ? UINT64_MAX : desc->Width;
    const UINT64 pitch = checked_round_up(bytes, kPitch).value_or(UINT64_MAX);
    const bool known = first == 0 && count <= 1 && pitch <= UINT_MAX && checked_add(offset, bytes);
    for (UINT i = 0; i < count; ++i) {
      if (layouts != nullptr && known) {
        layouts[i] = {
            offset,
            {DXGI_FORMAT_UNKNOWN, static_cast<UINT>(bytes), 1, 1, static_cast<UINT>(pitch)}};
      } else if (layouts != nullptr) {
        std::memset(&layouts[i], 0xFF, sizeof layouts[i]);
      }
      if (rows != nullptr) {
        rows[i] = known ? 1 : UINT_MAX;
      }
      if (row_bytes != nullptr) {
        row_bytes[i] = known ? bytes : UINT64_MAX;
      }
    }
    if (total_bytes != nullptr) {
      *total_bytes = known ? bytes : UINT64_MAX;
    }
  }

  LUID GetAdapterLuid() override { return {}; }

 private:
  template <class Object, class... Arguments>
  HRESULT create(REFIID iid, void** out, const Arguments&... arguments) {
    if (out != nullptr) {
      *out = nullptr;
    }
    if (removal()->removed()) {
      return DXGI_ERROR_DEVICE_REMOVED;
    }
    return com::guarded([&] { return com::create_into<Object>(iid, out, this, arguments...); });
  }

  // Of a descriptor that may be null if it is not valid.
  template <class Object, class Desc>
  HRESULT create_checked(bool valid, REFIID iid, void** out, const Desc* desc) {
    if (valid) {
      return create<Object>(iid, out, *desc);
    }
    if (out != nullptr) {
      *out = nullptr;
    }
    return removal()->removed() ? DXGI_ERROR_DEVICE_REMOVED : E_INVALIDARG;
  }
};

class Debug final : public com::Counted<Debug, ID3D12Debug, ID3D12Debug> {
 public:
  void EnableDebugLayer() override {}
};

}  // namespace
}  // namespace sheaf::d3d12

SHEAF_EXPORT HRESULT D3D12GetDebugInterface(REFIID iid, void** debug) {
  using namespace sheaf;
  return com::guarded([&] { return com::create_into<d3d12::Debug>(iid, debug); });
}

SHEAF_EXPORT HRESULT D3D12CreateDevice(IUnknown*, D3D_FEATURE_LEVEL minimum_feature_level,
                                       REFIID iid, void** device) {
  using namespace sheaf;
  if (device != nullptr) {
    *device = nullptr;
  }
  if (minimum_feature_level > d3d12::kFeatureLevel) {
    return DXGI_ERROR_UNSUPPORTED;
  }
  return com::guarded([&] { return com::create_into<d3d12::Device>(iid, device); });
}
