// SPDX-License-Identifier: MIT
//
// What a bag gives, by its definition: a gather, a conversion, a product and a reduction, one after
// the other and one element at a time, each with one rounding.
#pragma once

#include <cstddef>
#include <vector>

#include "helpers/bag_problem.h"

namespace oracle {

// The output; bytes between strided elements are kUntouchedBag. The problem is sound, and no index
// is out of range under kFail.
std::vector<std::byte> composed(const BagProblem& problem);

}  // namespace oracle
