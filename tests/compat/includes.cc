// SPDX-License-Identifier: MIT
//
// Compiled, not run: directml.h after forward declarations, and before or after the DirectX
// headers.
struct IDMLDevice;
struct IDMLOperator;
struct DML_OPERATOR_DESC;
struct ID3D12Device;

#include <DirectML.h>
#include <directml.h>
#ifdef BESIDE_DIRECTX_HEADERS
#include <directx/d3d12.h>
#include <wsl/winadapter.h>
#endif
#include <wrl/client.h>

#include "sheaf_directml.h"

static_assert(DML_TARGET_VERSION == 0x6400, "guarded code is compiled");
static_assert(__uuidof(IDMLDevice1).Data1 == 0xa0884f9a, "an IID");
static_assert(sizeof(BOOL) == 4 && sizeof(HRESULT) == 4, "as on Windows");

HRESULT create_both(ID3D12Device** d3d12, IDMLDevice** device);
HRESULT create_both(ID3D12Device** d3d12, IDMLDevice** device) {
  const HRESULT result = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(d3d12));
  return FAILED(result)
             ? result
             : DMLCreateDevice(*d3d12, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(device));
}
