// SPDX-License-Identifier: MIT
//
// Names that programs use and that older DirectX headers lack: Debian 12's have D3D12_SDK_VERSION
// 606. Each is left out where the headers in use have it. Include d3d12.h.
#pragma once

#include "sheaf_com.h"

#if SHEAF_OWN_D3D12
#define SHEAF_DIRECTX_VERSION 606  // as far as the headers here go
#else
#define SHEAF_DIRECTX_VERSION D3D12_SDK_VERSION
#endif

#if SHEAF_DIRECTX_VERSION < 608
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS16 = static_cast<D3D12_FEATURE>(45);

struct D3D12_FEATURE_DATA_D3D12_OPTIONS16 {
  BOOL DynamicDepthBiasSupported;
  BOOL GPUUploadHeapSupported;
};
#endif

#if SHEAF_DIRECTX_VERSION < 610
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS17 = static_cast<D3D12_FEATURE>(46);
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS18 = static_cast<D3D12_FEATURE>(47);
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS19 = static_cast<D3D12_FEATURE>(48);

struct D3D12_FEATURE_DATA_D3D12_OPTIONS17 {
  BOOL NonNormalizedCoordinateSamplersSupported;
  BOOL ManualWriteTrackingResourceSupported;
};

struct D3D12_FEATURE_DATA_D3D12_OPTIONS18 {
  BOOL RenderPassesValid;
};

struct D3D12_FEATURE_DATA_D3D12_OPTIONS19 {
  BOOL MismatchingOutputDimensionsSupported;
  UINT SupportedSampleCountsWithNoOutputs;
  BOOL PointSamplingAddressesNeverRoundUp;
  BOOL RasterizerDesc2Supported;
  BOOL NarrowQuadrilateralLinesSupported;
  BOOL AnisoFilterWithPointMipSupported;
  UINT MaxSamplerDescriptorHeapSize;
  UINT MaxSamplerDescriptorHeapSizeWithStaticSamplers;
  UINT MaxViewDescriptorHeapSize;
  BOOL ComputeOnlyCustomHeapSupported;
};
#endif

#if SHEAF_DIRECTX_VERSION < 611
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS20 = static_cast<D3D12_FEATURE>(49);

enum D3D12_RECREATE_AT_TIER {
  D3D12_RECREATE_AT_TIER_NOT_SUPPORTED = 0,
  D3D12_RECREATE_AT_TIER_1 = 1,
};

struct D3D12_FEATURE_DATA_D3D12_OPTIONS20 {
  BOOL ComputeOnlyWriteWatchSupported;
  D3D12_RECREATE_AT_TIER RecreateAtTier;
};
#endif

#if !SHEAF_OWN_D3D12 && SHEAF_DIRECTX_VERSION < 611
inline constexpr D3D_FEATURE_LEVEL D3D_FEATURE_LEVEL_1_0_GENERIC =
    static_cast<D3D_FEATURE_LEVEL>(0x100);
#endif

#if SHEAF_DIRECTX_VERSION < 613
inline constexpr D3D12_FEATURE D3D12_FEATURE_D3D12_OPTIONS21 = static_cast<D3D12_FEATURE>(53);

enum D3D12_WORK_GRAPHS_TIER {
  D3D12_WORK_GRAPHS_TIER_NOT_SUPPORTED = 0,
  D3D12_WORK_GRAPHS_TIER_1_0 = 10,
};

enum D3D12_EXECUTE_INDIRECT_TIER {
  D3D12_EXECUTE_INDIRECT_TIER_1_0 = 10,
  D3D12_EXECUTE_INDIRECT_TIER_1_1 = 11,
};

struct D3D12_FEATURE_DATA_D3D12_OPTIONS21 {
  D3D12_WORK_GRAPHS_TIER WorkGraphsTier;
  D3D12_EXECUTE_INDIRECT_TIER ExecuteIndirectTier;
  BOOL SampleCmpGradientAndBiasSupported;
  BOOL ExtendedCommandInfoSupported;
};

// Of dxcore.h.
inline constexpr GUID DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML = {
    0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};
inline constexpr GUID DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_MEDIA = {
    0x8eb2c848, 0x82f6, 0x4b49, {0xaa, 0x87, 0xae, 0xcf, 0xcf, 0x01, 0x74, 0xc6}};
inline constexpr GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_GPU = {
    0xb69eb219, 0x3ded, 0x4464, {0x97, 0x9f, 0xa0, 0x0b, 0xd4, 0x68, 0x70, 0x06}};
inline constexpr GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_COMPUTE_ACCELERATOR = {
    0xe0b195da, 0x58ef, 0x4a22, {0x90, 0xf1, 0x1f, 0x28, 0x16, 0x9c, 0xab, 0x8d}};
inline constexpr GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_NPU = {
    0xd46140c4, 0xadd7, 0x451b, {0x9e, 0x56, 0x06, 0xfe, 0x8c, 0x3b, 0x58, 0xed}};
inline constexpr GUID DXCORE_HARDWARE_TYPE_ATTRIBUTE_MEDIA_ACCELERATOR = {
    0x66bdb96a, 0x050b, 0x44c7, {0xa4, 0xfd, 0xd1, 0x44, 0xce, 0x0a, 0xb4, 0x43}};
#endif
