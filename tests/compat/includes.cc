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

#ifdef BESIDE_DIRECTX_HEADERS
// As programs for Linux attach IIDs: those of DirectML are there already, others are new.
struct IOfTheProgram : IUnknown {};
WINADAPTER_IID(IDMLDevice, 0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57,
               0x3f)
WINADAPTER_IID(IDMLDevice1, 0xa0884f9a, 0xd2be, 0x4355, 0xaa, 0x5d, 0x59, 0x01, 0x28, 0x1a, 0xd1,
               0xd2)
WINADAPTER_IID(IOfTheProgram, 0x01020304, 0x0506, 0x0708, 9, 10, 11, 12, 13, 14, 15, 16)
static_assert(__uuidof(IOfTheProgram).Data4[7] == 16, "defined by the macro");
static_assert(uuidof<IOfTheProgram>().Data1 == 0x01020304, "for uuidof too");
static_assert(uuidof<IDMLBindingTable>().Data1 == 0x29c687dc, "and for DirectML's");
#endif

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
