// SPDX-License-Identifier: MIT
//
// Which neighbour of gathers and scatters exists since which feature level, and which types and
// dimension counts it takes there. Facts of Microsoft's reference pages.
#pragma once

#include "directml.h"
#include "frontends/directml/feature_levels.h"

namespace sheaf::dml_com {

// Null if `type` is no neighbour.
const dml::detail::OperatorInfo* find_neighbour(DML_OPERATOR_TYPE type);

}  // namespace sheaf::dml_com
