// SPDX-License-Identifier: MIT
//
// What the gradients of bags ask of their tensors.
#pragma once

#include "plan/bag.h"
#include "sheaf/bag_gradient.h"

namespace sheaf {

// The bag's request under the name of the gradient: for refusals.
BagRequest gradient_request(const BagGradientPlan& plan);

constexpr bool picks_one(Pool pool) { return pool == Pool::kMax || pool == Pool::kMin; }

// Whether a run reads the table.
inline bool reads_table(const BagGradientPlan& plan) {
  return plan.of() == BagGradientOf::kWeights || picks_one(plan.bag().nest().pool);
}

// Whether rows have factors: those of entries that have weights, or a divisor.
inline bool has_factors(const BagNest& nest) {
  return nest.weighted || nest.pool == Pool::kMean || nest.pool == Pool::kSqrtN;
}

}  // namespace sheaf
