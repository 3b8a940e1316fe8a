// SPDX-License-Identifier: MIT
//
// DXCore: the list of adapters, for programs without DXGI. The library is libdxcore.
#pragma once

#include "d3d12.h"

#if SHEAF_OWN_D3D12  // otherwise d3d12.h has it
#include "sheaf_dxcore_interfaces.h"
#endif
