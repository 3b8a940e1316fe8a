// SPDX-License-Identifier: MIT
//
// Elements as text.
#pragma once

#include <cstddef>
#include <string>

#include "sheaf/dtype.h"

namespace sheaf::pictures {

// One element as a problem string would have it: "-1", "0.1", "nan", "(1,2)", "true"; opaque
// elements as hexadecimal bytes. Floats are the shortest text that reads back as the same value.
std::string element_text(DType type, const std::byte* element);

// Bit for bit the same, except that any NaN equals any NaN.
bool same_element(DType type, const std::byte* a, const std::byte* b);

}  // namespace sheaf::pictures
