// SPDX-License-Identifier: MIT
//
// The plan of any operator that sheaf/sharded.h has a function for.
#pragma once

#include "plan/request.h"
#include "sheaf/sharded.h"

namespace sheaf::sharded {

// Collective. `request.data` is the spec of all of `data`.
ShardedPlan make_sharded_plan(const ShardedTensor& data, const Request& request,
                              const ShardedOptions& options);

}  // namespace sheaf::sharded
