// SPDX-License-Identifier: MIT
//
// Tensors of strings. Only the runtime knows how they lie in memory, so a plan moves their numbers,
// and the strings follow one by one.
#pragma once

#include <span>

#include "sheaf/plan.h"
#include "tensors.h"

namespace sheaf::ort {

// The spec under which a plan moves the strings' numbers.
TensorSpec string_numbers(const Dims& sizes);

// Runs a plan of numbers on the strings of data, and of a scatter's updates.
void run_on_strings(const Context& context, const Plan& plan, std::span<const Input> inputs,
                    const void* indices);

}  // namespace sheaf::ort
