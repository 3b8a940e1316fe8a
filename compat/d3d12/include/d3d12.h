// SPDX-License-Identifier: MIT
//
// Direct3D 12 in small: buffers, command lists that copy and dispatch, queues and fences. The
// interfaces have every method of Direct3D's in its place; those that DirectML programs do not need
// answer E_NOTIMPL. docs/directml.md lists what works.
#pragma once

#include "sheaf_com.h"

#if SHEAF_OWN_D3D12
#include "sheaf_d3d12_debug.h"
#else
#include <directx/d3d12.h>
#include <directx/dxcore.h>
// The IIDs of what was included above.
#include <dxguids/dxguids.h>
#endif

#include "sheaf_d3d12_newer_names.h"
#include "sheaf_messages.h"
