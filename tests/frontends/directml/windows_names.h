// SPDX-License-Identifier: MIT
//
// What <windows.h> puts in everybody's way, as a system header would.
#pragma once
#pragma GCC system_header

#define S_OK ((HRESULT)0L)
#define S_FALSE ((HRESULT)1L)
#define E_FAIL ((HRESULT)0x80004005L)
#define E_OUTOFMEMORY ((HRESULT)0x8007000EL)
#define E_INVALIDARG ((HRESULT)0x80070057L)
#define DXGI_ERROR_UNSUPPORTED ((HRESULT)0x887A0004L)
#define SUCCEEDED(hr) (((HRESULT)(hr)) >= 0)
#define FAILED(hr) (((HRESULT)(hr)) < 0)

typedef unsigned int UINT;
typedef int BOOL;
typedef int HRESULT;
