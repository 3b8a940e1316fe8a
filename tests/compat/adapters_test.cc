// SPDX-License-Identifier: MIT
//
// The list of adapters, behind DXCore and behind DXGI: it is one list, and D3D12CreateDevice takes
// what is in it.
#include <dxcore.h>
#include <dxgi1_6.h>

#include <cwchar>

#include "compat/machine.h"

using namespace compat;

namespace {

constexpr GUID kGraphics = {
    0x0c9ece4d, 0x2f6e, 0x4f01, {0x8c, 0x96, 0xe8, 0x9e, 0x33, 0x1b, 0x47, 0xb1}};
constexpr GUID kCompute = {
    0x248e2800, 0xa793, 0x4724, {0xab, 0xaa, 0x23, 0xa6, 0xde, 0x1b, 0xe0, 0x90}};

ComPtr<IDXCoreAdapterFactory> core_factory() {
  ComPtr<IDXCoreAdapterFactory> factory;
  COMPAT_CHECK(DXCoreCreateAdapterFactory(__uuidof(IDXCoreAdapterFactory),
                                          reinterpret_cast<void**>(factory.GetAddressOf())));
  return factory;
}

ComPtr<IDXCoreAdapterList> core_list(const GUID& attribute) {
  ComPtr<IDXCoreAdapterList> list;
  COMPAT_CHECK(core_factory()->CreateAdapterList(1, &attribute, __uuidof(IDXCoreAdapterList),
                                                 reinterpret_cast<void**>(list.GetAddressOf())));
  return list;
}

ComPtr<IDXCoreAdapter> core_adapter(IDXCoreAdapterList& list, uint32_t index) {
  ComPtr<IDXCoreAdapter> adapter;
  COMPAT_CHECK(list.GetAdapter(index, __uuidof(IDXCoreAdapter),
                               reinterpret_cast<void**>(adapter.GetAddressOf())));
  return adapter;
}

ComPtr<IDXGIFactory6> dxgi_factory() {
  ComPtr<IDXGIFactory6> factory;
  COMPAT_CHECK(CreateDXGIFactory2(0, __uuidof(IDXGIFactory6),
                                  reinterpret_cast<void**>(factory.GetAddressOf())));
  return factory;
}

template <class T>
T property(IDXCoreAdapter& adapter, DXCoreAdapterProperty which) {
  size_t bytes = 0;
  EXPECT_TRUE(adapter.IsPropertySupported(which));
  EXPECT_EQ(adapter.GetPropertySize(which, &bytes), S_OK);
  EXPECT_EQ(bytes, sizeof(T));
  T value{};
  EXPECT_EQ(adapter.GetProperty(which, sizeof value, &value), S_OK);
  return value;
}

bool same(const LUID& a, const LUID& b) {
  return a.LowPart == b.LowPart && a.HighPart == b.HighPart;
}

TEST(Adapters, CoreRefusals) {
  const auto factory = core_factory();
  void* made = this;
  EXPECT_EQ(DXCoreCreateAdapterFactory(__uuidof(IDXCoreAdapterFactory), nullptr), E_POINTER);
  EXPECT_EQ(DXCoreCreateAdapterFactory(__uuidof(ID3D12Device), &made), E_NOINTERFACE);
  EXPECT_EQ(made, nullptr);
  const GUID list_iid = __uuidof(IDXCoreAdapterList);
  EXPECT_EQ(factory->CreateAdapterList(0, &kCompute, list_iid, &made), E_INVALIDARG);
  EXPECT_EQ(factory->CreateAdapterList(1, nullptr, list_iid, &made), E_INVALIDARG);
  EXPECT_EQ(factory->CreateAdapterList(1, &kCompute, list_iid, nullptr), E_POINTER);
  EXPECT_EQ(factory->GetAdapterByLuid(LUID{7, 7}, __uuidof(IDXCoreAdapter), &made), E_INVALIDARG);
  EXPECT_EQ(factory->RegisterEventNotification(nullptr, DXCoreNotificationType::AdapterListStale,
                                               nullptr, nullptr, nullptr),
            DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(factory->UnregisterEventNotification(1), E_INVALIDARG);
  EXPECT_FALSE(factory->IsNotificationTypeSupported(DXCoreNotificationType::AdapterListStale));
  EXPECT_EQ(core_list(kGraphics)->GetAdapterCount(), 0u) << "nothing draws here";

  const auto list = core_list(kCompute);
  EXPECT_EQ(list->GetAdapter(list->GetAdapterCount(), __uuidof(IDXCoreAdapter), &made),
            E_INVALIDARG);
  EXPECT_EQ(list->GetAdapter(0, __uuidof(IDXCoreAdapter), nullptr), E_POINTER);
  const auto unknown = static_cast<DXCoreAdapterPreference>(3);
  EXPECT_EQ(list->Sort(1, &unknown), E_INVALIDARG);
  EXPECT_EQ(list->Sort(0, nullptr), E_INVALIDARG);

  const auto adapter = core_adapter(*list.Get(), 0);
  size_t bytes = 0;
  const auto missing = static_cast<DXCoreAdapterProperty>(99);
  EXPECT_FALSE(adapter->IsPropertySupported(missing));
  EXPECT_EQ(adapter->GetPropertySize(missing, &bytes), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(adapter->GetPropertySize(DXCoreAdapterProperty::IsHardware, nullptr), E_POINTER);
  uint64_t room = 0;
  EXPECT_EQ(adapter->GetProperty(missing, sizeof room, &room), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(adapter->GetProperty(DXCoreAdapterProperty::DriverVersion, 7, &room), E_INVALIDARG);
  EXPECT_EQ(adapter->GetProperty(DXCoreAdapterProperty::DriverVersion, 8, nullptr), E_INVALIDARG);
  EXPECT_EQ(adapter->SetState(DXCoreAdapterState::AdapterMemoryBudget, 0, nullptr, 0, nullptr),
            DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(adapter->QueryState(DXCoreAdapterState::IsDriverUpdateInProgress, 0, nullptr, 8, &room),
            DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(adapter->QueryState(DXCoreAdapterState::AdapterMemoryBudget, 0, nullptr, 8, &room),
            E_INVALIDARG);
}

TEST(Adapters, CoreProperties) {
  const auto list = core_list(kCompute);
  ASSERT_GE(list->GetAdapterCount(), 1u);
  EXPECT_FALSE(list->IsStale());
  for (uint32_t i = 0; i < list->GetAdapterCount(); ++i) {
    const auto adapter = core_adapter(*list.Get(), i);
    EXPECT_TRUE(adapter->IsValid());
    EXPECT_TRUE(adapter->IsAttributeSupported(kCompute));
    EXPECT_TRUE(adapter->IsAttributeSupported(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML));
    EXPECT_FALSE(adapter->IsAttributeSupported(kGraphics));
    EXPECT_TRUE(property<bool>(*adapter.Get(), DXCoreAdapterProperty::IsHardware));
    EXPECT_FALSE(property<bool>(*adapter.Get(), DXCoreAdapterProperty::IsDetachable));
    const auto memory =
        property<uint64_t>(*adapter.Get(), DXCoreAdapterProperty::DedicatedAdapterMemory) +
        property<uint64_t>(*adapter.Get(), DXCoreAdapterProperty::SharedSystemMemory);
    EXPECT_GT(memory, 0u);
    const DXCoreAdapterMemoryBudgetNodeSegmentGroup group{0, DXCoreSegmentGroup::Local};
    DXCoreAdapterMemoryBudget budget{};
    EXPECT_EQ(adapter->QueryState(DXCoreAdapterState::AdapterMemoryBudget, sizeof group, &group,
                                  sizeof budget, &budget),
              S_OK);
    EXPECT_GT(budget.budget, 0u);
    size_t bytes = 0;
    COMPAT_CHECK(adapter->GetPropertySize(DXCoreAdapterProperty::DriverDescription, &bytes));
    std::string name(bytes, 'x');
    COMPAT_CHECK(
        adapter->GetProperty(DXCoreAdapterProperty::DriverDescription, bytes, name.data()));
    EXPECT_EQ(name.find('\0'), bytes - 1);
    EXPECT_GT(bytes, 1u);
  }
}

TEST(Adapters, OneListInBoth) {
  const auto list = core_list(kCompute);
  const auto factory = dxgi_factory();
  for (uint32_t i = 0; i < list->GetAdapterCount(); ++i) {
    const auto core = core_adapter(*list.Get(), i);
    const auto luid = property<LUID>(*core.Get(), DXCoreAdapterProperty::InstanceLuid);
    ComPtr<IDXGIAdapter1> dxgi;
    COMPAT_CHECK(factory->EnumAdapters1(i, dxgi.GetAddressOf()));
    DXGI_ADAPTER_DESC1 desc{};
    COMPAT_CHECK(dxgi->GetDesc1(&desc));
    EXPECT_TRUE(same(desc.AdapterLuid, luid));
    EXPECT_EQ(desc.Flags, 0u);
    EXPECT_GT(desc.DedicatedVideoMemory + desc.SharedSystemMemory, 0u);
    EXPECT_GT(std::wcslen(desc.Description), 0u);
    ComPtr<IDXCoreAdapter> again;
    COMPAT_CHECK(core_factory()->GetAdapterByLuid(luid, __uuidof(IDXCoreAdapter),
                                                  reinterpret_cast<void**>(again.GetAddressOf())));

    for (IUnknown* adapter :
         {static_cast<IUnknown*>(core.Get()), static_cast<IUnknown*>(dxgi.Get())}) {
      Machine machine(adapter);
      EXPECT_TRUE(same(machine.d3d12->GetAdapterLuid(), luid));
      const auto buffer = machine.upload(bytes_of<float>({1, 2, 3, 4}));
      EXPECT_EQ(values_of<float>(machine.download(buffer.Get()), 4),
                (std::vector<float>{1, 2, 3, 4}));
    }
  }
}

TEST(Adapters, NullIsTheFirst) {
  Machine machine;
  const auto first = core_adapter(*core_list(kCompute).Get(), 0);
  EXPECT_TRUE(same(machine.d3d12->GetAdapterLuid(),
                   property<LUID>(*first.Get(), DXCoreAdapterProperty::InstanceLuid)));
}

TEST(Adapters, SortedByPreference) {
  const auto list = core_list(kCompute);
  const DXCoreAdapterPreference fast[] = {DXCoreAdapterPreference::Hardware,
                                          DXCoreAdapterPreference::HighPerformance};
  COMPAT_CHECK(list->Sort(2, fast));
  const uint32_t count = list->GetAdapterCount();
  for (uint32_t i = 0; i < count; ++i) {  // the host is the one that is integrated
    EXPECT_EQ(
        property<bool>(*core_adapter(*list.Get(), i).Get(), DXCoreAdapterProperty::IsIntegrated),
        i + 1 == count);
  }
  const DXCoreAdapterPreference slow = DXCoreAdapterPreference::MinimumPower;
  COMPAT_CHECK(list->Sort(1, &slow));
  EXPECT_TRUE(
      property<bool>(*core_adapter(*list.Get(), 0).Get(), DXCoreAdapterProperty::IsIntegrated));

  const auto factory = dxgi_factory();
  for (const auto preference :
       {DXGI_GPU_PREFERENCE_MINIMUM_POWER, DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE}) {
    ComPtr<IDXGIAdapter4> adapter;
    COMPAT_CHECK(factory->EnumAdapterByGpuPreference(
        0, preference, __uuidof(IDXGIAdapter4), reinterpret_cast<void**>(adapter.GetAddressOf())));
    DXGI_ADAPTER_DESC3 desc{};
    COMPAT_CHECK(adapter->GetDesc3(&desc));
    const bool host = desc.SharedSystemMemory != 0;
    EXPECT_EQ(host, preference == DXGI_GPU_PREFERENCE_MINIMUM_POWER || count == 1);
  }
}

TEST(Adapters, DxgiRefusals) {
  const Messages messages;
  const auto factory = dxgi_factory();
  void* made = this;
  EXPECT_EQ(CreateDXGIFactory(__uuidof(IDXGIFactory), nullptr), DXGI_ERROR_INVALID_CALL);
  EXPECT_EQ(CreateDXGIFactory1(__uuidof(ID3D12Device), &made), E_NOINTERFACE);
  EXPECT_EQ(CreateDXGIFactory2(2, __uuidof(IDXGIFactory2), &made), DXGI_ERROR_INVALID_CALL);
  IDXGIAdapter* none = nullptr;
  IDXGIAdapter1* none1 = nullptr;
  EXPECT_EQ(factory->EnumAdapters(99, &none), DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(factory->EnumAdapters1(99, &none1), DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(factory->EnumAdapters(0, nullptr), DXGI_ERROR_INVALID_CALL);
  const GUID iid = __uuidof(IDXGIAdapter);
  EXPECT_EQ(factory->EnumAdapterByLuid(LUID{7, 7}, iid, &made), DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(
      factory->EnumAdapterByGpuPreference(99, DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE, iid, &made),
      DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(factory->EnumWarpAdapter(iid, &made), DXGI_ERROR_NOT_FOUND);
  EXPECT_EQ(factory->CreateSwapChainForComposition(nullptr, nullptr, nullptr, nullptr), E_NOTIMPL);
  EXPECT_EQ(factory->CreateSwapChain(nullptr, nullptr, nullptr), E_NOTIMPL);
  EXPECT_EQ(factory->MakeWindowAssociation({}, 0), E_NOTIMPL);
  EXPECT_EQ(factory->CheckFeatureSupport(DXGI_FEATURE_PRESENT_ALLOW_TEARING, nullptr, 4),
            E_INVALIDARG);
  EXPECT_EQ(factory->GetCreationFlags(), 0u);
  EXPECT_EQ(factory->IsCurrent(), TRUE);

  ComPtr<IDXGIAdapter3> adapter;
  COMPAT_CHECK(factory->EnumAdapterByGpuPreference(
      0, DXGI_GPU_PREFERENCE_UNSPECIFIED, __uuidof(IDXGIAdapter3),
      reinterpret_cast<void**>(adapter.GetAddressOf())));
  DXGI_QUERY_VIDEO_MEMORY_INFO info{};
  EXPECT_EQ(adapter->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &info), S_OK);
  EXPECT_GT(info.Budget, 0u);
  EXPECT_EQ(adapter->QueryVideoMemoryInfo(1, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &info), E_INVALIDARG);
  EXPECT_EQ(adapter->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, nullptr),
            E_INVALIDARG);
  EXPECT_EQ(adapter->SetVideoMemoryReservation(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, 1), E_NOTIMPL);
  EXPECT_EQ(adapter->GetDesc(nullptr), E_INVALIDARG);
  EXPECT_EQ(adapter->EnumOutputs(0, nullptr), DXGI_ERROR_NOT_FOUND);
  ComPtr<IDXGIFactory> parent;
  EXPECT_EQ(
      adapter->GetParent(__uuidof(IDXGIFactory), reinterpret_cast<void**>(parent.GetAddressOf())),
      S_OK);
  EXPECT_EQ(parent.Get(), factory.Get());
}

TEST(Adapters, WhatIsNoneIsRefused) {
  Machine machine;
  Messages messages;
  ComPtr<ID3D12Device> device;
  EXPECT_EQ(D3D12CreateDevice(machine.queue.Get(), D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device)),
            E_INVALIDARG);
  EXPECT_EQ(messages.take(),
            "D3D12CreateDevice: not an adapter\n"
            "  it is none of this machine's\n"
            "  no device was created\n"
            "  try: an adapter of DXCore or DXGI, or null");
}

// A buffer of one device is copied by a list of another, through the host where it has to be.
TEST(Adapters, CopiesBetweenDevices) {
  const auto factory = dxgi_factory();
  std::vector<std::unique_ptr<Machine>> machines;
  ComPtr<IDXGIAdapter1> adapter;
  for (UINT i = 0; factory->EnumAdapters1(i, adapter.ReleaseAndGetAddressOf()) == S_OK; ++i) {
    machines.push_back(std::make_unique<Machine>(adapter.Get()));
  }
  for (const auto& from : machines) {
    const auto source = from->upload(bytes_of<float>({5, 6}));
    from->execute();
    for (const auto& to : machines) {
      const auto target = to->buffer(8);
      to->list->CopyResource(target.Get(), source.Get());
      EXPECT_EQ(values_of<float>(to->download(target.Get()), 2), (std::vector<float>{5, 6}));
    }
  }
}

}  // namespace
