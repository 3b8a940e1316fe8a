// SPDX-License-Identifier: MIT
//
// What Sheaf's DirectML has beyond DirectML's own interfaces. Include directml.h before it.
#pragma once

#include "sheaf_com.h"
#include "sheaf_messages.h"

// Why the last call on this thread failed, in four lines; "" if it did not. The same text goes to
// the callback of SheafSetMessageCallback.
extern "C" const char* SheafDmlLastErrorText();

// device->SetPrivateData(SHEAF_DML_SMALLER_INDICES, sizeof(BOOL), &yes): GATHER_ELEMENTS and
// SCATTER_ELEMENTS take indices that are smaller than the input off the axis, as ONNX does. The
// environment variable SHEAF_DML_SMALLER_INDICES=1 does it for programs that cannot be changed.
inline constexpr GUID SHEAF_DML_SMALLER_INDICES = {
    0x5b0f4e0a, 0x3c1e, 0x4d6b, {0x9a, 0x57, 0x53, 0x48, 0x45, 0x41, 0x46, 0x10}};
