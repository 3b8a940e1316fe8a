// SPDX-License-Identifier: MIT
//
// libdxgi: the adapters of adapters.h behind DXGI's interfaces.
#include <algorithm>
#include <cwchar>

#include "adapters.h"
#include "dxgi1_6.h"

namespace sheaf::dxgi {
namespace {

using com::missing;
using d3d12::Adapter;

// Private data of objects that have no name.
template <class Derived, class Base, class... Reachable>
class Object : public com::Counted<Derived, Base, IDXGIObject, Reachable...> {
 public:
  HRESULT SetPrivateData(REFGUID guid, UINT size, const void* data) override {
    return com::guarded([&] { return data_.set(guid, size, data); });
  }
  HRESULT SetPrivateDataInterface(REFGUID guid, const IUnknown* object) override {
    return com::guarded([&] { return data_.set_interface(guid, const_cast<IUnknown*>(object)); });
  }
  HRESULT GetPrivateData(REFGUID guid, UINT* size, void* data) override {
    return com::guarded([&] { return data_.get(guid, size, data); });
  }

 private:
  com::PrivateData data_;
};

// The fields that all versions of the description have.
template <class Desc>
void describe(const Adapter& adapter, Desc& desc) {
  desc = {};
  const size_t length = std::min(adapter.name.size(), std::size(desc.Description) - 1);
  std::copy_n(adapter.name.begin(), length, desc.Description);
  desc.VendorId = adapter.vendor;
  (adapter.on_host() ? desc.SharedSystemMemory : desc.DedicatedVideoMemory) =
      static_cast<SIZE_T>(adapter.memory_bytes);
  desc.AdapterLuid = adapter.luid;
}

template <class Desc>
HRESULT give_desc(const Adapter& adapter, Desc* desc) {
  if (desc == nullptr) {
    return E_INVALIDARG;
  }
  describe(adapter, *desc);
  return S_OK;
}

class DxgiAdapter final : public Object<DxgiAdapter, IDXGIAdapter4, IDXGIAdapter, IDXGIAdapter1,
                                        IDXGIAdapter2, IDXGIAdapter3, IDXGIAdapter4> {
 public:
  DxgiAdapter(const Adapter* adapter, IUnknown* factory) : adapter_(*adapter), factory_(factory) {}
  HRESULT GetParent(REFIID iid, void** parent) override {
    return factory_->QueryInterface(iid, parent);
  }
  HRESULT EnumOutputs(UINT, IDXGIOutput** output) override {
    if (output != nullptr) {
      *output = nullptr;
    }
    return DXGI_ERROR_NOT_FOUND;  // no monitor
  }
  HRESULT GetDesc(DXGI_ADAPTER_DESC* desc) override { return give_desc(adapter_, desc); }
  HRESULT GetDesc1(DXGI_ADAPTER_DESC1* desc) override { return give_desc(adapter_, desc); }
  HRESULT GetDesc2(DXGI_ADAPTER_DESC2* desc) override { return give_desc(adapter_, desc); }
  HRESULT GetDesc3(DXGI_ADAPTER_DESC3* desc) override { return give_desc(adapter_, desc); }
  HRESULT CheckInterfaceSupport(REFGUID, LARGE_INTEGER*) override { return DXGI_ERROR_UNSUPPORTED; }
  HRESULT QueryVideoMemoryInfo(UINT node, DXGI_MEMORY_SEGMENT_GROUP group,
                               DXGI_QUERY_VIDEO_MEMORY_INFO* info) override {
    if (node != 0 || info == nullptr || group > DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL) {
      return E_INVALIDARG;
    }
    return com::guarded([&] {
      const bool local = group == DXGI_MEMORY_SEGMENT_GROUP_LOCAL;
      *info = {local ? d3d12::free_bytes(adapter_) : 0, 0, 0, 0};
      return S_OK;
    });
  }
  HRESULT SetVideoMemoryReservation(UINT, DXGI_MEMORY_SEGMENT_GROUP, UINT64) override {
    return missing("IDXGIAdapter3::SetVideoMemoryReservation");
  }
  HRESULT RegisterHardwareContentProtectionTeardownStatusEvent(HANDLE, DWORD*) override {
    return missing("IDXGIAdapter3::RegisterHardwareContentProtectionTeardownStatusEvent");
  }
  void UnregisterHardwareContentProtectionTeardownStatus(DWORD) override {}
  HRESULT RegisterVideoMemoryBudgetChangeNotificationEvent(HANDLE, DWORD*) override {
    return missing("IDXGIAdapter3::RegisterVideoMemoryBudgetChangeNotificationEvent");
  }
  void UnregisterVideoMemoryBudgetChangeNotification(DWORD) override {}

 private:
  const Adapter& adapter_;
  com::Ref<IUnknown> factory_;
};

// What belongs to windows.
class FactoryStubs : public IDXGIFactory6 {
 public:
  HRESULT MakeWindowAssociation(HWND, UINT) override {
    return missing("IDXGIFactory::MakeWindowAssociation");
  }
  HRESULT GetWindowAssociation(HWND*) override {
    return missing("IDXGIFactory::GetWindowAssociation");
  }
  HRESULT CreateSwapChain(IUnknown*, DXGI_SWAP_CHAIN_DESC*, IDXGISwapChain** out) override {
    return missing("IDXGIFactory::CreateSwapChain", reinterpret_cast<void**>(out));
  }
  HRESULT CreateSoftwareAdapter(void*, IDXGIAdapter** out) override {
    return missing("IDXGIFactory::CreateSoftwareAdapter", reinterpret_cast<void**>(out));
  }
  BOOL IsWindowedStereoEnabled() override { return FALSE; }
  HRESULT CreateSwapChainForHwnd(IUnknown*, HWND, const DXGI_SWAP_CHAIN_DESC1*,
                                 const DXGI_SWAP_CHAIN_FULLSCREEN_DESC*, IDXGIOutput*,
                                 IDXGISwapChain1** out) override {
    return missing("IDXGIFactory2::CreateSwapChainForHwnd", reinterpret_cast<void**>(out));
  }
  HRESULT CreateSwapChainForCoreWindow(IUnknown*, IUnknown*, const DXGI_SWAP_CHAIN_DESC1*,
                                       IDXGIOutput*, IDXGISwapChain1** out) override {
    return missing("IDXGIFactory2::CreateSwapChainForCoreWindow", reinterpret_cast<void**>(out));
  }
  HRESULT GetSharedResourceAdapterLuid(HANDLE, LUID*) override {
    return missing("IDXGIFactory2::GetSharedResourceAdapterLuid");
  }
  HRESULT RegisterStereoStatusWindow(HWND, UINT, DWORD*) override {
    return missing("IDXGIFactory2::RegisterStereoStatusWindow");
  }
  HRESULT RegisterStereoStatusEvent(HANDLE, DWORD*) override {
    return missing("IDXGIFactory2::RegisterStereoStatusEvent");
  }
  void UnregisterStereoStatus(DWORD) override {}
  HRESULT RegisterOcclusionStatusWindow(HWND, UINT, DWORD*) override {
    return missing("IDXGIFactory2::RegisterOcclusionStatusWindow");
  }
  HRESULT RegisterOcclusionStatusEvent(HANDLE, DWORD*) override {
    return missing("IDXGIFactory2::RegisterOcclusionStatusEvent");
  }
  void UnregisterOcclusionStatus(DWORD) override {}
  HRESULT CreateSwapChainForComposition(IUnknown*, const DXGI_SWAP_CHAIN_DESC1*, IDXGIOutput*,
                                        IDXGISwapChain1** out) override {
    return missing("IDXGIFactory2::CreateSwapChainForComposition", reinterpret_cast<void**>(out));
  }
  HRESULT EnumWarpAdapter(REFIID, void** out) override {
    if (out != nullptr) {
      *out = nullptr;
    }
    return DXGI_ERROR_NOT_FOUND;  // no software adapter; the host is one of the others
  }
};

class Factory final
    : public Object<Factory, FactoryStubs, IDXGIFactory, IDXGIFactory1, IDXGIFactory2,
                    IDXGIFactory3, IDXGIFactory4, IDXGIFactory5, IDXGIFactory6> {
 public:
  explicit Factory(UINT flags) : flags_(flags) {}
  HRESULT GetParent(REFIID, void** parent) override {
    if (parent != nullptr) {
      *parent = nullptr;
    }
    return E_NOINTERFACE;
  }
  HRESULT EnumAdapters(UINT index, IDXGIAdapter** adapter) override {
    return give(at(index), __uuidof(IDXGIAdapter), reinterpret_cast<void**>(adapter),
                DXGI_ERROR_NOT_FOUND);
  }
  HRESULT EnumAdapters1(UINT index, IDXGIAdapter1** adapter) override {
    return give(at(index), __uuidof(IDXGIAdapter1), reinterpret_cast<void**>(adapter),
                DXGI_ERROR_NOT_FOUND);
  }
  BOOL IsCurrent() override { return TRUE; }
  UINT GetCreationFlags() override { return flags_; }
  HRESULT EnumAdapterByLuid(LUID luid, REFIID iid, void** adapter) override {
    return give(d3d12::adapter_of(luid), iid, adapter, DXGI_ERROR_NOT_FOUND);
  }
  HRESULT CheckFeatureSupport(DXGI_FEATURE feature, void* data, UINT size) override {
    if (feature != DXGI_FEATURE_PRESENT_ALLOW_TEARING || data == nullptr || size != sizeof(BOOL)) {
      return E_INVALIDARG;
    }
    *static_cast<BOOL*>(data) = FALSE;
    return S_OK;
  }
  HRESULT EnumAdapterByGpuPreference(UINT index, DXGI_GPU_PREFERENCE preference, REFIID iid,
                                     void** adapter) override {
    const Adapter* found = at(index);
    if (preference != DXGI_GPU_PREFERENCE_UNSPECIFIED && found != nullptr) {
      const HRESULT result = com::guarded([&] {
        found = d3d12::sorted_adapters(preference == DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE)[index];
        return S_OK;
      });
      if (FAILED(result)) {
        return result;
      }
    }
    return give(found, iid, adapter, DXGI_ERROR_NOT_FOUND);
  }

 private:
  static const Adapter* at(UINT index) {
    const auto& all = d3d12::adapters();
    return index < all.size() ? &all[index] : nullptr;
  }
  HRESULT give(const Adapter* found, REFIID iid, void** adapter, HRESULT if_none) {
    if (adapter == nullptr) {
      return DXGI_ERROR_INVALID_CALL;
    }
    *adapter = nullptr;
    if (found == nullptr) {
      return if_none;
    }
    return com::guarded([&] {
      return com::create_into<DxgiAdapter>(iid, adapter, found, static_cast<IUnknown*>(this));
    });
  }

  UINT flags_;
};

HRESULT create_factory(UINT flags, REFIID iid, void** factory) {
  if (factory == nullptr || flags > DXGI_CREATE_FACTORY_DEBUG) {
    return DXGI_ERROR_INVALID_CALL;
  }
  return com::guarded([&] { return com::create_into<Factory>(iid, factory, flags); });
}

}  // namespace
}  // namespace sheaf::dxgi

SHEAF_EXPORT HRESULT CreateDXGIFactory(REFIID iid, void** factory) {
  return sheaf::dxgi::create_factory(0, iid, factory);
}

SHEAF_EXPORT HRESULT CreateDXGIFactory1(REFIID iid, void** factory) {
  return sheaf::dxgi::create_factory(0, iid, factory);
}

SHEAF_EXPORT HRESULT CreateDXGIFactory2(UINT flags, REFIID iid, void** factory) {
  return sheaf::dxgi::create_factory(flags, iid, factory);
}
