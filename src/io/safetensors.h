// SPDX-License-Identifier: MIT
#pragma once

#include "sheaf/dtype.h"

namespace sheaf::io {

// The format's name of a type; null if it has none.
const char* safetensors_type(DType type);

}  // namespace sheaf::io
