// SPDX-License-Identifier: MIT
//
// Results on standard output: -o -.
#pragma once

#include <string_view>

#include "sheaf/tensor.h"

namespace sheaf::cli {

// Refuses if `output` is "-" and standard output a terminal. `who` is the subcommand.
void refuse_terminal(std::string_view who, std::string_view output);

// A tensor as .npy. A pipe cannot be written in any order: the result is made in memory first.
void write_npy(const ConstTensor& tensor);

}  // namespace sheaf::cli
