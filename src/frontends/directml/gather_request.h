// SPDX-License-Identifier: MIT
//
// From DirectML's padded shapes to a Request with the real ones.
#pragma once

#include "frontends/directml/tensor_desc.h"
#include "plan/request.h"

namespace sheaf::dml::detail {

// Refuses attributes and shapes that break the operator's rules.
Request make_request(const OperatorDesc& op, const Tensors& tensors);

}  // namespace sheaf::dml::detail
