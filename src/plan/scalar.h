// SPDX-License-Identifier: MIT
//
// A number into the bytes of an element.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "plan/request.h"

namespace sheaf {

// The number as a problem string has it, exactly: "-1", "0.1", "nan", "(1,2)".
std::string to_string(const Scalar& value);

// Writes `value` as one element of type `type`. Integers must fit exactly; floats are rounded to
// the nearest. Returns why it cannot be done, or nothing.
std::optional<std::string> encode(const Scalar& value, DType type, std::byte* element);

// request.rule.fill_value as an element of data. Refuses a value that does not fit.
void encode_fill_value(const Request& request, std::byte* element);

}  // namespace sheaf
