// SPDX-License-Identifier: MIT
//
// The fields that the option structs of sheaf/c.h share, read. Refusals show `r` as far as it is
// known.
#pragma once

#include "plan/request.h"
#include "sheaf/c.h"

namespace sheaf {

// A zero stands for the usual rule of r.op.
IndexRule index_rule(const Request& r, const sheaf_index_rule& rule);

Scalar scalar(const Request& r, const char* field, const sheaf_scalar& value);

// For a value of `field` that is not one of 0..last.
[[noreturn]] void refuse_option(const Request& r, const char* field, int64_t value, int last);

Reduction reduction(const Request& r, int32_t value);

Dims dims(const Request& r, const char* field, const sheaf_dims& list);

}  // namespace sheaf
