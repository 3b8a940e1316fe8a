// SPDX-License-Identifier: MIT
//
// The other order: the DirectX headers first, then ours.
#include <wsl/winadapter.h>
// its types come first
#include <directx/d3d12.h>

#include "includes.cc"
