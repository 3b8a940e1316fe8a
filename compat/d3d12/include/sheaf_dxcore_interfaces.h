// SPDX-License-Identifier: MIT
//
// The types and interfaces of DXCore. Include dxcore.h.
#pragma once

#include "sheaf_com.h"

enum class DXCoreAdapterProperty : uint32_t {
  InstanceLuid = 0,
  DriverVersion = 1,
  DriverDescription = 2,
  HardwareID = 3,
  KmdModelVersion = 4,
  ComputePreemptionGranularity = 5,
  GraphicsPreemptionGranularity = 6,
  DedicatedAdapterMemory = 7,
  DedicatedSystemMemory = 8,
  SharedSystemMemory = 9,
  AcgCompatible = 10,
  IsHardware = 11,
  IsIntegrated = 12,
  IsDetachable = 13,
  HardwareIDParts = 14,
};

enum class DXCoreAdapterState : uint32_t {
  IsDriverUpdateInProgress = 0,
  AdapterMemoryBudget = 1,
};

enum class DXCoreSegmentGroup : uint32_t { Local = 0, NonLocal = 1 };

enum class DXCoreNotificationType : uint32_t {
  AdapterListStale = 0,
  AdapterNoLongerValid = 1,
  AdapterBudgetChange = 2,
  AdapterHardwareContentProtectionTeardown = 3,
};

enum class DXCoreAdapterPreference : uint32_t {
  Hardware = 0,
  MinimumPower = 1,
  HighPerformance = 2,
};

struct DXCoreHardwareID {
  uint32_t vendorID;
  uint32_t deviceID;
  uint32_t subSysID;
  uint32_t revision;
};

struct DXCoreHardwareIDParts {
  uint32_t vendorID;
  uint32_t deviceID;
  uint32_t subSystemID;
  uint32_t subVendorID;
  uint32_t revisionID;
};

struct DXCoreAdapterMemoryBudgetNodeSegmentGroup {
  uint32_t nodeIndex;
  DXCoreSegmentGroup segmentGroup;
};

struct DXCoreAdapterMemoryBudget {
  uint64_t budget;
  uint64_t currentUsage;
  uint64_t availableForReservation;
  uint64_t currentReservation;
};

using PFN_DXCORE_NOTIFICATION_CALLBACK = void (*)(DXCoreNotificationType type, IUnknown* object,
                                                  void* context);

inline constexpr GUID DXCORE_ADAPTER_ATTRIBUTE_D3D11_GRAPHICS = {
    0x8c47866b, 0x7583, 0x450d, {0xf0, 0xf0, 0x6b, 0xad, 0xa8, 0x95, 0xaf, 0x4b}};
inline constexpr GUID DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS = {
    0x0c9ece4d, 0x2f6e, 0x4f01, {0x8c, 0x96, 0xe8, 0x9e, 0x33, 0x1b, 0x47, 0xb1}};
inline constexpr GUID DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE = {
    0x248e2800, 0xa793, 0x4724, {0xab, 0xaa, 0x23, 0xa6, 0xde, 0x1b, 0xe0, 0x90}};

struct IDXCoreAdapter : IUnknown {
  virtual bool IsValid() = 0;
  virtual bool IsAttributeSupported(REFGUID attribute) = 0;
  virtual bool IsPropertySupported(DXCoreAdapterProperty property) = 0;
  virtual HRESULT GetProperty(DXCoreAdapterProperty property, size_t bytes, void* data) = 0;
  virtual HRESULT GetPropertySize(DXCoreAdapterProperty property, size_t* bytes) = 0;
  virtual bool IsQueryStateSupported(DXCoreAdapterState state) = 0;
  virtual HRESULT QueryState(DXCoreAdapterState state, size_t details_bytes, const void* details,
                             size_t output_bytes, void* output) = 0;
  virtual bool IsSetStateSupported(DXCoreAdapterState state) = 0;
  virtual HRESULT SetState(DXCoreAdapterState state, size_t details_bytes, const void* details,
                           size_t input_bytes, const void* input) = 0;
  virtual HRESULT GetFactory(REFIID iid, void** factory) = 0;

  template <class T>
  HRESULT GetProperty(DXCoreAdapterProperty property, T* data) {
    return GetProperty(property, sizeof(T), static_cast<void*>(data));
  }
  template <class Details, class Output>
  HRESULT QueryState(DXCoreAdapterState state, const Details* details, Output* output) {
    return QueryState(state, sizeof(Details), details, sizeof(Output), output);
  }
  template <class Output>
  HRESULT QueryState(DXCoreAdapterState state, Output* output) {
    return QueryState(state, 0, nullptr, sizeof(Output), output);
  }
  template <class T>
  HRESULT GetFactory(T** factory) {
    return GetFactory(IID_PPV_ARGS(factory));
  }
};
SHEAF_DECLARE_IID(IDXCoreAdapter, 0xf0db4c7f, 0xfe5a, 0x42a2, 0xbd, 0x62, 0xf2, 0xa6, 0xcf, 0x6f,
                  0xc8, 0x3e)

struct IDXCoreAdapterList : IUnknown {
  virtual HRESULT GetAdapter(uint32_t index, REFIID iid, void** adapter) = 0;
  virtual uint32_t GetAdapterCount() = 0;
  virtual bool IsStale() = 0;
  virtual HRESULT GetFactory(REFIID iid, void** factory) = 0;
  virtual HRESULT Sort(uint32_t count, const DXCoreAdapterPreference* preferences) = 0;
  virtual bool IsAdapterPreferenceSupported(DXCoreAdapterPreference preference) = 0;

  template <class T>
  HRESULT GetAdapter(uint32_t index, T** adapter) {
    return GetAdapter(index, IID_PPV_ARGS(adapter));
  }
  template <class T>
  HRESULT GetFactory(T** factory) {
    return GetFactory(IID_PPV_ARGS(factory));
  }
};
SHEAF_DECLARE_IID(IDXCoreAdapterList, 0x526c7776, 0x40e9, 0x459b, 0xb7, 0x11, 0xf3, 0x2a, 0xd7,
                  0x6d, 0xfc, 0x28)

struct IDXCoreAdapterFactory : IUnknown {
  virtual HRESULT CreateAdapterList(uint32_t count, const GUID* attributes, REFIID iid,
                                    void** list) = 0;
  virtual HRESULT GetAdapterByLuid(const LUID& luid, REFIID iid, void** adapter) = 0;
  virtual bool IsNotificationTypeSupported(DXCoreNotificationType type) = 0;
  virtual HRESULT RegisterEventNotification(IUnknown* object, DXCoreNotificationType type,
                                            PFN_DXCORE_NOTIFICATION_CALLBACK callback,
                                            void* context, uint32_t* cookie) = 0;
  virtual HRESULT UnregisterEventNotification(uint32_t cookie) = 0;

  template <class T>
  HRESULT CreateAdapterList(uint32_t count, const GUID* attributes, T** list) {
    return CreateAdapterList(count, attributes, IID_PPV_ARGS(list));
  }
  template <class T>
  HRESULT GetAdapterByLuid(const LUID& luid, T** adapter) {
    return GetAdapterByLuid(luid, IID_PPV_ARGS(adapter));
  }
};
SHEAF_DECLARE_IID(IDXCoreAdapterFactory, 0x78ee5945, 0xc36e, 0x4b13, 0xa6, 0x69, 0x00, 0x5d, 0xd1,
                  0x1c, 0x0f, 0x06)

extern "C" HRESULT DXCoreCreateAdapterFactory(REFIID iid, void** factory);

template <class T>
HRESULT DXCoreCreateAdapterFactory(T** factory) {
  return DXCoreCreateAdapterFactory(IID_PPV_ARGS(factory));
}
