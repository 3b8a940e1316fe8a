// SPDX-License-Identifier: MIT
//
// DXGI's factories and adapters; windows and swap chains are not there. The DirectX headers for
// Linux have no DXGI, so these are used beside them too. The library is libdxgi.
#pragma once

#include "d3d12.h"

struct IDXGIOutput;
struct IDXGISwapChain;
struct IDXGISwapChain1;
struct DXGI_SWAP_CHAIN_DESC;
struct DXGI_SWAP_CHAIN_DESC1;
struct DXGI_SWAP_CHAIN_FULLSCREEN_DESC;

inline constexpr UINT DXGI_CREATE_FACTORY_DEBUG = 1;

enum DXGI_ADAPTER_FLAG {
  DXGI_ADAPTER_FLAG_NONE = 0,
  DXGI_ADAPTER_FLAG_REMOTE = 1,
  DXGI_ADAPTER_FLAG_SOFTWARE = 2,
};
enum DXGI_ADAPTER_FLAG3 {
  DXGI_ADAPTER_FLAG3_NONE = 0,
  DXGI_ADAPTER_FLAG3_REMOTE = 1,
  DXGI_ADAPTER_FLAG3_SOFTWARE = 2,
};
enum DXGI_GRAPHICS_PREEMPTION_GRANULARITY { DXGI_GRAPHICS_PREEMPTION_DMA_BUFFER_BOUNDARY = 0 };
enum DXGI_COMPUTE_PREEMPTION_GRANULARITY { DXGI_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY = 0 };
enum DXGI_MEMORY_SEGMENT_GROUP {
  DXGI_MEMORY_SEGMENT_GROUP_LOCAL = 0,
  DXGI_MEMORY_SEGMENT_GROUP_NON_LOCAL = 1,
};
enum DXGI_GPU_PREFERENCE {
  DXGI_GPU_PREFERENCE_UNSPECIFIED = 0,
  DXGI_GPU_PREFERENCE_MINIMUM_POWER = 1,
  DXGI_GPU_PREFERENCE_HIGH_PERFORMANCE = 2,
};
enum DXGI_FEATURE { DXGI_FEATURE_PRESENT_ALLOW_TEARING = 0 };

struct DXGI_ADAPTER_DESC {
  WCHAR Description[128];
  UINT VendorId;
  UINT DeviceId;
  UINT SubSysId;
  UINT Revision;
  SIZE_T DedicatedVideoMemory;
  SIZE_T DedicatedSystemMemory;
  SIZE_T SharedSystemMemory;
  LUID AdapterLuid;
};
struct DXGI_ADAPTER_DESC1 {
  WCHAR Description[128];
  UINT VendorId;
  UINT DeviceId;
  UINT SubSysId;
  UINT Revision;
  SIZE_T DedicatedVideoMemory;
  SIZE_T DedicatedSystemMemory;
  SIZE_T SharedSystemMemory;
  LUID AdapterLuid;
  UINT Flags;
};
struct DXGI_ADAPTER_DESC2 {
  WCHAR Description[128];
  UINT VendorId;
  UINT DeviceId;
  UINT SubSysId;
  UINT Revision;
  SIZE_T DedicatedVideoMemory;
  SIZE_T DedicatedSystemMemory;
  SIZE_T SharedSystemMemory;
  LUID AdapterLuid;
  UINT Flags;
  DXGI_GRAPHICS_PREEMPTION_GRANULARITY GraphicsPreemptionGranularity;
  DXGI_COMPUTE_PREEMPTION_GRANULARITY ComputePreemptionGranularity;
};
struct DXGI_ADAPTER_DESC3 {
  WCHAR Description[128];
  UINT VendorId;
  UINT DeviceId;
  UINT SubSysId;
  UINT Revision;
  SIZE_T DedicatedVideoMemory;
  SIZE_T DedicatedSystemMemory;
  SIZE_T SharedSystemMemory;
  LUID AdapterLuid;
  DXGI_ADAPTER_FLAG3 Flags;
  DXGI_GRAPHICS_PREEMPTION_GRANULARITY GraphicsPreemptionGranularity;
  DXGI_COMPUTE_PREEMPTION_GRANULARITY ComputePreemptionGranularity;
};
struct DXGI_QUERY_VIDEO_MEMORY_INFO {
  UINT64 Budget;
  UINT64 CurrentUsage;
  UINT64 AvailableForReservation;
  UINT64 CurrentReservation;
};

struct IDXGIObject : IUnknown {
  virtual HRESULT SetPrivateData(REFGUID guid, UINT data_size, const void* data) = 0;
  virtual HRESULT SetPrivateDataInterface(REFGUID guid, const IUnknown* object) = 0;
  virtual HRESULT GetPrivateData(REFGUID guid, UINT* data_size, void* data) = 0;
  virtual HRESULT GetParent(REFIID iid, void** parent) = 0;
};
SHEAF_DECLARE_IID(IDXGIObject, 0xaec22fb8, 0x76f3, 0x4639, 0x9b, 0xe0, 0x28, 0xeb, 0x43, 0xa6, 0x7a,
                  0x2e)

struct IDXGIAdapter : IDXGIObject {
  virtual HRESULT EnumOutputs(UINT index, IDXGIOutput** output) = 0;
  virtual HRESULT GetDesc(DXGI_ADAPTER_DESC* desc) = 0;
  virtual HRESULT CheckInterfaceSupport(REFGUID name, LARGE_INTEGER* driver_version) = 0;
};
SHEAF_DECLARE_IID(IDXGIAdapter, 0x2411e7e1, 0x12ac, 0x4ccf, 0xbd, 0x14, 0x97, 0x98, 0xe8, 0x53,
                  0x4d, 0xc0)

struct IDXGIAdapter1 : IDXGIAdapter {
  virtual HRESULT GetDesc1(DXGI_ADAPTER_DESC1* desc) = 0;
};
SHEAF_DECLARE_IID(IDXGIAdapter1, 0x29038f61, 0x3839, 0x4626, 0x91, 0xfd, 0x08, 0x68, 0x79, 0x01,
                  0x1a, 0x05)

struct IDXGIAdapter2 : IDXGIAdapter1 {
  virtual HRESULT GetDesc2(DXGI_ADAPTER_DESC2* desc) = 0;
};
SHEAF_DECLARE_IID(IDXGIAdapter2, 0x0aa1ae0a, 0xfa0e, 0x4b84, 0x86, 0x44, 0xe0, 0x5f, 0xf8, 0xe5,
                  0xac, 0xb5)

struct IDXGIAdapter3 : IDXGIAdapter2 {
  virtual HRESULT RegisterHardwareContentProtectionTeardownStatusEvent(HANDLE event,
                                                                       DWORD* cookie) = 0;
  virtual void UnregisterHardwareContentProtectionTeardownStatus(DWORD cookie) = 0;
  virtual HRESULT QueryVideoMemoryInfo(UINT node, DXGI_MEMORY_SEGMENT_GROUP group,
                                       DXGI_QUERY_VIDEO_MEMORY_INFO* info) = 0;
  virtual HRESULT SetVideoMemoryReservation(UINT node, DXGI_MEMORY_SEGMENT_GROUP group,
                                            UINT64 bytes) = 0;
  virtual HRESULT RegisterVideoMemoryBudgetChangeNotificationEvent(HANDLE event, DWORD* cookie) = 0;
  virtual void UnregisterVideoMemoryBudgetChangeNotification(DWORD cookie) = 0;
};
SHEAF_DECLARE_IID(IDXGIAdapter3, 0x645967a4, 0x1392, 0x4310, 0xa7, 0x98, 0x80, 0x53, 0xce, 0x3e,
                  0x93, 0xfd)

struct IDXGIAdapter4 : IDXGIAdapter3 {
  virtual HRESULT GetDesc3(DXGI_ADAPTER_DESC3* desc) = 0;
};
SHEAF_DECLARE_IID(IDXGIAdapter4, 0x3c8d99d1, 0x4fbf, 0x4181, 0xa8, 0x2c, 0xaf, 0x66, 0xbf, 0x7b,
                  0xd2, 0x4e)

struct IDXGIFactory : IDXGIObject {
  virtual HRESULT EnumAdapters(UINT index, IDXGIAdapter** adapter) = 0;
  virtual HRESULT MakeWindowAssociation(HWND window, UINT flags) = 0;
  virtual HRESULT GetWindowAssociation(HWND* window) = 0;
  virtual HRESULT CreateSwapChain(IUnknown* device, DXGI_SWAP_CHAIN_DESC* desc,
                                  IDXGISwapChain** swap_chain) = 0;
  virtual HRESULT CreateSoftwareAdapter(void* module, IDXGIAdapter** adapter) = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory, 0x7b7166ec, 0x21c7, 0x44ae, 0xb2, 0x1a, 0xc9, 0xae, 0x32, 0x1a,
                  0xe3, 0x69)

struct IDXGIFactory1 : IDXGIFactory {
  virtual HRESULT EnumAdapters1(UINT index, IDXGIAdapter1** adapter) = 0;
  virtual BOOL IsCurrent() = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory1, 0x770aae78, 0xf26f, 0x4dba, 0xa8, 0x29, 0x25, 0x3c, 0x83, 0xd1,
                  0xb3, 0x87)

struct IDXGIFactory2 : IDXGIFactory1 {
  virtual BOOL IsWindowedStereoEnabled() = 0;
  virtual HRESULT CreateSwapChainForHwnd(IUnknown* device, HWND window,
                                         const DXGI_SWAP_CHAIN_DESC1* desc,
                                         const DXGI_SWAP_CHAIN_FULLSCREEN_DESC* fullscreen_desc,
                                         IDXGIOutput* output, IDXGISwapChain1** swap_chain) = 0;
  virtual HRESULT CreateSwapChainForCoreWindow(IUnknown* device, IUnknown* window,
                                               const DXGI_SWAP_CHAIN_DESC1* desc,
                                               IDXGIOutput* output,
                                               IDXGISwapChain1** swap_chain) = 0;
  virtual HRESULT GetSharedResourceAdapterLuid(HANDLE resource, LUID* luid) = 0;
  virtual HRESULT RegisterStereoStatusWindow(HWND window, UINT message, DWORD* cookie) = 0;
  virtual HRESULT RegisterStereoStatusEvent(HANDLE event, DWORD* cookie) = 0;
  virtual void UnregisterStereoStatus(DWORD cookie) = 0;
  virtual HRESULT RegisterOcclusionStatusWindow(HWND window, UINT message, DWORD* cookie) = 0;
  virtual HRESULT RegisterOcclusionStatusEvent(HANDLE event, DWORD* cookie) = 0;
  virtual void UnregisterOcclusionStatus(DWORD cookie) = 0;
  virtual HRESULT CreateSwapChainForComposition(IUnknown* device, const DXGI_SWAP_CHAIN_DESC1* desc,
                                                IDXGIOutput* output,
                                                IDXGISwapChain1** swap_chain) = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory2, 0x50c83a1c, 0xe072, 0x4c48, 0x87, 0xb0, 0x36, 0x30, 0xfa, 0x36,
                  0xa6, 0xd0)

struct IDXGIFactory3 : IDXGIFactory2 {
  virtual UINT GetCreationFlags() = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory3, 0x25483823, 0xcd46, 0x4c7d, 0x86, 0xca, 0x47, 0xaa, 0x95, 0xb8,
                  0x37, 0xbd)

struct IDXGIFactory4 : IDXGIFactory3 {
  virtual HRESULT EnumAdapterByLuid(LUID luid, REFIID iid, void** adapter) = 0;
  virtual HRESULT EnumWarpAdapter(REFIID iid, void** adapter) = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory4, 0x1bc6ea02, 0xef36, 0x464f, 0xbf, 0x0c, 0x21, 0xca, 0x39, 0xe5,
                  0x16, 0x8a)

struct IDXGIFactory5 : IDXGIFactory4 {
  virtual HRESULT CheckFeatureSupport(DXGI_FEATURE feature, void* data, UINT size) = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory5, 0x7632e1f5, 0xee65, 0x4dca, 0x87, 0xfd, 0x84, 0xcd, 0x75, 0xf8,
                  0x83, 0x8d)

struct IDXGIFactory6 : IDXGIFactory5 {
  virtual HRESULT EnumAdapterByGpuPreference(UINT index, DXGI_GPU_PREFERENCE preference, REFIID iid,
                                             void** adapter) = 0;
};
SHEAF_DECLARE_IID(IDXGIFactory6, 0xc1b6694f, 0xff09, 0x44a9, 0xb0, 0x3c, 0x77, 0x90, 0x0a, 0x0a,
                  0x1d, 0x17)

extern "C" HRESULT CreateDXGIFactory(REFIID iid, void** factory);
extern "C" HRESULT CreateDXGIFactory1(REFIID iid, void** factory);
extern "C" HRESULT CreateDXGIFactory2(UINT flags, REFIID iid, void** factory);
