// SPDX-License-Identifier: MIT
#include "adapters.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "dxcore.h"
#include "dxgi1_6.h"
#include "sheaf/queue.h"

namespace sheaf::d3d12 {
namespace {

// So that an adapter of another library is not taken for one of these.
constexpr LONG kLuidMark = 0x53484546;

// PCI's numbers of those who make devices, by a word of their names.
struct Vendor {
  std::string_view word;
  UINT number;
};
constexpr Vendor kVendors[] = {{"NVIDIA", 0x10DE}, {"AMD", 0x1002},  {"Radeon", 0x1002},
                               {"Intel", 0x8086},  {"Mali", 0x13B5}, {"Adreno", 0x5143}};

UINT vendor_of(const std::string& name) {
  for (const Vendor& vendor : kVendors) {
    if (name.find(vendor.word) != std::string::npos) {
      return vendor.number;
    }
  }
  return 0;
}

// What SHEAF_D3D12_DEVICE names, if it is there; otherwise the host.
std::string first_device() {
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
  return "";
}

UINT64 pages(int kind) {
  const long count = sysconf(kind), size = sysconf(_SC_PAGESIZE);
  return count <= 0 || size <= 0 ? 0 : static_cast<UINT64>(count) * static_cast<UINT64>(size);
}

Adapter describe(const std::string& device, ULONG number) {
  Adapter made{device, "Sheaf on the host", pages(_SC_PHYS_PAGES), 0, {number, kLuidMark}};
  if (!device.empty()) {
    made.name = device_description(device);
    made.memory_bytes = free_device_bytes(device);
    made.vendor = vendor_of(made.name);
  }
  return made;
}

std::vector<Adapter> list_adapters() {
  const std::string first = first_device();
  std::vector<std::string> devices = {first};
  for (const std::string& device : device_names()) {
    if (device != first && device_available(device)) {
      devices.push_back(device);
    }
  }
  if (!first.empty()) {
    devices.emplace_back();
  }
  std::vector<Adapter> made;
  made.reserve(devices.size());
  for (const std::string& device : devices) {
    made.push_back(describe(device, static_cast<ULONG>(made.size() + 1)));
  }
  return made;
}

// Releases what QueryInterface gave.
template <class Interface>
com::Ref<Interface> query(IUnknown* object) {
  Interface* found = nullptr;
  if (FAILED(object->QueryInterface(__uuidof(Interface), reinterpret_cast<void**>(&found)))) {
    return {};
  }
  com::Ref<Interface> kept(found);
  found->Release();
  return kept;
}

}  // namespace

const std::vector<Adapter>& adapters() {
  static const std::vector<Adapter>& all = *new std::vector<Adapter>(list_adapters());
  return all;
}

const Adapter* adapter_of(const LUID& luid) {
  for (const Adapter& adapter : adapters()) {
    if (adapter.luid.LowPart == luid.LowPart && adapter.luid.HighPart == luid.HighPart) {
      return &adapter;
    }
  }
  return nullptr;
}

const Adapter* adapter_of(IUnknown* object) {
  if (object == nullptr) {
    return &adapters().front();
  }
  LUID luid{};
  if (const auto core = query<IDXCoreAdapter>(object)) {
    const HRESULT result =
        core->GetProperty(DXCoreAdapterProperty::InstanceLuid, sizeof luid, &luid);
    return FAILED(result) ? nullptr : adapter_of(luid);
  }
  if (const auto dxgi = query<IDXGIAdapter>(object)) {
    DXGI_ADAPTER_DESC desc{};
    return FAILED(dxgi->GetDesc(&desc)) ? nullptr : adapter_of(desc.AdapterLuid);
  }
  return nullptr;
}

std::vector<const Adapter*> sorted_adapters(bool fast) {
  std::vector<const Adapter*> sorted;
  for (const Adapter& adapter : adapters()) {
    sorted.push_back(&adapter);
  }
  std::stable_partition(sorted.begin(), sorted.end(),
                        [fast](const Adapter* adapter) { return adapter->on_host() != fast; });
  return sorted;
}

UINT64 free_bytes(const Adapter& adapter) {
  return adapter.on_host() ? pages(_SC_AVPHYS_PAGES) : free_device_bytes(adapter.device);
}

}  // namespace sheaf::d3d12
