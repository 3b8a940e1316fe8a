// SPDX-License-Identifier: MIT
//
// libdxcore: the adapters of adapters.h behind DXCore's interfaces.
#include "dxcore.h"

#include <algorithm>
#include <cstring>

#include "adapters.h"

namespace sheaf::dxcore {
namespace {

using d3d12::Adapter;

HRESULT create_factory(REFIID iid, void** factory);

bool has_attribute(REFGUID attribute) {
  return attribute == DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE ||
         attribute == DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML;
}

// What a property is, as bytes; empty if there is no such property.
std::vector<std::byte> property_of(const Adapter& adapter, DXCoreAdapterProperty property) {
  const auto bytes_of = [](const auto& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    return std::vector<std::byte>(first, first + sizeof value);
  };
  switch (property) {
    case DXCoreAdapterProperty::InstanceLuid: return bytes_of(adapter.luid);
    case DXCoreAdapterProperty::DriverVersion: return bytes_of(uint64_t{1} << 48);  // 1.0.0.0
    case DXCoreAdapterProperty::DriverDescription: {
      const auto* first = reinterpret_cast<const std::byte*>(adapter.name.c_str());
      return {first, first + adapter.name.size() + 1};
    }
    case DXCoreAdapterProperty::HardwareID:
      return bytes_of(DXCoreHardwareID{adapter.vendor, 0, 0, 0});
    case DXCoreAdapterProperty::HardwareIDParts:
      return bytes_of(DXCoreHardwareIDParts{adapter.vendor, 0, 0, 0, 0});
    case DXCoreAdapterProperty::DedicatedAdapterMemory:
      return bytes_of(adapter.on_host() ? uint64_t{0} : uint64_t{adapter.memory_bytes});
    case DXCoreAdapterProperty::DedicatedSystemMemory: return bytes_of(uint64_t{0});
    case DXCoreAdapterProperty::SharedSystemMemory:
      return bytes_of(adapter.on_host() ? uint64_t{adapter.memory_bytes} : uint64_t{0});
    case DXCoreAdapterProperty::IsHardware:  // the host too: programs leave software adapters out
      return bytes_of(true);
    case DXCoreAdapterProperty::IsIntegrated: return bytes_of(adapter.on_host());
    case DXCoreAdapterProperty::IsDetachable:
    case DXCoreAdapterProperty::AcgCompatible: return bytes_of(false);
    default: return {};
  }
}

class CoreAdapter final : public com::Counted<CoreAdapter, IDXCoreAdapter, IDXCoreAdapter> {
 public:
  explicit CoreAdapter(const Adapter* adapter) : adapter_(*adapter) {}
  bool IsValid() override { return true; }
  bool IsAttributeSupported(REFGUID attribute) override { return has_attribute(attribute); }
  bool IsPropertySupported(DXCoreAdapterProperty property) override {
    size_t bytes = 0;
    return SUCCEEDED(GetPropertySize(property, &bytes));
  }
  using IDXCoreAdapter::GetProperty;
  HRESULT GetProperty(DXCoreAdapterProperty property, size_t bytes, void* data) override {
    return com::guarded([&] {
      const std::vector<std::byte> value = property_of(adapter_, property);
      if (value.empty()) {
        return DXGI_ERROR_INVALID_CALL;
      }
      if (data == nullptr || bytes < value.size()) {
        return E_INVALIDARG;
      }
      std::memcpy(data, value.data(), value.size());
      return S_OK;
    });
  }
  HRESULT GetPropertySize(DXCoreAdapterProperty property, size_t* bytes) override {
    if (bytes == nullptr) {
      return E_POINTER;
    }
    return com::guarded([&] {
      *bytes = property_of(adapter_, property).size();
      return *bytes == 0 ? DXGI_ERROR_INVALID_CALL : S_OK;
    });
  }
  bool IsQueryStateSupported(DXCoreAdapterState state) override {
    return state == DXCoreAdapterState::AdapterMemoryBudget;
  }
  using IDXCoreAdapter::QueryState;
  HRESULT QueryState(DXCoreAdapterState state, size_t details_bytes, const void* details,
                     size_t output_bytes, void* output) override {
    if (!IsQueryStateSupported(state)) {
      return DXGI_ERROR_INVALID_CALL;
    }
    DXCoreAdapterMemoryBudgetNodeSegmentGroup group{};
    if (details == nullptr || details_bytes != sizeof group || output == nullptr ||
        output_bytes != sizeof(DXCoreAdapterMemoryBudget)) {
      return E_INVALIDARG;
    }
    std::memcpy(&group, details, sizeof group);
    if (group.nodeIndex != 0) {
      return E_INVALIDARG;
    }
    return com::guarded([&] {
      const bool local = group.segmentGroup == DXCoreSegmentGroup::Local;
      const DXCoreAdapterMemoryBudget budget{local ? d3d12::free_bytes(adapter_) : 0, 0, 0, 0};
      std::memcpy(output, &budget, sizeof budget);
      return S_OK;
    });
  }
  bool IsSetStateSupported(DXCoreAdapterState) override { return false; }
  HRESULT SetState(DXCoreAdapterState, size_t, const void*, size_t, const void*) override {
    return DXGI_ERROR_INVALID_CALL;
  }
  using IDXCoreAdapter::GetFactory;
  HRESULT GetFactory(REFIID iid, void** factory) override { return create_factory(iid, factory); }

 private:
  const Adapter& adapter_;
};

class AdapterList final : public com::Counted<AdapterList, IDXCoreAdapterList, IDXCoreAdapterList> {
 public:
  explicit AdapterList(std::vector<const Adapter*> adapters) : adapters_(std::move(adapters)) {}
  using IDXCoreAdapterList::GetAdapter;
  HRESULT GetAdapter(uint32_t index, REFIID iid, void** adapter) override {
    if (adapter == nullptr) {
      return E_POINTER;
    }
    *adapter = nullptr;
    if (index >= adapters_.size()) {
      return E_INVALIDARG;
    }
    return com::guarded(
        [&] { return com::create_into<CoreAdapter>(iid, adapter, adapters_[index]); });
  }
  uint32_t GetAdapterCount() override { return static_cast<uint32_t>(adapters_.size()); }
  bool IsStale() override { return false; }
  using IDXCoreAdapterList::GetFactory;
  HRESULT GetFactory(REFIID iid, void** factory) override { return create_factory(iid, factory); }
  // By the last preference first, as the sorts are stable.
  HRESULT Sort(uint32_t count, const DXCoreAdapterPreference* preferences) override {
    if (count == 0 || preferences == nullptr) {
      return E_INVALIDARG;
    }
    for (uint32_t i = 0; i < count; ++i) {
      if (!IsAdapterPreferenceSupported(preferences[i])) {
        return E_INVALIDARG;
      }
    }
    for (uint32_t i = count; i-- > 0;) {
      if (preferences[i] != DXCoreAdapterPreference::Hardware) {  // which all of them are
        const bool fast = preferences[i] == DXCoreAdapterPreference::HighPerformance;
        std::stable_partition(adapters_.begin(), adapters_.end(), [fast](const Adapter* adapter) {
          return adapter->on_host() != fast;
        });
      }
    }
    return S_OK;
  }
  bool IsAdapterPreferenceSupported(DXCoreAdapterPreference preference) override {
    return preference <= DXCoreAdapterPreference::HighPerformance;
  }

 private:
  std::vector<const Adapter*> adapters_;
};

class Factory final : public com::Counted<Factory, IDXCoreAdapterFactory, IDXCoreAdapterFactory> {
 public:
  using IDXCoreAdapterFactory::CreateAdapterList;
  HRESULT CreateAdapterList(uint32_t count, const GUID* attributes, REFIID iid,
                            void** list) override {
    if (list == nullptr) {
      return E_POINTER;
    }
    *list = nullptr;
    if (count == 0 || attributes == nullptr) {
      return E_INVALIDARG;
    }
    return com::guarded([&] {
      std::vector<const Adapter*> found;
      if (std::all_of(attributes, attributes + count, has_attribute)) {
        for (const Adapter& adapter : d3d12::adapters()) {
          found.push_back(&adapter);
        }
      }
      return com::create_into<AdapterList>(iid, list, std::move(found));
    });
  }
  using IDXCoreAdapterFactory::GetAdapterByLuid;
  HRESULT GetAdapterByLuid(const LUID& luid, REFIID iid, void** adapter) override {
    if (adapter == nullptr) {
      return E_POINTER;
    }
    *adapter = nullptr;
    return com::guarded([&] {
      const Adapter* found = d3d12::adapter_of(luid);
      return found == nullptr ? E_INVALIDARG : com::create_into<CoreAdapter>(iid, adapter, found);
    });
  }
  // The list never changes, so nothing is ever notified.
  bool IsNotificationTypeSupported(DXCoreNotificationType) override { return false; }
  HRESULT RegisterEventNotification(IUnknown*, DXCoreNotificationType,
                                    PFN_DXCORE_NOTIFICATION_CALLBACK, void*, uint32_t*) override {
    return DXGI_ERROR_INVALID_CALL;
  }
  HRESULT UnregisterEventNotification(uint32_t) override { return E_INVALIDARG; }
};

HRESULT create_factory(REFIID iid, void** factory) {
  if (factory == nullptr) {
    return E_POINTER;
  }
  return com::guarded([&] { return com::create_into<Factory>(iid, factory); });
}

}  // namespace
}  // namespace sheaf::dxcore

SHEAF_EXPORT HRESULT DXCoreCreateAdapterFactory(REFIID iid, void** factory) {
  return sheaf::dxcore::create_factory(iid, factory);
}
