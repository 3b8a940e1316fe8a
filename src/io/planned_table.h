// SPDX-License-Identifier: MIT
//
// Whether a plan of encoded rows is for the table that it is run on.
#pragma once

#include <string>

#include "sheaf/io.h"

namespace sheaf::io {

// In what a plan of `planned` and the table differ: "the plan is for …, but the table is …". Empty
// if rows lie in the table where the plan looks for them.
std::string difference_of(const EncodedSpec& planned, const Table& table);

}  // namespace sheaf::io
