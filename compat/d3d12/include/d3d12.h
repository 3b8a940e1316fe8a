// SPDX-License-Identifier: MIT
//
// Direct3D 12 in small: buffers, command lists that copy and dispatch, queues and fences. The
// interfaces have every method of Direct3D's in its place; those that DirectML programs do not need
// answer E_NOTIMPL. docs/directml.md lists what works.
#pragma once

#include "sheaf_com.h"

#if SHEAF_OWN_D3D12
#include "sheaf_d3d12_interfaces.h"
#else
#include <directx/d3d12.h>
#include <dxguids/dxguids.h>
#endif

// Where Sheaf's messages go: what a call was refused for, and once for each method that is not
// there. Null: to stderr where a device was created with a debug flag, otherwise nowhere.
typedef void (*SheafMessageCallback)(const char* text, void* context);
extern "C" void SheafSetMessageCallback(SheafMessageCallback callback, void* context);
