// SPDX-License-Identifier: MIT
//
// Reading buffers and attributes of a custom call. A program of JAX may call the handlers with
// anything: what is missing, unknown or does not fit is refused.
#pragma once

#include <xla/ffi/api/ffi.h>

#include <string>
#include <string_view>

#include "plan/reductions.h"
#include "sheaf/index_rule.h"
#include "sheaf/tensor.h"
#include "support/text.h"

namespace sheaf::python {

[[noreturn]] void refuse_call(std::string_view what, std::string_view detail,
                              std::string_view next);

// Buffers are contiguous.
TensorSpec spec_of(const xla::ffi::AnyBuffer& buffer);

template <class T>
T attribute(const xla::ffi::Dictionary& attributes, const char* name) {
  const xla::ffi::ErrorOr<T> value = attributes.get<T>(name);
  if (!value.has_value()) {
    refuse_call("attribute missing or of another type", cat("attribute ", name),
                "the functions of sheaf.jax, which pass all of them");
  }
  return *value;
}

inline bool flag(const xla::ffi::Dictionary& attributes, const char* name) {
  return attribute<int64_t>(attributes, name) != 0;
}

// A number as sheaf.jax passes it, in the kind of number that the type has: no other is read. The
// attributes are `name`_integer, `name`_real and `name`_imaginary.
Scalar number_of(const xla::ffi::Dictionary& attributes, const std::string& name, DType type);

template <class Value>
std::string_view name_of_value(const Value& value) {
  if constexpr (requires { value.name; }) {
    return value.name;
  } else {
    return to_string(value);
  }
}

// The value, or the row of a table, whose name the attribute holds.
template <class Values>
auto named(const xla::ffi::Dictionary& attributes, const char* name, const Values& values) {
  const auto given = attribute<std::string_view>(attributes, name);
  std::string known;
  for (const auto& value : values) {
    if (given == name_of_value(value)) {
      return value;
    }
    known += cat(known.empty() ? "" : ", ", name_of_value(value));
  }
  refuse_call(cat("unknown ", name), cat(name, " = \"", given, "\""), known);
}

}  // namespace sheaf::python
