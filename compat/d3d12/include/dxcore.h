// SPDX-License-Identifier: MIT
//
// DXCore: the list of adapters, for programs without DXGI. The library is libdxcore.
#pragma once

#include "d3d12.h"

#if SHEAF_OWN_D3D12  // otherwise d3d12.h has it
#include "sheaf_dxcore_interfaces.h"
#endif

// Attributes that are newer than some of the DirectX headers for Linux.
#ifndef DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML
inline constexpr GUID SHEAF_DXCORE_ATTRIBUTE_GENERIC_ML = {
    0xb71b0d41, 0x1088, 0x422f, {0xa2, 0x7c, 0x02, 0x50, 0xb7, 0xd3, 0xa9, 0x88}};
#define DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML SHEAF_DXCORE_ATTRIBUTE_GENERIC_ML
#endif
