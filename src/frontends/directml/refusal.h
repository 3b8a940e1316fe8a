// SPDX-License-Identifier: MIT
//
// How this dialect reports errors. Inside, a refusal is a sheaf::Error; outside, an HRESULT and the
// text that LastErrorText() returns.
#pragma once

#include <string>

#include "frontends/directml/descriptors.h"
#include "sheaf/directml.h"
#include "sheaf/error.h"

namespace sheaf::dml::detail {

[[noreturn]] void refuse(Refusal refusal);

// Throws with all tensors and attributes of `op` on the third line, as far as they can be read.
[[noreturn]] void refuse(const OperatorDesc& op, const Cause& cause, const std::string& what,
                         const std::string& detail, const std::string& next);

// For the third line: "FLOAT32 {3, 5}", whatever can be said about a tensor that may be wrong.
std::string describe(const DML_TENSOR_DESC* tensor);

std::string braced(const Dims& dims);  // "{3, 5}"

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
