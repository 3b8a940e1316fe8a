// SPDX-License-Identifier: MIT
//
// What Sheaf says beyond a result code. In a header of its own, for programs whose d3d12.h is
// Microsoft's.
#pragma once

// Where Sheaf's messages go: what a call was refused for, and once for each method that is not
// there. Null: to stderr; but DirectML's only if the device was created with its debug flag.
typedef void (*SheafMessageCallback)(const char* text, void* context);
extern "C" void SheafSetMessageCallback(SheafMessageCallback callback, void* context);
