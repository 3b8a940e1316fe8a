// SPDX-License-Identifier: MIT
//
// Bags on the device of helpers/device.h.
#pragma once

#include <string_view>

#include "helpers/bag_problem.h"

// Tensors are copied to device memory with guard bytes around the output, which must not change.
BagResult on_device(const BagProblem& problem, std::string_view kernel, bool fresh = false);

// Whether the next problem is run. One in SHEAF_TEST_BAGS_ONE_IN is: on devices made of the
// processor all of them take minutes.
bool takes_next_problem();
