// SPDX-License-Identifier: MIT
//
// The border of the DirectML surface: inside, a refusal is a sheaf::Error; outside, an HRESULT and
// a text that LastErrorText() gives back.
#pragma once

#include <string>

#include "sheaf/directml.h"
#include "sheaf/error.h"

namespace sheaf::dml::detail {

// The four lines of a refusal; see sheaf/error.h.
struct Refusal {
  std::string who, what, detail, given, next;
  ErrorCode code = ErrorCode::kInvalidArgument;
};
[[noreturn]] void refuse(const Refusal& refusal);

void forget_last_error() noexcept;

// The HRESULT of the exception that is being handled; keeps its text.
HRESULT result_of_exception() noexcept;

// Runs the body of a call.
template <class Body>
HRESULT guarded(Body body) noexcept {
  forget_last_error();
  try {
    return body();
  } catch (...) {
    return result_of_exception();
  }
}

}  // namespace sheaf::dml::detail
